"""The `fill` paradigm: a masked language model fills as many masks as the candidate has tokens.

A candidate's score is the mean log-likelihood of its tokens in their masks, all masked at once (Qin et al. 2021,
section 4.1.2). It learns by raising that of the right candidates.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from transformers import AutoModelForMaskedLM

from scripts.plan.models import has_weights
from scripts.running.program import UserError
from scripts.train.batches import IGNORED, Examples, joined, repeated
from scripts.train.paradigms.paradigm import (
    Choosing, contexts_and_candidates, fields_of, frame_of, mask_token, read_config, read_network, read_tokenizer, window)

FIELDS = ("input_ids", "attention_mask")


def load(model: Path, training: dict, learns: bool, new_head: bool = False):
    """The tokenizer and the masked language model. The caller seeds torch.

    Raises UserError for a model whose weights lack a part, the head that fills masks among them (but for new_head), and for
    one without weights that does not learn.
    """
    tokenizer = read_tokenizer(model)
    config = read_config(model, tokenizer, training)
    if not learns and not has_weights(model):
        raise UserError(f"{model}: has no weights, so it knows nothing before it learns; leave the zero-shot method out, or "
                        "name a trained model")
    network, missing = read_network(AutoModelForMaskedLM, model, config)
    encoder = f"{network.base_model_prefix}."
    if lost := [key for key in missing if "pooler" not in key and (not new_head or key.startswith(encoder))]:
        part = "the encoder" if lost[0].startswith(encoder) else "the head that fills masks"
        raise UserError(f"{model}/model.safetensors: {len(lost)} weights of {part} are missing, {lost[0]} first; name a model "
                        "that fills masks, or one that learns it in an MLM stage (`mlm:` in resources/models.yaml)")
    return tokenizer, network


def of_targets(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows,) mean log-likelihood of each row's targets (not IGNORED), and the share of them that are the likeliest.

    logits: (targets that are not IGNORED, vocabulary)
    """
    asked = targets != IGNORED
    rows, wanted = asked.nonzero()[:, 0], targets[asked]
    found = torch.log_softmax(logits.float(), -1)
    both = torch.stack([found.gather(1, wanted[:, None])[:, 0], (found.argmax(1) == wanted).float()], 1)
    summed = torch.zeros(len(targets), 2, device=both.device).index_add(0, rows, both)
    return (summed / asked.sum(1, keepdim=True).clamp(min=1)).unbind(1)


def logits_at(network, places: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """(places, vocabulary) logits where places, (rows, columns) of booleans, is true.

    The head reads each place by itself, is as dear as a small encoder, and few places are asked for: it gets these only.
    """
    def only_these(module, given, output):
        output["last_hidden_state"] = output["last_hidden_state"][places]
        return output

    encoder = getattr(network, "module", network).base_model  # module: of a network that several processes share
    hook = encoder.register_forward_hook(only_these)
    try:
        return network(**fields_of(batch, *FIELDS)).logits
    finally:
        hook.remove()


class Paradigm(Choosing):
    """Each candidate gets one score (scripts/train/paradigms/paradigm.py says what a paradigm is)."""

    def __init__(self, model: Path, job: dict, tables: dict[str, pa.Table]):
        self.model, self.max_length = model, job["settings"]["training"]["max_length"]
        self.tokenizer, self.network = self.load(model, job)
        self.before, self.after = frame_of(self.tokenizer, model)
        self.padding = {"input_ids": self.tokenizer.pad_token_id, "targets": IGNORED}

    def load(self, model: Path, job: dict):
        """Tokenizer and network."""
        return load(model, job["settings"]["training"], job["learns"])

    def encode(self, table: pa.Table) -> Examples:
        """Contexts with as many masks as the candidate has tokens (input_ids), and those tokens (targets)."""
        left, right, candidate = contexts_and_candidates(self.tokenizer, table, self.model)
        n, mask = len(table), mask_token(self.tokenizer, self.model)
        left, right, truncated = window(left, right, self.max_length - len(self.before + self.after) - candidate.lengths, table)
        sides = repeated(self.before, n), left, candidate.like(mask), right, repeated(self.after, n)
        targets = [candidate if number == 2 else side.like(IGNORED) for number, side in enumerate(sides)]
        fields = {"input_ids": joined(*sides), "targets": joined(*targets)}
        return Examples(fields, table["label"].to_numpy().astype(np.int64), table["choice"].to_numpy(), *truncated)

    def likelihoods(self, network, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows,) mean log-likelihood of the targets, and the share of them that the model would write itself."""
        return of_targets(logits_at(network, batch["targets"] != IGNORED, batch), batch["targets"])

    def scores(self, network, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """(rows, 1) mean log-likelihoods."""
        return self.likelihoods(network, batch)[0][:, None]

    def loss(self, network, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Minus the sum of the rows' mean log-likelihoods, and how many candidates the model would write itself."""
        likelihood, written = self.likelihoods(network, batch)
        return -likelihood.sum(), (written == 1).sum()
