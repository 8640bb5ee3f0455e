"""How well spans of k units are put in order by scores of their orders: the metrics of one system on one split.

Not a program. A model that reads all units of a span at once scores each of their k! orders: the log-odds that it is right. The highest is told;
of several that tie each counts as much. exact_order and concordance are those of scripts/studies/strided_sop/span_scores.py, where pairs are scored.
"""

from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.running.program import UserError
from scripts.studies.strided_sop.span_scores import told_by, whole_spans
from scripts.measure.tally import Tally


def rows_by_order(candidates: pd.DataFrame, length: int, where: Path) -> tuple[np.ndarray, pd.Series]:
    """(n, k!) the row of each order of each span, in the order of permutations(range(k)), and the video of each span.

    candidates: pair_id (which ends in the order), video_id, first_position. Raises UserError where a span lacks an order.
    """
    named = {"".join(map(str, order)): place for place, order in enumerate(permutations(range(length)))}
    order = candidates["pair_id"].str.rpartition(":")[2].map(named)
    span = candidates.groupby(["video_id", "first_position"], sort=False).ngroup().to_numpy()
    spans = span.max() + 1
    rows = np.full((spans, factorial(length)), -1)
    rows[span[order.notna()], order.dropna().astype(int)] = np.flatnonzero(order.notna())
    if (rows < 0).any() or rows.size != len(candidates):
        raise UserError(f"{where}: its spans do not have all {factorial(length)} orders of {length} units, each once; build the dataset again")
    return rows, candidates["video_id"].iloc[rows[:, 0]]


def measures_of(judgements: list[pd.DataFrame], candidates: pd.DataFrame, length: int, where: Path) -> tuple[list[Tally], pd.Index]:
    """The tallies of one system, and the videos; judgements: of each replicate scores (of swapped and in order) of the candidates, in their
    order; where: the dataset, for messages."""
    rows, video_of = rows_by_order(candidates, length, where)
    video, videos = pd.factorize(video_of)
    scores = [np.stack(judgement["scores"].to_list()).astype(float) for judgement in judgements]
    told = [told_by((score[:, 1] - score[:, 0])[rows], length) for score in scores]
    return whole_spans(told, length, video, len(videos)), videos
