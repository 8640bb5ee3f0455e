"""Clean a benchmark of questions with options, in any form that scripts/data/choices.py reads.

--columns is what the source's entry says of its files: `columns`, `answers_are` and, where it needs
them, labels, header, lines, patterns, empty, and `files`, the file of each split. Without `files`
the one file is the split test.

No text is changed. Items without a right option, or without a wrong one, are dropped. A group is
what the entry declares. Otherwise items with the same context are a group, and without a context
those whose questions differ in numbers alone. In a category, `_` stands for what is no letter,
digit, point or hyphen.

Reads  the files of the entry in --fetched, also inside a zip
Writes <split>.parquet (schema choices) for each split, and cleaning.csv

    python -m scripts.clean.choices --source mine --fetched /data --output results/clean/mine \\
        --columns '{"columns": {"question": "Question", "options": ["A", "B"], "answer": "Key"},
                    "answers_are": "letters"}' \\
        --provenance '{"licence": "MIT", "sha256": {"mine.csv": null}}'
"""

import argparse
from pathlib import Path

import msgspec
import pandas as pd

from scripts.clean.corpus import cleaner_arguments, counted, places_given, write_corpus
from scripts.data.choice_columns import Declaration
from scripts.data.choices import read_splits
from scripts.data.tables import CHOICES
from scripts.running.program import UserError, execute, json_object
from scripts.text.near_copies import but_for_numbers

UTF_8 = "utf-8"
NO_RIGHT, NO_WRONG = "no option is right", "no option is wrong"


def read_source(place: Path, layout: dict, encoding: str) -> dict[str, pd.DataFrame]:
    """Return the options of each split. place: the source's file, or the folder of its files."""
    declared = {key: value for key, value in layout.items() if key != "files"}
    try:
        declaration = msgspec.convert(declared | {"encoding": encoding}, Declaration)
    except msgspec.ValidationError as error:
        raise UserError(f"columns: {error}; correct the source's entry") from None
    return read_splits(place, layout.get("files", {}), declaration)[0]


def to_rows(options: pd.DataFrame, source: str, split: str) -> tuple[pd.DataFrame, dict]:
    """Return the options of a split as rows of the schema choices, and which items were dropped,
    with the reason.
    """
    shares = options.groupby("item_id", sort=False)["right"].mean()
    is_group = options["group_id"] != options["item_id"]
    template = but_for_numbers(options["question"])
    group = options["context"].where(options["context"] != "", template)
    category = options["category"].str.replace(r"[^\w.-]+", "_", regex=True).str.strip("_.-")
    rows = options.rename(columns={"right": "label"}).assign(
        source=source,
        split=split,
        category=category,
        group_id=options["group_id"] if is_group.any() else group,
        item_id=f"{split}:" + options["item_id"],
    )
    kept = options["item_id"].map(shares).between(0, 1, inclusive="neither")
    return rows[kept], {NO_RIGHT: shares == 0, NO_WRONG: shares == 1}


def usable(rows: pd.DataFrame, place: Path, split: str) -> pd.DataFrame:
    """Return the rows of a split. Raises UserError without rows."""
    if rows.empty:
        raise UserError(
            f"{place}: no item of {split} has a right and a wrong option; correct `answers_are`"
        )
    return rows


def check_source(place: Path, entry: dict, most: int) -> None:
    """Raise UserError if a file of a source's entry cannot be read with its declaration."""
    keys = {*Declaration.__struct_fields__, "files"} & {*entry} - {"encoding"}
    layout = {key: entry[key] for key in keys}
    for split, options in read_source(place, layout, entry.get("encoding", UTF_8)).items():
        usable(to_rows(options, "", split)[0], place, split)


def main(given: argparse.Namespace) -> None:
    places = places_given(given.fetched, given.provenance)
    place = places[0] if len(places) == 1 else given.fetched
    tables, counts = {}, []
    for split, options in read_source(place, given.columns, given.encoding).items():
        rows, dropped = to_rows(options, given.source, split)
        tables[split] = usable(rows, place, split)
        counts += counted(
            split,
            "items",
            read=options["item_id"].nunique(),
            kept=tables[split]["item_id"].nunique(),
            dropped=dropped,
        )
    write_corpus(given, tables, CHOICES, counts)


def arguments() -> argparse.ArgumentParser:
    shared = cleaner_arguments(__doc__)
    shared.add_argument(
        "--columns", type=json_object, required=True, metavar="JSON", help="see above"
    )
    shared.add_argument(
        "--encoding", default=UTF_8, help="the encoding of texts; default: %(default)s"
    )
    return shared


if __name__ == "__main__":
    execute(main, arguments().parse_args())
