"""Dialogs and questions for people to label, as the programs that write them call it."""

import pandas as pd
import pyarrow as pa
import pytest

from scripts.common.tables import DIALOGS, write_table

TALKS = {
    "d0": ["Shall we meet at 5:30 pm on March 14th ?", "No , at 7 pm . I have two hours then .", "Two hours is 120 minutes . See you tomorrow ."],
    "d1": ["He was born in 1987 .", "And she in 1990 , two years later .", "One year I waited for five weeks .", "Ten days are enough ."],
    "d2": ["Every day .", "In ten minutes .", "At 4 pm ."],              # three expressions: too few
    "d3": ["Tomorrow , or next week ?", "Now .", "Tonight , or next year ."],    # no numeral
    "d4": ["Shall we meet at 5:30 pm on March 14th ?", "No , at 7 pm . I have two hours then .", "Two hours is 120 minutes . See you tomorrow ."],
    **{f"e{number}": [f"I will stay for {number} days and leave at {number} am .", f"Not {number + 1} weeks ?", f"No , it is on May {number}th .",
                      "Or in six hours ."] for number in range(2, 9)},
}


@pytest.fixture(scope="module", name="dialogs")
def dialogs_fixture(tmp_path_factory, program):
    """Cleaned dialogs and their spans; d4 repeats d0."""
    folder = tmp_path_factory.mktemp("dialogs")
    rows = pd.DataFrame([{"source": "s", "split": "train", "dialog_id": name, "turn": turn, "speaker": "AB"[turn % 2], "text": text,
                          "duplicate_of": "d0" if name == "d4" else ""} for name, turns in TALKS.items() for turn, text in enumerate(turns)])
    write_table(pa.Table.from_pandas(rows, preserve_index=False), folder / "cleaned/train.parquet", DIALOGS, {"licence": "MIT"})
    done = program("scripts.build.temporal_spans", "--cleaned", folder / "cleaned", "--splits", "train", "--output", folder / "spans")
    assert done.returncode == 0, done.stderr
    return folder


def dialogs_to_label(program, dialogs, output, *more, ok=True):
    done = program("scripts.build.timedial_to_label", "--cleaned", dialogs / "cleaned", "--spans", dialogs / "spans", "--splits", "train",
                   "--output", output, *more)
    assert (done.returncode == 0) == ok, done.stderr
    return output if ok else done.stderr


QUESTIONS = [("She ran a marathon.", "How long did it take?", "four hours", "Event Duration"), ("She ran a marathon.", "How long did it take?", "2 hours", "duration"),
             ("He moved to Rome.", "How often does he move?", "once a year", "frequency"), ("He moved to Rome.", "What then?", "he quit the job", "ordering"),
             ("They left.", "What  then?", "they ate a cake", "ordering")]


def questions_to_label(program, folder, rows, ok=True):
    text = "\n".join("\t".join(row) for row in [("sentence", "question", "answer", "category"), *rows]) + "\n"
    (folder / "q.tsv").write_text(text)
    done = program("scripts.build.mctaco_to_label", "--questions", folder / "q.tsv", "--candidates", 7, "--output", folder / "new")
    assert (done.returncode == 0) == ok, done.stderr
    return folder / "new" if ok else done.stderr
