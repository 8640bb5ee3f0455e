"""Compare this study's numbers with the numbers that a paper prints (published.csv).

A row of published.csv is one number of a paper:
  study, table, row   its place: the study, the paper's table, figure or section, and the row there
  model               a model of resources/models.yaml, several (`; ` between them), majority,
                      human, or empty
  setting             the rows of metrics.parquet (or the source) that correspond to the number,
                      `; ` between the parts:
                        column=value    rows with this value; * stands for any text, `none` for a
                                        missing value, `not TEXT` for all other values
                        column~value    the paper had this value: the table shows the nearest rows
                                        and names the differences
                        slice=a=b; c=d  a slice may have several parts: c is no column of the
                                        metrics
  metric              a metric of metrics.parquet; or another fact:
                        <metric>.n      the number of examples on which it was measured
                        <metric>.sum    its sum over the rows, for example over the cells of a
                                        confusion matrix
                        training.<setting>, run.<fact>   a setting of the runs, a number of run.json
                        cleaning.<unit>                  the number of units that cleaning kept
                        reported.<metric>                a number from another protocol, which is
                                                         not comparable with a number here
                        a key of ELSEWHERE               a fact that another item shows
  value, unit         a number (± its sd; over, below: a bound; empty: the paper draws it and does
                      not print it), and its unit. Our number is in per cent if the unit is %, and a
                      share if the unit is empty. Or the unit of a comparison:
                        points over <column>=<value>; …   the difference to the same rows with
                                        those values
  note                the paper's words, open questions, contradictions between text and table
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
from scripts.publish.table import EXPERIMENT, percent, signed

DIFFERENCE = "points over "
COLUMNS = ["Table", "Row", "Measure", "Published", "Here", "Difference", "Caveat", "Note"]
COLUMNS += [EXPERIMENT]
SETTING = "setting: "  # the beginning of the measure of a training setting
REPORTED = "reported"  # the beginning of a metric that others measured with another protocol
ELSEWHERE = {
    "statistics": "counted in another table on this page",
    "transfer": "measured by presets/transfer.yaml (docs/transfer.md)",
    "people": "needs people's answers (docs/people.md)",
    "plateau": "shown in another figure on this page",
    "standard_error": "see the sd over seeds in the table of every number",
    REPORTED: "another protocol or metric: this study has no comparable number",
}


class Facts(NamedTuple):
    """A study's results: metrics over all seeds, run.json of its runs, cleaning counts, titles.
    study: its entry in studies.yaml, with `altered`: experiments that change their models.
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
    """Return the parts of a setting that have this sign (= or ~), by column."""
    parts = re.findall(r"([^=~;\s]+)\s*([=~])\s*([^;]*)", setting)
    return {column: value.strip() for column, of, value in parts if of == sign}


def settings_of(setting: str) -> dict[str, str]:
    """Return the parts with =: of `source=a; split~b; slice=tense=past`, {source: a, slice:
    tense=past}.
    """
    return parts_of(setting, "=")


def paper_of(claim: pd.Series) -> dict[str, list[str]]:
    """Return the paper's values of the columns in which another value needs a caveat."""
    had = {"model": claim["model"]} | parts_of(claim["setting"], "~")
    return {column: value.split("; ") for column, value in had.items() if value}


def number_of(text: str) -> float | None:
    """Return the number of `40.29 ± 0`, `over 73`, `2e-6`; None for no number or several."""
    found = re.fullmatch(r"(?:over |below |about )?(-?\d+(?:\.\d+)?(?:e-?\d+)?)(?: ± .*)?", text)
    return float(found[1]) if found else None


def signed_share(difference: float) -> str:
    """Return a difference of shares, for example `+0.02`."""
    return f"{difference:+.2f}".replace("-", "−")


Found = list[tuple[Estimate | float | str, pd.Series]]  # the result and its row


class Comparison:
    """This study's results for one row of published.csv: rows of Here, Difference, Caveat,
    Experiment. of_table: the models of the paper's table. Each of them has its own rows there, so
    it does not replace another model.
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
            of = {EXPERIMENT: row.get("experiment", "")}
            rows.append({"Here": here, "Difference": difference, "Caveat": caveats} | of)
        return rows

    def in_words(self, result: Estimate | float | str) -> tuple[str, str]:
        """Return a result in the paper's unit, and its difference from the printed number."""
        if isinstance(result, str):
            return result, ""
        if isinstance(result, Estimate):
            is_share, gap = self.unit == "", ""
            if self.number is not None:
                printed = self.number if is_share else self.number / 100
                gap = Estimate(*(np.array(result[:3], float) - printed))
                gap = with_interval(gap, signed_share if is_share else signed)
            is_difference = self.unit.startswith(DIFFERENCE)
            plain = "{:.2f}".format if is_share else percent
            return with_interval(result, signed if is_difference else plain), gap
        measured = f"{result:,g}" if result < 1e6 else f"{result:,.0f}"
        gap = 0 if self.number is None else result - self.number
        words = f"{gap:+,g}".replace("-", "−") if gap else "0"
        return measured, "" if self.number is None else words

    def caveats(self, row: pd.Series) -> list[str]:
        """Return the differences of a row from the paper's setting, and the marks of its number."""
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
        """Return the rows that differ in the fewest columns from the paper's values. The model
        counts more than all other columns together.
        """
        had = {column: values for column, values in self.paper.items() if column in rows}
        other = {column: ~as_text(rows[column]).isin(values) for column, values in had.items()}
        other = pd.DataFrame(other, index=rows.index)
        if "model" in other:
            stays = ~other["model"] | ~rows["model"].isin(self.of_table)
            rows, other = rows[stays], other[stays]
        distance = other.sum(axis=1) + len(had) * other.get("model", 0)
        return rows[distance == distance.min()]

    def differences(self) -> Found:
        """Return how far a metric lies above the same rows with other values of some columns, in
        points.
        """
        over = settings_of(self.unit.removeprefix(DIFFERENCE))
        rows = selected(self.measured, self.settings)
        others = selected(self.measured, self.settings | over)
        if not (len(rows) and len(others)):
            return []
        rows = without_repeats(rows[~rows.index.isin(others.index)])
        keys = settings_columns(rows, list(over))
        pairs = self.nearest(pairs_of(rows, without_repeats(others).drop_duplicates(keys), keys))
        return [(distance(row, row["other"]), row) for _, row in pairs.iterrows()]

    def shares(self) -> Found:
        """Return a metric of the systems that are nearest to the paper's. Several slices give their
        mean over all examples, or their sum (.sum).
        """
        is_sum, found = self.end == "sum", []
        rows = selected(self.measured, self.settings)
        if not len(rows):
            return []
        rows = self.nearest(without_repeats(rows))
        groups = rows.groupby(settings_columns(rows, []), dropna=False, sort=False)
        systems = [system for _, system in groups]
        if is_sum and not self.claim["model"]:  # all models have this sum
            of_dataset = {tuple(one[["source", "dataset"]].iloc[0]): one for one in systems}
            systems = list(of_dataset.values())
        for system in systems:
            values, n, first = system["value"], system["n"], system.iloc[0]
            estimate = Estimate.of(first)
            if is_sum or len(system) > 1:
                mean = (values * n).sum() / n.sum()
                estimate = Estimate(values.sum() if is_sum else mean, None, None)
            found.append((estimate, first))
        return found

    def counts(self) -> Found:
        rows = selected(self.measured, self.settings).drop_duplicates(["source", "split", "n"])
        return [(row["n"], row[["sample", "limit"]]) for _, row in rows.iterrows()]

    def of_runs(self) -> Found:
        """Return a training setting, or a number of run.json, of the runs nearest to the paper."""
        is_setting, rows = self.metric == "training", []
        for run in self.facts.runs:
            value = (run["training"] if is_setting else run).get(self.end)
            if isinstance(value, int | float):
                rows.append(run | run["data_options"] | {"found": value})
        if not rows:
            return []
        rows = self.nearest(selected(pd.DataFrame(rows), self.settings))
        rows = rows.drop_duplicates(["model", "found"] if is_setting else ["found"])
        rows = rows.drop(columns=["method", "dataset"])
        return [(row["found"], row) for _, row in rows.iterrows()]

    def cleaned(self) -> Found:
        """Return how many of a unit cleaning kept, by split; if it kept none, how many it noted."""
        rows, found = selected(self.facts.cleaning, self.settings), []
        rows = self.nearest(rows[rows["unit"] == self.end])
        for _, of_source in rows.groupby("source", sort=False):
            action = "kept" if (of_source["action"] == "kept").any() else "noted"
            of_action = of_source[of_source["action"] == action]
            counts = of_action.groupby(["split", "reason"], sort=False)["count"].sum()
            several = ", ".join(f"{number:,} in {split}" for (split, _), number in counts.items())
            if len(counts):
                number = int(counts.iloc[0]) if len(counts) == 1 else several
                found.append((number, of_source.iloc[0]))
        return found
