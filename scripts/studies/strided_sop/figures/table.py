"""Tabulate strided sentence order prediction: every corpus, split, model and stride,
with intervals and sizes.

Accuracy is that of the epoch chosen on held-out training videos; peak accuracy that of the best
epoch on the split itself, as Jain et al. 2020 report. Both are means over the seeds, with their sd
over the seeds and the 95 % interval over videos and seeds.
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.data.runs import facts_of
from scripts.publish.arguments import run_program
from scripts.publish.marks import caption_of, note_of, replicate_counts
from scripts.publish.names import load, source_title, split_title
from scripts.studies.strided_sop.figures.metrics import strided_metrics
from scripts.publish.table import above_cells, filled, interval, percent, publish_table

WORDS = ["Corpus", "Split", "Model"]
CAPTION = (
    "Strided sentence order prediction. Accuracy: the epoch chosen on held-out training videos, "
    "the last where none are held out; peak: the best epoch on the split itself, as Jain et al. "
    "2020 report. Means over the seeds, sd over the seeds, 95 % intervals over videos and seeds; "
    "training pairs without the held-out ones."
)


def training_pairs(folders: list[Path]) -> dict[tuple, str]:
    """By source, dataset, model and method: the pairs that training took steps on;
    a pair read both ways counts twice.
    """
    facts = [facts_of(folder / "run.json") for folder in folders]
    return {
        (
            fact["source"],
            fact["dataset"],
            fact["model"],
            fact["method"],
        ): f"{fact['train_examples']:,}"
        for fact in facts
    }


def cell(row: pd.Series | None, name: str = "") -> str:
    """A number of a row, or its interval; empty without a row."""
    return "" if row is None else percent(row[name]) if name else interval(row)


def tabulate(
    metrics: pd.DataFrame, pairs: dict[tuple, str], sources: dict, models: dict
) -> pd.DataFrame:
    """A row of text for each corpus, split, series and stride,
    from a table made by strided_metrics().
    """
    rows = []
    counts = {
        key: replicate_counts(rows)
        for key, rows in metrics.groupby(["source", "split", "series", "stride"])
    }
    means = metrics[metrics["seed"].isna()]
    human = {
        (row["source"], row["split"], row["stride"]): row
        for _, row in means[means["model"] == "human"].iterrows()
    }
    for key, point in means[means["model"] != "human"].groupby(
        ["source", "split", "series", "stride"], sort=False
    ):
        source, split, series, stride = key
        by = {row["metric"]: row for _, row in point.iterrows()}
        honest, peak, people = (
            by["accuracy"],
            by.get("peak_accuracy"),
            human.get((source, split, stride)),
        )
        title = source_title(source, sources) + note_of(honest)
        rows.append(
            {
                "Corpus": title,
                "Split": split_title(split),
                "Model": series,
                "Stride": str(stride),
                "Training pairs": pairs.get(
                    (source, honest["dataset"], honest["model"], honest["method"]), ""
                ),
                "Pairs": f"{honest['n']:,}",
                "Videos": f"{honest['groups']:,}",
                **counts[key],
                **above_cells(by, "accuracy", models),
                "Accuracy (%)": percent(honest["value"]),
                "SD": percent(honest["sd"]),
                "95 % interval": interval(honest),
                "Peak (%)": cell(peak, "value"),
                "Peak SD": cell(peak, "sd"),
                "Peak 95 % interval": cell(peak),
                "Human (%)": cell(people, "value"),
                "Human 95 % interval": cell(people),
            }
        )
    return filled(pd.DataFrame(rows), WORDS)


def main(given: argparse.Namespace) -> None:
    models = load(given.models)
    metrics = strided_metrics(given.metrics, models, crossed=True)
    table = tabulate(
        metrics,
        training_pairs([given.train / name for name in given.runs]),
        load(given.sources),
        models,
    )
    publish_table(
        given, table, caption_of(CAPTION, metrics, "made-up sentences, not a corpus"), WORDS
    )


if __name__ == "__main__":
    run_program(main, __doc__, "runs")
