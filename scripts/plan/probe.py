"""What a probe asks of a model: the methods of a study that fit its kind, and why others are left
out.
"""

from collections.abc import Collection
from dataclasses import dataclass

ABILITIES = {
    "encoder": "an encoder",
    "mask_filler": "an encoder with a head that fills masks",
    "encoder_decoder": "an encoder-decoder",
    "span_writer": "an encoder-decoder that writes masked spans (T5)",
    "decoder": "a decoder",
    "chat": "a model with a chat template",
    "api": "a model behind an API",
    "logprobs": "a model behind an API that gives log-probabilities (`logprobs: true`)",
}
# the paradigms of methods whose examples are put into words (prompts.yaml of the study)
LIKELIHOOD, ANSWER = "likelihood", "answer"
WORDED = (LIKELIHOOD, ANSWER)
# the end of a method's name: the control of the method before it,
# the same model without what it should read
BLIND = "_blind"
BLIND_METHODS = {"hypothesis_only": "train"}  # those with a name of their own, and their methods


def method_of_blind(method: object) -> str | None:
    """The method whose control this is (the same model, blind); None of any other method."""
    if not isinstance(method, str):
        return None
    if method.endswith(BLIND):
        return method.removesuffix(BLIND)
    return BLIND_METHODS.get(method)


@dataclass(frozen=True)
class Known:
    """trained: whether it has weights of its own."""

    abilities: frozenset[str]
    trained: bool = True


@dataclass(frozen=True)
class LeftOut:
    """A method that an experiment does not ask of a model, and why."""

    experiment: str
    study: str
    model: str
    method: str
    reason: str


def kind_in_words(abilities: Collection[str]) -> str:
    if set(abilities) == {"encoder"}:
        return "an encoder without a head that fills masks"
    if set(abilities) == {"encoder_decoder"}:
        return "an encoder-decoder that was not trained to write masked spans"
    return next(words for ability, words in reversed(ABILITIES.items()) if ability in abilities)


def needs_in_words(fits: list[str]) -> str:
    words = [ABILITIES[ability] for ability in fits]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def does_fit(how: dict, abilities: Collection[str]) -> bool:
    """Whether a method (its entry in study.yaml) can be asked of a model of these abilities."""
    return bool(set(how.get("fits", ABILITIES)) & set(abilities))


def _why_not(how: dict, model: Known, fine_tune: str | bool) -> str | None:
    """Why a probe does not ask a method of a model, as an end of a sentence; None where it does."""
    abilities = model.abilities
    if not does_fit(how, abilities):
        return f"it needs {needs_in_words(how['fits'])}, and this is {kind_in_words(abilities)}"
    if how["learns"] and fine_tune is False:
        return "it trains the model, and `fine_tune: false` allows no training"
    if not how["learns"] and not model.trained:
        return "it asks without training, and this model has no trained weights"
    if set(how.get("probe", [])) & abilities or how["learns"] and fine_tune is True:
        return None
    if how["learns"]:
        return f"a probe does not train {kind_in_words(abilities)}; with `fine_tune: true` it does"
    return f"a probe of {kind_in_words(abilities)} does not use it; name it under methods"


def fitting(
    methods: dict[str, dict], model: Known, fine_tune: str | bool
) -> tuple[list[str], dict[str, str]]:
    """The methods of a study that a probe asks of a model, and the reason for each other one that
    belongs to probes. fine_tune: auto, as the study's `probe` says; True, also what fits and
    learns; False, nothing that learns.
    """
    chosen, left_out = [], {}
    for method, how in methods.items():
        if "fits" not in how or how.get("makes_model"):
            continue  # the controls' method, and stages that make a model
        why = _why_not(how, model, fine_tune)
        if why is None:
            chosen.append(method)
        elif how.get("probe") and not method.endswith(BLIND):  # a control goes with its method
            left_out[method] = why
    return chosen, left_out
