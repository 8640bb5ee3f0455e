"""The kind of a transformer, by its configuration, and the network that asks it for likelihoods."""

from pathlib import Path

from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES, MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES)

from scripts.common.program import UserError

NETWORKS = {"decoder": AutoModelForCausalLM, "encoder_decoder": AutoModelForSeq2SeqLM, "encoder": AutoModelForMaskedLM}


def kind_of(config) -> str | None:
    """`encoder`, `encoder_decoder` or `decoder`; None for what transformers knows no language modelling head of.

    Architectures of which there are encoders and decoders (BERT) are decoders where config.json says so (is_decoder).
    """
    if getattr(config, "is_encoder_decoder", False):
        return "encoder_decoder" if config.model_type in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES else None
    decodes = config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not (decodes and getattr(config, "is_decoder", False)):
        return "encoder"
    return "decoder" if decodes else None


def known_kind(config, model: Path) -> str:
    """The kind. Raises UserError for a model that is none of them."""
    kind = kind_of(config)
    if kind is None:
        raise UserError(f"{model}: a {config.model_type} model (model_type in config.json) writes and fills no text that can be scored; "
                        "choose a decoder, a T5 or an encoder with a head that fills masks")
    return kind
