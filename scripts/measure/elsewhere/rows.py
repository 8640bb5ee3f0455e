"""Read predictions as CSV with a header, or as JSON lines (its name ends in .jsonl), a row for each
example in any order:

  example_id,label                     the chosen label
  example_id,<label>,<label>,…         a score for every label, higher is better
  example_id,score                     a score of the candidate itself, higher is better (where
                                       candidates are ranked)

  {"example_id": …, "label": …}
  {"example_id": …, "scores": {"<label>": …}}
  {"example_id": …, "score": …}

  {"id": …, "scores": {"<candidate>": …}}  the scores of all candidates of one question, by text

The ids are those of the dataset's split, whose name for them (pair_id) may head their column. Other
columns are ignored. A study may have the form of its authors, too (`own` of Answered).
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.data.csv_files import as_written
from scripts.data.texts import csv_rows, json_of, lines_in, text_of
from scripts.measure.answered import Answered
from scripts.measure.elsewhere.examples import Examples
from scripts.measure.elsewhere.table import Elsewhere, refuse, table_of
from scripts.running.program import UserError, cut, shown

REMEDY = "give a CSV with a header, or JSON lines, of one prediction a row (--help)"


def cells_of(file: Path) -> pd.DataFrame:
    """Return the cells of a CSV file as text, with file and place ("row 2")."""
    table = csv_rows(text_of(file, REMEDY, REMEDY), str(file), REMEDY)
    if twice := [name for name in table if (table.columns == name).sum() > 1]:
        raise UserError(f"{file}: column {cut(twice[0])} occurs twice; mend it, or {REMEDY}")
    table = table.apply(lambda column: as_written(column.str.strip()))
    return table.assign(file=str(file), place=[f"row {row + 2}" for row in range(len(table))])


def values_of(file: Path, known: Examples) -> pd.DataFrame:
    """Return the values of a JSON-lines file, with file and place ("line 2")."""
    rows: list[dict] = []
    for number, line in enumerate(lines_in(text_of(file, REMEDY, REMEDY), str(file), REMEDY), 1):
        if not line.strip():
            continue
        value = json_of(line, f"{file}: line {number}", "mend it")
        scores = value.pop("scores", {}) if isinstance(value, dict) else None
        if not isinstance(scores, dict):
            raise UserError(
                f'{file}: line {number} is not an object like {{"example_id": …, "label": …}}, or '
                "its scores are invalid; mend it"
            )
        where = {"file": str(file), "place": f"line {number}"}
        if "id" not in value or "example_id" in value:
            rows.append(scores | value | where)
        elif (name := str(value["id"])) not in known.elsewhere:
            examples = known.of_question(name, scores, f"{file}: line {number}")
            rows += [
                {"example_id": one, "score": score} | where
                for one, score in zip(examples, scores.values())
            ]
    return pd.DataFrame(rows, dtype=object)


def answer_columns(rows: pd.DataFrame, answered: Answered, file: Path) -> list[str]:
    """Return the columns that hold the answers. Raises UserError if there are no such columns, or
    no ids.
    """
    ways = [["label"], *([["score"]] if answered.scored else []), *answered.labels]
    found = [names for names in ways if set(names) <= set(rows)]
    columns = [name for name in rows if name not in ("file", "place")]
    if "example_id" not in rows or not found:
        raise UserError(
            f"{file}: its columns are {cut(', '.join(map(str, columns)), 200)}; give example_id "
            f"and {', or '.join(', '.join(names) for names in ways)}"
        )
    if len(found) > 1:  # a label beside scores may well be the right one
        raise UserError(
            f"{file}: answers in two ways, by {' and by '.join(', '.join(way) for way in found)}; "
            "leave one of them in the file"
        )
    return found[0]


def number_of(value: Any) -> float:
    """Convert a cell or a JSON value to a number; NaN if it is not a number."""
    try:
        # float() would accept 1_000
        return float("nan") if isinstance(value, bool) or "_" in str(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def read_rows(file: Path, answered: Answered, split_file: Path) -> Elsewhere:
    known = Examples(answered, split_file)
    if answered.own and (judged := answered.own(file, pd.Series(known.names))) is not None:
        places = [f"line {line}" for line in range(1, len(judged) + 1)]
        labels = [answered.labels[0][number] for number in judged]
        return Elsewhere(table_of(file, places, known.names, labels, 1.0), chose=True)
    is_json = file.suffix in (".jsonl", ".json")
    rows = values_of(file, known) if is_json else cells_of(file)
    if rows.empty:
        raise UserError(f"{file}: has no row; {REMEDY}")
    if "example_id" not in rows:
        rows = rows.rename(columns={answered.columns[0]: "example_id"})
    names = answer_columns(rows, answered, file)
    place, items, parts = rows["place"], rows["example_id"], []
    if names == ["label"]:
        labels = rows["label"].map(lambda label: label if isinstance(label, str) else shown(label))
        return Elsewhere(table_of(file, place, items, labels, 1.0), chose=True)
    for name in names:
        scores = rows[name].map(number_of).astype(float)
        with np.errstate(over="ignore"):
            is_finite = np.isfinite(scores.astype(np.float32))
        refuse(rows, ~is_finite, f"{name} is {{shown_{name}}}, not a finite number", "mend it")
        parts.append(table_of(file, place, items, "" if name == "score" else name, scores))
    return Elsewhere(pd.concat(parts, ignore_index=True))
