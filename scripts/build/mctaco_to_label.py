"""Make new questions in the form of MC-TACO with many candidate answers, for people to label (Zhou et al. 2019, section 3).

The seed answers of questions of one's own grow to candidates as scripts/build/candidates.py says: by rules, a masked language model
(--model) and retrieval. All of them, the seeds too, are unlabelled.

Reads  --questions (.tsv with a header line, .jsonl or .parquet; columns sentence, question, answer, category; a row a seed. category is
       duration, ordering, typical_time, frequency or stationarity, or as the release writes it: Event Duration)
Writes <output>/test.parquet   schema of the datasets of MC-TACO; label is missing, so that nothing can be measured on it yet
       <output>/labels.csv     the same to write in: sentence, question, answer, category, origin (seed, rule, infill, retrieval), label. People
                               write likely or unlikely as label, and may add rows with answers of their own

    python -m scripts.build.mctaco_to_label --questions questions.tsv --output results/to_label/mctaco/my_questions/new

scripts/build/mctaco_labelled.py makes data of the labelled sheet, and docs/label.md says how to measure on them.
"""

import argparse
from pathlib import Path

import pandas as pd
import pyarrow as pa

from scripts.build.candidates import COLUMNS, grown, growing, read_questions
from scripts.clean.mctaco import CATEGORIES
from scripts.common.csv_files import write_csv
from scripts.common.files import whole_set
from scripts.common.program import UserError, cut, execute, log
from scripts.common.tables import ANSWERS, write_table

ASKED = ["sentence", "question"]
SHEET = [*COLUMNS, "category", "origin", "label"]
KNOWN = CATEGORIES | {name: name for name in CATEGORIES.values()}


def categories_of(questions: pd.DataFrame, file: Path) -> pd.DataFrame:
    """The category of each question: sentence, question, category. Raises UserError for one that is none, and for a question of two."""
    unknown = ~questions["category"].isin(KNOWN)
    if unknown.any():
        raise UserError(f"{file}: category {cut(questions.loc[unknown, 'category'].iloc[0])} is not one of {', '.join(CATEGORIES.values())}; "
                        "correct it")
    table = questions.assign(category=questions["category"].map(KNOWN))[[*ASKED, "category"]].drop_duplicates()
    if (twice := table.duplicated(ASKED)).any():
        raise UserError(f"{file}: the question {cut(table.loc[twice, 'question'].iloc[0])} has two categories; give all its answers one")
    return table


def to_label(candidates: pd.DataFrame, categories: pd.DataFrame) -> pd.DataFrame:
    """The candidates with category, as rows of the schema answers; label is missing. Columns of the sheet besides."""
    rows = candidates.merge(categories, on=ASKED, how="left", validate="many_to_one")
    rows["text_a"] = rows["sentence"] + " " + rows["question"]
    return rows.assign(example_id=[f"test:{row}" for row in range(len(rows))], text_b=rows["answer"], label=pd.array([pd.NA] * len(rows), "Int8"),
                       group_id="test:" + pd.Series(pd.factorize(rows["text_a"])[0]).astype(str))


def main(given: argparse.Namespace) -> None:
    questions = read_questions(given.questions, [*COLUMNS, "category"]).apply(lambda column: column.str.split().str.join(" "))
    categories = categories_of(questions, given.questions)
    candidates, provenance = grown(given, questions[COLUMNS])
    rows = to_label(candidates, categories)
    with whole_set(given.output) as folder:
        write_table(pa.Table.from_pandas(rows[ANSWERS.names], schema=ANSWERS, preserve_index=False), folder / "test.parquet", ANSWERS, provenance)
        write_csv(rows[SHEET].assign(label=""), folder / "labels.csv")
    log.info("%s: %d answers to %d questions to label", given.output, len(rows), rows["group_id"].nunique())


def arguments() -> argparse.ArgumentParser:
    options = growing(__doc__, [*COLUMNS, "category"])
    options.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="the folder to write to")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
