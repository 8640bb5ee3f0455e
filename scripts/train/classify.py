"""The `classify` paradigm: a sequence classification head over any encoder, for single texts and pairs of texts."""

from pathlib import Path

import torch
import transformers
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from scripts.common.program import UserError
from scripts.train.labels import Head


def load(model: Path, head: Head, training: dict):
    """The tokenizer and the model, with its own head or a fresh one; a model without weights starts from scratch.

    The caller seeds torch. Raises UserError when weights of the encoder, or of its own head, are missing or max_length
    is too long.
    """
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
    if tokenizer.pad_token_id is None:
        raise UserError(f"{model}: the tokenizer has no padding token; choose a model that has one")
    fresh = {} if head.order else {"num_labels": len(head.labels), "id2label": dict(enumerate(head.labels)),
                                   "label2id": {name: number for number, name in enumerate(head.labels)}}
    config = AutoConfig.from_pretrained(model, problem_type="single_label_classification", trust_remote_code=False,
                                        pad_token_id=tokenizer.pad_token_id, **fresh)
    if training.get("dropout") is not None:
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
    lost = sorted(key for key in report["missing_keys"] if head.order or key.startswith(prefix) and "pooler" not in key)
    if lost:
        raise UserError(f"{model}/model.safetensors: {len(lost)} weights of the {'model' if head.order else 'encoder'} are "
                        f"missing, {lost[0]} first; fetch the model again or choose another")
    return tokenizer, network


def log_probabilities(network, head: Head, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """(rows, labels): the log-probability of each label of the head, in the order of the study, in fp32."""
    logits = network(**{name: values for name, values in batch.items() if name != "labels"}).logits
    if head.order:
        logits = logits[:, head.order]
    return torch.log_softmax(logits.float(), dim=-1)
