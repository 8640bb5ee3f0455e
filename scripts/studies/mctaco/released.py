"""Answers of language models to MC-TACO's test questions, as others released them (released.csv).

Each row of released.csv is a system, with these columns:
  source              the source of its file (resources/sources.yaml, kind judgements)
  corpus              the source whose evaluation split was judged
  name                the name of the system in metrics
  model, shots        the language model, and whether it was shown examples
  asked, wording      likelihood (one candidate, in the words of a wording) or letters (all
                      candidates of a question at once)
  file, form          judgements: one yes or no a line, for each candidate in turn; letters: one
                      answer a line, for each question in turn, read by lettered_judgements()
  joined              the first and the last line of one answer, for example 3-5
"""

import re
from pathlib import Path
from typing import NamedTuple

from scripts.data.studies import RELEASED
from scripts.data.texts import text_of
from scripts.data.csv_rows import csv_rows
from scripts.running.program import UserError, shown

FORMS = ("judgements", "letters")


class Released(NamedTuple):
    """A row of released.csv. joined: the first and the last line of one answer, from 1."""

    source: str
    corpus: str
    name: str
    model: str
    shots: str
    asked: str
    wording: str
    file: str
    form: str
    joined: tuple[int, int] | None


def read_released(file: Path) -> list[Released]:
    """Return the systems of a released.csv. Raises UserError that names a wrong row."""
    found = []
    for number, row in enumerate(csv_rows(text_of(file), RELEASED, str(file))[1:], 1):
        *words, form, joined = row
        where = f"{file}: row {number} ({words[2]})"
        if form not in FORMS:
            raise UserError(f"{where}: form is {shown(form)}; write {' or '.join(FORMS)}")
        lines = re.fullmatch("([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", joined)
        if joined and (form != "letters" or not lines or int(lines[1]) >= int(lines[2])):
            raise UserError(
                f"{where}: joined is {shown(joined)}; write the first and the last line of one "
                "answer, as 3-5, of a file of letters, or nothing"
            )
        source, corpus, name, model, shots, asked, wording, named = words
        ends = (int(lines[1]), int(lines[2])) if lines else None
        found.append(
            Released(source, corpus, name, model, shots, asked, wording, named, form, ends)
        )
    return found
