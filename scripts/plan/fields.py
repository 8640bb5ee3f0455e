"""Parts of entries: the fields that something shows, and whether options meet a need."""

from collections.abc import Iterable


def fields_of(
    entries: dict[str, dict], names: Iterable[str], fields: Iterable[str]
) -> dict[str, dict]:
    """Return the named fields of the named entries, in the order of the entries."""
    wanted, kept = set(names), set(fields)
    return {
        name: {key: value for key, value in entry.items() if key in kept}
        for name, entry in entries.items()
        if name in wanted
    }


def has_options(options: dict, needs: dict | list[dict]) -> bool:
    """Return whether a run's data options meet the needs of an item. An option must have the given
    value, or a value of the given list. `null`: the option is not set. `any`: it is set. `number`:
    it is a whole number. A list of needs: one of them must be met.
    """
    if isinstance(needs, list):
        return any(has_options(options, one) for one in needs)

    def is_met(option: object, need: object) -> bool:
        if need == "number":
            return isinstance(option, int)
        if need == "any":
            return option is not None
        return option in (need if isinstance(need, list) else [need])

    return all(is_met(options.get(name), need) for name, need in needs.items())
