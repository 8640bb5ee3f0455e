"""Answers that were made elsewhere, as one table, and the check of the table.

A row is an answer of a system to an item of a split:
  file, place  where it stands, for example `row 2`
  system       the person who answered; empty for the one system of a file of predictions
  item         the id of the example; of a person's answer, its hash
  candidate    a label; empty for a score of the example itself (where candidates are ranked)
  score        higher is better; NaN if the answer cannot be read
A system that chose labels has one row an item, with the score 1. Each form of a file becomes this
table in a module beside this one: rows.py, harness.py, inspect_logs.py, people.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.measure.answered import Answered
from scripts.running.program import UserError, cut, shown


@dataclass(frozen=True)
class Elsewhere:
    """The answers of one file. table: as above. chose: whether each row is a chosen label. facts:
    of the run that made the file. twice, lacking: what to do about an item that is answered twice,
    or not at all.
    """

    table: pd.DataFrame
    chose: bool = False
    facts: dict = field(default_factory=dict)
    twice: str = "keep one of them"
    lacking: str = "give a prediction for each"


def table_of(
    file: Path, place: Sequence, item: Sequence, candidate: Sequence | str, score: Sequence | float
) -> pd.DataFrame:
    columns = {"file": str(file), "place": place, "system": "", "item": item}
    return pd.DataFrame(columns | {"candidate": candidate, "score": score})


def refuse(rows: pd.DataFrame, wrong: Sequence, why: str, remedy: str) -> None:
    """Raise UserError with file and place of the first wrong row. why: a text that may name columns
    in braces; {shown_item} is the item as Python writes it.
    """
    found = np.flatnonzero(np.asarray(wrong, bool))
    if len(found):
        row = rows.iloc[found[0]]
        cells = {name: cut(str(value)) for name, value in row.items()}
        cells |= {f"shown_{name}": shown(value) for name, value in row.items()}
        raise UserError(f"{row['file']}: {row['place']}: {why.format(**cells)}; {remedy}")


def candidates_of(made: Elsewhere, answered: Answered, file: Path) -> list[str]:
    """Return the labels that the rows answer by; [""] for scores of the examples themselves. Raises
    UserError for an unknown label.
    """
    names = made.table["candidate"]
    if made.chose:
        fitting = [labels for labels in answered.labels if names.isin(labels).all()]
        labels = [*fitting, answered.labels[0]][0]
        known = ", ".join(labels)
        why = f"label {{shown_candidate}} is not one of {known}"
        refuse(made.table, ~names.isin(labels), why, "write one of them")
        return labels
    ways = [*answered.labels, *([[""]] if answered.scored else [])]
    fitting = [labels for labels in ways if {*labels} == {*names}]
    if not fitting:
        raise UserError(
            f"{file}: its labels are {cut(', '.join(map(str, names.unique())))}; answer by "
            f"{', or by '.join(', '.join(labels) for labels in ways)}"
        )
    return fitting[0]


def scores_of(
    made: Elsewhere, examples: pd.Series, answered: Answered, file: Path, where: str
) -> tuple[np.ndarray, list[str]]:
    """Return the (n, candidates) scores of the examples in their order, and the candidates. where:
    the name of the split. Raises UserError for an unknown, repeated or missing item, and for an
    unknown label.
    """
    rows = made.table
    if rows.empty:
        raise UserError(f"{file}: has no row; {made.lacking}")
    is_text = rows["item"].map(lambda item: isinstance(item, str) and item != "")
    why = "its example_id is {shown_item}"
    refuse(rows, ~is_text, why, f"write the id of an example of {where}")
    why, remedy = f"{where} has no example {{item}}", "remove the row, or name its split"
    refuse(rows, ~rows["item"].isin(set(examples)), why, remedy)
    key = ["item"] if made.chose else ["item", "candidate"]
    first = rows.groupby(key, dropna=False)["place"].transform("first")
    why = "example {item} is already in {first}"
    refuse(rows.assign(first=first), rows.duplicated(key), why, made.twice)
    names = candidates_of(made, answered, file)
    wanted = 1 if made.chose else len(names)
    counts = rows.groupby("item").size().reindex(examples, fill_value=0)
    if len(left := counts.index[counts < wanted]):
        raise UserError(
            f"{file}: none of its {rows['place'].nunique()} rows is for the example {cut(left[0])} "
            f"({len(left)} of {len(examples)} examples of {where} have no row); {made.lacking}"
        )
    table = rows.pivot(index="item", columns="candidate", values="score").reindex(examples)
    if made.chose:
        table = table.reindex(columns=names).fillna(0)
    return table[names].to_numpy(float), ["score"] if names == [""] else names
