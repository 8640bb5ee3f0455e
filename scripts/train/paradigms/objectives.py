"""The `objectives` paradigm: classification, and beside it masked language modelling of the same
texts, each with its weight.

Each step reads the texts twice, by one encoder under two heads. The first reading is for the label.
In the second the model must predict 15 % of the tokens (as in an MLM stage:
scripts/train/paradigms/mlm.py). The loss of an example is

    weight · cross-entropy of its label + weight · mean cross-entropy of the tokens asked for

Only the label is measured, as without a second objective, and its held-out loss chooses the epoch.
If a model still has its head that fills masks, training continues with this head. Otherwise the
model gets a new head, and the log reports this. Kept weights do not include this head.
"""

from pathlib import Path

import pyarrow as pa
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForMaskedLM

from scripts.running.program import UserError, log
from scripts.train.paradigms import classify, fill
from scripts.train.batches import IGNORED, Batch
from scripts.train.paradigms.classify import FIELDS
from scripts.train.paradigms.mlm import TARGETS, with_masks
from scripts.train.paradigms.paradigm import loading, mask_token


def masked_model(model: Path, training: dict):
    """A model that fills masks, and whether its head is new. Raises UserError for a model that is
    no encoder with masks.
    """
    with loading(model, "config.json"):
        kind = type(AutoConfig.from_pretrained(model, trust_remote_code=False))
    if kind not in AutoModelForMaskedLM._model_mapping:
        raise UserError(
            f"{model}: a {kind.model_type} model fills no masks, so it learns no second objective; "
            "take `objectives` out"
        )
    tokenizer, masked = fill.load(model, training, learns=True, new_head=True)
    mask_token(tokenizer, model)
    return masked, masked.lacked is None or any(
        not name.startswith(f"{masked.base_model_prefix}.") for name in masked.lacked
    )


def share_body(network: torch.nn.Module, masked) -> None:
    """Let a model that fills masks read by the body of another network, which also gets its
    head.
    """
    setattr(masked, masked.base_model_prefix, network.base_model)
    masked.tie_weights()  # the head's word vectors are those of the body
    parts = dict(masked.named_children())
    del parts[masked.base_model_prefix]
    network.add_module("mask_head", nn.ModuleDict(parts))
    names = network.state_dict()
    network._keys_to_ignore_on_save = {one for one in names if one.startswith("mask_head.")}


class Paradigm(classify.Paradigm):
    """Each label gets its log-probability (paradigm.py defines a paradigm)."""

    def __init__(self, model: Path, job: dict, tables: dict[str, pa.Table]):
        super().__init__(model, job, tables)
        self.weights = dict(job["settings"]["training"]["objectives"])
        self.weight_of_masks = self.weights.pop("mlm")
        [self.weight] = self.weights.values()
        self.special = torch.tensor(sorted(self.tokenizer.all_special_ids))

    def load(self, model: Path, training: dict, tables: dict[str, pa.Table]):
        """Tokenizer and network; the network of masks, `masked`, shares its body."""
        tokenizer, network = super().load(model, training, tables)
        self.masked, is_new = masked_model(model, training)
        share_body(network, self.masked)
        log.info(
            "%s: the head that fills masks is %s",
            model,
            "new, drawn from the seed" if is_new else "the model's own",
        )
        return tokenizer, network

    def masked_batch(self, batch: Batch) -> Batch:
        """The batch with its masks drawn, and their targets: no special token, and at least one
        token of each text.
        """
        ids = batch["input_ids"]
        share, kind, other = torch.rand(3, *ids.shape).to(ids.device)
        inside = batch["attention_mask"].bool() & ~torch.isin(ids, self.special.to(ids.device))
        lowest = torch.where(inside, share, 2.0).min(1, keepdim=True).values
        is_target = inside & ((share < TARGETS) | (share == lowest))
        others, mask = (other * len(self.tokenizer)).long(), self.tokenizer.mask_token_id
        return batch | with_masks(ids, is_target, kind, others, mask)

    def of_masks(self, batch: Batch) -> torch.Tensor:
        """The sum of the rows' mean cross-entropies of the tokens asked for, drawn now. The head
        gets only the places of these tokens.
        """
        given = self.masked_batch(batch)
        is_target = given["targets"] != IGNORED
        return -fill.of_targets(
            fill.logits_at(self.masked, is_target, given, FIELDS), given["targets"]
        )[0].sum()

    def loss(self, network: torch.nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The weighted sum of both objectives over the rows,
        and how many rows' labels are right.
        """
        loss, right = super().loss(network, batch)
        return self.weight * loss + self.weight_of_masks * self.of_masks(batch), right
