"""Tokenized examples held flat, and batches of like length in a seeded order."""

from dataclasses import dataclass

import numpy as np
import torch

POOL = (
    50  # batches whose examples are sorted together by length: little padding, still a random order
)
IGNORED = -100  # a target that does not count
Batch = dict[str, torch.Tensor]  # made by collate()


@dataclass
class Ragged:
    """n lists of numbers: list i is flat[starts[i] : starts[i] + lengths[i]]."""

    flat: np.ndarray  # int32
    starts: np.ndarray  # (n,) int64
    lengths: np.ndarray  # (n,) int64

    @classmethod
    def of(cls, flat: np.ndarray, lengths: np.ndarray) -> "Ragged":
        """Lists that stand one after the other in `flat`."""
        return cls(
            flat.astype(np.int32, copy=False),
            np.cumsum(lengths) - lengths,
            lengths.astype(np.int64),
        )

    def take(self, rows: np.ndarray) -> "Ragged":
        """Some of the lists, in the order of `rows`; the numbers are shared, not copied."""
        return Ragged(self.flat, self.starts[rows], self.lengths[rows])

    def cut(self, starts: np.ndarray, lengths: np.ndarray) -> "Ragged":
        """A piece of each list: `lengths` numbers from its `starts` on."""
        return Ragged(self.flat, self.starts + starts, lengths.astype(np.int64))

    def like(self, number: int) -> "Ragged":
        """Lists of the same lengths, of one number."""
        return Ragged.of(np.full(self.lengths.sum(), number), self.lengths)

    def padded(self, width: int, padding: int) -> np.ndarray:
        """(n, width) int64, padded at the end."""
        columns = np.arange(width)
        inside = columns < self.lengths[:, None]
        values = np.full(inside.shape, padding, np.int64)
        values[inside] = self.flat[(self.starts[:, None] + columns)[inside]]
        return values


def repeated(numbers: list[int], n: int) -> Ragged:
    """The same list n times; memory holds it once."""
    return Ragged(
        np.array(numbers, np.int32), np.zeros(n, np.int64), np.full(n, len(numbers), np.int64)
    )


def joined(*parts: Ragged) -> Ragged:
    """List i of the first part, then list i of the second, and so on, as one list."""
    lengths = np.stack([part.lengths for part in parts])
    whole = lengths.sum(0)
    ends = np.cumsum(whole)
    flat = np.empty(ends[-1] if len(ends) else 0, np.int32)
    places = ends - whole
    for part, sizes in zip(parts, lengths):
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        flat[np.repeat(places, sizes) + within] = part.flat[np.repeat(part.starts, sizes) + within]
        places = places + sizes
    return Ragged.of(flat, whole)


@dataclass
class Examples:
    """n tokenized examples. Fields of one example may differ in length (encoder and decoder)."""

    fields: dict[str, Ragged]  # name → tokens (input_ids, token_type_ids, targets, …)
    labels: np.ndarray  # (n,) int64
    choices: np.ndarray  # (n,) int64: examples of one number are candidates for the same place
    truncated: int  # how many examples had to be cut
    truncated_choices: int | None = (
        None  # for how many places a candidate had to be cut; None if there are no candidates
    )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        """(n,) tokens of each example."""
        return self.fields["input_ids"].lengths


def pieces(
    tokenizer, *texts: list[str], chunk: int = 10_000, **options
) -> tuple[dict[str, Ragged], int]:
    """The fields of tokenized texts (one list, or two for pairs), in chunks;
    and how many had to be cut.
    """
    fields: dict[str, list[np.ndarray]] = {
        name: [] for name in tokenizer.model_input_names if name != "attention_mask"
    }
    lengths, truncated = [], 0
    for start in range(0, len(texts[0]), chunk):
        encoded = tokenizer(
            *(column[start : start + chunk] for column in texts),
            return_attention_mask=False,
            return_token_type_ids="token_type_ids" in fields,
            **options,
        )
        lengths.append(
            np.fromiter(map(len, encoded["input_ids"]), np.int64, len(encoded["input_ids"]))
        )
        truncated += sum(bool(encoding.overflowing) for encoding in encoded.encodings)
        for name, parts in fields.items():
            parts.append(
                np.fromiter(
                    (token for row in encoded[name] for token in row), np.int32, lengths[-1].sum()
                )
            )
    sizes = np.concatenate(lengths) if lengths else np.zeros(0, np.int64)
    return {
        name: Ragged.of(np.concatenate(parts) if parts else np.zeros(0, np.int32), sizes)
        for name, parts in fields.items()
    }, truncated


def tokenize(tokenizer, texts: list[list[str]], labels: np.ndarray, max_length: int) -> Examples:
    """Tokenize texts (one list) or pairs of texts (two) once;
    the longer text of a pair is cut first.
    """
    fields, truncated = pieces(tokenizer, *texts, truncation="longest_first", max_length=max_length)
    return Examples(fields, labels.astype(np.int64), np.arange(len(labels)), truncated)


def static_width(width: int) -> int:
    """The next of a few widths (8, 16, 24, 32, 48, 64, 96, …). So there are few compiled graphs of
    fixed shapes.
    """
    step = max(8, 2 ** max(0, (width - 1).bit_length() - 2))
    return -(-width // step) * step


def collate(
    examples: Examples, rows: np.ndarray, padding: dict[str, int], device, most: int | None = None
) -> Batch:
    """The rows as tensors, with attention_mask, labels and choices. Each field is (rows × its
    longest), padded at the end.

    most: pad to one of few widths, none above `most`, since a model has only so many positions.
    """
    batch, device = {}, torch.device(device)
    for name, field in examples.fields.items():
        values = field.take(rows)
        width = int(values.lengths.max())
        batch[name] = values.padded(
            max(width, min(static_width(width), most)) if most else width, padding[name]
        )
    lengths = examples.lengths[rows]
    batch["attention_mask"] = (np.arange(batch["input_ids"].shape[1]) < lengths[:, None]).astype(
        np.int64
    )
    batch["labels"], batch["choices"] = examples.labels[rows], examples.choices[rows]
    tensors = {name: torch.from_numpy(values) for name, values in batch.items()}
    if device.type == "cuda":  # pinned memory is copied while the GPU computes
        tensors = {name: tensor.pin_memory() for name, tensor in tensors.items()}
    return {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}


def parts_of(lengths: np.ndarray, rows: np.ndarray, tokens: int | None) -> list[np.ndarray]:
    """The rows in parts of at most `tokens` tokens each, padding included (at least one row); one
    part where `tokens` is None.
    """
    if tokens is None or lengths[rows].max() * len(rows) <= tokens:
        return [rows]
    rows = rows[np.argsort(-lengths[rows], kind="stable")]
    parts, start = [], 0
    while start < len(rows):  # a few parts a step; the longest text of a part comes first
        size = max(1, tokens // max(1, int(lengths[rows[start]])))  # a text may have no known word
        parts.append(rows[start : start + size])
        start += size
    return parts


def epoch_batches(lengths: np.ndarray, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """The batches of one epoch as row numbers: every row once, like lengths together,
    order by seed and epoch.
    """
    draw = np.random.default_rng([seed, epoch])
    order = draw.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), POOL * batch_size):
        pool = order[start : start + POOL * batch_size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches.extend(np.split(pool, range(batch_size, len(pool), batch_size)))
    return [batches[number] for number in draw.permutation(len(batches))]


def sorted_batches(
    lengths: np.ndarray, choices: np.ndarray, batch_size: int, tokens: int | None = None
) -> list[np.ndarray]:
    """Batches for evaluation. The longest come first, so a batch too large for the memory fails at
    once.

    A batch has batch_size rows. With `tokens` it has as many rows as fit into that many tokens,
    padding included. Candidates for one place stay in one batch, even where it then gets larger.
    """
    group = np.unique(choices, return_inverse=True)[1]
    longest = np.zeros(group.max() + 1, np.int64)
    np.maximum.at(longest, group, lengths)
    order = np.lexsort((group, -longest[group]))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))  # of each group in that order
    largest = int(np.bincount(group).max())
    if tokens is None:
        at_once = max(1, batch_size // largest)
        return np.split(order, starts[at_once::at_once])
    cuts, place = [], 0
    while place < len(starts):
        place += max(1, tokens // (largest * max(1, int(longest[group[order[starts[place]]]]))))
        cuts.append(place)
    return np.split(order, starts[cuts[:-1]])
