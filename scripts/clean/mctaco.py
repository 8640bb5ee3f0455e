"""Clean MC-TACO (Zhou et al. 2019): questions about temporal commonsense with candidate answers.

Tab-separated without quoting (a `"` is a character like any other). Copies may have a header, or be
JSON lines or Parquet, with 1 and 0 as labels and categories by number. No text is changed: soft
hyphens and wide spaces are counted and stay, since the released numbers were made with them.
Models train on the released development file and are measured on the test file.

Reads  from --fetched dev_3783.tsv and test_9442.tsv, or two other files (.tsv, .jsonl, .parquet)
       of which one has `test` in its name: sentence, question, answer, label, category
Writes train.parquet, test.parquet (schema questions), in the order of the files, and cleaning.csv

    python -m scripts.clean.mctaco --source mctaco --fetched results/fetch/mctaco \\
        --output results/clean/mctaco --provenance '{"licence": "unstated"}'
"""

import argparse
from pathlib import Path

import msgspec
import pandas as pd

from scripts.clean.corpus import cleaner_arguments, counted, entries_of, mapped, places_given
from scripts.clean.corpus import write_corpus
from scripts.running.program import UserError, execute
from scripts.data.tables import QUESTIONS
from scripts.data.texts import lines_in, text_of

FILES = {"train": "dev_3783.tsv", "test": "test_9442.tsv"}
SUFFIXES = (".tsv", ".jsonl", ".parquet")
COLUMNS = ["sentence", "question", "answer", "label", "category"]
LABELS = {"yes": 1, "no": 0}
CATEGORIES = {
    "Event Duration": "duration",
    "Event Ordering": "ordering",
    "Typical Time": "typical_time",
    "Frequency": "frequency",
    "Stationarity": "stationarity",
}
# the numbers of the categories in the copy of the hub (mc_taco)
BY_NUMBER = ["Event Duration", "Event Ordering", "Frequency", "Typical Time", "Stationarity"]
ODD = {
    "a soft hyphen in a text": "\u00ad",
    "a wide space in a text": "\u2002",
    'a " in a text': '"',
}


class Answer(msgspec.Struct):
    """A row of JSON lines or of Parquet."""

    sentence: str
    question: str
    answer: str
    label: str | int
    category: str | int


def cells_of(file: Path) -> tuple[pd.DataFrame, int]:
    """The five columns as text, and the line of the first row. Raises UserError that names the line
    of a row with too few or too many.
    """
    cells = pd.Series(lines_in(text_of(file), str(file)) or [""], dtype=object).str.split("\t")
    wrong = cells.index[cells.str.len() != len(COLUMNS)]
    if len(wrong):
        raise UserError(
            f"{file}: line {wrong[0] + 1} has {len(cells[wrong[0]])} columns, not {len(COLUMNS)} "
            f"({', '.join(COLUMNS)}); mend it, or fetch the file again"
        )
    if sorted(cells[0]) == sorted(COLUMNS):
        return pd.DataFrame(cells[1:].tolist(), columns=cells[0], dtype=object), 2
    return pd.DataFrame(cells.tolist(), columns=COLUMNS, dtype=object), 1


def read(file: Path) -> pd.DataFrame:
    """The rows of a file, with numbers as labels and our words as categories."""
    if file.suffix.lower() in (".jsonl", ".parquet"):
        entries = entries_of(file, Answer, "answer", "answer")
        table, first = pd.DataFrame(map(msgspec.structs.asdict, entries)).astype(str), 1
    else:
        table, first = cells_of(file)
    if table.empty:
        raise UserError(f"{file}: holds no answer, only a header; write a row for each answer")
    texts = table[["sentence", "question", "answer"]]
    for wrong, why in (
        (texts.apply(lambda column: column.str.strip() == "").any(axis=1), "lacks a text"),
        (texts.duplicated(), "repeats the answer of an earlier row to the same question"),
    ):
        if wrong.any():
            raise UserError(f"{file}: line {wrong.idxmax() + first} {why}; mend or remove it")
    by_number = {str(place): CATEGORIES[name] for place, name in enumerate(BY_NUMBER)}
    return table.assign(
        label=mapped(table, "label", LABELS | {"1": 1, "0": 0}, file, first),
        category=mapped(table, "category", CATEGORIES | by_number, file, first),
    )


def files_of(fetched: Path, provenance: dict) -> dict[str, Path]:
    """The file of each split. Raises UserError if the names do not show which is which."""
    known = {split: fetched / name for split, name in FILES.items()}
    others = [
        file
        for file in places_given(fetched, provenance, *SUFFIXES) or sorted(fetched.glob("*"))
        if file.suffix.lower() in SUFFIXES and file not in known.values()
    ]
    tests = [file for file in others if "test" in file.name.lower()]
    if len(others) == 2 and len(tests) == 1:
        return {"train": next(file for file in others if file not in tests), "test": tests[0]}
    if not any(file.exists() for file in known.values()):
        raise UserError(
            f"{fetched}: holds neither {' and '.join(FILES.values())} nor two files "
            f"({', '.join(SUFFIXES)}) of which one has `test` in its name; name them so"
        )
    return known


def main(given: argparse.Namespace) -> None:
    tables, counts = {}, []
    for split, file in files_of(given.fetched, given.provenance).items():
        table = read(file)
        texts = table[["sentence", "question", "answer"]]
        # A question is identified together with its sentence: the authors group by both.
        full_questions = table["sentence"] + " " + table["question"]
        number = pd.factorize(full_questions)[0]
        counts += counted(split, "answers", read=len(table), kept=len(table))
        counts += counted(split, "questions", kept=number.max() + 1)
        counts += counted(
            split,
            "answers",
            noted={
                reason: texts.map(lambda text, sign=sign: sign in text).any(axis=1)
                for reason, sign in ODD.items()
            },
        )
        tables[split] = table.assign(
            source=given.source,
            split=split,
            question_id=[f"{split}:{question}" for question in number],
            asked=full_questions,
        )
    shared = set(tables["train"]["asked"]) & set(tables["test"]["asked"])
    counts += counted("test", "questions", noted={"train has the question too": len(shared)})
    write_corpus(given, tables, QUESTIONS, counts)


if __name__ == "__main__":
    execute(main, cleaner_arguments(__doc__).parse_args())
