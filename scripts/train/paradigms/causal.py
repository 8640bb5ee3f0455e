"""How likely a decoder finds the scored part of texts. The beginning that texts share is read once.

The texts of one group share their first `shared` tokens. These are read once for the group, into a
key-value cache. The cache is repeated for each text, and the rest of each text is read after it.
Beginnings are padded on the left and rests on the right, so no padding stands inside a text. The
positions are given, so a sliding window sees as far as without padding.
"""

import inspect

import numpy as np
import torch
from transformers import DynamicCache

from scripts.train.batches import Batch
from scripts.train.paradigms.log_likelihoods import log_likelihoods, summed

AT_ONCE = {"cpu": 2048, "cuda": 65_536}  # tokens of one reading, padding included


def first_of_groups(choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The first row of each group, and the group of each row, as a place among these rows."""
    _, group = torch.unique(choices, return_inverse=True)
    first = torch.full((int(group.max()) + 1,), len(group), device=group.device)
    return first.scatter_reduce(
        0, group, torch.arange(len(group), device=group.device), "amin"
    ), group


def read(
    body, ids: torch.Tensor, columns: torch.Tensor, inside: torch.Tensor, seen: torch.Tensor, cache
):
    """The output of a decoder's body for some columns of texts.

    columns: (rows, width) numbers of the columns, which are positions; inside: which of these hold
    text; seen: (rows, the columns in the cache and these) which hold text.
    """
    columns = columns.clamp(0, ids.shape[1] - 1)
    given = {"input_ids": ids.gather(1, columns) * inside, "attention_mask": seen.long()}
    # without position_ids the model knows places by attention_mask alone
    if "position_ids" in inspect.signature(body.forward).parameters:
        given["position_ids"] = columns * inside
    return body(
        **given,
        **(
            {"past_key_values": cache, "use_cache": True}
            if cache is not None
            else {"use_cache": False}
        ),
    )


def parts_of(
    rest: np.ndarray, shared: np.ndarray, choices: np.ndarray, tokens: int
) -> list[np.ndarray]:
    """The rows in parts. A part has at most `tokens` tokens to read, padding included, but at least
    one group.

    shared, rest: (rows,) how many tokens of each text its group shares, and how many follow. Groups
    with rests of like length stand together. In a batch of texts of like lengths, the shared
    beginnings then have like lengths, too.
    """
    _, group = np.unique(choices, return_inverse=True)
    longest = np.zeros(group.max() + 1, np.int64)
    np.maximum.at(longest, group, rest)
    order = np.lexsort((group, longest[group]))
    starts, cuts, groups = (
        np.append(np.flatnonzero(np.diff(group[order], prepend=-1)), len(order)),
        [0],
        0,
    )
    for start, end in zip(starts, starts[1:]):  # some groups a batch
        rows, groups = order[cuts[-1] : end], groups + 1
        if groups > 1 and len(rows) * rest[rows].max() + groups * shared[rows].max() > tokens:
            cuts.append(start)
            groups = 1
    return np.split(order, cuts[1:])


def scored_likelihoods(
    network: torch.nn.Module, batch: Batch, tokenizer, after: list[int]
) -> torch.Tensor:
    """(rows,) sums of the log-likelihoods of tokens scored_from to scored_to of each row,
    each given all before it.
    """
    shared, choices = (batch[name].cpu().numpy() for name in ("shared", "choices"))
    rest = batch["attention_mask"].sum(1).cpu().numpy() - shared[:, 0]
    found = torch.zeros(len(rest), device=batch["input_ids"].device)
    for part in parts_of(rest, shared[:, 0], choices, AT_ONCE[found.device.type]):
        rows = torch.from_numpy(part).to(found.device)
        found[rows] = of_part(network, {name: values[rows] for name, values in batch.items()})
    return found


def of_part(network: torch.nn.Module, batch: Batch) -> torch.Tensor:
    """The same sums, for as many rows as are read at once."""
    body, ids, length = (
        network.get_decoder(),
        batch["input_ids"],
        batch["attention_mask"].sum(1, keepdim=True),
    )
    shared, cache, seen = batch["shared"], None, batch["attention_mask"][:, :0].bool()
    if width := int(shared.max()):
        first, group = first_of_groups(batch["choices"])
        columns = torch.arange(width, device=ids.device) - (width - shared[first])
        cache = DynamicCache(config=network.config)
        read(body, ids[first], columns, columns >= 0, columns >= 0, cache)
        cache.batch_select_indices(group)
        seen = (columns >= 0)[group]
    columns = shared + torch.arange(int((length - shared).max()), device=ids.device)
    inside = columns < length
    output = read(body, ids, columns, inside, torch.cat([seen, inside], 1), cache)
    # a token's output predicts the token after it
    is_scored = (columns >= batch["scored_from"] - 1) & (columns < batch["scored_to"] - 1)
    rows, places = is_scored.nonzero(as_tuple=True)
    wanted = ids[rows, columns[rows, places] + 1]
    given = {"input_ids": ids[:1, :1], "use_cache": False}
    return summed(
        log_likelihoods(
            network, body, output, output.last_hidden_state[rows, places], wanted, given
        ),
        rows,
        len(ids),
    )
