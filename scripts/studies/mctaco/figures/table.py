"""Tabulate MC-TACO: F1 and exact match of every system beside the published numbers
(Zhou et al. 2019, table 2).

Each model as learnt from the largest training set that was run (all questions, where a run learnt
from all). Means over the seeds, their sd over the seeds, 95 % intervals over sentences and seeds.
Released predictions are scored as they came. What the paper measured and this study did not run
stands below, on the corpus of the paper only.
"""

import argparse

import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.marks import caption_of, note_of, replicate_counts
from scripts.studies.mctaco.figures.metrics import (
    KEY,
    PLACE,
    mctaco_metrics,
    published_beside,
    table_2,
    trained_most,
)
from scripts.publish.names import load, load_systems, source_title, split_title
from scripts.publish.table import above_cells, filled, interval, percent, publish_table

WORDS = ["Corpus", "Split", "System"]
METRICS = {"F1": "f1", "EM": "exact_match"}
CAPTION = (
    "MC-TACO by question: F1 and exact match (EM). Means over the seeds, sd over the seeds, 95 % "
    "intervals over sentences and seeds. Random: the expected value of a fair coin for each "
    "candidate. Released predictions: the authors' own, scored here. Paper: table 2 of Zhou et al. "
    "2019; its human number is of 100 questions, its RoBERTa number stands in a footnote."
)


def measured(rows: pd.DataFrame, paper: pd.DataFrame, sources: dict, models: dict) -> list[dict]:
    """A row of text for each system of one corpus and split; paper: the systems of table 2 on that
    corpus.
    """
    table_rows = []
    for system, of_system in rows.groupby("system", sort=False):
        by = {row["metric"]: row for _, row in of_system[of_system["seed"].isna()].iterrows()}
        first = by["f1"]
        same = paper[paper.index.isin([tuple(first[KEY])])]
        cells = {
            "Corpus": source_title(first["source"], sources) + note_of(first),
            "Split": split_title(first["split"]),
            "Questions": f"{first['n']:,}",
            "System": system,
            "Training pairs": ""
            if pd.isna(first["train_pairs"])
            else f"{first['train_pairs']:,.0f}",
            **replicate_counts(of_system),
        }
        for name, metric in METRICS.items():
            cells |= {
                f"{name} (%)": percent(by[metric]["value"]),
                f"{name} sd": percent(by[metric]["sd"]),
                f"{name} 95 % interval": interval(by[metric]),
                f"{name} in the paper": percent(same[metric].iloc[0]) if len(same) else "",
            }
        table_rows.append(cells | above_cells(by, "exact_match", models))
    return table_rows


def not_run(rows: pd.DataFrame, paper: pd.DataFrame, like: dict) -> list[dict]:
    """A row of text for each system of table 2 that was not run; like: a row of the same corpus and
    split.
    """
    missing = paper[~paper.index.isin(pd.MultiIndex.from_frame(rows[KEY]))]
    return [
        {
            "Corpus": like["Corpus"],
            "Split": like["Split"],
            "System": f"{row['row']} (in the paper only)",
        }
        | {f"{name} in the paper": percent(row[metric]) for name, metric in METRICS.items()}
        for _, row in missing.iterrows()
    ]


def tabulate(
    metrics: pd.DataFrame, published: pd.DataFrame, sources: dict, models: dict
) -> pd.DataFrame:
    """A row of text for each corpus, split and system, from a table made by mctaco_metrics()."""
    rows = trained_most(metrics)
    above = [f"exact_match_above_{what}" for what in ("control", "same_view", "blind")]
    shown = [*METRICS.values(), *above]
    rows = rows[(rows["slice"] == "all") & rows["metric"].isin(shown) & (rows["model"] != "gold")]
    table_rows = []
    for (source, _), of_split in rows.groupby(PLACE, sort=False):
        paper = table_2(published, source)
        cells = measured(of_split, paper, sources, models)
        table_rows += cells + not_run(of_split, paper, cells[0])
    return filled(pd.DataFrame(table_rows).fillna(""), WORDS)


def main(given: argparse.Namespace) -> None:
    models = load_systems(given.models, given.sources)
    metrics = mctaco_metrics(given.metrics, models)
    table = tabulate(metrics, published_beside(given.sources), load(given.sources), models)
    publish_table(
        given, table, caption_of(CAPTION, metrics, "made-up questions, not a corpus"), WORDS
    )


if __name__ == "__main__":
    run_program(main, __doc__)
