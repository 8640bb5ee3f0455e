"""Tabulate temporal-expression NLI as tables 5 to 7 of Thukral et al. 2021, beside the published
numbers.
"""

from pathlib import Path

import pandas as pd

from scripts.publish.compared import SYSTEM as COMPARED, cells_of, read_comparisons
from scripts.publish.compared import with_comparisons
from scripts.publish.item import Given
from scripts.publish.marks import note_of, replicate_counts
from scripts.publish.names import method_title
from scripts.publish.published import claims_beside
from scripts.publish.selection import only
from scripts.publish.table import EXPERIMENT, by_metric, interval, percent, publish_table
from scripts.studies.temporal_nli.figures.metrics import (
    PLACE,
    SETS,
    STUDY,
    SYSTEM,
    data_title,
    nli_metrics,
)

WORDS = ["Source", "Challenge set", "Model", "Method", "Scoring", EXPERIMENT]
KEY = ["model", "challenge_set", "method", "scoring"]  # with its metric, these name a number
NAMES = {"accuracy": "Accuracy", "weighted_f1": "F1"}
JOINT = {
    "contrast_accuracy": "Both of a contrast pair right (%)",
    "less_than_consistency": "Less-than consistency (%)",
}  # metrics of several pairs together, in sets that have them


def printed(resources: Path) -> dict[tuple, str]:
    """Return the paper's numbers on whole sets, by KEY and metric."""
    claims = claims_beside(resources, STUDY, [*KEY[1:], "slice"])
    claims = only(claims, slice="all", metric=NAMES, unit="%")
    claims = claims[claims["table"].str.startswith("Table")]
    claims = claims.assign(model=claims["model"].str.split("; ")).explode("model")
    places = claims[[*KEY, "metric"]].itertuples(index=False, name=None)
    return dict(zip(places, claims["value"]))


def spread(row: pd.Series) -> str:
    """Return `99.81 ± 0.03`; without sd for a single run."""
    return percent(row["value"], 2) + (f" ± {percent(row['sd'], 2)}" if pd.notna(row["sd"]) else "")


def main(given: Given) -> None:
    models, sources = given.models, given.sources
    metrics, rows = nli_metrics(given.metrics, models), []
    numbers = printed(given.resources)
    overall = only(metrics, slice="all", metric=[*NAMES, *JOINT])
    overall = with_comparisons(overall, read_comparisons(given.metrics), COMPARED)
    for _, point in overall.groupby([*PLACE, "model", *SYSTEM], sort=False):
        by = by_metric(point[point["seed"].isna()])
        one = by["accuracy"]
        is_changed = one[["balanced", "contrast"]].notna().any()
        row = {
            "Source": data_title(one["source"], one["dataset"], sources) + note_of(one),
            "Challenge set": SETS[one["challenge_set"]],
            "Model": one["series"],
            "Method": method_title(one["method"]),
            "Scoring": one["scoring"],
            "Pairs": f"{one['n']:,}",
            "Templates": f"{one['groups']:,.0f}",
            **replicate_counts(point),
            **cells_of(one, models),
        }
        for metric, name in NAMES.items():
            in_paper = "" if is_changed else numbers.get((*one[KEY], metric), "")
            row |= {
                f"{name} (%)": spread(by[metric]),
                f"{name}, 95 % interval": interval(by[metric], 2),
                f"{name}, published (%)": in_paper,
            }
        row |= {name: spread(by[metric]) for metric, name in JOINT.items() if metric in by}
        rows.append(row | {EXPERIMENT: one["experiment"]})
    publish_table(given, rows, WORDS)
