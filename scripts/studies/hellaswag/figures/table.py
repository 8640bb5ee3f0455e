"""Tabulate HellaSwag: the accuracy of every system, overall and by where the items come from."""

import argparse

import pandas as pd

from scripts.publish.arguments import run_program
from scripts.studies.hellaswag.figures.metrics import hellaswag_metrics
from scripts.publish.marks import caption_of, note_of, replicate_counts
from scripts.publish.names import load, source_title
from scripts.publish.table import above_cells, filled, interval, percent, publish_table

WORDS = ["Corpus", "Dataset", "Split", "System"]
SLICES = {"all": "Accuracy", "domain=activitynet": "Videos", "domain=wikihow": "Articles"}
CAPTION = (
    "HellaSwag: the share of items of which the right ending of four scores highest; chance is "
    "25 %. Means over the seeds, sd over the seeds, 95 % intervals over videos, articles and seeds."
)


def tabulate(metrics: pd.DataFrame, sources: dict, models: dict) -> pd.DataFrame:
    """A row of text for each dataset, split and system,
    from a table made by hellaswag_metrics().
    """
    rows = []
    for (source, dataset, split, system), of_system in metrics.groupby(
        ["source", "dataset", "split", "system"], sort=False
    ):
        over_seeds = of_system[of_system["seed"].isna() & of_system["wording"].isna()]
        by = {
            row["slice"]: row
            for _, row in over_seeds[over_seeds["metric"] == "accuracy"].iterrows()
        }
        above = {row["metric"]: row for _, row in over_seeds.iterrows()}
        cells = {
            "Corpus": source_title(source, sources) + note_of(by["all"]),
            "Dataset": dataset.replace("_", " "),
            "Split": split,
            "System": system,
            **replicate_counts(of_system),
            "Items": f"{by['all']['n']:,}",
        }
        for name, title in SLICES.items():
            if name in by:
                cells |= {
                    f"{title} (%)": percent(by[name]["value"]),
                    f"{title} sd": percent(by[name]["sd"]),
                    f"{title} 95 % interval": interval(by[name]),
                }
        rows.append(cells | above_cells(above, "accuracy", models))
    return filled(pd.DataFrame(rows).fillna(""), WORDS)


def main(given: argparse.Namespace) -> None:
    models = load(given.models)
    metrics = hellaswag_metrics(given.metrics, models)
    table = tabulate(metrics, load(given.sources), models)
    publish_table(given, table, caption_of(CAPTION, metrics, "made-up items, not a corpus"), WORDS)


if __name__ == "__main__":
    run_program(main, __doc__)
