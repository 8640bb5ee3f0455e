"""Tabulate the numbers that a paper prints beside the results of this study: each table and figure
of the paper, row by row.

A row is one number of published.csv and one result beside it, if there is a result
(scripts/publish/comparison.py). Results on sample data are left out.
"""

import pandas as pd

from scripts.data.tables import read_metrics
from scripts.publish.item import Given
from scripts.publish.comparison import (
    COLUMNS,
    DIFFERENCE,
    ELSEWHERE,
    REPORTED,
    SETTING,
    Comparison,
    Facts,
    published_claims,
    settings_of,
)
from scripts.publish.names import in_order
from scripts.publish.selection import as_published, only
from scripts.publish.table import publish_table, with_commas

NONE = "no such run"
COUNTS = ("n", "train_examples", "held_out_examples")


def words_of(metric: str) -> str:
    """Return a metric in words, as `2-best accuracy`, `weighted F1`."""
    words = metric.replace("_", " ").replace("f1", "F1")
    return words.replace("two best", "2-best").replace("one best", "1-best")


def measure_of(claim: dict) -> str:
    """Return `accuracy (%)`, `2-best accuracy, points over target` or `setting: epochs`."""
    kind, _, name = claim["metric"].partition(".")
    unit = claim["unit"]
    if kind == "training":
        return SETTING + name.replace("_", " ")
    if unit.startswith(DIFFERENCE):
        over = settings_of(unit.removeprefix(DIFFERENCE))
        values = dict.fromkeys(value for key, value in over.items() if key != "dataset")
        return f"{words_of(kind)}, {DIFFERENCE}{', '.join(values).replace('_', ' ')}"
    words = words_of(name if kind == REPORTED else kind)
    if kind in ("cleaning", "statistics", "plateau") or name in COUNTS:
        return unit or "share"
    return f"{words} ({unit})" if unit else words


def tabulate(claims: pd.DataFrame, facts: Facts) -> pd.DataFrame:
    sampled = bool(len(facts.metrics)) and bool(facts.metrics["sample"].all())
    real = facts.metrics[~facts.metrics["sample"].astype(bool)]
    runs = [run for run in facts.runs if "sample" not in facts.sources.get(run["source"], {})]
    models = claims["model"].str.split("; ").groupby(claims["table"]).sum()
    rows = []
    for claim in in_order(claims, ["table"], table=claims["table"].unique()).to_dict("records"):
        same = {
            "Table": claim["table"],
            "Row": claim["row"],
            "Measure": measure_of(claim),
            "Published": with_commas(claim["value"]) or "drawn, not printed",
            "Note": claim["note"],
            "Caveat": "sample data only" if sampled else NONE,  # if no result is beside it
        }
        same["Caveat"] = ELSEWHERE.get(claim["metric"].partition(".")[0], same["Caveat"])
        metrics = as_published(real, facts.study, settings_of(claim["setting"]))
        beside = Comparison(
            claim, facts._replace(metrics=metrics, runs=runs), models[claim["table"]]
        )
        rows += [same | found for found in beside.rows() or [{}]]
    return pd.DataFrame(rows, columns=COLUMNS).fillna("")


def read_facts(given: Given, study: str) -> Facts:
    metrics = read_metrics(given.metrics, draws=True).to_pandas()
    metrics = only(metrics, study=study, seed=None)
    files = [
        given.cleaned / source / "cleaning.csv" for source in sorted(metrics["source"].unique())
    ]
    cleaning = [pd.read_csv(file, keep_default_na=False) for file in files if file.exists()]
    nothing = pd.DataFrame(columns="source split unit action reason count".split())
    counts = pd.concat(cleaning, ignore_index=True) if cleaning else nothing
    return Facts(metrics, given.facts, counts, given.sources, given.models, given.studies[study])


def main(given: Given) -> None:
    study = given.output.name.removesuffix("_published")
    claims = published_claims(given.resources / "published.csv")
    table = tabulate(only(claims, study=study), read_facts(given, study))
    publish_table(given, table, set(COLUMNS) - {"Published", "Here", "Difference"})
