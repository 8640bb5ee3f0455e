"""Choose the hard strided pairs: the words and the likely places of the two texts do not show their
order.

Not a program. The judge is the searched control (the view both_texts of controls.py): the mean of
all its learners, each divided by its spread. The learners learn from pairs of all splits, five
times, each time without a fifth of the videos. A pair is judged only by learners that learnt
nothing from its video. So splits that share videos (ActivityNet's val_1 and val_2) are judged
fairly, too.

Consider the pairs of which the judge is about equally sure. Of these, as many right ones are kept
as wrong ones. So the judge is right on 50 % of the kept pairs, however sure it is. Equal numbers
without regard to its sureness are not enough: other controls, with other errors, were then right on
up to 62 % (ActivityNet, stride 3). A tie is dropped: the judge made no choice.

The kept pairs depend neither on the coin that swaps pairs nor on size_matched.
"""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import pyarrow as pa
from threadpoolctl import threadpool_limits

from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError
from scripts.studies.strided_sop.controls import VIEWS
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.train.search import FOLD, FOLDS, LEAST_FOLDS, Search, as_margin

MOST = 30_000  # training pairs of the judge: bounds time and memory on a large corpus
AT_ONCE = 10_000  # pairs judged at a time
STRATUM = 50  # pairs that count as equally sure
# Marks of three draws: the pairs to learn from, the pairs that are kept, and their order for the
# judge. So other draws from the same key differ.
DRAWN, KEPT, COIN = 5, 31, 33
READ = [
    *("pair_id", "video_id", "text_a", "text_b", "label"),
    *("first_position", "second_position", "sentences"),
]
Judge = Callable[
    [pa.Table], np.ndarray
]  # of pairs (n,): how sure the judge is of the right order; below 0 it is wrong


def sample_of(tables: Iterable[pa.Table]) -> pa.Table:
    """At most MOST of the pairs, those with the lowest hash of their id."""
    sample = pa.schema([STRIDED_PAIRS.field(name) for name in READ]).empty_table()
    for pairs in tables:
        sample = pa.concat_tables([sample, pairs.select(READ)])
        if len(sample) > MOST:
            hashes = keyed_hash(sample["pair_id"].to_pandas(), DRAWN)
            sample = sample.take(np.sort(np.argpartition(hashes, MOST)[:MOST]))
    return sample


def examples_of(pairs: pa.Table) -> pd.DataFrame:
    """Pairs as a control reads them, swapped or not by a hash of their id alone."""
    table = pairs.select(READ).to_pandas()
    coin = (keyed_hash(table["pair_id"], COIN) & np.uint64(1)).astype(int)
    is_turned = table["label"] != coin
    return table.assign(
        first=table["text_b"].where(is_turned, table["text_a"]),
        second=table["text_a"].where(is_turned, table["text_b"]),
        label=coin,
    ).rename(columns={"video_id": "group_id"})


def judge_of(tables: Iterable[pa.Table], source: str) -> Judge:
    """Learn to judge pairs from the tables of all splits.

    Raises UserError for too few videos to learn from, and where all pairs have equal texts.
    """
    sample = examples_of(sample_of(tables))
    if sample["group_id"].nunique() < FOLDS or (sample["first"] == sample["second"]).all():
        raise unlearnable(sample, source)
    with threadpool_limits(1):
        searched = Search(VIEWS["both_texts"], sample, 2, exchangeable=True)
        if len(searched.folds) < LEAST_FOLDS:
            raise unlearnable(sample, source)
        fits = [searched.fit(frozenset([fold])) for fold in range(FOLDS)]
    names = [name for name in fits[0].scores if all(name in fitted.scores for fitted in fits)]

    def margins(table: pd.DataFrame) -> np.ndarray:
        """(n, learners) how sure each learner is of label 1; only learners without the pair's
        video.
        """
        fold = keyed_hash(table["group_id"], FOLD) % np.uint64(FOLDS)
        found = np.zeros((len(table), len(names)))
        for number in np.unique(fold).astype(int):
            rows = np.flatnonzero(fold == number)
            given, more = searched.read(part := table.iloc[rows]), fits[number].learnt(part)
            scores = [fits[number].scores[name](given, more) for name in names]
            found[rows] = np.column_stack([as_margin(one) for one in scores])
        return found

    def in_parts(table: pd.DataFrame) -> np.ndarray:
        parts = [table[at : at + AT_ONCE] for at in range(0, len(table), AT_ONCE)]
        return np.concatenate([np.zeros((0, len(names))), *map(margins, parts)])

    spread = np.maximum(in_parts(sample).std(0), 1e-9)

    def judge(pairs: pa.Table) -> np.ndarray:
        table = examples_of(pairs)
        return (in_parts(table) / spread).mean(1) * np.where(table["label"] == 1, 1, -1)

    return judge


def unlearnable(sample: pd.DataFrame, source: str) -> UserError:
    """The error that a control cannot be learnt."""
    return UserError(
        f"{source}: hard: true trains a control on pairs of different texts, but "
        f"{sample['group_id'].nunique()} videos have too few pairs; set hard: false, or use a "
        "larger source"
    )


def balanced(sure: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """(n,) which pairs are kept. Each stratum of equally sure pairs keeps as many right as wrong
    ones, those with the lowest hash.
    """
    decided = np.flatnonzero(sure)
    rows = decided[np.lexsort([hashes[decided], np.abs(sure[decided])])]
    strata = max(len(rows) // STRATUM, 1)
    table = pd.DataFrame(
        {"stratum": np.arange(len(rows)) * strata // max(len(rows), 1), "right": sure[rows] > 0},
        index=rows,
    ).iloc[np.argsort(hashes[rows])]
    right = table.groupby("stratum")["right"]
    fewer = np.minimum(right.transform("sum"), right.transform("size") - right.transform("sum"))
    kept = np.zeros(len(sure), bool)
    kept[table.index[table.groupby(["stratum", "right"]).cumcount() < fewer]] = True
    return kept


def hashes_of(pairs: pa.Table) -> np.ndarray:
    """The hash by which the pairs of a split are drawn and recognised."""
    return keyed_hash(pairs["pair_id"].to_pandas(), KEPT)


def hard_of(
    tables: Iterable[pa.Table], judge: Judge, split: str
) -> Callable[[pa.Table], np.ndarray]:
    """A function from a table to (n,): which pairs of a split are hard. It holds 16 bytes for each
    pair of the split, not its texts.

    Raises UserError where no pair is hard.
    """
    seen = [(judge(pairs), hashes_of(pairs)) for pairs in tables]
    sure, hashes = (np.concatenate(parts) for parts in zip(*seen))
    kept = hashes[balanced(sure, hashes)]
    if len(sure) and not len(kept):
        raise UserError(
            f"{split}: no pair is left: of {len(sure)} pairs the control gets "
            f"{(sure > 0).sum()} right and {(sure < 0).sum()} wrong, and equally many of both are "
            "kept; set hard: false, or use a larger source"
        )
    return lambda pairs: np.isin(hashes_of(pairs), kept)
