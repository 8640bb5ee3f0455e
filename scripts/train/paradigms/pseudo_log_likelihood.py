"""The `pseudo_log_likelihood` paradigm: how likely a masked language model finds the whole dialog
with a candidate in place.

One token of the text is masked at a time. The score is the sum of their log-likelihoods
(scripts/train/paradigms/masking.py). The paradigm does not learn.

A dialog that is too long is cut to the same tokens for all candidates of a place. Else a longer
candidate would leave fewer tokens of the dialog to be scored, and so have a higher sum.
"""

import pyarrow as pa
import torch

from scripts.train.paradigms import fill
from scripts.train.batches import Batch, Examples, joined, repeated
from scripts.train.paradigms.masking import scored_likelihoods
from scripts.train.paradigms.paradigm import (
    cloze_examples,
    contexts_and_candidates,
    mask_token,
    window,
)


class Paradigm(fill.Paradigm):
    """Each candidate gets one score (paradigm.py defines a paradigm)."""

    def encode(self, table: pa.Table) -> Examples:
        """The texts with their candidates in place."""
        mask_token(self.tokenizer, self.model)  # refuses a model without a mask
        left, right, candidate = contexts_and_candidates(self.tokenizer, table, self.model)
        n, room = len(table), self.max_length - len(self.before + self.after)
        left, right, truncated = window(left, right, room - candidate.lengths, table)
        fields = {
            "input_ids": joined(
                repeated(self.before, n), left, candidate, right, repeated(self.after, n)
            )
        }
        return cloze_examples(table, fields, truncated)

    def scores(self, network: torch.nn.Module, batch: Batch, plain: bool = False) -> torch.Tensor:
        """(rows, 1) pseudo-log-likelihoods."""
        ends = batch["attention_mask"].sum(1, keepdim=True)
        scored = {
            "scored_from": torch.full_like(ends, len(self.before)),
            "scored_to": ends - len(self.after),
        }
        found = scored_likelihoods(network, batch | scored, self.tokenizer, self.after, plain)
        return found[:, None]
