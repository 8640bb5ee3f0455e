"""What kind of language model a transformer is, by its configuration.

transformers is imported where it is asked, since that takes a second.
"""


def _types(*heads: str) -> set[str]:
    """The model types for which transformers has one of these heads (MASKED_LM, CAUSAL_LM, …)."""
    from transformers.models.auto import modeling_auto

    return set().union(
        *(getattr(modeling_auto, f"MODEL_FOR_{head}_MAPPING_NAMES") for head in heads)
    )


def kind_of(config) -> str | None:
    """`encoder`, `encoder_decoder` or `decoder`; None where transformers knows no language
    modelling head. Architectures of both (BERT) are decoders where config.json says so
    (is_decoder).
    """
    if getattr(config, "is_encoder_decoder", False):
        return "encoder_decoder" if config.model_type in _types("SEQ_TO_SEQ_CAUSAL_LM") else None
    decodes = config.model_type in _types("CAUSAL_LM")
    if config.model_type in _types("MASKED_LM") and not (
        decodes and getattr(config, "is_decoder", False)
    ):
        return "encoder"
    return "decoder" if decodes else None


def is_decoder(model_type: str) -> bool:
    """Whether a model type only reads from left to right, whatever its config.json says."""
    return model_type in _types("CAUSAL_LM") - _types("MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM")


def reads_text(model_type: str) -> bool:
    return model_type in _types(
        "MASKED_LM", "CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "SEQUENCE_CLASSIFICATION"
    )
