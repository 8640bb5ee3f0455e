"""Rows of metrics on the ladder of controls, as an evaluation writes them."""

from scripts.measure.ladder import WORDS, Ladder, distances, with_rungs


def ladder_of(rows: list[dict], **more) -> Ladder:
    """Return a ladder on which every control of the rows stands on `words`; rungs: of others."""
    controls = {row["model"]: WORDS for row in rows if row.get("method") == "control"}
    metrics = {row["metric"]: {"better": "higher"} for row in rows}
    return Ladder(**{"rungs": controls | more.pop("rungs", {}), "metrics": metrics} | more)


def found_distances(rows: list[dict], **more) -> list[dict]:
    """Return the distances of the rows' models to their controls."""
    ladder = ladder_of(rows, **more)
    return distances(with_rungs(rows, ladder), ladder)


def compared(rows: list[dict], **more) -> list[dict]:
    """Return the rows with their rungs, and the distances."""
    ladder = ladder_of(rows, **more)
    rows = with_rungs(rows, ladder)
    return rows + distances(rows, ladder)
