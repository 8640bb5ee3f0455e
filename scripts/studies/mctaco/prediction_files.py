"""Read predictions of MC-TACO from two forms of file. The authors' form has one yes or no a line,
in the order of the gold file. Other releases have one answer in letters a line.

Not a program.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.clean.mctaco import LABELS
from scripts.running.program import UserError, shown
from scripts.data.texts import lines_in, text_of

REMEDY = "give the predictions, one yes or no a line"
LINES = "give an answer a line"
# Letters of candidates. The prompt of Qiu et al. 2024 calls the 13th candidate N, the 14th M.
LETTERS = "abcdefghijklnmopqrstuvwxyz"


def read_judgements(file: Path, rows: int | None = None, gold: str = "") -> np.ndarray:
    """Return (rows,) 1 for yes, 0 for no.

    Raises UserError that names the first line that is not yes or no. If the number of lines is
    wrong, the error names the first line that only one file has.

    rows: how many lines the file must have, if known; gold: the name of the gold file, for the
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
            f"{min(len(words), rows) + 1} is in only one of the files; give one "
            "prediction for each row"
        )
    return words.map(LABELS).to_numpy()


def released_judgements(file: Path, answers: pd.DataFrame) -> np.ndarray:
    """Return (n,) 1 for yes, 0 for no, for the answers of a built split. The file covers the whole
    split, in its order.

    The option limit may have cut the split. The ids of the answers, `split:row`, then give the rows
    in the file.
    """
    row = answers["example_id"].str.rpartition(":")[2].astype(int).to_numpy()
    if row.max() + 1 == len(answers):
        return read_judgements(file, len(answers), "the split")[row]
    judged = read_judgements(file)
    if row.max() >= len(judged):
        raise UserError(
            f"{file}: has {len(judged)} lines, but the split has an answer number "
            f"{row.max() + 1}; give one prediction for each answer"
        )
    return judged[row]


def lettered_judgements(
    file: Path, answers: pd.DataFrame, joined: tuple[int, int] | None
) -> np.ndarray:
    """Return (n,) 1 for yes, 0 for no, for the answers of a built split. The file has one line for
    each question of the whole split, for example "(A) 1 hour (C) 3 hours".

    By the rule of Qiu et al. 2024 a candidate is a yes in two cases. The line contains the
    candidate's letter in brackets. Or it contains the candidate anywhere, in upper or lower case
    ("1 hour" in "11 hours", too).

    joined: the first and the last line, from 1, of an answer that takes several lines.
    """
    lines = lines_in(text_of(file, LINES, LINES), str(file), LINES)
    if joined:
        first, last = joined
        if last > len(lines):
            raise UserError(
                f"{file}: has {len(lines)} lines, but released.csv joins {first}-{last}; correct it"
            )
        lines[first - 1 : last] = [" ".join(lines[first - 1 : last])]
    question = answers["group_id"].str.rpartition(":")[2].astype(int)
    whole = question.max() + 1 == question.nunique()
    if len(lines) <= question.max() or (whole and len(lines) != question.nunique()):
        raise UserError(
            f"{file}: has {len(lines)} answers, but the split has {question.max() + 1} questions; "
            "give a line for each, or name lines that are one answer in released.csv (joined)"
        )
    place = answers.groupby("group_id").cumcount()
    if place.max() >= len(LETTERS):
        raise UserError(
            f"{file}: a question has {place.max() + 1} candidates, and {len(LETTERS)} is the most "
            "that letters name; leave the file out"
        )
    said = [lines[number].lower() for number in question]
    return np.array(
        [
            f"({LETTERS[letter]})" in line or answer.lower() in line
            for line, letter, answer in zip(said, place, answers["answer"])
        ],
        np.int64,
    )
