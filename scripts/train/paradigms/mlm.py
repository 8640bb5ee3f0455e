"""The `mlm` paradigm: masked language modelling over the training dialogs.

It makes a model from which other runs start.

The model must predict 15 % of the tokens. Four fifths of these are masked, a tenth is replaced by
another token, and a tenth stays (Devlin et al. 2019, section 3.1). Each step draws anew. Each
dialog occurs once, with its own words in place of the mask. The loss is a mean over dialogs of the
means over their tokens. BERT's is a mean over the tokens of a batch.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch

from scripts.train.paradigms import fill
from scripts.train.batches import IGNORED, Batch, Examples, pieces
from scripts.train.paradigms.paradigm import mask_token

TARGETS, MASKED, OTHER = 0.15, 0.8, 0.1


def with_masks(
    ids: torch.Tensor, is_target: torch.Tensor, kind: torch.Tensor, other: torch.Tensor, mask: int
) -> Batch:
    """The texts with their targets masked, replaced or left, and the targets, all (rows, width).
    kind: random numbers from 0 to 1 that decide which. other: the tokens that replace.
    """
    replaced = torch.where(kind < MASKED + OTHER, other, ids)
    written = torch.where(kind < MASKED, mask, replaced)
    return {
        "input_ids": torch.where(is_target, written, ids),
        "targets": torch.where(is_target, ids, IGNORED),
    }


class Paradigm(fill.Paradigm):
    """Each text gets the mean log-likelihood of its masked tokens, and the share of them that the
    model would write.

    scripts/train/paradigms/paradigm.py defines a paradigm.
    """

    width = 2
    score_names = ["log_likelihood", "accuracy"]

    def load(self, model: Path, job: dict):
        """Tokenizer and network; a model without the head that fills masks gets a new one."""
        return fill.load(model, job["settings"]["training"], job["learns"], new_head=True)

    def encode(self, table: pa.Table) -> Examples:
        """Each dialog once, with its own words in place of the mask."""
        right = table.filter(pc.equal(table["label"], 1))
        dialogs = right.take(np.flatnonzero(~right["group_id"].to_pandas().duplicated()))
        texts = [
            context.replace("<MASK>", words)
            for context, words in zip(
                *(dialogs[name].to_pylist() for name in ("context", "candidate"))
            )
        ]
        fields, truncated = pieces(
            self.tokenizer, texts, truncation=True, max_length=self.max_length
        )
        n = len(dialogs)
        return Examples(
            {"input_ids": fields["input_ids"]}, np.ones(n, np.int64), np.arange(n), truncated
        )

    def draws(self, batch: Batch, training: bool) -> torch.Tensor:
        """(rows, 3, width) random numbers from 0 to 1. In evaluation they depend on the example
        alone, so the masks are always the same.
        """
        rows, width = batch["input_ids"].shape
        if training:
            return torch.rand(rows, 3, width)
        return torch.stack(
            [
                torch.rand(3, self.max_length, generator=torch.Generator().manual_seed(example))[
                    :, :width
                ]
                for example in batch["choices"].tolist()
            ]
        )

    def likelihoods(
        self, network: torch.nn.Module, batch: Batch, plain: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows,) mean log-likelihood of the tokens asked for, and the share of them that the
        model would write itself.
        """
        ids = batch["input_ids"]
        places = torch.arange(ids.shape[1], device=ids.device)
        inside = places < batch["attention_mask"].sum(1, keepdim=True) - len(self.after)
        inside &= places >= len(self.before)
        share, kind, other = self.draws(batch, network.training).to(ids.device).unbind(1)
        is_target = inside & (share < TARGETS)
        # every text must have at least one target
        is_target |= inside & (places == len(self.before)) & ~is_target.any(1, keepdim=True)
        mask, others = mask_token(self.tokenizer, self.model), (other * len(self.tokenizer)).long()
        given = batch | with_masks(ids, is_target, kind, others, mask)
        return super().likelihoods(network, given, plain)

    def scores(self, network: torch.nn.Module, batch: Batch, plain: bool = False) -> torch.Tensor:
        """(rows, 2): mean log-likelihood, share right."""
        return torch.stack(self.likelihoods(network, batch, plain), 1)

    def loss(self, network: torch.nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Minus the sum of the rows' mean log-likelihoods, and the sum of the shares right."""
        likelihood, written = self.likelihoods(network, batch)
        return -likelihood.sum(), written.sum()

    def measure(self, scores: torch.Tensor, examples: Examples) -> tuple[float, float, int]:
        """Mean cross-entropy, the share of tokens right, and n, from (n, 2) scores."""
        return -scores[:, 0].mean().item(), scores[:, 1].mean().item(), len(scores)
