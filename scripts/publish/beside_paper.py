"""The tables of verdicts and of published numbers, as the page shows them. Not a program."""

from pathlib import Path

import pandas as pd

from scripts.data.csv_files import read_csv
from scripts.publish.comparison import ELSEWHERE, SETTING
from scripts.publish.verdicts import CONTRADICTED, NOT_COMPARABLE, NOT_REPRODUCED, REPRODUCED

LOOKS = {REPRODUCED: "yes", NOT_REPRODUCED: "no", CONTRADICTED: "control", NOT_COMPARABLE: "open"}  # CSS classes
IN_TEXT = ("Section", "Appendix", "Abstract", "Footnote", "Released code", "AllenNLP")  # how places outside tables and figures begin


def verdict_rows(file: Path) -> dict:
    """The rows of a table of verdicts, each with its look, and how many there are of each verdict."""
    table = read_csv(file)
    rows = [{name.lower(): value for name, value in row.items()} | {"look": LOOKS[row["Verdict"]]} for row in table.to_dict("records")]
    counts = table["Verdict"].value_counts()
    return {"rows": rows, "counts": [(int(counts[name]), name) for name in LOOKS if name in counts]}


def notes_of(rows: pd.DataFrame) -> list[str]:
    """The notes of a table, each once, behind the rows that it is about where it is not about all."""
    notes = []
    for note, about in rows[rows["Note"] != ""].groupby("Note", sort=False):
        names = list(dict.fromkeys(about["Row"]))
        whole = len(names) == rows["Row"].nunique() or len(names) > 3
        notes.append(note if whole else f"{', '.join(names)}: {note}")
    return notes


def table_of(name: str, rows: pd.DataFrame) -> dict:
    """One table or figure of the paper: what is measured where that is the same in all rows, its rows, and its notes.

    A name of a row stands once over the rows that have it; rows without a number of this study are marked.
    """
    measures, shown = rows["Measure"].unique(), []
    for row in rows.to_dict("records"):
        again = bool(shown) and shown[-1]["row"] == row["Row"]
        shown.append({key.lower(): value for key, value in row.items()} | {"again": again, "none": row["Here"] == ""})
    elsewhere = bool((rows["Caveat"] == ELSEWHERE["statistics"]).all())
    return {"name": name, "elsewhere": elsewhere, "measure": measures[0] if len(measures) == 1 else "", "rows": shown, "notes": notes_of(rows),
            "measured": len({(row["row"], row["measure"]) for row in shown if not row["none"]}),
            "printed": len({(row["row"], row["measure"]) for row in shown})}


def paper_tables(file: Path) -> dict:
    """What the page shows of a table of published numbers: tables and figures, numbers in the text, settings of training."""
    table = read_csv(file)
    is_setting = table["Measure"].str.startswith(SETTING)
    settings = table[is_setting].assign(Measure=table["Measure"].str.removeprefix(SETTING))
    tables = [table_of(name, rows) for name, rows in table[~is_setting].groupby("Table", sort=False)]
    in_text = [one for one in tables if one["name"].startswith(IN_TEXT)]
    return {"tables": [one for one in tables if one not in in_text], "in_text": in_text,
            "settings": [table_of(name, rows) for name, rows in settings.groupby("Table", sort=False)]}
