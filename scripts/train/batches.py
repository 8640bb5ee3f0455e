"""Tokenized examples held flat, and batches of like length in a seeded order."""

from dataclasses import dataclass

import numpy as np
import torch

POOL = 50  # batches whose examples are sorted together by length: little padding, still a random order


@dataclass
class Examples:
    """n tokenized examples: the tokens of example i are flat[starts[i] : starts[i] + lengths[i]]."""

    fields: dict[str, np.ndarray]  # name → flat int32 tokens (input_ids, token_type_ids)
    starts: np.ndarray  # (n,) int64
    lengths: np.ndarray  # (n,) int64
    labels: np.ndarray  # (n,) int64
    truncated: int  # how many examples had to be cut

    def __len__(self) -> int:
        return len(self.lengths)


def tokenize(tokenizer, texts: list[list[str]], labels: np.ndarray, max_length: int, chunk: int = 10_000) -> Examples:
    """Tokenize texts (one list) or pairs of texts (two) once, in chunks; the longer text of a pair is cut first."""
    fields: dict[str, list[np.ndarray]] = {name: [] for name in tokenizer.model_input_names if name != "attention_mask"}
    lengths, truncated = [], 0
    for start in range(0, len(labels), chunk):
        encoded = tokenizer(*(some[start : start + chunk] for some in texts),
                            truncation="longest_first", max_length=max_length, return_attention_mask=False)
        lengths.append(np.fromiter(map(len, encoded["input_ids"]), np.int64, len(encoded["input_ids"])))
        truncated += sum(bool(encoding.overflowing) for encoding in encoded.encodings)
        for name, parts in fields.items():
            parts.append(np.fromiter((token for row in encoded[name] for token in row), np.int32, lengths[-1].sum()))
    sizes = np.concatenate(lengths) if lengths else np.zeros(0, np.int64)
    return Examples({name: np.concatenate(parts) for name, parts in fields.items()},
                    np.cumsum(sizes) - sizes, sizes, labels.astype(np.int64), truncated)


def select(examples: Examples, rows: np.ndarray) -> Examples:
    """The examples of some rows; tokens are shared, not copied."""
    return Examples(examples.fields, examples.starts[rows], examples.lengths[rows], examples.labels[rows],
                    examples.truncated)


def collate(examples: Examples, rows: np.ndarray, padding: dict[str, int], device) -> dict[str, torch.Tensor]:
    """The rows as tensors (rows × longest), padded at the end, with attention_mask and labels."""
    lengths = examples.lengths[rows]
    columns = np.arange(lengths.max())
    inside = columns < lengths[:, None]
    places = np.where(inside, examples.starts[rows][:, None] + columns, 0)
    batch = {name: np.where(inside, flat[places], padding[name]) for name, flat in examples.fields.items()}
    batch["attention_mask"] = inside
    batch["labels"] = examples.labels[rows]
    return {name: torch.from_numpy(values.astype(np.int64)).to(device, non_blocking=True)
            for name, values in batch.items()}


def epoch_batches(lengths: np.ndarray, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """The batches of one epoch as row numbers: every row once, like lengths together, order by seed and epoch."""
    draw = np.random.default_rng([seed, epoch])
    order = draw.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), POOL * batch_size):
        pool = order[start : start + POOL * batch_size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches.extend(np.split(pool, range(batch_size, len(pool), batch_size)))
    return [batches[number] for number in draw.permutation(len(batches))]


def sorted_batches(lengths: np.ndarray, batch_size: int) -> list[np.ndarray]:
    """Batches for evaluation: longest first, so that a batch too large for the memory fails at once."""
    order = np.argsort(-lengths, kind="stable")
    return np.split(order, range(batch_size, len(order), batch_size))
