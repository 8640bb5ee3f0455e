"""Make new questions in the form of MC-TACO with many candidate answers,
for people to label (Zhou et al. 2019, section 3).

The seed answers of questions of one's own grow to candidates as scripts/people/candidates.py says:
by rules, a masked language model (--model) and retrieval. All of them, the seeds too, are
unlabelled.

Reads  --questions (.tsv with a header line, .jsonl or .parquet; columns sentence, question, answer,
       category; a row a seed. category is duration, ordering, typical_time, frequency or
       stationarity, or as the release writes it: Event Duration)
Writes <output>/test.parquet   schema of the datasets of MC-TACO; label is missing, so that nothing
                               can be measured on it yet
       <output>/labels.csv     the same to write in: sentence, question, answer, category, origin
                               (seed, rule, infill, retrieval), label. People write likely or
                               unlikely as label, and may add rows with answers of their own

    python -m scripts.studies.mctaco.to_label --questions questions.tsv \\
        --output results/to_label/mctaco/my_questions/new

scripts/studies/mctaco/labelled.py makes data of the labelled sheet, and docs/label.md says how to
measure on them.
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.people.candidates import COLUMNS, grown, growing, read_questions
from scripts.clean.mctaco import CATEGORIES
from scripts.people.label_sheets import write_items
from scripts.running.program import UserError, cut, execute, log
from scripts.studies.mctaco.tables import ANSWERS

QUESTION_COLUMNS = ["sentence", "question"]
# by the name that people write
CATEGORY = CATEGORIES | {name: name for name in CATEGORIES.values()}


def categories_of(questions: pd.DataFrame, file: Path) -> pd.DataFrame:
    """The category of each question: sentence, question, category.

    Raises UserError for one that is none, and for a question of two.
    """
    table = questions.assign(category=questions["category"].map(CATEGORY))[
        [*QUESTION_COLUMNS, "category"]
    ].drop_duplicates()
    if (unknown := table["category"].isna()).any():
        wrong = questions.loc[unknown[unknown].index[0], "category"]
        raise UserError(
            f"{file}: category {cut(wrong)} is not one of {', '.join(CATEGORIES.values())}; "
            "correct it"
        )
    if (twice := table.duplicated(QUESTION_COLUMNS)).any():
        raise UserError(
            f"{file}: the question {cut(table.loc[twice, 'question'].iloc[0])} has two categories; "
            "give all its answers one"
        )
    return table


def main(given: argparse.Namespace) -> None:
    questions = read_questions(given.questions, [*COLUMNS, "category"]).apply(
        lambda column: column.str.split().str.join(" ")
    )
    categories = categories_of(questions, given.questions)
    candidates, provenance = grown(given, questions[COLUMNS])
    rows = candidates.merge(categories, on=QUESTION_COLUMNS, how="left", validate="many_to_one")
    rows["text_a"] = rows["sentence"] + " " + rows["question"]
    number = pd.Series(pd.factorize(rows["text_a"])[0])
    group = "test:" + number.astype(str)
    table = rows.assign(
        example_id=[f"test:{row}" for row in range(len(rows))],
        text_b=rows["answer"],
        label=pd.NA,
        group_id=group,
        sentence_id=group.groupby(rows["sentence"]).transform("first"),
    )
    write_items(
        given.output,
        table,
        ANSWERS,
        provenance,
        rows[[*COLUMNS, "category", "origin"]].assign(label=""),
    )
    log.info("%s: %d answers to %d questions to label", given.output, len(rows), number.nunique())


def arguments() -> argparse.ArgumentParser:
    options = growing(__doc__, [*COLUMNS, "category"])
    options.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="the folder to write to"
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
