"""Runs on pairs of captions, and their evaluation as an experiment."""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.tables import read_table
from scripts.measure.comparisons import comparisons_beside
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from tests.files import write_rows
from tests.studies.programs import evaluate as evaluate_runs, metrics_in

FACTS = {
    "study": "strided_sop",
    "source": "sample_howto100m",
    "dataset": "stride-0",
    "labels": ["swapped", "in_order"],
    "data_options": {"stride": 0, "size_matched": None, "same_videos": None, "hard": False},
    "train_examples": 900,
}
BUILT = "results/build/strided_sop"


def write_split(pairs: list[dict], folder: Path, dataset: str = "stride-0") -> pd.DataFrame:
    """Write the split val of a dataset; return its examples as a run names them."""
    file = folder / BUILT / f"sample_howto100m/{dataset}/val.parquet"
    write_rows(pairs, file, STRIDED_PAIRS)
    return pd.DataFrame(pairs).rename(columns={"pair_id": "example_id", "video_id": "group_id"})


def scores_of(label: pd.Series, is_right: np.ndarray) -> np.ndarray:
    """Return (n, 2) scores that choose the label where they are right."""
    chosen = np.where(is_right, label, 1 - label)
    return np.where(np.arange(2) == chosen[:, None], -0.1, -2.0)


def evaluate(program, folder: Path, runs, *more, ok: bool = True):
    """Evaluate runs of a folder as the experiment e; return its metrics and comparisons, or the
    message.
    """
    built = folder / BUILT
    done = evaluate_runs(program, "strided_sop", folder, runs, *more, built=built).checked(ok)
    compared = comparisons_beside(folder / "metrics.parquet")
    return (metrics_in(folder), read_table(compared).to_pandas()) if ok else done.stderr
