"""The `classify` paradigm: a sequence classification head over any model,
for single texts and pairs of texts.

An encoder's head reads the first token. The head of an encoder-decoder or of a decoder reads the
last token that is no padding, since a decoder sees only the tokens before. Texts are padded at the
end. A tokenizer without a separator for pairs gets a newline. A tokenizer without a mask gets a
blank of underscores in TimeDial's contexts. (separate_pairs and blank in
scripts/train/paradigms/paradigm.py do this.)
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from transformers import AutoModelForSequenceClassification

from scripts.running.program import UserError
from scripts.train.batches import Batch, Examples, Ragged, joined, repeated, tokenize
from scripts.train.labels import Head
from scripts.train.paradigms.paradigm import (
    blank,
    check_whole,
    contexts_and_candidates,
    fields_of,
    measure_labels,
    read_config,
    read_network,
    read_tokenizer,
    separate_pairs,
    window,
)

FIELDS = ("input_ids", "token_type_ids", "attention_mask")


def load(model: Path, head: Head, training: dict):
    """The tokenizer and the model, with its own head or a fresh one;
    a model without weights starts from scratch.

    The caller seeds torch. Raises UserError when weights of the model, or of its own head, are
    missing, or when max_length is too long.
    """
    tokenizer = read_tokenizer(model)
    separate_pairs(tokenizer, model)
    fresh: dict = {}
    if not head.order:
        names = dict(enumerate(head.labels))
        back = {name: number for number, name in names.items()}
        fresh = {"num_labels": len(names), "id2label": names, "label2id": back}
    config = read_config(
        model,
        tokenizer,
        training,
        problem_type="single_label_classification",
        use_cache=False,
        **fresh,
    )
    network, missing = read_network(AutoModelForSequenceClassification, model, config)
    prefix = f"{network.base_model_prefix}."
    check_whole(
        model,
        [key for key in missing if head.order or (key.startswith(prefix) and "pooler" not in key)],
    )
    return tokenizer, network


def log_probabilities(network: torch.nn.Module, head: Head, batch: Batch) -> torch.Tensor:
    """(rows, labels): the log-probability of each label of the head, in the order of the study,
    in fp32.
    """
    logits = network(**fields_of(batch, *FIELDS)).logits
    if head.order:
        logits = logits[:, head.order]
    return torch.log_softmax(logits.float(), dim=-1)


def cross_entropy(scores: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of the cross-entropies of (rows, labels) log-probabilities, and how many rows are
    right.
    """
    # gather has a deterministic form on GPUs. PyTorch's list says that its NLL loss may have none.
    return -scores.gather(1, labels[:, None]).sum(), (scores.argmax(1) == labels).sum()


def pair_frame(tokenizer, model: Path) -> tuple[list[list[int]], list[list[int]]]:
    """The special tokens before, between and after a pair of texts, and their types."""
    first, second = (tokenizer(word, add_special_tokens=False)["input_ids"] for word in "ab")
    whole = tokenizer("a", "b", return_token_type_ids=True)
    ids, types = whole["input_ids"], whole["token_type_ids"]
    starts: list = [
        next((place for place in range(len(ids)) if ids[place : place + len(part)] == part), None)
        for part in (first, second)
    ]
    if None in starts or starts[0] >= starts[1]:
        raise UserError(
            f"{model}: the tokenizer encodes two texts as a pair otherwise than alone; choose "
            "another model"
        )
    cuts = [0, starts[0], starts[0] + len(first), starts[1], starts[1] + len(second), len(ids)]
    frame = list(zip(cuts[0::2], cuts[1::2]))
    return [ids[a:b] for a, b in frame], [types[a:b] for a, b in frame] + [
        [types[starts[0]]],
        [types[starts[1]]],
    ]


def fields_of_parts(tokenizer, parts: list[Ragged], kinds: list[list[int]]) -> dict[str, Ragged]:
    """The fields of examples that are built from parts.

    kinds: for each part the type of all its tokens, or the type of each token.
    """
    fields = {"input_ids": joined(*parts)}
    if "token_type_ids" in tokenizer.model_input_names:
        fields["token_type_ids"] = joined(
            *(
                part.like(kind[0]) if len(kind) == 1 else repeated(kind, len(part.lengths))
                for part, kind in zip(parts, kinds)
            )
        )
    return fields


def tokenize_cloze(
    tokenizer, model: Path, table: pa.Table, labels: np.ndarray, max_length: int
) -> Examples:
    """Contexts and candidates as pairs; a context is cut around its mask."""
    left, right, candidate = contexts_and_candidates(tokenizer, table, model)
    (before, between, after), types = pair_frame(tokenizer, model)
    n, place = len(table), blank(tokenizer)
    left, right, truncated = window(
        left, right, max_length - len(before + place + between + after) - candidate.lengths, table
    )
    parts = [
        repeated(before, n),
        left,
        repeated(place, n),
        right,
        repeated(between, n),
        candidate,
        repeated(after, n),
    ]
    of_first, of_second = types[3], types[4]
    fields = fields_of_parts(
        tokenizer, parts, [types[0], of_first, of_first, of_first, types[1], of_second, types[2]]
    )
    return Examples(fields, labels.astype(np.int64), table["choice"].to_numpy(), *truncated)


class Paradigm:
    """Each label gets its log-probability (paradigm.py defines a paradigm)."""

    def __init__(self, model: Path, job: dict, tables: dict[str, pa.Table]):
        self.model, self.head, self.inputs = model, Head(**job["head"]), job["inputs"]
        self.max_length = job["settings"]["training"]["max_length"]
        self.tokenizer, self.network = self.load(model, job["settings"]["training"], tables)
        self.width = len(self.head.labels)
        self.score_names = self.head.labels
        self.padding = {
            "input_ids": self.tokenizer.pad_token_id,
            "token_type_ids": self.tokenizer.pad_token_type_id,
        }

    def load(self, model: Path, training: dict, tables: dict[str, pa.Table]):
        """Tokenizer and network."""
        return load(model, self.head, training)

    def learnable(self, table: pa.Table) -> pa.Table:
        """The rows to learn from: all."""
        return table

    def encode(self, table: pa.Table) -> Examples:
        """The examples of a table: of one text, of two,
        or of contexts with a mask and candidates for it.
        """
        labels = np.array(self.head.columns)[table["label"].to_numpy()]
        if self.inputs == ["context", "candidate"]:
            return tokenize_cloze(self.tokenizer, self.model, table, labels, self.max_length)
        return tokenize(
            self.tokenizer,
            [table[name].to_pylist() for name in self.inputs],
            labels,
            self.max_length,
        )

    def scores(self, network: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """(rows, labels) log-probabilities."""
        return log_probabilities(network, self.head, batch)

    def plain_scores(self, network: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """(1, labels) what scores() returns for one text (scripts/train/plain.py)."""
        return self.scores(network, batch)

    def loss(self, network: torch.nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The sum of the rows' cross-entropies, and how many rows are right."""
        return cross_entropy(self.scores(network, batch), batch["labels"])

    def measure(self, scores: torch.Tensor, examples: Examples) -> tuple[float, float, int]:
        """Mean cross-entropy and accuracy of (n, labels) log-probabilities, and n."""
        return measure_labels(scores, examples)
