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
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

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


class Facts(NamedTuple):
    """What a study left: metrics over all seeds, run.json of its runs, cleaning counts, titles.
    study: its entry of studies.yaml, with `altered`: experiments whose models are not as they came.
    """

    metrics: pd.DataFrame
    runs: list[dict]
    cleaning: pd.DataFrame
    sources: dict
    models: dict
    study: Mapping = {}


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


Found = list[tuple[Estimate | float | str, pd.Series]]  # what was found, and of which row


class Comparison:
    """What this study found of one row of published.csv: rows of Here, Difference, Caveat.
    of_table: the models of the paper's table; one of them has rows of its own there and stands in
    for no other.
    """

    def __init__(self, claim: Mapping, facts: Facts, of_table: Collection[str] = ()):
        self.claim, self.facts, self.of_table = claim, facts, of_table
        self.metric, _, self.end = claim["metric"].partition(".")
        self.settings, self.paper = settings_of(claim["setting"]), paper_of(claim)
        self.number, self.unit = number_of(claim["value"]), claim["unit"]
        self.measured = facts.metrics[facts.metrics["metric"] == self.metric]

    def rows(self) -> list[dict[str, str]]:
        if self.metric in ELSEWHERE:
            return []
        finders = {"training": self.of_runs, "run": self.of_runs, "cleaning": self.cleaned}
        find = finders.get(self.metric, self.shares)
        if self.end == "n":
            find = self.counts
        elif self.unit.startswith(DIFFERENCE):
            find = self.differences
        rows = []
        for found, row in find():
            here, difference = self.in_words(found)
            caveats = "; ".join(self.caveats(row))
            rows.append({"Here": here, "Difference": difference, "Caveat": caveats})
        return rows

    def in_words(self, found: Estimate | float | str) -> tuple[str, str]:
        """What was found, in the unit of the paper, and how far it lies from the printed number."""
        if isinstance(found, str):
            return found, ""
        if isinstance(found, Estimate):
            is_share, gap = self.unit == "", ""
            if self.number is not None:
                printed = self.number if is_share else self.number / 100
                gap = Estimate(*(np.array(found[:3], float) - printed))
                gap = with_interval(gap, signed_share if is_share else signed)
            is_difference = self.unit.startswith(DIFFERENCE)
            plain = signed if is_difference else "{:.2f}".format if is_share else percent
            return with_interval(found, plain), gap
        here = f"{found:,g}" if found < 1e6 else f"{found:,.0f}"
        gap = 0 if self.number is None else found - self.number
        words = f"{gap:+,g}".replace("-", "−") if gap else "0"
        return here, "" if self.number is None else words

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

    def nearest(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows that differ least from what the paper had: its model first."""
        had = {column: values for column, values in self.paper.items() if column in rows}
        other = {column: ~as_text(rows[column]).isin(values) for column, values in had.items()}
        other = pd.DataFrame(other, index=rows.index)
        if "model" in other:
            stays = ~other["model"] | ~rows["model"].isin(self.of_table)
            rows, other = rows[stays], other[stays]
        distance = other.sum(axis=1) + len(had) * other.get("model", 0)
        return rows[distance == distance.min()]

    def differences(self) -> Found:
        """How far a metric lies above the same with other values of some columns, in points."""
        over = settings_of(self.unit.removeprefix(DIFFERENCE))
        rows = selected(self.measured, self.settings)
        others = selected(self.measured, self.settings | over)
        rows = without_repeats(rows[~rows.index.isin(others.index)])
        keys = settings_columns(rows, list(over))
        pairs = self.nearest(pairs_of(rows, without_repeats(others).drop_duplicates(keys), keys))
        return [(distance(row, row["other"]), row) for _, row in pairs.iterrows()]

    def shares(self) -> Found:
        """A metric of the systems that are nearest to the paper's; of several slices their mean
        over all examples, or the sum (.sum).
        """
        is_sum, found = self.end == "sum", []
        rows = self.nearest(without_repeats(selected(self.measured, self.settings)))
        groups = rows.groupby(settings_columns(rows, []), dropna=False, sort=False)
        systems = [system for _, system in groups]
        if is_sum and not self.claim["model"]:  # the same whoever is asked
            of_dataset = {tuple(one[["source", "dataset"]].iloc[0]): one for one in systems}
            systems = list(of_dataset.values())
        for system in systems:
            values, n, first = system["value"], system["n"], system.iloc[0]
            estimate = Estimate(*first[["value", "ci_low", "ci_high"]])
            if is_sum or len(system) > 1:
                mean = (values * n).sum() / n.sum()
                estimate = Estimate(values.sum() if is_sum else mean, None, None)
            found.append((estimate, first))
        return found

    def counts(self) -> Found:
        rows = selected(self.measured, self.settings).drop_duplicates(["source", "split", "n"])
        return [(row["n"], row[["sample", "limit"]]) for _, row in rows.iterrows()]

    def of_runs(self) -> Found:
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
        return [(row["found"], row) for _, row in rows.iterrows()]

    def cleaned(self) -> Found:
        """How many of a unit cleaning kept, by split; where it kept none, what it noted."""
        rows, found = selected(self.facts.cleaning, self.settings), []
        rows = self.nearest(rows[rows["unit"] == self.end])
        for _, of_source in rows.groupby("source", sort=False):
            action = "kept" if (of_source["action"] == "kept").any() else "noted"
            of_action = of_source[of_source["action"] == action]
            counts = of_action.groupby(["split", "reason"], sort=False)["count"].sum()
            several = ", ".join(f"{number:,} in {split}" for (split, _), number in counts.items())
            number = int(counts.iloc[0]) if len(counts) == 1 else several
            found += [(number, of_source.iloc[0])] * bool(len(counts))
        return found
