"""What the studies declare of methods and baselines, for shared code, which names none of them.

A method `<method>_blind` is the blind control of a method: the same model without the text that it
should read. A study declares one of another name by `blind_of`, the title of a method by `title`, a
method that shows a model all candidates of a question by `sees_all`, and baselines that read the
answer by `ceilings`. `<method>_ensemble` is no method of a study: the evaluation makes it of the
seeds of a method (scripts/measure/reported.py).
"""

from functools import cache

from scripts.data.items import ENSEMBLE
from scripts.data.studies import read_studies

BLIND = "_blind"  # the end of the name of a blind control


@cache
def _methods(key: str) -> dict[str, object]:
    """Return what the studies declare under a key of their methods, by method."""
    return {
        method: how[key]
        for study in read_studies().values()
        for method, how in study.get("methods", {}).items()
        if key in how
    }


def method_titles() -> dict[str, str]:
    """Return the title of each method that has one."""
    return {method: str(title) for method, title in _methods("title").items()}


@cache
def ceilings() -> frozenset[str]:
    """Return the baselines that read the answer. They are upper bounds, not controls."""
    return frozenset(
        name for study in read_studies().values() for name in study.get("ceilings", [])
    )


def method_of_blind(method: object) -> str | None:
    """Return the method of a blind control (the same model, blind); None for any other method."""
    if not isinstance(method, str):
        return None
    if method.endswith(BLIND):
        return method.removesuffix(BLIND)
    of = _methods("blind_of").get(method)
    return str(of) if of else None


def sees_all(method: object) -> bool:
    """Return whether a method shows a model all candidates of a question."""
    return str(method).removesuffix(ENSEMBLE) in _methods("sees_all")


def learns(method: object) -> bool:
    """Return whether a model learns by this method; False for a method that no study declares."""
    return bool(_methods("learns").get(str(method).removesuffix(ENSEMBLE)))
