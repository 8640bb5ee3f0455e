"""Weights of groups (videos, templates, questions) for intervals and differences. The examples of
one group are not independent.

This is the Bayesian bootstrap (Rubin 1981). In each draw, a group and its examples have a weight
from Exp(1). A weight depends only on the group's id and the number of the draw. All measurements on
the same groups therefore have paired draws: two systems, strides, contexts or experiments, in any
order and with any other groups. So the spread of a difference is the spread of the differences of
the draws.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np
import pandas as pd

BLOCKS = 16_384  # groups whose ids fall into one block share a weight: bounds memory and time
AT_ONCE = 256  # the number of blocks with weights in double precision at one time


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Map each uint64 to a number that looks random: the finaliser of SplitMix64 (Steele et al.
    2014).
    """
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def exponential(blocks: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return (blocks, draws) numbers from Exp(1); each depends only on its block and its draw."""
    keys = mixed(np.asarray(blocks, np.uint64) + np.uint64(1))[:, None]
    numbers = mixed(
        keys + (np.asarray(draws, np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    )
    return -np.log(((numbers >> np.uint64(11)).astype(float) + 0.5) / 2.0**53)


@lru_cache(maxsize=3)
def weights_of(blocks: bytes, resamples: int) -> np.ndarray:
    """Return the (blocks, resamples) float32 weights. They are computed once for all systems that
    are measured on the same blocks (uint64, as bytes).
    """
    numbers, draws = np.frombuffer(blocks, np.uint64), np.arange(resamples)
    weights = np.empty((len(numbers), resamples), np.float32)
    for start in range(0, len(numbers), AT_ONCE):
        weights[start : start + AT_ONCE] = exponential(numbers[start : start + AT_ONCE], draws)
    return weights


@dataclass(frozen=True)
class Resampling:
    """The draws over the groups of a split.

    block    (groups,) the index of each group's block in `weights`, from 0
    weights  (blocks, resamples) float32, the weight of each block in each draw
    """

    block: np.ndarray
    weights: np.ndarray

    @cached_property
    def order(self) -> np.ndarray:
        """The groups in the order of their blocks."""
        return np.argsort(self.block, kind="stable")


@dataclass(frozen=True)
class Crossed:
    """The draws over examples that are grouped in two ways: by template, and by pair of times.

    ways   the draws of each grouping, independent of each other
    both   the draws with one group for each template and pair of times
    first  (groups,) the number of each group's first name; blocks would count two names as one
    """

    ways: tuple[Resampling, Resampling]
    both: Resampling
    first: np.ndarray

    @property
    def block(self) -> np.ndarray:
        """The block of each group of `both`."""
        return self.both.block


def resampling(
    ids: pd.Series | np.ndarray | list, resamples: int, independent: bool = False
) -> Resampling:
    """Return the draws over groups. ids: (groups,) the name of each group, in the order of the
    tallies' groups. Groups with the same name have the same draws. independent: make draws that are
    independent of the default draws.
    """
    hashed = pd.util.hash_array(np.array([str(name) for name in ids], dtype=object))
    blocks, block = np.unique(hashed % np.uint64(BLOCKS), return_inverse=True)
    blocks += np.uint64(BLOCKS * independent)
    return Resampling(block, weights_of(blocks.tobytes(), resamples))


def crossed(first: np.ndarray, second: np.ndarray, resamples: int) -> Crossed:
    """Return the draws over groups that have two names each; first, second: (groups,)."""
    ways = resampling(first, resamples), resampling(second, resamples, independent=True)
    both = [f"{one} / {other}" for one, other in zip(first, second)]
    return Crossed(ways, resampling(both, resamples), pd.factorize(first)[0])


def grouped(names: pd.DataFrame, resamples: int) -> tuple[np.ndarray, Resampling | Crossed]:
    """Return (n,) the number of each row's group, and the draws over the groups. names: one column
    names groups of one kind; two columns name groups of two kinds.
    """
    columns = list(names)
    groups = names.drop_duplicates().sort_values(columns)
    group = names.groupby(columns).ngroup().to_numpy()
    first, *second = (groups[column].to_numpy() for column in columns)
    return group, crossed(first, second[0], resamples) if second else resampling(first, resamples)


def blocks_there(sums: np.ndarray, drawn: Resampling) -> tuple[np.ndarray, np.ndarray]:
    """Return the blocks that have sums, and these sums. A slice has only some of the groups."""
    if len(sums) != len(drawn.block):
        raise ValueError(f"sums of {len(sums)} groups, but {len(drawn.block)} are drawn")
    has_sums = np.any(sums, tuple(range(1, sums.ndim)), keepdims=True).reshape(-1)
    order = drawn.order[has_sums[drawn.order]]
    block = drawn.block[order]
    first = np.flatnonzero(np.diff(block, prepend=-1))
    return block[first], np.add.reduceat(np.asarray(sums[order], float), first, axis=0)


def drawn_sums(sums: np.ndarray, drawn: Resampling) -> np.ndarray:
    """Return the (resamples, …) weighted sums over the groups; sums: (groups, …). In memory, the
    draws of a sum are side by side: metrics are computed faster from these.
    """
    there, blocks = blocks_there(sums, drawn)
    weights = drawn.weights if len(there) == len(drawn.weights) else drawn.weights[there]
    totals = weights.T @ blocks.reshape(len(there), prod(sums.shape[1:])).astype(np.float32)
    drawn_of_sum = totals.T.astype(float, order="C").reshape(*sums.shape[1:], len(totals))
    return np.moveaxis(drawn_of_sum, -1, 0)
