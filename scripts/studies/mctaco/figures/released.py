"""Tabulate what language models said of MC-TACO's test questions, as others released it: exact
match and F1 of each file, and its distance to the best control.

Beside them the baselines, the control with the highest exact match, and the models that were
measured here. The highest exact match stands first.
"""

import argparse

import pandas as pd

from scripts.data.tables import read_metrics
from scripts.publish.arguments import run_program
from scripts.publish.marks import caption_of, note_of
from scripts.publish.names import load, load_systems, source_title, split_title
from scripts.publish.panels import with_best_control
from scripts.publish.table import ABOVE_VIEW, above_cells, filled, interval, percent, publish_table
from scripts.running.program import UserError
from scripts.studies.mctaco.evaluate import SCHEMA
from scripts.studies.mctaco.figures.metrics import PLACE, mctaco_metrics, system_means
from scripts.studies.mctaco.released import Released, read_released

WORDS = ["Corpus", "Split", "System", "Shots", "Asked", "Wording"]
METRICS = {"EM": "exact_match", "F1": "f1"}
CAPTION = (
    "MC-TACO by question: what language models said, as Qiu et al. 2024 released it, scored here. "
    "Exact match (EM) and F1 with 95 % intervals over sentences. Likelihood: one candidate at a "
    "time, yes or no. Letters: all candidates of a question at once. Joined: the answer that takes "
    "three lines of the released file read as one."
)


def measured_here(metrics: pd.DataFrame) -> pd.DataFrame:
    """The means of each system but the data's own labels; of controls the best one."""
    means = system_means(metrics)
    means = means[(means["slice"] == "all") & (means["model"] != "gold")]
    exact = means[means["metric"] == "exact_match"]
    best = pd.MultiIndex.from_frame(with_best_control(exact, PLACE)[[*PLACE, "system"]])
    return means[pd.MultiIndex.from_frame(means[[*PLACE, "system"]]).isin(best)]


def of_others(metrics: pd.DataFrame, told: dict[str, Released]) -> pd.DataFrame:
    """The rows of what others released; what two experiments share stands once."""
    rows = metrics[metrics["model"].isin(told) & (metrics["slice"] == "all")]
    rows = rows.sort_values("value", kind="stable").drop_duplicates([*PLACE, "model", "metric"])
    return rows.assign(system=[told[name].model for name in rows["model"]])


def cells_of(rows: pd.DataFrame, one: Released | None, sources: dict, models: dict) -> dict:
    """The cells of one system; rows: its means by metric; one: of released.csv."""
    by = {row["metric"]: row for _, row in rows.iterrows()}
    first = by["exact_match"]
    joined = ", joined" if one and one.joined else ""
    above = above_cells(by, "exact_match", models)
    if one and one.asked == "letters":  # all candidates were seen
        above.pop(ABOVE_VIEW, None)
    cells = {
        "Corpus": source_title(first["source"], sources) + note_of(first),
        "Split": split_title(first["split"]),
        "Questions": f"{first['n']:,}",
        "System": f"{first['system']}{joined}",
        "Shots": one.shots if one else "",
        "Asked": one.asked if one else "",
        "Wording": one.wording if one else "",
    }
    for name, metric in METRICS.items():
        cells |= {
            f"{name} (%)": percent(by[metric]["value"]),
            f"{name} 95 % interval": interval(by[metric]),
        }
    return cells | above


def tabulate(rows: pd.DataFrame, told: dict, sources: dict, models: dict) -> pd.DataFrame:
    """A row of text for each system, the highest exact match first; told: released.csv by name."""
    table = []
    for _, of_split in rows.groupby(PLACE, sort=False):
        exact = of_split[of_split["metric"] == "exact_match"]
        for key in exact.sort_values("value", ascending=False, kind="stable")["key"]:
            of_system = of_split[of_split["key"] == key]
            one = told.get(of_system["model"].iloc[0])
            table.append(cells_of(of_system, one, sources, models))
    return filled(pd.DataFrame(table).fillna(""), WORDS)


def read_rows(given: argparse.Namespace, models: dict) -> tuple[pd.DataFrame, dict[str, Released]]:
    """The rows of measured_here() and of_others(), with `key`, and released.csv by name."""
    told = {one.name: one for one in read_released(given.sources.with_name("released.csv"))}
    here = measured_here(mctaco_metrics(given.metrics, models))
    others = of_others(read_metrics(given.metrics, SCHEMA, others=True).to_pandas(), told)
    if others.empty:
        raise UserError(
            f"{given.metrics}: no rows of what others released; name it in an experiment of mctaco "
            "(released: [temporal_llms])"
        )
    rows = [here.assign(key=here["system"]), others.assign(key=others["model"])]
    return pd.concat(rows, ignore_index=True), told


def main(given: argparse.Namespace) -> None:
    models, sources = load_systems(given.models, given.sources), load(given.sources)
    rows, told = read_rows(given, models)
    table = tabulate(rows, told, sources, models)
    publish_table(given, table, caption_of(CAPTION, rows, "made-up questions"), WORDS)


if __name__ == "__main__":
    run_program(main, __doc__)
