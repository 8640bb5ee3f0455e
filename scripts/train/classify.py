"""The `classify` paradigm: a sequence classification head over any encoder, for pairs of texts."""

from pathlib import Path

import torch
import transformers
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from scripts.common.program import UserError


def load(model: Path, labels: list[str], training: dict):
    """The tokenizer and the model with a fresh head for `labels`; a model without weights starts from scratch.

    The caller seeds torch. Raises UserError when weights of the encoder are missing or max_length is too long.
    """
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
    if tokenizer.pad_token_id is None:
        raise UserError(f"{model}: the tokenizer has no padding token; choose a model that has one")
    config = AutoConfig.from_pretrained(
        model, num_labels=len(labels), id2label=dict(enumerate(labels)), label2id={name: i for i, name in enumerate(labels)},
        problem_type="single_label_classification", pad_token_id=tokenizer.pad_token_id, trust_remote_code=False,
    )
    if training["dropout"] is not None:
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout", "classifier_dropout_prob"):
            if hasattr(config, name):
                setattr(config, name, training["dropout"])
    longest = min(tokenizer.model_max_length, getattr(config, "max_position_embeddings", training["max_length"]))
    if training["max_length"] > longest:
        raise UserError(f"{model}: takes {longest} tokens at most, but max_length is {training['max_length']}; "
                        f"write `training: {{max_length: {longest}}}`")
    if not (model / "model.safetensors").exists():
        return tokenizer, AutoModelForSequenceClassification.from_config(config)
    network, report = AutoModelForSequenceClassification.from_pretrained(
        model, config=config, use_safetensors=True, trust_remote_code=False, ignore_mismatched_sizes=True,
        output_loading_info=True, dtype=torch.float32,
    )
    prefix = f"{network.base_model_prefix}."
    lost = sorted(key for key in report["missing_keys"] if key.startswith(prefix) and "pooler" not in key)
    if lost:
        raise UserError(f"{model}/model.safetensors: {len(lost)} weights of the encoder are missing, {lost[0]} first; "
                        "fetch the model again or choose another")
    return tokenizer, network


def log_probabilities(network, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """(rows, labels): the log-probability of each label, in fp32."""
    logits = network(**{name: values for name, values in batch.items() if name != "labels"}).logits
    return torch.log_softmax(logits.float(), dim=-1)
