"""The `fill` paradigm: a masked language model fills as many masks as the candidate has tokens.

A candidate's score is the mean log-likelihood of its tokens in their masks, all masked at once (Qin
et al. 2021, section 4.1.2). Training raises the score of the right candidates.
"""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import torch
from transformers import AutoModelForMaskedLM

from scripts.train.batches import IGNORED, Batch, Examples, joined, repeated
from scripts.train.paradigms.paradigm import (
    Choosing,
    check_trained,
    check_whole,
    cloze_examples,
    contexts_and_candidates,
    fields_of,
    frame_of,
    loaded,
    mask_token,
    read_config,
    read_network,
    read_tokenizer,
    window,
)

FIELDS = ("input_ids", "attention_mask")


def load(model: Path, training: dict, learns: bool, new_head: bool = False):
    """The tokenizer and the masked language model. The caller seeds torch. Raises UserError for a
    model whose weights lack a part; the head that fills masks may be missing with new_head. Raises
    UserError for a model without weights that does not learn.
    """
    tokenizer = read_tokenizer(model)
    config = read_config(model, tokenizer, training)
    check_trained(model, learns)
    network, missing = read_network(AutoModelForMaskedLM, model, config)
    encoder = f"{network.base_model_prefix}."
    lost = [
        key for key in missing if "pooler" not in key and (not new_head or key.startswith(encoder))
    ]
    check_whole(
        model,
        lost,
        "the encoder" if lost and lost[0].startswith(encoder) else "the head that fills masks",
        "name a model that fills masks, or one that learns it in an MLM stage (`mlm:` in "
        "resources/models.yaml)",
    )
    return tokenizer, network


def of_targets(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows,) mean log-likelihood of each row's targets (not IGNORED), and the share of targets
    that are the likeliest token.

    logits: (targets that are not IGNORED, vocabulary)
    """
    is_target = targets != IGNORED
    rows, wanted = is_target.nonzero()[:, 0], targets[is_target]
    found = torch.log_softmax(logits.float(), -1)
    both = torch.stack(
        [found.gather(1, wanted[:, None])[:, 0], (found.argmax(1) == wanted).float()], 1
    )
    summed = torch.zeros(len(targets), 2, device=both.device).index_add(0, rows, both)
    return (summed / is_target.sum(1, keepdim=True).clamp(min=1)).unbind(1)


def logits_at(
    network: torch.nn.Module,
    places: torch.Tensor,
    batch: Batch,
    fields: tuple[str, ...] = FIELDS,
    plain: bool = False,
) -> torch.Tensor:
    """(places, vocabulary) logits where places, (rows, columns) of booleans, is true.

    The head reads each place by itself and costs as much as a small encoder (a decoder's as many
    layers). Few places are needed, so the head gets only these. fields: those fields of the batch
    that the network reads. plain: the head gets all places.
    """
    if plain:
        return network(**fields_of(batch, *fields)).logits[places]

    def only_these(module, given, output):
        # a decoder's head wants rows
        output["last_hidden_state"] = output["last_hidden_state"][places][None]
        return output

    body = getattr(
        network, "module", network
    ).base_model  # module: of a network that several processes share
    hook = body.register_forward_hook(only_these)
    try:
        return network(**fields_of(batch, *fields)).logits[0]
    finally:
        hook.remove()


class Paradigm(Choosing):
    """Each candidate gets one score (paradigm.py defines a paradigm)."""

    read: Callable = staticmethod(load)

    def __init__(self, model: Path, job: dict, tables: dict[str, pa.Table]):
        self.model, self.max_length = model, job["settings"]["training"]["max_length"]
        self.tokenizer, self.network = self.load(model, job)
        self.before, self.after = frame_of(self.tokenizer, model)
        self.padding = {"input_ids": self.tokenizer.pad_token_id, "targets": IGNORED}

    def load(self, model: Path, job: dict):
        """Tokenizer and network."""
        training = job["settings"]["training"]
        if job["learns"]:
            return self.read(model, training, True)
        return loaded(self.read, model, training, False)

    def encode(self, table: pa.Table) -> Examples:
        """Contexts with as many masks as the candidate has tokens (input_ids),
        and those tokens (targets).
        """
        left, right, candidate = contexts_and_candidates(self.tokenizer, table, self.model)
        n, mask = len(table), mask_token(self.tokenizer, self.model)
        left, right, truncated = window(
            left, right, self.max_length - len(self.before + self.after) - candidate.lengths, table
        )
        sides = repeated(self.before, n), left, candidate.like(mask), right, repeated(self.after, n)
        targets = [
            candidate if number == 2 else side.like(IGNORED) for number, side in enumerate(sides)
        ]
        fields = {"input_ids": joined(*sides), "targets": joined(*targets)}
        return cloze_examples(table, fields, truncated)

    def likelihoods(
        self, network: torch.nn.Module, batch: Batch, plain: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows,) mean log-likelihood of the targets,
        and the share of them that the model would write itself.
        """
        is_target = batch["targets"] != IGNORED
        return of_targets(logits_at(network, is_target, batch, plain=plain), batch["targets"])

    def scores(self, network: torch.nn.Module, batch: Batch, plain: bool = False) -> torch.Tensor:
        """(rows, 1) mean log-likelihoods. plain: of one text, by the network's own forward."""
        return self.likelihoods(network, batch, plain)[0][:, None]

    def plain_scores(self, network: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """(1, width) what scores() returns for one text (scripts/train/plain.py)."""
        return self.scores(network, batch, plain=True)

    def loss(self, network: torch.nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Minus the sum of the rows' mean log-likelihoods,
        and how many candidates the model would write itself.
        """
        likelihood, written = self.likelihoods(network, batch)
        return -likelihood.sum(), (written == 1).sum()
