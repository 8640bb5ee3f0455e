"""Make questions in the layout of MC-TACO's release of sheets that people labelled
(scripts/studies/mctaco/to_label.py).

One sheet is one person's; of several the majority counts, as of the paper's four annotators. An
answer that nobody labelled, or that as many found likely as unlikely, is left out and told of. Rows
that people added need the question's sentence, question and category.

Reads  --sheets (CSV: sentence, question, answer, category, label)
       --answers (CSV of a page that was made from the folder --made; docs/people.md), in their
       place or beside them
Writes --output (sentence, question, answer, yes or no, category; tab-separated without header),
       which the cleaner of MC-TACO reads (scripts/clean/mctaco.py; docs/label.md has the entry)

    python -m scripts.studies.mctaco.labelled --sheets anna.csv ben.csv --output test_9442.tsv
"""

import argparse

import pandas as pd

from scripts.studies.mctaco.to_label import QUESTION_COLUMNS, CATEGORY
from scripts.clean.mctaco import CATEGORIES
from scripts.clean.mctaco import COLUMNS as RELEASED
from scripts.data.files import whole
from scripts.people.label_sheets import Form, labelling_arguments, labels_given, refuse
from scripts.running.program import execute, log

LABELS = {"likely": "yes", "unlikely": "no"}
NAMES = {name: released for released, name in CATEGORIES.items()}


def of_item(sheet: pd.DataFrame) -> dict[str, pd.Series]:
    """The texts of a dataset of MC-TACO."""
    return {"text_a": sheet["sentence"] + " " + sheet["question"], "text_b": sheet["answer"]}


def checked(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with one-line texts, the category, and `folded`, the answer without case.

    Raises UserError for rows that are no answers.
    """
    for name in (*QUESTION_COLUMNS, "answer"):
        rows[name] = rows[name].str.split().str.join(" ")
        refuse(rows, rows[name] == "", f"has no {name}", "fill it in, or remove the row")
    category = rows["category"].map(CATEGORY)
    refuse(
        rows,
        category.isna(),
        f"category is {{category}}, not one of {', '.join(NAMES)}",
        "correct it",
    )
    rows = rows.assign(category=category, folded=rows["answer"].str.casefold())
    refuse(
        rows,
        category != rows.groupby(QUESTION_COLUMNS)["category"].transform("first"),
        "the category of the question {question} is another one than above",
        "give all its answers one",
    )
    return rows


FORM = Form(
    "mctaco",
    [*QUESTION_COLUMNS, "answer", "category", "label"],
    [*LABELS],
    [*QUESTION_COLUMNS, "folded"],
    "answers",
    of_item,
    checked,
)


def main(given: argparse.Namespace) -> None:
    answers = labels_given(given, FORM)
    answers = answers.assign(
        label=answers["label"].map(LABELS),
        category=answers["category"].map(NAMES),
        place=answers.groupby(QUESTION_COLUMNS, sort=False).ngroup(),
    )
    answers = answers.sort_values("place", kind="stable")[RELEASED]
    with whole(given.output) as place:
        place.write_text(
            "".join("\t".join(row) + "\n" for row in answers.itertuples(index=False, name=None)),
            encoding="utf-8",
        )
    log.info(
        "%s: %d answers to %d questions, %.1f %% likely",
        given.output,
        len(answers),
        len(answers.drop_duplicates(QUESTION_COLUMNS)),
        100 * (answers["label"] == "yes").mean(),
    )


if __name__ == "__main__":
    execute(main, labelling_arguments(__doc__).parse_args())
