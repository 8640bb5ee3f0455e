"""The `pseudo_log_likelihood` paradigm: how likely a masked language model finds the whole dialog
with a candidate in place.

One token of the text is masked at a time. The score is the sum of their log-likelihoods (Salazar
et al. 2020, Masked Language Model Scoring, section 2). A text of n tokens takes n readings. The
paradigm does not learn.

A dialog that is too long is cut to the same tokens for all candidates of a place. Else a longer
candidate would leave fewer tokens of the dialog to be scored, and so have a higher sum.
"""

import pyarrow as pa
import torch

from scripts.train.paradigms import fill
from scripts.train.batches import Batch, Examples, joined, repeated
from scripts.train.paradigms.paradigm import (
    cloze_examples,
    contexts_and_candidates,
    mask_token,
    window,
)

AT_ONCE = 16_384  # tokens, so that memory stays bounded


class Paradigm(fill.Paradigm):
    """Each candidate gets one score (scripts/train/paradigms/paradigm.py defines a
    paradigm).
    """

    def encode(self, table: pa.Table) -> Examples:
        """The texts with their candidates in place."""
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
        ids, inside = batch["input_ids"], batch["attention_mask"]
        mask, width = mask_token(self.tokenizer, self.model), ids.shape[1]
        places = torch.arange(width, device=ids.device)
        is_scored = (places >= len(self.before)) & (
            places < inside.sum(1, keepdim=True) - len(self.after)
        )
        rows, columns = is_scored.nonzero(as_tuple=True)
        total = torch.zeros(len(ids), device=ids.device)
        step = max(1, AT_ONCE // width)
        for start in range(0, len(rows), step):
            row, column = rows[start : start + step], columns[start : start + step]
            masked = ids[row].scatter(1, column[:, None], mask)
            here = places == column[:, None]
            given = {"input_ids": masked, "attention_mask": inside[row]}
            logits = fill.logits_at(network, here, given, plain=plain)
            found = torch.log_softmax(logits.float(), -1)
            total = total.index_add(0, row, found.gather(1, ids[row, column][:, None])[:, 0])
        return total[:, None]
