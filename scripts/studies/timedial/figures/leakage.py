"""Tabulate which training dialogs of TimeDial (Qin et al. 2021) were dropped, and what was built
from the others: a row for each source of dialogs and split, and for datasets that differ here.
"""

from pathlib import Path

import pandas as pd

from scripts.running.program import UserError
from scripts.studies.timedial.evaluate import SCHEMA
from scripts.publish.item import Given
from scripts.publish.names import split_title, study_metrics
from scripts.publish.table import percent, publish_table
from scripts.studies.timedial.figures.metrics import corpus_title
from scripts.studies.timedial.left_out import (
    DUPLICATE,
    EXACT,
    NEAR,
    NO_SPAN,
    SHARES_WORDS,
    TOO_MANY,
)

WORDS = ["Dialogs of", "Split"]
LEFT = {
    EXACT: "Exact sources",
    NEAR: "Near sources",
    SHARES_WORDS: "Share words",
    DUPLICATE: "Occur before",
    NO_SPAN: "Without a time",
    TOO_MANY: "Over the limit",
}


def tabulate(file: Path, sources: dict) -> pd.DataFrame:
    try:
        counts = pd.read_csv(file)
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; build the datasets of timedial again") from None
    rows = []
    for (source, split), of_split in counts.groupby(["source", "split"], sort=False):
        steps = of_split.set_index("reason")
        dropped, built = steps["dialogs_dropped"], steps.loc["built"]
        rows.append(
            {
                "Dialogs of": corpus_title(source, sources),
                "Split": split_title(split),
                "Dialogs": f"{steps.loc['read', 'dialogs_kept']:,}",
                **{name: f"{dropped[reason]:,}" for reason, name in LEFT.items()},
                "Kept": f"{built['dialogs_kept']:,}",
                "Masks": f"{built['mask_instances']:,.0f}",
                "Candidates": f"{built['candidates']:,.0f}",
                "Pool": f"{built['pool']:,.0f}",
                "By frequency (%)": percent(built["right_by_frequency"]),
            }
        )
    return pd.DataFrame(rows)


def main(given: Given) -> None:
    metrics, sources = study_metrics(given.metrics, "timedial", SCHEMA), given.sources
    datasets = metrics[["source", "dataset"]].drop_duplicates().sort_values(["source", "dataset"])
    files = [given.build.joinpath(*place, "leakage.csv") for place in datasets.to_numpy()]
    table = pd.concat([tabulate(file, sources) for file in files]).drop_duplicates()
    table = table.sort_values(WORDS, kind="stable", ignore_index=True)
    publish_table(given, table, WORDS)
