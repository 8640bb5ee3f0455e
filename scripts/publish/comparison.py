"""What this study found, beside what a paper prints (published.csv).

A row of published.csv is one number of a paper:
  study, table, row   where it stands: the study, the paper's table, figure or section, and its row there
  model               a model of resources/models.yaml, several (`; ` between them), majority, human, or empty
  setting             which rows of metrics.parquet (or which source) it is about, `; ` between the parts:
                        column=value    rows with this value; * stands for any text, `none` for a missing value,
                                        `not TEXT` for all other values
                        column~value    the paper had this value: the rows that are nearest to it are shown, and say what differs
                        slice=a=b; c=d  a slice may have several parts: those that are no column of the metrics
  metric              a metric of metrics.parquet; or another fact:
                        <metric>.n      how many examples it was measured on
                        <metric>.sum    its sum over the rows, as of the cells of a confusion matrix
                        training.<setting>, run.<fact>   a setting of the runs, a number of run.json
                        cleaning.<unit>                  how many of them cleaning kept
                        a part of ELSEWHERE              told by an item of its own
  value, unit         a number (± its sd; over, below: a bound; empty: drawn, not printed), and its unit: ours is told in per
                      cent where that is %, as a share where there is none. Or the unit of a comparison:
                        points over <column>=<value>; …   the difference to the same with those values
  note                the paper's words, what it leaves open, where its text and its table disagree
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.measure.intervals import Estimate
from scripts.publish.marks import marks_of
from scripts.publish.names import details_of, method_title, model_title
from scripts.publish.selection import (
    as_text,
    distance,
    once,
    pairs_of,
    selected,
    settings_columns,
    with_interval,
)
from scripts.publish.table import percent, signed

DIFFERENCE = "points over "
COLUMNS = ["Table", "Row", "Measure", "Published", "Here", "Difference", "Caveat", "Note"]
SETTING = "setting: "  # how the measure of a setting of training begins
ELSEWHERE = {
    "statistics": "counted in a table of its own on this page",
    "transfer": "drawn in a figure of its own, where it is run (docs/transfer.md)",
    "shared_words": "counted in a table of its own on this page",
    "people": "told by people, where they answer (docs/people.md)",
    "plateau": "drawn in a figure of its own on this page",
    "standard_error": "see the sd over seeds in the table of every number",
}


Near = Callable[[pd.DataFrame], pd.DataFrame]  # nearest() of a claim
Caveats = Callable[[pd.Series], tuple[str, ...]]  # caveats_of() of a claim


@dataclass
class Facts:
    """What a study left: metrics (rows over all seeds), run.json of its runs, cleaning counts, titles."""

    metrics: pd.DataFrame
    runs: list[dict]
    cleaning: pd.DataFrame
    sources: dict
    models: dict
    study: dict = field(
        default_factory=dict
    )  # its entry of studies.yaml, with `altered`: experiments whose models are not as they came


@dataclass
class Here:
    """One number of this study, as text, how far it lies from the paper's, and what to keep in mind."""

    told: str
    difference: str = ""
    caveats: tuple[str, ...] = ()


def published_claims(file: Path) -> pd.DataFrame:
    """published.csv, all columns as text."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def parts_of(setting: str, sign: str) -> dict[str, str]:
    """The parts of a setting with this sign (= or ~) behind the column, as a mapping."""
    parts = re.findall(r"([^=~;\s]+)\s*([=~])\s*([^;]*)", setting)
    return {column: value.strip() for column, of, value in parts if of == sign}


def settings_of(setting: str) -> dict[str, str]:
    """`source=a; split~b; slice=tense=past` as {source: a, slice: tense=past}; a slice's further parts stand alone."""
    return parts_of(setting, "=")


def paper_of(claim: pd.Series) -> dict[str, list[str]]:
    """By column what the paper had, where another value is worth a warning: its models, and the parts with ~."""
    had = {"model": claim["model"]} | parts_of(claim["setting"], "~")
    return {column: value.split("; ") for column, value in had.items() if value}


def nearest(rows: pd.DataFrame, paper: dict[str, list[str]], of_table: set[str]) -> pd.DataFrame:
    """The rows that differ least from what the paper had: its model first, then as few other differences as there are.

    of_table: the models of the paper's table. One of them has rows of its own there and stands in for no other.
    """
    had = {column: values for column, values in paper.items() if column in rows}
    other = pd.DataFrame(
        {column: ~as_text(rows[column]).isin(values) for column, values in had.items()},
        index=rows.index,
    )
    if "model" in other:
        stays = ~other["model"] | ~rows["model"].isin(of_table)
        rows, other = rows[stays], other[stays]
    distance = other.sum(axis=1) + len(had) * other.get("model", 0)
    return rows[distance == distance.min()] if len(rows) else rows


def caveats_of(row: pd.Series, paper: dict[str, list[str]], facts: Facts) -> tuple[str, ...]:
    """Where a row is not what the paper had, and what makes its number say less."""
    told = []
    for column, values in paper.items():
        value = as_text(pd.Series([row[column]]))[0] if column in row else None
        if value is None or value in values:
            continue
        if column == "model":
            told.append(f"other model: {model_title(value, facts.models)}")
        elif column == "source":
            told.append(f"other data: {facts.sources.get(value, {}).get('title', value)}")
        else:
            told.append(f"{column.replace('_', ' ')} {value}, in the paper {' or '.join(values)}")
    if "model" not in paper and "method" in row and row["method"] != "majority":
        told.append(
            f"by {model_title(row['model'], facts.models)}"
            + (f", {method_title(row['method'])}" if row["method"] != row["model"] else "")
        )
    details = (
        details_of(row["dataset"], [*row.index]).removeprefix(", ") if "dataset" in row else ""
    )
    return (*told, *([details] if details else []), *(marks_of(row) if "sample" in row else []))


def number_of(text: str) -> float | None:
    """The number of a printed value: `40.29 ± 0`, `over 73`, `2e-6`; None where it is none or several."""
    found = re.fullmatch(r"(?:over |below |about )?(-?\d+(?:\.\d+)?(?:e-?\d+)?)(?: ± .*)?", text)
    return float(found[1]) if found else None


def signed_share(difference: float) -> str:
    """A difference of shares with its sign: `+0.02`."""
    return f"{difference:+.2f}".replace("-", "−")


def told(found: Estimate, printed: str, unit: str, caveats: tuple[str, ...]) -> Here:
    """A share or a difference of shares, in the unit of the paper, and how far it lies from the printed number.

    The printed number is taken as it stands: the interval is ours.
    """
    is_share, number = unit == "", number_of(printed)
    plain = signed if unit.startswith(DIFFERENCE) else "{:.2f}".format if is_share else percent
    here = with_interval(found, plain)
    if number is None:
        return Here(here, "", caveats)
    less = Estimate(*(np.array(found, float) - (number if is_share else number / 100)))
    return Here(here, with_interval(less, signed_share if is_share else signed), caveats)


def differences(claim: pd.Series, facts: Facts, near: Near, caveats: Caveats) -> list[Here]:
    """How far a metric lies above the same with other values of some columns, in points."""
    settings, over = (
        settings_of(claim["setting"]),
        settings_of(claim["unit"].removeprefix(DIFFERENCE)),
    )
    measured = facts.metrics[facts.metrics["metric"] == claim["metric"]]
    rows, others = selected(measured, settings), selected(measured, settings | over)
    rows = once(rows[~rows.index.isin(others.index)])
    keys = settings_columns(rows, list(over))
    pairs = near(pairs_of(rows, once(others).drop_duplicates(keys), keys))
    return [
        told(distance(row, row["other"]), claim["value"], claim["unit"], caveats(row))
        for _, row in pairs.iterrows()
    ]


def shares(claim: pd.Series, facts: Facts, near: Near, caveats: Caveats) -> list[Here]:
    """A metric as it was measured, of the systems that are nearest to the paper's; of several slices their mean over all
    examples; a sum over the slices where the metric ends in .sum."""
    metric = claim["metric"].removesuffix(".sum")
    rows = near(
        once(
            selected(
                facts.metrics[facts.metrics["metric"] == metric], settings_of(claim["setting"])
            )
        )
    )
    systems = [
        system for _, system in rows.groupby(settings_columns(rows, []), dropna=False, sort=False)
    ]
    if metric != claim["metric"] and not claim["model"]:  # the same whoever is asked
        systems = list(
            {
                (system["source"].iloc[0], system["dataset"].iloc[0]): system for system in systems
            }.values()
        )
    found = []
    for system in systems:
        first = system.iloc[0]
        if metric != claim["metric"]:
            estimate = Estimate(system["value"].sum(), None, None)
        elif len(system) > 1:
            estimate = Estimate(
                (system["value"] * system["n"]).sum() / system["n"].sum(), None, None
            )
        else:
            estimate = Estimate(*first[["value", "ci_low", "ci_high"]])
        found.append(told(estimate, claim["value"], claim["unit"], caveats(first)))
    return found


def count(found: float, printed: str, caveats: tuple[str, ...]) -> Here:
    """A count beside a printed one."""
    number = number_of(printed)
    return Here(
        f"{found:,g}" if found < 1e6 else f"{found:,.0f}",
        ""
        if number is None
        else f"{found - number:+,g}".replace("-", "−")
        if found != number
        else "0",
        caveats,
    )


def counts(claim: pd.Series, facts: Facts, near: Near, caveats: Caveats) -> list[Here]:
    """How many examples a metric was measured on."""
    rows = selected(
        facts.metrics[facts.metrics["metric"] == claim["metric"].removesuffix(".n")],
        settings_of(claim["setting"]),
    )
    rows = rows.drop_duplicates(["source", "split", "n"])
    return [count(row["n"], claim["value"], tuple(marks_of(row))) for _, row in rows.iterrows()]


def of_runs(claim: pd.Series, facts: Facts, near: Near, caveats: Caveats) -> list[Here]:
    """A setting of training, or a number of run.json, of the runs that are nearest to the paper's."""
    kind, _, name = claim["metric"].partition(".")
    rows = pd.DataFrame(
        [
            run | run["data_options"] | {"found": found}
            for run in facts.runs
            if isinstance(
                found := (run["training"] if kind == "training" else run).get(name), int | float
            )
        ]
    )
    if rows.empty:
        return []
    rows = near(selected(rows, settings_of(claim["setting"]))).drop_duplicates(
        ["model", "found"] if kind == "training" else ["found"]
    )
    return [
        count(row["found"], claim["value"], caveats(row.drop(["method", "dataset"])))
        for _, row in rows.iterrows()
    ]


def cleaned(claim: pd.Series, facts: Facts, near: Near, caveats: Caveats) -> list[Here]:
    """How many of a unit cleaning kept, by split; where it kept nothing by that name, what it noted."""
    found, rows = [], selected(facts.cleaning, settings_of(claim["setting"]))
    rows = near(rows[rows["unit"] == claim["metric"].removeprefix("cleaning.")])
    for _, of_source in rows.groupby("source", sort=False):
        action = "kept" if (of_source["action"] == "kept").any() else "noted"
        by_split = (
            of_source[of_source["action"] == action]
            .groupby(["split", "reason"], sort=False)["count"]
            .sum()
        )
        if len(by_split) == 1:
            found.append(count(int(by_split.iloc[0]), claim["value"], caveats(of_source.iloc[0])))
        elif len(by_split):
            found.append(
                Here(
                    ", ".join(f"{number:,} in {split}" for (split, _), number in by_split.items()),
                    "",
                    caveats(of_source.iloc[0]),
                )
            )
    return found


def found_of(claim: pd.Series, facts: Facts, of_table: set[str] = frozenset()) -> list[Here]:
    """What this study found of one row of published.csv; empty where it has nothing on it. of_table: of nearest()."""
    kind, _, end = claim["metric"].partition(".")
    if kind in ELSEWHERE:
        return []
    finders = {"training": of_runs, "run": of_runs, "cleaning": cleaned}
    find = (
        counts
        if end == "n"
        else differences
        if claim["unit"].startswith(DIFFERENCE)
        else finders.get(kind, shares)
    )
    paper = paper_of(claim)
    about = paper | {"model": [""]} if find is cleaned else paper  # of a corpus no model is told
    return find(
        claim,
        facts,
        lambda rows: nearest(rows, paper, of_table),
        lambda row: caveats_of(row, about, facts),
    )
