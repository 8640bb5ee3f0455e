"""The `clm` paradigm: causal language modelling over the training dialogs.

It makes a model from which other runs start.

The model predicts each token of a dialog from the tokens before it. A dialog begins with the same
token as the texts of the paradigm `likelihood`: the tokenizer's bos, else its eos, else no token.
Each dialog occurs once, with its own words in place of the mask, as in an MLM stage.
"""

from pathlib import Path

import torch
from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForCausalLM

from scripts.running.program import UserError
from scripts.train.paradigms import mlm
from scripts.train.batches import IGNORED, Batch
from scripts.train.paradigms.fill import logits_at, of_targets
from scripts.train.paradigms.paradigm import (
    check_whole,
    frame_of,
    read_config,
    read_network,
    read_tokenizer,
)


def load(model: Path, training: dict):
    """The tokenizer and the causal language model. The caller seeds torch. Raises UserError for a
    model that is no decoder, and for missing weights.
    """
    tokenizer = read_tokenizer(model)
    start = tokenizer.bos_token or tokenizer.eos_token
    if start and not frame_of(tokenizer, model)[0]:
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=f"{start} $A", special_tokens=[(start, tokenizer.convert_tokens_to_ids(start))]
        )
    config = read_config(model, tokenizer, training, use_cache=False)
    if config.is_encoder_decoder or type(config) not in AutoModelForCausalLM._model_mapping:
        raise UserError(
            f"{model}: a {config.model_type} model does not write from left to right; a CLM stage "
            "needs a decoder, as GPT-2"
        )
    network, lost = read_network(AutoModelForCausalLM, model, config)
    check_whole(model, lost)
    return tokenizer, network


class Paradigm(mlm.Paradigm):
    """Each text gets the mean log-likelihood of its tokens and the share of them
    that the model would write.

    scripts/train/paradigms/paradigm.py defines a paradigm.
    """

    def load(self, model: Path, job: dict):
        """Tokenizer and network."""
        return load(model, job["settings"]["training"])

    def likelihoods(
        self, network: torch.nn.Module, batch: Batch, plain: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows,) mean log-likelihood of the tokens but the first, and the share of them that
        the model would write itself.
        """
        ids, inside = batch["input_ids"], batch["attention_mask"].bool()
        following = torch.cat([ids[:, 1:], ids[:, :1]], 1)
        is_target = torch.cat([inside[:, 1:], torch.zeros_like(inside[:, :1])], 1)
        targets = torch.where(is_target, following, IGNORED)
        return of_targets(logits_at(network, is_target, batch, plain=plain), targets)
