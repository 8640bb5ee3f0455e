"""Choose the methods of a study with which a probe asks a model. Give the reason for each method
that is left out.
"""

from collections.abc import Collection
from dataclasses import dataclass

from scripts.data.declared import method_of_blind

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
# the paradigms of methods that put examples into words (prompts.yaml of the study)
LIKELIHOOD, ANSWER = "likelihood", "answer"
WORDED = (LIKELIHOOD, ANSWER)


@dataclass(frozen=True)
class Known:
    """trained: whether the model has trained weights. quantised: the method by which its weights
    were quantised, if they were.
    """

    abilities: frozenset[str]
    trained: bool = True
    quantised: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """A method with which an experiment does not ask a model, and the reason."""

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
    """Return whether a method (its entry in study.yaml) can ask a model with these abilities."""
    return bool(set(how.get("fits", ABILITIES)) & set(abilities))


def _why_not(how: dict, model: Known, fine_tune: str | bool) -> str | None:
    """Return why a probe does not use a method for a model, as the end of a sentence; None if it
    uses the method.
    """
    abilities = model.abilities
    if not does_fit(how, abilities):
        return f"it needs {needs_in_words(how['fits'])}, and this is {kind_in_words(abilities)}"
    if how["learns"] and model.quantised:
        return f"it trains the model, and its weights are quantised ({model.quantised})"
    if how["learns"] and fine_tune is False:
        return "it trains the model, and `fine_tune: false` allows no training"
    if not how["learns"] and not model.trained:
        return "it asks without training, and this model has no trained weights"
    if set(how.get("probe", [])) & abilities or (how["learns"] and fine_tune is True):
        return None
    if how["learns"]:
        return f"a probe does not train {kind_in_words(abilities)}; with `fine_tune: true` it does"
    return f"a probe of {kind_in_words(abilities)} does not use it; name it under methods"


def fitting(
    methods: dict[str, dict], model: Known, fine_tune: str | bool
) -> tuple[list[str], dict[str, str]]:
    """Return the methods of a study with which a probe asks a model, and the reason for each other
    method of probes. fine_tune: auto follows the study's `probe`. True adds every fitting method
    that trains. False excludes the methods that train.
    """
    chosen, left_out = [], {}
    for method, how in methods.items():
        if "fits" not in how or how.get("makes_model"):
            continue  # the method of controls, or a stage that makes a model
        why = _why_not(how, model, fine_tune)
        if why is None:
            chosen.append(method)
        elif how.get("probe") and not method_of_blind(method):  # its method has the reason
            left_out[method] = why
    return chosen, left_out
