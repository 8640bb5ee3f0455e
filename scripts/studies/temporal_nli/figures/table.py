"""Tabulate temporal-expression NLI as tables 5 to 7 of Thukral et al. 2021,
with the published numbers beside ours.

A row for each source, challenge set, model, method and scoring: accuracy and weighted F1, means ±
sd over the seeds, with the 95 % interval over templates and seeds. Published numbers stand where
the paper has that row; a row of the paper that no run measured is left out.
"""

import argparse

import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.comparison import paper_of, published_claims, settings_of
from scripts.publish.marks import caption_of, note_of, replicate_counts
from scripts.publish.names import load, method_title
from scripts.publish.table import ABOVE_BLIND, above_cells, interval, percent, publish_table
from scripts.studies.temporal_nli.figures.metrics import (
    PLACE,
    SETS,
    STUDY,
    SYSTEM,
    data_title,
    nli_metrics,
)

WORDS = ["Source", "Challenge set", "Model", "Method", "Scoring"]
KEY = ["model", "challenge_set", "method", "scoring"]  # of a number of the paper, beside its metric
NAMES = {"accuracy": "Accuracy", "weighted_f1": "F1"}
JOINT = {
    "contrast_accuracy": "Both of a contrast pair right (%)",
    "less_than_consistency": "Less-than consistency (%)",
}  # of several pairs together, where the set has them
CAPTION = (
    "Temporal-expression NLI. Accuracy and weighted F1 in per cent: means ± sd over the seeds, "
    "95 % intervals over templates and seeds, and what Thukral et al. 2021 print for the same "
    "model and method on their own data (tables 5 to 7). Binary scoring takes neutral and "
    "contradiction as one label."
)


def printed(claims: pd.DataFrame) -> dict[tuple, str]:
    """The paper's tables: by model, challenge set, method, scoring and metric."""
    numbers = {}
    claims = claims[
        (claims["study"] == STUDY) & claims["metric"].isin(NAMES) & (claims["unit"] == "%")
    ]
    for _, claim in claims.iterrows():
        settings = settings_of(claim["setting"])
        if settings.get("slice") == "all" and claim["table"].startswith("Table"):
            for model in paper_of(claim)["model"]:
                numbers[model, *(settings[name] for name in KEY[1:]), claim["metric"]] = claim[
                    "value"
                ]
    return numbers


def spread(row: pd.Series) -> str:
    """`99.81 ± 0.03`; without sd where there is one run."""
    return percent(row["value"], 2) + (f" ± {percent(row['sd'], 2)}" if pd.notna(row["sd"]) else "")


def tabulate(
    metrics: pd.DataFrame, claims: pd.DataFrame, sources: dict, models: dict
) -> pd.DataFrame:
    """A row of text for each source, set, model, method and scoring,
    from a table made by nli_metrics().
    """
    numbers, rows = printed(claims), []
    overall = metrics[
        (metrics["slice"] == "all")
        & metrics["metric"].isin([*NAMES, *JOINT, "accuracy_above_control", "accuracy_above_blind"])
    ]
    for _, point in overall.groupby([*PLACE, "model", *SYSTEM], sort=False):
        means = point[point["seed"].isna()].set_index("metric")
        one = means.loc["accuracy"]
        is_changed = not one[["balanced", "contrast"]].isna().all()
        row = {
            "Source": data_title(one["source"], one["dataset"], sources) + note_of(one),
            "Challenge set": SETS[one["challenge_set"]],
            "Model": one["series"],
            "Method": method_title(one["method"]),
            "Scoring": one["scoring"],
            "Pairs": f"{one['n']:,}",
            "Templates": f"{one['groups']:,.0f}",
            **replicate_counts(point),
            **above_cells(dict(means.iterrows()), "accuracy", models),
        }
        for metric, name in NAMES.items():
            ours = means.loc[metric]
            row |= {
                f"{name} (%)": spread(ours),
                f"{name}, 95 % interval": interval(ours, 2),
                f"{name}, published (%)": ""
                if is_changed
                else numbers.get((*one[KEY], metric), ""),
            }
        row |= {
            name: spread(means.loc[metric])
            for metric, name in JOINT.items()
            if metric in means.index
        }
        rows.append(row)
    table = pd.DataFrame(rows).fillna("")
    return table.drop(
        columns=[name for name in ("Wordings", ABOVE_BLIND) if not (table[name] != "").any()]
    )


def main(given: argparse.Namespace) -> None:
    models = load(given.models)
    metrics = nli_metrics(given.metrics, models)
    table = tabulate(
        metrics,
        published_claims(given.sources.with_name("published.csv")),
        load(given.sources),
        models,
    )
    caption = caption_of(
        CAPTION, metrics, "sets cut down to few templates, for trying the workflow"
    )
    publish_table(given, table, caption, WORDS)


if __name__ == "__main__":
    run_program(main, __doc__)
