"""Predictions of MC-TACO as its authors release them: one yes or no a line, in the order of the gold file.

Not a program.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.clean.mctaco import LABELS
from scripts.common.program import UserError, shown
from scripts.common.texts import lines_in, text_of

REMEDY = "give the predictions, one yes or no a line"


def read_judgements(file: Path, rows: int, gold: str) -> np.ndarray:
    """(rows,) 1 for yes, 0 for no. Raises UserError that names the line that is neither, or where the lengths part.

    rows: how many lines there must be; gold: what they are of, for the message.
    """
    words = pd.Series(lines_in(text_of(file, REMEDY, REMEDY), str(file), REMEDY) or [""], dtype=object).str.strip()
    wrong = words.index[~words.isin(LABELS)]
    if len(wrong):
        raise UserError(f"{file}: line {wrong[0] + 1} is {shown(words[wrong[0]])}; write yes or no")
    if len(words) != rows:
        raise UserError(f"{file}: has {len(words)} lines, but {gold} has {rows}; line {min(len(words), rows) + 1} is the "
                        "first without its like; give one prediction for each row")
    return words.map(LABELS).to_numpy()


def prediction_files(place: Path) -> list[Path]:
    """A file itself, or every file in a folder, by name. Raises UserError for a folder without files."""
    if not place.is_dir():
        return [place]
    files = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise UserError(f"{place}: no file of predictions in it; {REMEDY}, a file for each system")
    return files


def as_margins(accepted: np.ndarray) -> np.ndarray:
    """Judgements without probabilities as margins of one, so that one range agrees with as many of them as can be."""
    return accepted * 2.0 - 1
