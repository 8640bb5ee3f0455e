"""Tabulate which claims of a paper this study reproduces: each claim, the verdict, the reason and
the numbers.

A claim (claims.yaml) has a shape. The shape defines how each system is tested:
  trend       a metric increases or decreases with a setting: the slope of the least-squares line
  difference  a metric lies above, below or as high as the metric of other rows
  reference   a metric lies above or below a number
A 95 % interval decides what is clear. It comes from draws paired over the groups. Most slices
(parts of a split) have no draws: there, a difference is clear if the two intervals do not overlap.
Whether a control is as good, the table of comparisons says (scripts/measure/comparisons.py). The
verdicts:
  reproduced                  the paper's model, or another model of its class, clearly shows the
                              claim
  not reproduced              this model clearly shows something else
  contradicted by a control   a control shows the same, or is as good: the claimed result does not
                              need the model
  not comparable              no such run, no comparable run beside it, sample data, a split
                              cut by `limit`, another class of model, or too wide an interval
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from scripts.data.declared import learns
from scripts.data.tables import read_metrics
from scripts.data.yaml_files import read_yaml
from scripts.measure.comparisons import ABOVE, CANNOT_TELL, FEW_SEEDS, MADE_ELSEWHERE
from scripts.measure.comparisons import OF_CONTROLS, SOLVER, UNKNOWN
from scripts.measure.intervals import Estimate, has_draws, slope
from scripts.plan.schemas import check, schema
from scripts.publish.compared import SYSTEM, read_comparisons
from scripts.publish.item import Given
from scripts.publish.marks import marks_of
from scripts.publish.names import method_title, model_title
from scripts.publish.selection import (
    as_published,
    distance,
    only,
    without_repeats,
    pairs_of,
    selected,
    with_interval,
)
from scripts.publish.table import EXPERIMENT, caption_of, percent, signed, write
from scripts.running.program import log

COLUMNS = ["Claim", "Verdict", "Why", "Numbers", "Source", "Note", EXPERIMENT]
REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
NOT_COMPARABLE, CONTRADICTED = "not comparable", "contradicted by a control"
VERDICTS = [REPRODUCED, NOT_REPRODUCED, CONTRADICTED, NOT_COMPARABLE]
UNCLEAR = dict.fromkeys(("above", "below"), "allows both")
UNCLEAR |= dict.fromkeys(("increases", "decreases"), "includes zero")
UNCLEAR["alike"] = "is wider than ±{by} points"
POINTS = " points"
RUNS = ("one run", "two runs")
AT_CAP = "stopped at its cap"


class Outcome(NamedTuple):
    """What one system shows. sign: 1 for as claimed, -1 for clearly otherwise, 0 for unclear.
    change: in the claimed direction.
    """

    sign: int
    words: str
    row: dict
    change: float


def claimed(change: float, direction: str) -> float:
    """Return a change so that more of it is more of what is claimed."""
    if direction == "alike":
        return -abs(change)
    return -change if direction in ("below", "decreases") else change


def sign_of(change: Estimate, direction: str, by: float) -> int:
    """Return an Outcome's sign. by: the change must be larger than this, or, if alike, smaller."""
    low, high = change.ci_low, change.ci_high
    if low is None or pd.isna(low):
        return 0
    if direction in ("below", "decreases"):
        low, high = -high, -low
    is_clear, is_against = low > by, high < by
    if direction == "alike":
        is_clear, is_against = low > -by and high < by, low > by or high < -by
    if is_clear:
        return 1
    return -1 if is_against else 0


def share(row: Mapping) -> str:
    """Return a row's value, for example `55.1 %`."""
    return f"{percent(row['value'])} %"


def in_text(name: str) -> str:
    """Return a setting's value as text without underscores and semicolons."""
    return name.replace("_", " ").replace(";", ",")


Changes = list[tuple[dict, str, Estimate]]  # a system's row, the numbers in words, the change


def trend(claim: Mapping, rows: pd.DataFrame, pool: pd.DataFrame) -> Changes:
    """Return how a metric changes with a setting, for each system and split with several values.
    Without draws, this is the last value minus the first.
    """
    over, changes = claim["over"], []
    system = "source split model method metric experiment".split()
    for _, series in rows.groupby(system, dropna=False, sort=False):
        series = series.sort_values(over)
        if series[over].nunique() < 2:
            continue
        records = series.to_dict("records")
        if all(map(has_draws, records)):
            change, unit = slope(records, series[over].to_numpy(float)), f" points a {over}"
        else:
            change, unit = distance(records[-1], records[0], by_ends=True), POINTS
        ends = [f"{share(row)} at {over} {row[over]:g}" for row in (records[0], records[-1])]
        words = f"{', '.join(ends)}: {with_interval(change, signed, unit)}"
        changes.append((records[0], words, change))
    return changes


def compared_with(
    claim: Mapping, rows: pd.DataFrame, pool: pd.DataFrame
) -> Iterator[tuple[Mapping, pd.DataFrame]]:
    """Yield each `than` of a claim, and its rows without the claim's own."""
    several = claim.get("than", [])
    for than in several if isinstance(several, list) else [several]:
        others = without_repeats(selected(pool, claim["where"] | than))
        yield than, others[~others.index.isin(rows.index)]


def contrast(claim: Mapping, rows: pd.DataFrame, pool: pd.DataFrame) -> Changes:
    """Return the difference of a metric to other rows (`than`) that are equal in the columns
    `same`.
    """
    changes = []
    for than, others in compared_with(claim, rows, pool):
        name = in_text(than.get("model", next(iter(than.values())))).removesuffix("*")
        for row in pairs_of(rows, others, claim["same"]).to_dict("records"):
            change = distance(row, row["other"], by_ends=True)
            both = f"{share(row)} beside {share(row['other'])} ({name})"
            words = f"{both}: {with_interval(change, signed, POINTS)}"
            changes.append((row, words, change))
    return changes


def reference(claim: Mapping, rows: pd.DataFrame, pool: pd.DataFrame) -> Changes:
    changes = []
    for row in rows.to_dict("records"):
        measured = Estimate.of(row)
        change = Estimate(*(number - claim["value"] / 100 for number in measured[:3]))
        words = f"{with_interval(measured, percent, ' %')}, beside {claim['value']:g} %"
        changes.append((row, words, change))
    return changes


SHAPES = {"trend": trend, "difference": contrast, "reference": reference}


def outcomes_of(claim: Mapping, rows: pd.DataFrame, pool: pd.DataFrame) -> list[Outcome]:
    """Return what each system shows about a claim. pool: the rows among which contrast()
    finds the rows to compare with.
    """
    rows = without_repeats(selected(rows, claim["where"]))
    direction, by = claim["direction"], claim.get("by", 0) / 100
    return [
        Outcome(sign_of(change, direction, by), words, row, claimed(change.value, direction))
        for row, words, change in SHAPES[claim["shape"]](claim, rows, pool)
    ]


def tier_of(model: str, claim: Mapping, classes: Mapping[str, list[str]]) -> int:
    """Return 0 for the paper's model, or if the claim names no model; 1 for another model of its
    class; 2 for any other model.
    """
    if model in claim.get("models", [model]):
        return 0
    return 1 if any(model in classes[name] for name in claim.get("classes", [])) else 2


def weakest(outcomes: Sequence[Outcome]) -> Outcome:
    return min(outcomes, key=lambda outcome: (outcome.sign, outcome.change))


def words_of(outcomes: Sequence[Outcome], titles: Mapping, options: Sequence[str] = ()) -> str:
    """Return the outcomes' numbers, each with the settings in which they differ (options: of the
    study's data). For more than three: how many are as claimed, and the weakest.
    """
    if len(outcomes) > 3:
        count, least = sum(one.sign > 0 for one in outcomes), words_of([weakest(outcomes)], titles)
        return f"as claimed in {count} of {len(outcomes)}; the weakest: {least}"
    names = ["model", "source", "split", "dataset", *options]
    names += ["scoring", "method", "metric", "slice"]
    differing = [name for name in names if len({str(one.row.get(name)) for one in outcomes}) > 1]
    if any(str(one.row.get("metric")).startswith("peak_") for one in outcomes):
        differing.append("metric")  # a peak is named: other numbers of the page are not peaks
    words = {"model": lambda name: model_title(name, titles), "method": method_title}
    parts = []
    for one in outcomes:
        shown = differing if parts else dict.fromkeys(["model", *differing])
        said = [words.get(name, lambda value: in_text(str(value)))(one.row[name]) for name in shown]
        parts.append(": ".join(filter(None, [", ".join(dict.fromkeys(said)), one.words])))
    return "; ".join(parts)


def same_effect(claim: Mapping, pool: pd.DataFrame, titles: Mapping) -> str:
    """Return the first control that shows the claimed effect, and its numbers; else "". Only
    controls that were chosen on a training split count, with all their rows, and no solver.
    """
    counts = (pool["method"] == "control") & pool["kind_of_control"].ne(SOLVER)
    chosen = pool.loc[counts & pool["chosen"].eq(True), "model"]
    controls = pool[counts & pool["model"].isin(chosen) & ~pool["sample"].astype(bool)]
    asked = claim["control"]
    where = claim["where"] | asked.get("where", {}) | {"method": "control"}
    found = outcomes_of(claim | asked | {"where": where}, controls, pool)
    for model in dict.fromkeys(one.row["model"] for one in found):
        least = weakest([one for one in found if one.row["model"] == model])
        if least.sign > 0:
            return words_of([least], titles)
    return ""


def as_good(outcomes: list[Outcome], comparisons: pd.DataFrame, titles: Mapping) -> str:
    """Return the control that is as good as a model of the outcomes, and the difference; else "".
    A comparison that cannot tell shows nothing.
    """
    rivals = comparisons[
        comparisons["kind"].isin(OF_CONTROLS)
        & ~comparisons["verdict"].isin([ABOVE, CANNOT_TELL, UNKNOWN])
    ]
    keys = [name for name in (*SYSTEM, "metric") if name != "experiment"]
    for one in outcomes:
        values = {name: one.row.get(name) for name in keys}
        known = {name: None if pd.isna(value) else value for name, value in values.items()}
        beside = only(rivals, **known)
        for best in beside.nsmallest(1, "difference").to_dict("records"):
            control = f"{model_title(best['control'], titles)} {percent(best['control_value'])} %"
            above = Estimate.of(best | {"value": best["difference"]})
            change = with_interval(above, signed, POINTS)
            return f"{control}, the model {change} above it, {best['words']}"
    return ""


def limits_of(
    claim: Mapping,
    outcomes: Sequence[Outcome],
    rows: pd.DataFrame,
    pool: pd.DataFrame,
    comparisons: pd.DataFrame,
) -> list[str]:
    """Return in words that the systems of the outcomes, or those they are compared with, have few
    runs, or a run that stopped at its cap.
    """
    measured = pd.DataFrame([one.row for one in outcomes])
    system = ["source", "split", "model", "method", "experiment"]
    system += [] if claim["shape"] == "trend" else ["dataset"]
    parts = [rows.merge(measured[system].drop_duplicates())]
    for _, others in compared_with(claim, rows, pool):
        parts.append(others.merge(measured[claim["same"]].drop_duplicates()))
    asked = pd.concat(parts, ignore_index=True)
    elsewhere = asked["method"].isin(MADE_ELSEWHERE)
    learnt = asked[(elsewhere | asked["method"].map(learns)) & asked["wording"].isna()]
    runs = learnt["seeds"].mask(elsewhere, 1).min()
    place = ["experiment", "source", "dataset", "model", "method"]
    at_cap = comparisons.loc[comparisons["at_cap"].eq(True), place].drop_duplicates()
    few = [RUNS[int(runs) - 1]] if runs < FEW_SEEDS else []
    return few + ([AT_CAP] if len(learnt.merge(at_cap)) else [])


def verdict(
    claim: Mapping,
    metrics: pd.DataFrame,
    comparisons: pd.DataFrame,
    classes: Mapping[str, list[str]],
    titles: Mapping,
    options: Sequence[str] = (),
) -> dict[str, str]:
    """Return `verdict`, `why`, `numbers` and `experiment` of a claim. metrics: the study's rows
    over all seeds; comparisons: those of the study; classes: models by class.

    Sample data and a split cut by `limit` are not comparable. If the paper's model did not run,
    another model of its class decides.
    """
    fitting = selected(metrics, {"method": "not control"} | claim["where"])
    asked = fitting if len(fitting) else metrics
    sampled = bool(len(asked)) and bool(asked["sample"].all())
    rows, pool = (table[~table["sample"].astype(bool)] for table in (fitting, metrics))
    tiers = rows["model"].map(lambda model: tier_of(model, claim, classes)).astype(int)
    rows, tier = rows[tiers == tiers.min()], tiers.min()
    rows = rows[rows["limit"].isna()] if rows["limit"].isna().any() else rows
    outcomes = outcomes_of(claim, rows, pool)
    shows = claim.get("control", {}).get("shows")
    control = ""
    if shows == "same_effect":
        control = same_effect(claim, pool, titles)
    elif shows:
        control = as_good(outcomes, comparisons, titles)
    if not outcomes:
        lacking = "no comparable run beside it" if len(rows) else "no such run"
        why = "sample data" if sampled else lacking
        why += f"; a control shows the same: {control}" if control else ""
        return {"verdict": NOT_COMPARABLE, "why": why, "numbers": "", "experiment": ""}
    models = ", ".join(dict.fromkeys(model_title(one.row["model"], titles) for one in outcomes))
    said, why = NOT_COMPARABLE, ", ".join(marks_of(rows))
    if not why:
        said, why = judged(claim, weakest(outcomes).sign, tier, models, control)
        limits = limits_of(claim, outcomes, rows, pool, comparisons)
        why = "; ".join(filter(None, [why, *limits]))
    experiments = ", ".join(dict.fromkeys(one.row["experiment"] for one in outcomes))
    numbers = words_of(outcomes, titles, options)
    return {"verdict": said, "why": why, "numbers": numbers, "experiment": experiments}


def judged(claim: Mapping, sign: int, tier: int, models: str, control: str) -> tuple[str, str]:
    """Return the verdict and the reason. sign: of the weakest outcome; tier: tier_of() its models;
    control: the text of same_effect() or as_good().
    """
    if sign == 0:
        unclear = UNCLEAR[claim["direction"]].format(**claim)
        return NOT_COMPARABLE, f"unclear here: the interval {unclear}"
    if sign > 0 and control:
        return CONTRADICTED, control
    if tier == 2:
        shows = "shows it" if sign > 0 else "does not show it"
        return NOT_COMPARABLE, f"other model class: {models} {shows}"
    by = f"by {models}, of the same class" if tier else ""
    return (REPRODUCED if sign > 0 else NOT_REPRODUCED), by


def as_settings(part: object) -> object:
    """Return a part of a claim with all values as text; a missing value is `none`."""
    if isinstance(part, dict):
        return {column: as_settings(value) for column, value in part.items()}
    if isinstance(part, list):
        return [as_settings(one) for one in part]
    return "none" if part is None else str(part)


def read_claims(file: Path) -> tuple[dict, list[dict]]:
    """Read the classes of models, and the claims, with the values of their settings as text."""
    whole = read_yaml(file)
    claims = check(whole["claims"], schema("claims"), str(file))
    settings = ("where", "than", "control")
    return whole["classes"], [
        claim | {key: as_settings(claim[key]) for key in settings if key in claim}
        for claim in claims
    ]


def tabulate(
    claims: list[dict],
    metrics: pd.DataFrame,
    comparisons: pd.DataFrame,
    classes: dict,
    titles: dict,
    options: list[str],
) -> pd.DataFrame:
    """Return a row of text for each claim, in the order of the file. metrics: the study's rows over
    all seeds; comparisons: those of the study.
    """
    rows = [
        verdict(claim, metrics, comparisons, classes, titles, options)
        | {"claim": claim["says"], "source": claim["source"], "note": claim.get("note", "")}
        for claim in claims
    ]
    return pd.DataFrame(rows, columns=list(map(str.lower, COLUMNS))).set_axis(COLUMNS, axis=1)


def main(given: Given) -> None:
    study = given.output.name.removesuffix("_verdicts")
    classes, claims = read_claims(given.resources / "claims.yaml")
    metrics = read_metrics(given.metrics, draws=True).to_pandas()
    rows = only(metrics, study=study, seed=None)
    facts = given.studies[study]
    options, models = facts.get("named_options", []), given.models
    compared = only(read_comparisons(given.metrics), study=study)
    table = tabulate(claims, as_published(rows, facts), compared, classes, models, options)
    write(table, caption_of(given, table), [], given.output)
    verdicts = table["Verdict"].value_counts()
    counts = ", ".join(f"{verdicts[name]} {name}" for name in VERDICTS if name in verdicts)
    log.info("%s: %s", given.output, counts or "no claim")
