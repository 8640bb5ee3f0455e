"""The kind of language model that a transformer is, by its configuration.

transformers is imported inside the functions, since the import takes a second.
"""

# types that have a causal head, but in whose networks a token also sees the tokens after it
SEES_ALL = {"xlnet", "cpmant"}


def _types(*heads: str) -> set[str]:
    """Return the model types for which transformers has one of these heads (MASKED_LM, CAUSAL_LM,
    …).
    """
    from transformers.models.auto import modeling_auto

    return set().union(
        *(getattr(modeling_auto, f"MODEL_FOR_{head}_MAPPING_NAMES") for head in heads)
    )


def kind_of(config) -> str | None:
    """Return `encoder`, `encoder_decoder` or `decoder`; None if transformers has no
    language-modelling head for the model. An architecture with both heads (BERT) is a decoder if
    its config.json says so (is_decoder). XLNet sees whole texts, so it is an encoder.
    """
    if config.model_type in SEES_ALL:
        return "encoder" if config.model_type in _types("SEQUENCE_CLASSIFICATION") else None
    if getattr(config, "is_encoder_decoder", False):
        return "encoder_decoder" if config.model_type in _types("SEQ_TO_SEQ_CAUSAL_LM") else None
    decodes = config.model_type in _types("CAUSAL_LM")
    if config.model_type in _types("MASKED_LM") and not (
        decodes and getattr(config, "is_decoder", False)
    ):
        return "encoder"
    return "decoder" if decodes else None


def is_decoder(model_type: str) -> bool:
    """Return whether models of a type always read only from left to right, for any config.json."""
    causal = _types("CAUSAL_LM") - _types("MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM")
    return model_type in causal - SEES_ALL


def reads_text(model_type: str) -> bool:
    return model_type in _types(
        "MASKED_LM", "CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "SEQUENCE_CLASSIFICATION"
    )
