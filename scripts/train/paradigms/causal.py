"""How likely a decoder finds the scored part of texts. A beginning that texts share is read once.

Texts with a common beginning form a tree: equal tokens after the same beginning are one node. A
tree is read as one row. A node's position is its depth, and it sees only itself and the nodes above
it. So the model reads each text as if there were no other text in the row.

Some models see only near columns, or take a token's position from its column or count it from
another number than 0. reads_trees() detects these models, and they read each text in a row of its
own.
"""

import inspect
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import PreTrainedModel

from scripts.train.batches import Batch, Ragged, parts_of
from scripts.train.paradigms.log_likelihoods import log_likelihoods, summed

NODES = 512  # of a tree, about; a larger one repeats fewer beginnings, but attends to more columns
AT_ONCE = {"cpu": 2048, "cuda": 65_536}  # nodes of one reading, padding included
CLOSE = {torch.bfloat16: 2e-2}  # relative: two readings give the same likelihoods; in fp32 1e-4
TRIED = 16  # tokens of which reads_trees() compares the likelihoods


def trees_of(ids: Ragged) -> np.ndarray:
    """Return the number of each text's tree, (texts,). Texts are sorted by their tokens before they
    are divided into trees, so the texts of a tree have long common beginnings.
    """
    flat = ids.flat.astype(">i4")  # bytes in this order sort as numbers do
    texts = [
        flat[start : start + length].tobytes() for start, length in zip(ids.starts, ids.lengths)
    ]
    trees, tree, nodes, last = np.zeros(len(texts), np.int64), 0, 0, b""
    for row in sorted(range(len(texts)), key=lambda row: texts[row]):
        text, shorter = texts[row], min(len(last), len(texts[row]))
        unlike = np.frombuffer(text[:shorter], "i4") != np.frombuffer(last[:shorter], "i4")
        alike = int(unlike.argmax()) if unlike.any() else len(unlike)
        nodes += ids.lengths[row] - alike
        if nodes > NODES and last:
            tree, nodes = tree + 1, ids.lengths[row]
        trees[row], last = tree, text
    return trees


class Nodes(NamedTuple):
    """The nodes of trees; each tree is a row of columns.

    of_text: (texts, length) the number of each token's node. Of each node (nodes,): its token and
    depth, its row and column, and the column of the node above it (0 at depth 0). A node comes
    after the node above it.
    """

    of_text: np.ndarray
    token: np.ndarray
    depth: np.ndarray
    row: np.ndarray
    column: np.ndarray
    above: np.ndarray


def nodes_of(ids: np.ndarray, lengths: np.ndarray, rows: np.ndarray) -> Nodes:
    """The nodes of texts. ids: (texts, length); lengths, rows: (texts,)."""
    most, count, last = ids.max() + 1, int(rows.max()) + 1, rows.copy()
    found = np.full(ids.shape, -1)
    for depth in range(lengths.max()):
        texts = np.flatnonzero(depth < lengths)
        alike, number = np.unique(last[texts] * most + ids[texts, depth], return_inverse=True)
        found[texts, depth] = last[texts] = count + number
        count += len(alike)
    found -= rows.max() + 1
    text, place = np.nonzero(found >= 0)
    first = np.unique(found[text, place], return_index=True)[1]  # one token of each node
    text, place = text[first], place[first]
    row = rows[text]
    sizes, order = np.bincount(row), np.argsort(row, kind="stable")
    column = np.empty(len(row), np.int64)
    column[order] = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    above = np.where(place > 0, column[found[text, place - 1]], 0)
    return Nodes(found, ids[text, place], place, row, column, above)


def seen_by(nodes: Nodes, shape: tuple[int, int]) -> np.ndarray:
    """(rows, columns, columns) which columns each column sees; a column without a node sees
    itself.
    """
    sees = np.repeat(np.eye(shape[1], dtype=bool)[None], shape[0], 0)
    starts = np.flatnonzero(np.diff(nodes.depth, prepend=0))
    for level in np.split(np.arange(len(nodes.row)), starts)[1:]:
        row, column = nodes.row[level], nodes.column[level]
        sees[row, column] |= sees[row, nodes.above[level]]
    return sees


def body_of(network: torch.nn.Module) -> torch.nn.Module:
    """The part of a decoder below its head. Of ModernBERT's decoder, get_decoder() is a part of the
    head; Llama 4's text model returns itself.
    """
    parts = (network.get_decoder(), network.base_model, *network.children())
    return next(one for one in parts if isinstance(one, PreTrainedModel) and one is not network)


def likelihoods_of(
    network: torch.nn.Module, nodes: Nodes, wanted: np.ndarray, in_trees: bool
) -> torch.Tensor:
    """(wanted,) the log-likelihoods of some nodes, given the nodes above."""
    body, device = body_of(network), network.device
    shape = nodes.row.max() + 1, nodes.column.max() + 1
    tokens, depths, is_node = (np.zeros(shape, kind) for kind in (np.int64, np.int64, bool))
    for table, values in ((tokens, nodes.token), (depths, nodes.depth), (is_node, True)):
        table[nodes.row, nodes.column] = values
    if in_trees:
        sees = torch.from_numpy(seen_by(nodes, shape))[:, None].to(device)
        mask = torch.zeros(sees.shape, dtype=network.dtype, device=device)
        mask.masked_fill_(~sees, torch.finfo(network.dtype).min)
    else:
        mask = torch.from_numpy(is_node.astype(np.int64)).to(device)
    given = {"input_ids": torch.from_numpy(tokens).to(device), "attention_mask": mask}
    if in_trees:
        given["position_ids"] = torch.from_numpy(depths).to(device)
    output = body(**given, use_cache=False)
    # the output of the node above predicts a token
    hidden = output.last_hidden_state[nodes.row[wanted], nodes.above[wanted]]
    token = torch.from_numpy(nodes.token[wanted]).to(device)
    rest = {"input_ids": given["input_ids"][:1, :1], "use_cache": False}
    return log_likelihoods(network, body, output, hidden, token, rest)


def scored_likelihoods(network: torch.nn.Module, batch: Batch, in_trees: bool) -> torch.Tensor:
    """(texts,) sums of the log-likelihoods of tokens scored_from to scored_to of each text,
    each given all before it.

    in_trees: the texts of one number in `choices` are read as a tree.
    """
    names = "input_ids", "attention_mask", "scored_from", "scored_to", "choices"
    ids, inside, first, end, choices = (batch[name].cpu().numpy() for name in names)
    lengths, place = inside.sum(1), np.arange(ids.shape[1])
    tree = np.unique(choices, return_inverse=True)[1] if in_trees else np.arange(len(ids))
    sizes = np.full(tree.max() + 1, NODES) if in_trees else lengths
    found = torch.zeros(len(ids), device=batch["input_ids"].device)
    for part in parts_of(sizes, np.arange(len(sizes)), AT_ONCE[found.device.type]):
        texts = np.flatnonzero(np.isin(tree, part))
        rows = np.unique(tree[texts], return_inverse=True)[1]
        nodes = nodes_of(ids[texts], lengths[texts], rows)
        row, column = np.nonzero((place >= first[texts]) & (place < end[texts]))
        wanted, number = np.unique(nodes.of_text[row, column], return_inverse=True)
        each = likelihoods_of(network, nodes, wanted, in_trees)[torch.from_numpy(number)]
        found[texts] = summed(each, torch.from_numpy(row).to(each.device), len(texts))
    return found


def plain_likelihoods(network: torch.nn.Module, batch: Batch) -> torch.Tensor:
    """(texts,) what scored_likelihoods() returns, from the network's own forward: each text alone,
    by plain attention, without a fused kernel.
    """
    found = []
    for row in range(len(batch["input_ids"])):
        length = int(batch["attention_mask"][row].sum())
        first, end = int(batch["scored_from"][row]), int(batch["scored_to"][row])
        ids = batch["input_ids"][row, :length]
        with sdpa_kernel(SDPBackend.MATH):
            logits = network(input_ids=ids[None], use_cache=False).logits[0]
        each = logits[first - 1 : end - 1].float().log_softmax(-1)
        found.append(each.gather(1, ids[first:end, None]).sum())
    return torch.stack(found)


def read_widest(network: torch.nn.Module) -> None:
    """Read a row as wide as a tree. Some networks have tables that are as wide as their texts."""
    none = torch.zeros(1, NODES, dtype=torch.int64, device=network.device)
    mask = torch.zeros(1, 1, NODES, NODES, dtype=network.dtype, device=network.device)
    body_of(network)(input_ids=none, position_ids=none, attention_mask=mask, use_cache=False)


def reads_trees(network: torch.nn.Module, length: int) -> bool:
    """Whether a decoder gives texts of so many tokens, read as a tree, the likelihoods that its own
    forward gives them. It reads three texts of random tokens in both ways. A network that takes no
    tree raises an error.
    """
    config = network.config.get_text_config()
    window, alibi = (getattr(config, name, None) for name in ("sliding_window", "alibi"))
    if (
        "position_ids" not in inspect.signature(body_of(network).forward).parameters
        or getattr(network, "_is_stateful", False)
        or alibi
        or (window or length) < length
    ):
        return False
    length = min(length, getattr(config, "max_position_embeddings", None) or length)
    ids = np.random.default_rng(0).integers(0, config.vocab_size, (3, length))
    ids[1:, : length // 2] = ids[0, : length // 2]
    ids[2, : 3 * length // 4] = ids[1, : 3 * length // 4]
    ends = np.full((3, 1), length)
    batch = {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "scored_from": np.maximum(ends - TRIED, 1),
        "scored_to": ends,
        "choices": np.zeros(3, np.int64),
    }
    tensors = {name: torch.from_numpy(values).to(network.device) for name, values in batch.items()}
    with torch.inference_mode():
        try:
            read_widest(network)
            tree = scored_likelihoods(network, tensors, in_trees=True)
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, ValueError, IndexError):  # it takes no such mask, or no such row
            return False
        alone = plain_likelihoods(network, tensors)
    return torch.allclose(tree, alone, rtol=CLOSE.get(network.dtype, 1e-4))
