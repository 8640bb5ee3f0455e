"""Mark numbers on sample data, on an evaluation split that the option limit cut, and of systems
whose training split the option train_limit cut. Count the seeds and wordings of a mean. `rows` are
rows of metrics.
"""

import re
from collections.abc import Iterable, Mapping

import pandas as pd

MEANT = {
    "sample": "made up to try the workflow, not a corpus.",
    "at most": "only so many pairs, questions or instances of each evaluation split were measured. "
    "A hash draws them.",
    "trained on": "a first look. Models and controls learnt from no more examples than this, drawn "
    "by hash.",
}  # by how a mark begins
MARK = re.compile(rf"\[((?:{'|'.join(MEANT)}) [\w, ]+)\]")  # as note_of() writes it


def at_most(limit: float) -> str:
    return f"at most {limit:,.0f} items"


def meant(marks: Iterable[str]) -> list[str]:
    """Return what each mark means, as a sentence."""
    return [
        f"{mark.upper()} where marked: {text}"
        for begin, text in MEANT.items()
        for mark in sorted(marks)
        if mark.startswith(begin)
    ]


def learnt_marks(datasets: pd.Series) -> list[str]:
    """Return the marks of datasets, by their names, whose training split is cut."""
    cut = datasets.dropna().astype(str).str.extract(r"\btrain_limit-(\d+)")[0].dropna()
    return [f"trained on {most:,} examples at most" for most in sorted(set(cut.astype(int)))]


def marks_of(rows: pd.DataFrame | pd.Series) -> list[str]:
    """Return the marks of rows of metrics, or of one row: `sample data`, `at most 200 items`,
    `trained on 256 examples at most`, some or none.
    """
    table = rows if isinstance(rows, pd.DataFrame) else rows.to_frame().T
    marks = ["sample data"] if table["sample"].any() else []
    marks += [at_most(limit) for limit in sorted(table["limit"].dropna().unique())]
    return marks + (learnt_marks(table["dataset"]) if "dataset" in table else [])


def face_of(rows: pd.DataFrame) -> str:
    """Return the marks as a panel shows them: in capitals, one a line."""
    return "\n".join(marks_of(rows)).upper()


def note_of(rows: pd.DataFrame | pd.Series) -> str:
    """Return the marks as they follow a name in a table: ` [sample data] [at most 200 items]`."""
    return "".join(f" [{mark}]" for mark in marks_of(rows))


def notes_by_dataset(metrics: pd.DataFrame) -> dict[tuple[str, str], str]:
    return {place: note_of(rows) for place, rows in metrics.groupby(["source", "dataset"])}


def with_replicates(text: str, seeds: bool, wordings: bool) -> str:
    """Return a caption in which `seeds` becomes `wordings` or `seeds or wordings` if needed."""
    words = "seeds or wordings" if seeds else "wordings"
    return re.sub(r"\bseeds\b(?! or wordings)", words, text) if wordings else text


def limit_if_several(metrics: pd.DataFrame) -> pd.Series:
    """Return `, at most 200 items` for each row with a limit, if the limits of a study differ."""
    several = metrics["limit"].nunique(dropna=False) > 1
    return metrics["limit"].map(
        lambda limit: f", {at_most(limit)}" if several and pd.notna(limit) else ""
    )


def replicate_counts(rows: pd.DataFrame) -> dict[str, str]:
    """Return the number of seeds and of wordings in a mean, as cells of a table."""
    seeds, wordings = rows["seed"].nunique(), rows["wording"].nunique()
    return {"Seeds": str(seeds) if seeds > bool(wordings) else "", "Wordings": str(wordings or "")}


def replicate_name(metrics: pd.DataFrame) -> str:
    """Return what a single mark shows: `one seed`, `one wording`, `one seed or wording`."""
    counts = replicate_counts(metrics)
    names = [name for name, count in zip(("seed", "wording"), counts.values()) if count]
    return f"one {' or '.join(names or ['seed'])}"


def run_name(facts: Mapping) -> str:
    """Return the name of a run among those of its system, for example `seed 3, wording plain`."""
    wording = facts.get("wording")
    seed = [f"seed {facts['seed']}"] if wording is None or facts.get("shots") else []
    return ", ".join(seed + ([f"wording {wording}"] if wording is not None else []))
