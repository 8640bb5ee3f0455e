"""What marks a number that says less than it seems: of sample data, or of an evaluation split cut
by the option limit. And what a number is a mean over: seeds, wordings. Rows are those of metrics.
"""

import re
from collections.abc import Mapping

import pandas as pd

CUT = (
    "only so many pairs, questions or instances of each evaluation split were measured. A hash "
    "draws them."
)

SAMPLE = "SAMPLE DATA where marked: made up to try the workflow, not a corpus."
MARK = re.compile(r"\[(sample data|at most [\d,]+ items)\]")  # as note_of() writes it


def at_most(limit: float) -> str:
    return f"at most {limit:,.0f} items"


def marks_of(rows: pd.DataFrame | pd.Series) -> list[str]:
    """`sample data`, `at most 200 items`, both or none, of rows of metrics or of one row."""
    table = rows if isinstance(rows, pd.DataFrame) else rows.to_frame().T
    return ["sample data"] * bool(table["sample"].any()) + [
        at_most(limit) for limit in sorted(table["limit"].dropna().unique())
    ]


def face_of(rows: pd.DataFrame) -> str:
    """The marks as they stand on the face of a panel."""
    return "\n".join(marks_of(rows)).upper()


def note_of(rows: pd.DataFrame | pd.Series) -> str:
    """` [sample data] [at most 200 items]`, behind a name in a table."""
    return "".join(f" [{mark}]" for mark in marks_of(rows))


def notes_by_dataset(metrics: pd.DataFrame) -> dict[tuple[str, str], str]:
    return {place: note_of(rows) for place, rows in metrics.groupby(["source", "dataset"])}


def with_replicates(text: str, seeds: bool, wordings: bool) -> str:
    """A caption that speaks of seeds, for what there is: seeds, wordings or both."""
    words = " or ".join(["seeds"] * seeds + ["wordings"] * wordings)
    return re.sub(r"\bseeds\b(?! or wordings)", words, text) if wordings else text


def limit_if_several(metrics: pd.DataFrame) -> pd.Series:
    """`, at most 200 items` for each row, where the limits of a study differ."""
    several = metrics["limit"].nunique(dropna=False) > 1
    return metrics["limit"].map(
        lambda limit: f", {at_most(limit)}" if several and pd.notna(limit) else ""
    )


def replicate_counts(rows: pd.DataFrame) -> dict[str, str]:
    """How many seeds and wordings stand behind a mean, as cells of a table."""
    seeds, wordings = rows["seed"].nunique(), rows["wording"].nunique()
    return {"Seeds": str(seeds) if seeds > bool(wordings) else "", "Wordings": str(wordings or "")}


def replicate_name(metrics: pd.DataFrame) -> str:
    """`one seed`, `one wording`, `one seed or wording`: what a single mark is."""
    counts = replicate_counts(metrics)
    names = [name for name, count in zip(("seed", "wording"), counts.values()) if count]
    return f"one {' or '.join(names or ['seed'])}"


def run_name(facts: Mapping) -> str:
    """`seed 3, wording plain`: how a run differs from the others of its system."""
    wording = facts.get("wording")
    seed = [f"seed {facts['seed']}"] if wording is None or facts.get("shots") else []
    return ", ".join(seed + ([f"wording {wording}"] if wording is not None else []))
