"""Make questions in the layout of MC-TACO's release of sheets that people labelled (scripts/build/mctaco_to_label.py).

One sheet is one person's; of several the majority counts, as of the paper's four annotators. An answer that nobody labelled, or that as many
found likely as unlikely, is left out and told of. Rows that people added need the question's sentence, question and category.

Reads  --sheets (CSV: sentence, question, answer, category, label)
       --answers (CSV of a page that was made from the folder --made; docs/people.md), in their place or beside them
Writes --output (sentence, question, answer, yes or no, category; tab-separated without header), which the cleaner of MC-TACO reads
       (scripts/clean/mctaco.py; docs/label.md has the entry)

    python -m scripts.build.mctaco_labelled --sheets anna.csv ben.csv --output test_9442.tsv
"""

import argparse

import pandas as pd

from scripts.build.candidates import COLUMNS
from scripts.build.mctaco_to_label import ASKED, KNOWN
from scripts.clean.mctaco import CATEGORIES
from scripts.clean.mctaco import COLUMNS as RELEASED
from scripts.common.files import whole
from scripts.common.label_sheets import decided, labelling_arguments, labels_given, refuse
from scripts.common.program import execute, log

LABELS = {"likely": "yes", "unlikely": "no"}
NAMES = {name: released for released, name in CATEGORIES.items()}


def texts_of(sheet: pd.DataFrame) -> pd.DataFrame:
    """What test.parquet has of the rows of a sheet (scripts/build/mctaco_to_label.py)."""
    return pd.DataFrame({"text_a": sheet["sentence"] + " " + sheet["question"], "text_b": sheet["answer"]})


def answers_of(given: argparse.Namespace) -> pd.DataFrame:
    """The answers that people decided on, a question's together: columns of the release. Raises UserError for rows that are no answers."""
    rows = labels_given(given, [*COLUMNS, "category", "label"], [*LABELS], texts_of)
    for name in COLUMNS:
        rows[name] = rows[name].str.split().str.join(" ")
        refuse(rows, rows[name] == "", f"has no {name}", "fill it in, or remove the row")
    refuse(rows, ~rows["category"].isin(KNOWN), f"category is {{category}}, not one of {', '.join(NAMES)}", "correct it")
    rows["category"] = rows["category"].map(KNOWN)
    first = rows.groupby(ASKED, sort=False)["category"].transform("first")
    refuse(rows, rows["category"] != first, "the category of the question {question} is another one than above", "give all its answers one")
    rows["folded"] = rows["answer"].str.casefold()
    answers = decided(rows, [*ASKED, "folded"], [*LABELS], "answers")
    place = pd.factorize(answers["sentence"] + "\0" + answers["question"])[0]
    answers = answers.assign(label=answers["label"].map(LABELS), category=answers["category"].map(NAMES), place=place)
    return answers.sort_values("place", kind="stable", ignore_index=True)[RELEASED]


def main(given: argparse.Namespace) -> None:
    answers = answers_of(given)
    with whole(given.output) as place:
        place.write_text("".join("\t".join(row) + "\n" for row in answers.itertuples(index=False, name=None)), encoding="utf-8")
    log.info("%s: %d answers to %d questions, %.1f %% likely", given.output, len(answers), len(answers.drop_duplicates(ASKED)),
             100 * (answers["label"] == "yes").mean())


if __name__ == "__main__":
    execute(main, labelling_arguments(__doc__).parse_args())
