"""The `generate` paradigm: a sequence-to-sequence model writes the text that the mask, a sentinel,
stands for.

As in T5's pretraining, the encoder reads the context with <extra_id_0> in the mask's place. The
decoder reads <extra_id_0> and the candidate. A candidate's score is the mean log-likelihood of its
tokens, so its length does not count (Qin et al. 2021, section 4.1.3). Training raises the score of
the right candidates.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from transformers import AutoModelForSeq2SeqLM

from scripts.running.program import UserError
from scripts.train.paradigms import fill
from scripts.train.batches import IGNORED, Batch, Examples, joined, repeated
from scripts.train.paradigms.infilling import SENTINEL, first_of_groups
from scripts.train.paradigms.paradigm import (
    check_trained,
    check_whole,
    cloze_examples,
    contexts_and_candidates,
    read_config,
    read_network,
    read_tokenizer,
    window,
)


def load(model: Path, training: dict, learns: bool):
    """The tokenizer and the model. The caller seeds torch. Raises UserError for a tokenizer without
    the sentinel, for missing weights, and for a model without weights that does not learn.
    """
    tokenizer = read_tokenizer(model)
    if SENTINEL not in tokenizer.get_vocab():
        raise UserError(
            f"{model}: its tokenizer has no {SENTINEL}; the method generate needs a model like T5"
        )
    config = read_config(model, tokenizer, training)
    if not config.is_encoder_decoder:
        raise UserError(
            f"{model}: a {config.model_type} model has no decoder; the method generate needs a "
            "model like T5"
        )
    check_trained(model, learns)
    network, lost = read_network(AutoModelForSeq2SeqLM, model, config)
    check_whole(model, lost)
    return tokenizer, network


class Paradigm(fill.Paradigm):
    """Each candidate gets one score (paradigm.py defines a paradigm)."""

    read = staticmethod(load)

    def __init__(self, model: Path, job: dict, tables: dict[str, pa.Table]):
        super().__init__(model, job, tables)
        self.padding["decoder_input_ids"] = self.tokenizer.pad_token_id

    def encode(self, table: pa.Table) -> Examples:
        """Contexts with the sentinel (input_ids), the tokens that the decoder reads
        (decoder_input_ids), and those that it must write (targets).
        """
        left, right, candidate = contexts_and_candidates(self.tokenizer, table, self.model)
        n, sentinel = len(table), self.tokenizer.convert_tokens_to_ids(SENTINEL)
        room = np.full(n, self.max_length - 1 - len(self.before + self.after))
        left, right, truncated = window(left, right, room, table)
        start = self.network.config.decoder_start_token_id
        all_but_last = candidate.cut(np.zeros_like(candidate.lengths), candidate.lengths - 1)
        fields = {
            "input_ids": joined(
                repeated(self.before, n),
                left,
                repeated([sentinel], n),
                right,
                repeated(self.after, n),
            ),
            "decoder_input_ids": joined(repeated([start, sentinel], n), all_but_last),
            "targets": joined(repeated([IGNORED], n), candidate),
        }
        return cloze_examples(table, fields, truncated)

    def likelihoods(
        self, network: torch.nn.Module, batch: Batch, plain: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows,) mean log-likelihood of the targets,
        and the share of them that the model would write itself.
        """
        given = {
            "attention_mask": batch["attention_mask"],
            "decoder_input_ids": batch["decoder_input_ids"],
        }
        if network.training or plain:
            given["input_ids"] = batch["input_ids"]
        else:  # candidates for one place share its context: the encoder reads it once
            first, place = first_of_groups(batch["choices"])
            read = network.get_encoder()(
                input_ids=batch["input_ids"][first], attention_mask=batch["attention_mask"][first]
            )
            read["last_hidden_state"] = read.last_hidden_state[place]
            given["encoder_outputs"] = read
        return fill.of_targets(
            network(**given).logits[batch["targets"] != IGNORED], batch["targets"]
        )
