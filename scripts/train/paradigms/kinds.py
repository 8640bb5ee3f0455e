"""The network that asks a model for likelihoods, by its kind."""

from pathlib import Path

from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from scripts.plan.kinds import kind_of
from scripts.running.program import UserError

NETWORKS = {"decoder": AutoModelForCausalLM, "encoder_decoder": AutoModelForSeq2SeqLM, "encoder": AutoModelForMaskedLM}


def known_kind(config, model: Path) -> str:
    """The kind. Raises UserError for a model that is none of them."""
    kind = kind_of(config)
    if kind is None:
        raise UserError(f"{model}: a {config.model_type} model (model_type in config.json) writes and fills no text that can be scored; "
                        "choose a decoder, a T5 or an encoder with a head that fills masks")
    return kind
