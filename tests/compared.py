"""Rows of metrics and their comparisons with controls, as an evaluation writes them."""

from pathlib import Path

from scripts.measure.comparisons import (
    LIKE,
    SCHEMA,
    Contest,
    Control,
    comparisons_beside,
    comparisons_of,
    verdict_of,
    with_kinds,
    words_of,
)
from scripts.measure.intervals import Estimate
from tests.files import write_rows


def contest_of(rows: list[dict], controls: dict | None = None, **more) -> Contest:
    """Return a contest whose controls read and learn what a model does. controls: other ones."""
    plain = {row["model"]: Control("same", "same") for row in rows if row["method"] == "control"}
    metrics = {row["metric"]: {"better": "higher"} for row in rows}
    return Contest(**{"controls": plain | (controls or {}), "metrics": metrics} | more)


def compared(rows: list[dict], **more) -> tuple[list[dict], list[dict]]:
    """Return the rows with their kinds, and their comparisons."""
    contest = contest_of(rows, **more)
    rows = with_kinds(rows, contest)
    named = [{"experiment": row.get("experiment")} for row in rows]
    found = comparisons_of(rows, contest)
    return rows, [one | (named[0] if one["experiment"] is None else {}) for one in found]


def comparison(row: dict, control: str, above: tuple, kind: str = LIKE, **more) -> dict:
    """Return the comparison of a row of metrics with a control. above: the difference, the ends of
    its interval, and its p-value; without a p-value, no verdict can be made.
    """
    difference, low, high, p_value = (*above, None)[:4]
    facts = {"seeds": None, "family": 1, "least": None, "cap": False} | more
    verdict = verdict_of(Estimate(difference, low, high, p_value), facts["least"], facts["family"])
    words = words_of(verdict, facts["seeds"], facts["least"], facts["family"], facts["cap"])
    return {name: row.get(name) for name in SCHEMA.names} | {
        **{"kind": kind, "control": control, "control_value": row["value"] - difference},
        **{"difference": difference, "ci_low": low, "ci_high": high, "p_value": p_value},
        **{"family": facts["family"], "least_difference": facts["least"], "at_cap": facts["cap"]},
        **{"verdict": verdict, "words": words},
    }


def write_comparisons(rows: list[dict], metrics: Path) -> None:
    write_rows(rows, comparisons_beside(metrics), SCHEMA)
