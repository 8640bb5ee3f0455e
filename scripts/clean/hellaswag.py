"""Clean HellaSwag (Zellers et al. 2019): a context and four endings, of which one is right.

No text is changed. The program reads one of two forms:
  the release   hellaswag_train.jsonl and hellaswag_val.jsonl, JSON lines
  its text      hellaswag_val_full.txt, six lines an item (`activity: context`, the number of the
                right ending, the four endings), without the names of the videos

An item comes from wikihow if its activity is a category of that site. All other items come from a
video of ActivityNet.

Reads  the files of these names in --fetched, the text also as .bz2
Writes <split>.parquet (schema choices) for each file, in its order, and cleaning.csv. group_id is
       the video; it is missing where the name of the video is

    python -m scripts.clean.hellaswag --source hellaswag --fetched results/fetch/hellaswag \\
        --output results/clean/hellaswag --provenance '{"licence": "MIT"}'
"""

import argparse
import bz2
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from scripts.clean.corpus import cleaner_arguments, counted, entries_of, write_corpus
from scripts.running.program import UserError, execute
from scripts.data.tables import CHOICES
from scripts.data.texts import lines_in, text_of

TEXTS = {"val": ("hellaswag_val_full.txt", "hellaswag_val_full.txt.bz2")}
RELEASES = {"train": "hellaswag_train.jsonl", "val": "hellaswag_val.jsonl"}
PLACES = 4
LINES = 2 + PLACES  # of an item in the text
WIKIHOW = (
    "Cars & Other Vehicles; Computers and Electronics; Education and Communications; "
    "Family Life; Finance and Business; Food and Entertaining; Health; "
    "Holidays and Traditions; Home and Garden; Home,Categories; Personal Care and Style; "
    "Pets and Animals; Philosophy and Religion; Relationships; Sports and Fitness; Travel; "
    "Uncategorized; Work World; Youth"
).split("; ")
VIDEO = "activitynet~"  # the beginning of a video's id in source_id


class Item(msgspec.Struct):
    """An item of the release."""

    activity_label: str
    ctx: str
    endings: list[str]
    label: int
    source_id: str


def read_release(file: Path) -> pd.DataFrame:
    """The items of a file of the release: activity, context, right, endings, video_id."""
    items = pd.DataFrame(map(msgspec.structs.asdict, entries_of(file, Item, "item", "ind")))
    video = items["source_id"].where(items["source_id"].str.startswith(VIDEO))
    names = {"activity_label": "activity", "ctx": "context", "label": "right"}
    return items.rename(columns=names).assign(video_id=video.str.removeprefix(VIDEO))


def read_text(file: Path) -> pd.DataFrame:
    """The same columns from the text form; video_id is missing. Raises UserError for an item that
    is cut off or has no label.
    """
    try:
        is_packed = file.suffix == ".bz2"
        text = bz2.decompress(file.read_bytes()).decode() if is_packed else text_of(file)
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: cannot be opened ({error}); fetch the file again") from None
    lines = lines_in(text, str(file))
    if not lines or len(lines) % LINES:
        raise UserError(
            f"{file}: has {len(lines):,} lines, but an item has {LINES} lines; fetch the file again"
        )
    table = pd.DataFrame(np.array(lines, object).reshape(-1, LINES))
    head = table[0].str.partition(": ")
    odd = (head[1] == "") | ~table[1].isin(list("0123"))
    if odd.any():
        first = int(odd.idxmax())
        raise UserError(
            f"{file}: line {first * LINES + 1}: must have `activity: context` and the number of an "
            f"ending (0 to {PLACES - 1}); mend it, or fetch the file again"
        )
    return pd.DataFrame(
        {
            "activity": head[0],
            "context": head[2],
            "right": table[1].astype(int),
            "endings": table[list(range(2, LINES))].to_numpy().tolist(),
            "video_id": None,
        }
    )


def to_options(items: pd.DataFrame, source: str, split: str, file: Path) -> pd.DataFrame:
    """Items as rows of the schema choices. Raises UserError for an item without four endings, and
    if its right ending is not one of them.
    """
    odd = (items["endings"].str.len() != PLACES) | ~items["right"].between(0, PLACES - 1)
    if odd.any():
        raise UserError(
            f"{file}: item {int(odd.idxmax()) + 1} must have {PLACES} endings, one of them right; "
            "mend it, or fetch the file again"
        )
    rows = items.assign(item_id=[f"{split}:{number}" for number in range(len(items))]).explode(
        "endings", ignore_index=True
    )
    place = np.tile(np.arange(PLACES), len(items))
    return rows.rename(columns={"endings": "option", "video_id": "group_id"}).assign(
        source=source,
        split=split,
        question="",
        category=np.where(rows["activity"].isin(WIKIHOW), "wikihow", "activitynet"),
        place=place,
        label=(rows["right"] == place).astype(int),
    )


def main(given: argparse.Namespace) -> None:
    tables, counts = {}, []
    there = {
        split: given.fetched / name
        for split, name in RELEASES.items()
        if (given.fetched / name).exists()
    }
    there |= {
        split: given.fetched / name
        for split, names in TEXTS.items()
        if split not in there
        for name in names
        if (given.fetched / name).exists()
    }
    if not there:
        raise UserError(
            f"{given.fetched}: holds none of {', '.join([*RELEASES.values(), *TEXTS['val']])}; "
            "fetch one of them"
        )
    for split, file in there.items():
        items = read_release(file) if file.suffix == ".jsonl" else read_text(file)
        tables[split] = to_options(items, given.source, split, file)
        domain = items["activity"].isin(WIKIHOW)
        counts += counted(
            split,
            "items",
            read=len(items),
            kept=len(items),
            noted={
                "of wikihow": domain,
                "of ActivityNet": ~domain,
                "without the name of its video": ~domain & items["video_id"].isna(),
            },
        )
    write_corpus(given, tables, CHOICES, counts)


if __name__ == "__main__":
    execute(main, cleaner_arguments(__doc__).parse_args())
