"""Predictions of MC-TACO as its authors release them: one yes or no a line,
in the order of the gold file.

Not a program.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.clean.mctaco import LABELS
from scripts.running.program import UserError, shown
from scripts.data.texts import lines_in, text_of

REMEDY = "give the predictions, one yes or no a line"


def read_judgements(file: Path, rows: int | None = None, gold: str = "") -> np.ndarray:
    """(rows,) 1 for yes, 0 for no.

    Raises UserError that names the line that is neither, or where the lengths part.

    rows: how many lines there must be, where that is known; gold: what they are of, for the
    message.
    """
    words = pd.Series(
        lines_in(text_of(file, REMEDY, REMEDY), str(file), REMEDY) or [""], dtype=object
    ).str.strip()
    wrong = words.index[~words.isin(LABELS)]
    if len(wrong):
        raise UserError(f"{file}: line {wrong[0] + 1} is {shown(words[wrong[0]])}; write yes or no")
    if rows is not None and len(words) != rows:
        raise UserError(
            f"{file}: has {len(words)} lines, but {gold} has {rows}; line "
            f"{min(len(words), rows) + 1} is the first without its like; give one prediction for "
            "each row"
        )
    return words.map(LABELS).to_numpy()


def released_judgements(file: Path, answers: pd.DataFrame) -> np.ndarray:
    """(n,) 1 for yes, 0 for no, of the answers of a split as it was built;
    the file is of the whole split, in its order.

    Where the split was cut (option limit) the ids of the answers, `split:row`, tell which rows they
    were.
    """
    row = answers["example_id"].str.rpartition(":")[2].astype(int).to_numpy()
    if row.max() + 1 == len(answers):
        return read_judgements(file, len(answers), "the split")[row]
    judged = read_judgements(file)
    if row.max() >= len(judged):
        raise UserError(
            f"{file}: has {len(judged)} lines, but the split has an answer {row.max() + 1}; give "
            "one prediction for each"
        )
    return judged[row]


def as_margins(accepted: np.ndarray) -> np.ndarray:
    """Judgements without probabilities as margins of one,
    so that one range agrees with as many of them as can be.
    """
    return accepted * 2.0 - 1
