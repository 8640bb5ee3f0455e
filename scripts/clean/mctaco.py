"""Clean MC-TACO (Zhou et al. 2019): questions about temporal commonsense with candidate answers.

Tab-separated without header and without quoting (a `"` is a character like any other). No text is
changed: soft hyphens and wide spaces are counted and stay, since the released numbers were made
with them. Models train on the released development file and are measured on the test file.

Reads  dev_3783.tsv, test_9442.tsv (sentence, question, answer, yes or no, category) from --fetched
Writes train.parquet, test.parquet (schema questions), in the order of the files, and cleaning.csv

    python -m scripts.clean.mctaco --source mctaco --fetched results/fetch/mctaco \\
        --output results/clean/mctaco --provenance '{"licence": "unstated"}'
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.clean.corpus import cleaner_arguments, counted, mapped, write_corpus
from scripts.running.program import UserError, execute
from scripts.data.tables import QUESTIONS
from scripts.data.texts import lines_in, text_of

FILES = {"train": "dev_3783.tsv", "test": "test_9442.tsv"}
COLUMNS = ["sentence", "question", "answer", "label", "category"]
LABELS = {"yes": 1, "no": 0}
CATEGORIES = {
    "Event Duration": "duration",
    "Event Ordering": "ordering",
    "Typical Time": "typical_time",
    "Frequency": "frequency",
    "Stationarity": "stationarity",
}
ODD = {
    "a soft hyphen in a text": "\u00ad",
    "a wide space in a text": "\u2002",
    'a " in a text': '"',
}


def read(file: Path) -> pd.DataFrame:
    """The five columns as text.

    Raises UserError that names the line of a row with too few or too many.
    """
    cells = pd.Series(lines_in(text_of(file), str(file)) or [""], dtype=object).str.split("\t")
    wrong = cells.index[cells.str.len() != len(COLUMNS)]
    if len(wrong):
        raise UserError(
            f"{file}: line {wrong[0] + 1} has {len(cells[wrong[0]])} columns, not {len(COLUMNS)} "
            f"({', '.join(COLUMNS)}); mend it, or fetch the file again"
        )
    return pd.DataFrame(cells.tolist(), columns=COLUMNS)


def main(given: argparse.Namespace) -> None:
    tables, counts = {}, []
    for split, name in FILES.items():
        file = given.fetched / name
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
            label=mapped(table, "label", LABELS, file, first_line=1),
            category=mapped(table, "category", CATEGORIES, file, first_line=1),
            asked=full_questions,
        )
    shared = set(tables["train"]["asked"]) & set(tables["test"]["asked"])
    counts += counted("test", "questions", noted={"train has the question too": len(shared)})
    write_corpus(given, tables, QUESTIONS, counts)


if __name__ == "__main__":
    execute(main, cleaner_arguments(__doc__).parse_args())
