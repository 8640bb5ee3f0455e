"""What this study found, beside what a paper prints (published.csv).

A row of published.csv is one number of a paper:
  study, table, row   where it stands: the study, the paper's table, figure or section, and its row
                      there
  model               a model of resources/models.yaml, several (`; ` between them), majority,
                      human, or empty
  setting             which rows of metrics.parquet (or which source) it is about, `; ` between the
                      parts:
                        column=value    rows with this value; * stands for any text, `none` for a
                                        missing value, `not TEXT` for all other values
                        column~value    the paper had this value: the rows that are nearest to it
                                        are shown, and say what differs
                        slice=a=b; c=d  a slice may have several parts: those that are no column of
                                        the metrics
  metric              a metric of metrics.parquet; or another fact:
                        <metric>.n      how many examples it was measured on
                        <metric>.sum    its sum over the rows, as of the cells of a confusion matrix
                        training.<setting>, run.<fact>   a setting of the runs, a number of run.json
                        cleaning.<unit>                  how many of them cleaning kept
                        reported.<metric>                found by another protocol, so that
                                                         nothing here may stand beside it
                        a part of ELSEWHERE              told by an item of its own
  value, unit         a number (± its sd; over, below: a bound; empty: drawn, not printed), and its
                      unit: ours is told in per cent where that is %, as a share where there is
                      none. Or the unit of a comparison:
                        points over <column>=<value>; …   the difference to the same with those
                                        values
  note                the paper's words, what it leaves open, where its text and its table disagree
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.measure.intervals import Estimate
from scripts.publish.marks import marks_of
from scripts.publish.names import details_of, method_note, model_title, source_title
from scripts.publish.selection import (
    as_text,
    distance,
    without_repeats,
    pairs_of,
    selected,
    settings_columns,
    with_interval,
)
from scripts.publish.table import percent, signed

DIFFERENCE = "points over "
COLUMNS = ["Table", "Row", "Measure", "Published", "Here", "Difference", "Caveat", "Note"]
SETTING = "setting: "  # how the measure of a setting of training begins
REPORTED = "reported"  # how the metric of a number begins that others found in another way
ELSEWHERE = {
    "statistics": "counted in another table on this page",
    "transfer": "measured by presets/transfer.yaml (docs/transfer.md)",
    "people": "needs people's answers (docs/people.md)",
    "plateau": "shown in another figure on this page",
    "standard_error": "see the sd over seeds in the table of every number",
    REPORTED: "another protocol or metric: this study has no comparable number",
}


@dataclass
class Facts:
    """What a study left: metrics over all seeds, run.json of its runs, cleaning counts, titles."""

    metrics: pd.DataFrame
    runs: list[dict]
    cleaning: pd.DataFrame
    sources: dict
    models: dict
    # its entry of studies.yaml, with `altered`: experiments whose models are not as they came
    study: dict = field(default_factory=dict)


def published_claims(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def parts_of(setting: str, sign: str) -> dict[str, str]:
    """The parts of a setting with this sign (= or ~), by column."""
    parts = re.findall(r"([^=~;\s]+)\s*([=~])\s*([^;]*)", setting)
    return {column: value.strip() for column, of, value in parts if of == sign}


def settings_of(setting: str) -> dict[str, str]:
    """`source=a; split~b; slice=tense=past` as {source: a, slice: tense=past}."""
    return parts_of(setting, "=")


def paper_of(claim: pd.Series) -> dict[str, list[str]]:
    """By column what the paper had, where another value is worth a warning."""
    had = {"model": claim["model"]} | parts_of(claim["setting"], "~")
    return {column: value.split("; ") for column, value in had.items() if value}


def number_of(text: str) -> float | None:
    """The number of `40.29 ± 0`, `over 73`, `2e-6`; None where it is none or several."""
    found = re.fullmatch(r"(?:over |below |about )?(-?\d+(?:\.\d+)?(?:e-?\d+)?)(?: ± .*)?", text)
    return float(found[1]) if found else None


def signed_share(difference: float) -> str:
    """`+0.02`."""
    return f"{difference:+.2f}".replace("-", "−")


class Comparison:
    """What this study found of one row of published.csv: rows of Here, Difference, Caveat.
    of_table: the models of the paper's table; one of them has rows of its own there and stands in
    for no other.
    """

    def __init__(self, claim: Mapping, facts: Facts, of_table: Collection[str] = ()):
        self.claim, self.facts, self.of_table = claim, facts, of_table
        self.metric, _, self.end = claim["metric"].partition(".")
        self.settings, self.paper = settings_of(claim["setting"]), paper_of(claim)
        self.number = number_of(claim["value"])

    def rows(self) -> list[dict[str, str]]:
        finders = {"training": self.of_runs, "run": self.of_runs, "cleaning": self.cleaned}
        if self.metric in ELSEWHERE:
            return []
        if self.end == "n":
            return self.counts()
        is_difference = self.claim["unit"].startswith(DIFFERENCE)
        return self.differences() if is_difference else finders.get(self.metric, self.shares)()

    def measured(self) -> pd.DataFrame:
        return self.facts.metrics[self.facts.metrics["metric"] == self.metric]

    def nearest(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows that differ least from what the paper had: its model first."""
        had = {column: values for column, values in self.paper.items() if column in rows}
        other = {column: ~as_text(rows[column]).isin(values) for column, values in had.items()}
        other = pd.DataFrame(other, index=rows.index)
        if "model" in other:
            stays = ~other["model"] | ~rows["model"].isin(self.of_table)
            rows, other = rows[stays], other[stays]
        distance = other.sum(axis=1) + len(had) * other.get("model", 0)
        return rows[distance == distance.min()] if len(rows) else rows

    def caveats(self, row: pd.Series) -> list[str]:
        """Where a row is not what the paper had, and what makes its number say less."""
        parts, models = [], self.facts.models
        for column, values in self.paper.items():
            value = as_text(pd.Series([row[column]]))[0] if column in row else None
            if value is None or value in values:
                continue
            words = f"{column.replace('_', ' ')} {value}, in the paper {' or '.join(values)}"
            if column == "model":
                words = f"other model: {model_title(value, models)}"
            elif column == "source":
                words = f"other data: {source_title(value, self.facts.sources)}"
            parts.append(words)
        if "model" not in self.paper and row.get("method", "majority") != "majority":
            method = method_note(row["method"], [row["model"]])
            parts.append(f"by {model_title(row['model'], models)}{method}")
        if "dataset" in row:
            parts.append(details_of(row["dataset"], [*row.index]).removeprefix(", "))
        return [*filter(None, parts), *(marks_of(row) if "sample" in row else [])]

    def row(self, here: str, difference: str, caveats: Iterable[str]) -> dict[str, str]:
        return {"Here": here, "Difference": difference, "Caveat": "; ".join(caveats)}

    def share(self, found: Estimate, row: pd.Series) -> dict[str, str]:
        """A share or a difference of shares, in the unit of the paper, and how far it lies from the
        printed number.
        """
        is_share, less = self.claim["unit"] == "", ""
        is_difference = self.claim["unit"].startswith(DIFFERENCE)
        plain = signed if is_difference else "{:.2f}".format if is_share else percent
        if self.number is not None:
            printed = self.number if is_share else self.number / 100
            gap = Estimate(*(np.array(found[:3], float) - printed))
            less = with_interval(gap, signed_share if is_share else signed)
        return self.row(with_interval(found, plain), less, self.caveats(row))

    def count(self, found: float, caveats: Iterable[str]) -> dict[str, str]:
        less = ""
        if self.number is not None:
            less = f"{found - self.number:+,g}".replace("-", "−") if found != self.number else "0"
        return self.row(f"{found:,g}" if found < 1e6 else f"{found:,.0f}", less, caveats)

    def differences(self) -> list[dict[str, str]]:
        """How far a metric lies above the same with other values of some columns, in points."""
        over = settings_of(self.claim["unit"].removeprefix(DIFFERENCE))
        rows = selected(self.measured(), self.settings)
        others = selected(self.measured(), self.settings | over)
        rows = without_repeats(rows[~rows.index.isin(others.index)])
        keys = settings_columns(rows, list(over))
        pairs = self.nearest(pairs_of(rows, without_repeats(others).drop_duplicates(keys), keys))
        return [self.share(distance(row, row["other"]), row) for _, row in pairs.iterrows()]

    def shares(self) -> list[dict[str, str]]:
        """A metric of the systems that are nearest to the paper's; of several slices their mean
        over all examples, or the sum (.sum).
        """
        is_sum, found = self.end == "sum", []
        rows = self.nearest(without_repeats(selected(self.measured(), self.settings)))
        groups = rows.groupby(settings_columns(rows, []), dropna=False, sort=False)
        systems = [system for _, system in groups]
        if is_sum and not self.claim["model"]:  # the same whoever is asked
            by_dataset = {tuple(one[["source", "dataset"]].iloc[0]): one for one in systems}
            systems = list(by_dataset.values())
        for system in systems:
            values, n, first = system["value"], system["n"], system.iloc[0]
            estimate = Estimate(*first[["value", "ci_low", "ci_high"]])
            if is_sum or len(system) > 1:
                mean = (values * n).sum() / n.sum()
                estimate = Estimate(values.sum() if is_sum else mean, None, None)
            found.append(self.share(estimate, first))
        return found

    def counts(self) -> list[dict[str, str]]:
        rows = selected(self.measured(), self.settings).drop_duplicates(["source", "split", "n"])
        return [self.count(row["n"], marks_of(row)) for _, row in rows.iterrows()]

    def of_runs(self) -> list[dict[str, str]]:
        """A setting of training, or a number of run.json, of the runs nearest to the paper's."""
        is_setting, rows = self.metric == "training", []
        for run in self.facts.runs:
            value = (run["training"] if is_setting else run).get(self.end)
            if isinstance(value, int | float):
                rows.append(run | run["data_options"] | {"found": value})
        if not rows:
            return []
        rows = self.nearest(selected(pd.DataFrame(rows), self.settings))
        rows = rows.drop_duplicates(["model"] * is_setting + ["found"])
        rows = rows.drop(columns=["method", "dataset"])
        return [self.count(row["found"], self.caveats(row)) for _, row in rows.iterrows()]

    def cleaned(self) -> list[dict[str, str]]:
        """How many of a unit cleaning kept, by split; where it kept none, what it noted."""
        rows, found = selected(self.facts.cleaning, self.settings), []
        rows = self.nearest(rows[rows["unit"] == self.end])
        self.paper = self.paper | {"model": [""]}  # of a corpus no model is told
        for _, of_source in rows.groupby("source", sort=False):
            action = "kept" if (of_source["action"] == "kept").any() else "noted"
            of_action = of_source[of_source["action"] == action]
            counts = of_action.groupby(["split", "reason"], sort=False)["count"].sum()
            caveats = self.caveats(of_source.iloc[0])
            if len(counts) == 1:
                found.append(self.count(int(counts.iloc[0]), caveats))
            elif len(counts):
                counted = [f"{number:,} in {split}" for (split, _), number in counts.items()]
                found.append(self.row(", ".join(counted), "", caveats))
        return found
