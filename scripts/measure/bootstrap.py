"""Weights of groups (videos, templates, questions) for intervals and differences: examples of one
group are not independent.

The Bayesian bootstrap (Rubin 1981): in each draw a group has a weight from Exp(1), and its examples
with it. A weight is a function of the group's id and the number of the draw alone, so that whatever
was measured on the same groups (two systems, strides, contexts, experiments, in whatever order and
beside whatever other groups) has paired draws: the spread of a difference is that of the
differences of the draws.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd

BLOCKS = 16_384  # groups whose ids fall into one block share its weight: bounds memory and time
AT_ONCE = 256  # blocks whose weights are held in double precision at once


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Each uint64 as one that looks random: the finaliser of SplitMix64 (Steele et al. 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def exponential(blocks: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """(blocks, draws) numbers from Exp(1), each a function of its two integers alone."""
    keys = mixed(np.asarray(blocks, np.uint64) + np.uint64(1))[:, None]
    numbers = mixed(
        keys + (np.asarray(draws, np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    )
    return -np.log(((numbers >> np.uint64(11)).astype(float) + 0.5) / 2.0**53)


@lru_cache(maxsize=3)
def weights_of(blocks: bytes, resamples: int) -> np.ndarray:
    """(blocks, resamples) float32, made once for all systems that are measured on the same blocks
    (uint64, as bytes).
    """
    numbers, draws = np.frombuffer(blocks, np.uint64), np.arange(resamples)
    weights = np.empty((len(numbers), resamples), np.float32)
    for start in range(0, len(numbers), AT_ONCE):
        weights[start : start + AT_ONCE] = exponential(numbers[start : start + AT_ONCE], draws)
    return weights


@dataclass(frozen=True)
class Resampling:
    """The draws over the groups of a split.

    block    (groups,) the place of each group's block among those that are there, from 0
    weights  (blocks, resamples) float32, the weight of each block in each draw
    """

    block: np.ndarray
    weights: np.ndarray

    @cached_property
    def sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """The groups in the order of their blocks, and where each block begins there."""
        order = np.argsort(self.block, kind="stable")
        return order, np.flatnonzero(np.diff(self.block[order], prepend=-1))


@dataclass(frozen=True)
class Crossed:
    """The draws over groups that go together in two ways: by template, and by pair of times.

    ways  the draws by each way, independent of each other
    both  one group for each template and pair of times
    """

    ways: tuple[Resampling, Resampling]
    both: Resampling


def resampling(
    ids: pd.Series | np.ndarray | list, resamples: int, independent: bool = False
) -> Resampling:
    """The draws over groups; ids: (groups,) the name of each, in the order of the tallies' groups.
    Groups of one name are drawn together. independent: of the draws of all other names.
    """
    hashed = pd.util.hash_array(np.array([str(name) for name in ids], dtype=object))
    blocks, block = np.unique(hashed % np.uint64(BLOCKS), return_inverse=True)
    blocks += np.uint64(BLOCKS * independent)
    return Resampling(block, weights_of(blocks.tobytes(), resamples))


def crossed(first: np.ndarray, second: np.ndarray, resamples: int) -> Crossed:
    """The draws over groups that have two names each; first, second: (groups,)."""
    ways = resampling(first, resamples), resampling(second, resamples, independent=True)
    both = [f"{one} / {other}" for one, other in zip(first, second)]
    return Crossed(ways, resampling(both, resamples))


def by_block(sums: np.ndarray, drawn: Resampling) -> np.ndarray:
    """(blocks, …) sums over the groups of each block; sums: (groups, …)."""
    if len(sums) != len(drawn.block):
        raise ValueError(f"sums of {len(sums)} groups, but {len(drawn.block)} are drawn")
    order, first = drawn.sorted
    return np.add.reduceat(np.asarray(sums, float)[order], first, axis=0)


def drawn_sums(sums: np.ndarray, drawn: Resampling) -> np.ndarray:
    """(resamples, …) weighted sums over the groups; sums: (groups, …)."""
    blocks = by_block(sums, drawn)
    cells = blocks.reshape(len(blocks), -1)
    there = np.flatnonzero(cells.any(1))  # a slice has few of the groups
    weights = drawn.weights if len(there) == len(cells) else drawn.weights[there]
    totals = weights.T @ cells[there].astype(np.float32)
    return totals.reshape(len(totals), *blocks.shape[1:]).astype(float)
