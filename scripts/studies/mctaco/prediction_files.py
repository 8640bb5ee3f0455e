"""Read predictions of MC-TACO from two forms of file. The authors' form has one yes or no a line,
in the order of the gold file. Other releases have one answer in letters a line.
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


def released_judgements(file: Path, example_ids: pd.Series) -> np.ndarray:
    """Return (n,) 1 for yes, 0 for no, for the answers of a built split. The file has a line for
    each answer of the whole split, in its order.

    The option limit may have cut the split. The ids of the answers, `split:row`, then give the rows
    in the file. Raises UserError for a line that is not yes or no, and for another number of lines.
    """
    lines = lines_in(text_of(file, REMEDY, REMEDY), str(file), REMEDY) or [""]
    words = pd.Series(lines, dtype=object).str.strip()
    wrong = words.index[~words.isin(LABELS)]
    if len(wrong):
        raise UserError(f"{file}: line {wrong[0] + 1} is {shown(words[wrong[0]])}; write yes or no")
    row = example_ids.str.rpartition(":")[2].astype(int).to_numpy()
    is_whole = row.max() + 1 == len(row)
    if row.max() >= len(words) or (is_whole and len(words) != len(row)):
        raise UserError(
            f"{file}: has {len(words)} lines, but the split has {row.max() + 1}; line "
            f"{min(len(words), row.max() + 1) + 1} is in only one of the two; give one prediction "
            "for each answer"
        )
    return words.map(LABELS).to_numpy()[row]


def own_judgements(file: Path, example_ids: pd.Series) -> np.ndarray | None:
    """Return released_judgements(); None for a file that does not begin with yes or no."""
    try:
        with file.open(encoding="utf-8-sig") as opened:
            is_own = opened.readline(9).strip() in LABELS
    except (OSError, ValueError):
        is_own = False
    return released_judgements(file, example_ids) if is_own else None


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
    judged = [
        f"({LETTERS[letter]})" in line or answer.lower() in line
        for line, letter, answer in zip(said, place, answers["answer"])
    ]
    return np.array(judged, np.int64)
