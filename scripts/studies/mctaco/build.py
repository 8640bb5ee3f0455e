"""Build the answers of MC-TACO to classify (Zhou et al. 2019, section 4):
sentence and question against each answer.

Reads  <cleaned>/<split>.parquet (schema questions)
Writes <output>/<split>.parquet (schema answers), in the order of the data

    python -m scripts.studies.mctaco.build --cleaned results/clean/mctaco --splits train test \\
        --options '{"unit_normalization": true, "train_questions": null, "draw": 0}' \\
        --output /tmp/mctaco

options.py explains the options. train_questions keeps the questions with the lowest hashes of their
ids; the option draw changes the hashes. A larger number includes the questions of a smaller number.
With contrast "unit" the evaluation splits keep only questions with an answer that another unit
writes exactly. Each question is followed by its counterpart: the same question with these answers
in the other unit ("1 hour" as "60 minutes") and the same labels.
"""

import argparse

import pandas as pd

from scripts.data.counterparts import COUNTERPART
from scripts.data.limit import limited, of_lowest
from scripts.data.builder_arguments import builder_arguments
from scripts.text.unit_normalization import in_another_unit, normalize_units
from scripts.studies.mctaco.options import Options
from scripts.data.files import whole_set
from scripts.running.program import UserError, execute, log
from scripts.data.tables import QUESTIONS, read_complete, write_rows
from scripts.studies.mctaco.tables import ANSWERS


def to_classify(questions: pd.DataFrame, split: str, unit_normalization: bool) -> pd.DataFrame:
    """Return cleaned questions as rows of the schema answers."""
    answers = questions["answer"]
    # 4, "Unit normalization"
    text_b = normalize_units(answers) if unit_normalization else answers
    return pd.DataFrame(
        {
            "example_id": [f"{split}:{row}" for row in range(len(questions))],
            "group_id": questions["question_id"],
            "sentence_id": questions.groupby("sentence")["question_id"].transform("first"),
            "text_a": questions["sentence"] + " " + questions["question"],
            "text_b": text_b,
            "label": questions["label"],
            "category": questions["category"],
            "answer": answers,
        }
    )


def with_counterparts(rows: pd.DataFrame, unit_normalization: bool, where: str) -> pd.DataFrame:
    """Return the questions with an answer that another unit writes exactly, then their
    counterparts. A counterpart's ids end in COUNTERPART. Its answers are in the other unit if that
    unit writes them exactly. Raises UserError if no question has a counterpart.
    """
    rewritten = in_another_unit(rows["answer"])
    kept = rewritten.notna().groupby(rows["group_id"]).transform("any")
    if not kept.any():
        raise UserError(
            f"{where}: no answer is a quantity that another unit writes exactly; leave contrast out"
        )
    originals = rows[kept]
    answers = rewritten.fillna(rows["answer"])[kept]
    counterparts = originals.assign(
        example_id=originals["example_id"] + COUNTERPART,
        group_id=originals["group_id"] + COUNTERPART,
        text_b=normalize_units(answers) if unit_normalization else answers,
        answer=answers,
    )
    return pd.concat([originals, counterparts], ignore_index=True)


def main(given: argparse.Namespace) -> None:
    options, [first, *_] = Options.of(given.options), given.splits
    with whole_set(given.output) as folder:
        for split in given.splits:
            file, where = given.cleaned / f"{split}.parquet", f"{given.output} {split}"
            limit: dict = {}
            questions = read_complete(file, QUESTIONS).to_pandas()
            rows = to_classify(questions, split, options.unit_normalization)
            if split == first:
                what = f"{file}: train_questions"
                wanted = options.train_questions
                rows = rows[of_lowest(rows["group_id"], wanted, what, options.draw)]
            else:
                if options.contrast == "unit":
                    rows = with_counterparts(rows, options.unit_normalization, str(file))
                rows = rows.assign(pair=rows["group_id"].str.removesuffix(COUNTERPART))
                rows, limit = limited(rows, "pair", options.limit, "questions", where)
            facts = {"split": split, "options": options.written()} | limit
            write_rows(rows, folder / file.name, ANSWERS, file, facts)
            log.info(
                "%s: %d answers to %d questions, %.1f %% likely, %d answers normalised",
                *(where, len(rows), rows["group_id"].nunique(), 100 * rows["label"].mean()),
                (rows["text_b"] != rows["answer"]).sum(),
            )


if __name__ == "__main__":
    execute(main, builder_arguments(__doc__, Options).parse_args())
