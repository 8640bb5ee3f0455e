"""Build the options of questions, one a row, to choose from.

A source has a training split and splits to measure on, or a test alone. Of a test alone, the
training split has the same items: controls are cross-fitted on them (scripts/controls/folds.py),
and no model learns from them. With the option `fold`, one fifth of the test's groups is measured,
and the others are learnt from. A source with `videos_of` is split by its videos (videos.py).
A training item that is also measured, with the same texts, is dropped.

The context of an option is the item's context and its question, with <MASK> at their end, if it has
no <MASK> of its own.

Reads  <cleaned>/*.parquet (schema choices), of --beside `captions` every split (schema captions)
Writes <output>/<split>.parquet (schema of tables.py), and <output>/leakage.csv: how many items
       went to each split, or were dropped, and why

    python -m scripts.studies.choices.build --cleaned results/clean/hellaswag \\
        --splits train test --options '{"category": "activitynet"}' --output /tmp/hellaswag \\
        --beside '{"captions": {"cleaned": "results/clean/activitynet", "spans": "",
                   "train": "train", "evaluate": ["val_1", "val_2"]}}'
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data import tables
from scripts.data.builder_arguments import builder_arguments
from scripts.data.csv_files import write_csv
from scripts.data.files import whole_set
from scripts.data.keyed import keyed_hash
from scripts.data.limit import of_lowest
from scripts.data.tables import read_complete, write_rows
from scripts.running.program import UserError, execute, log, shown
from scripts.studies.choices.options import FOLDS, Options
from scripts.studies.choices.tables import CHOICES
from scripts.studies.choices.videos import by_videos

DRAWN, FOLD = 24, 25  # keys of the hashes of training items, and of the groups of a fold
AS_IN_FILE = "as in its file"
REPEATED = "its texts are also those of a measured item"
DROPPED = "dropped"


def as_in_files(options: pd.DataFrame, learn: str) -> pd.DataFrame:
    """Return the items as their files split them: item_id, category, group_id, split (empty for a
    dropped item), reason. learn: the training split.
    """
    items = options.drop_duplicates("item_id")[["item_id", "category", "group_id", "split"]]
    items = items.assign(reason=AS_IN_FILE)
    texts = options["context"] + "\n" + options["question"] + "\n" + options["option"]
    text = texts.groupby(options["item_id"]).agg(lambda parts: "\n".join(sorted(parts)))
    text = items["item_id"].map(text)
    is_learnt = items["split"] == learn
    repeated = is_learnt & text.isin(text[~is_learnt])
    return items.assign(
        split=items["split"].mask(repeated, ""), reason=items["reason"].mask(repeated, REPEATED)
    )


def folded(items: pd.DataFrame, fold: int, splits: list[str]) -> pd.DataFrame:
    """Return the items of the evaluation splits alone: those of a fold of the groups are measured,
    the others learnt from.
    """
    learn, *measure = splits
    items = items[items["split"].isin(measure)]
    is_fold = keyed_hash(items["group_id"], FOLD) % np.uint64(FOLDS) == fold
    return items.assign(
        split=items["split"].where(is_fold, learn),
        reason=np.where(is_fold, f"fold {fold} is measured", "the other folds are learnt from"),
    )


def of_category(items: pd.DataFrame, category: str | None, where: Path) -> pd.DataFrame:
    """Return the items of a category; all of them for None. Raises UserError if it has none."""
    if category is None:
        return items
    kept = items[items["category"] == category]
    if kept.empty:
        known = ", ".join(map(shown, sorted(set(items["category"]))[:20]))
        raise UserError(
            f"{where}: no item is of category {category}; name one of {known or 'none'}"
        )
    return kept


def leakage_of(items: pd.DataFrame) -> pd.DataFrame:
    """Count the items of each split and the dropped items, with the reason."""
    rows = items.assign(is_dropped=items["split"] == "", split=items["split"].replace("", DROPPED))
    keys = ["is_dropped", "category", "reason", "split"]
    counts = rows.groupby(keys, as_index=False).agg(
        items=("item_id", "size"), groups=("group_id", "nunique")
    )
    return counts[["split", "category", "reason", "items", "groups"]]


def to_choose(options: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the options of items as rows of the schema choices of this study."""
    rows = options.drop(columns="group_id").merge(items[["item_id", "group_id"]], on="item_id")
    text = rows["context"].str.cat(rows["question"], " ").str.strip()
    text = text.where(text.str.contains("<MASK>"), text + " <MASK>")
    return rows.rename(columns={"item_id": "instance_id", "option": "candidate"}).assign(
        example_id=rows["item_id"] + ":" + rows["place"].astype(str), context=text.str.strip()
    )[CHOICES.names]


def main(given: argparse.Namespace) -> None:
    options, files = Options.of(given.options), sorted(given.cleaned.glob("*.parquet"))
    if not files:
        raise UserError(f"{given.cleaned}: no questions; clean the source again")
    parts = [read_complete(file, tables.CHOICES, ["group_id"]).to_pandas() for file in files]
    rows, captions = pd.concat(parts, ignore_index=True), given.beside.get("captions")
    items = (
        by_videos(rows, captions, *given.splits) if captions else as_in_files(rows, given.splits[0])
    )
    if options.fold is not None:
        items = folded(items, options.fold, given.splits)
    learn = given.splits[0]
    is_alone = not captions and options.fold is None and learn not in set(rows["split"])
    if is_alone and options.train_items is not None:
        raise UserError(
            f"{given.cleaned}: is a test alone, so nothing is learnt from; leave train_items out, "
            "or set fold"
        )
    with whole_set(given.output) as folder:
        write_csv(leakage_of(items), folder / "leakage.csv")
        items = of_category(items, options.category, given.cleaned)
        if is_alone:
            items = pd.concat([items, items.assign(split=learn)])
        for split in given.splits:
            chosen = to_choose(rows, items[items["split"] == split])
            if chosen.empty:
                raise UserError(
                    f"{given.cleaned}: no item is left for {split}; correct the options"
                )
            if split == learn:
                what = f"{given.cleaned}: train_items"
                wanted = of_lowest(chosen["instance_id"], options.train_items, what, DRAWN)
                chosen = chosen[wanted]
            facts = {"split": split, "options": options.written()}
            write_rows(chosen, folder / f"{split}.parquet", CHOICES, files[0], facts)
            counts = chosen["instance_id"].nunique(), chosen["group_id"].nunique()
            log.info("%s %s: %d items of %d groups", given.output, split, *counts)


if __name__ == "__main__":
    execute(main, builder_arguments(__doc__, Options).parse_args())
