"""Clean ActivityNet Captions: the three captioned splits as tables of one sentence a row,
in the order of time.

Reads  train.json, val_1.json, val_2.json ({video_id: {duration, timestamps, sentences}}),
       train_ids.json and val_ids.json (lists of video ids) from --fetched
Writes train.parquet, val_1.parquet, val_2.parquet (schema captions), sorted by video and start
       time, and cleaning.csv, which counts the read, changed, dropped and odd items

White space is stripped and joined. Times do not change, even odd ones. A sentence is dropped only
if its text is empty or a time is not a finite number. A training video is dropped only if it is
also in val_1 or val_2 (no such video is in the released files). val_2 captions the videos of val_1
again, so these two splits are not independent.

    python -m scripts.clean.activitynet --source activitynet --fetched results/fetch/activitynet \\
        --output results/clean/activitynet --provenance '{"licence": "unstated"}'
"""

import argparse
from pathlib import Path

from scripts.clean.captions import Captions, caption_arguments, clean_splits, read_json
from scripts.clean.corpus import counted, shaped, write_corpus
from scripts.data.tables import CAPTIONS
from scripts.running.program import UserError, cut, execute

LISTS = {"train": "train_ids.json", "val_1": "val_ids.json", "val_2": "val_ids.json"}


def read_split(file: Path) -> dict[str, Captions]:
    """The videos of one file, checked.

    Raises UserError that names the video whose shape is wrong.
    """
    videos = {
        name: shaped(video, Captions, f"{file}: video {cut(name)}")
        for name, video in shaped(read_json(file), dict[str, object], str(file)).items()
    }
    if not videos:
        raise UserError(f"{file}: no video in it; fetch it again")
    for name, video in videos.items():
        if len(video.timestamps) != len(video.sentences):
            raise UserError(
                f"{file}: video {cut(name)}: {len(video.timestamps)} timestamps but "
                f"{len(video.sentences)} sentences; mend that entry, or fetch the file again"
            )
    return videos


def main(given: argparse.Namespace) -> None:
    videos = {split: read_split(given.fetched / f"{split}.json") for split in LISTS}
    listed = {
        name: shaped(read_json(given.fetched / name), list[str], str(given.fetched / name))
        for name in dict.fromkeys(LISTS.values())
    }
    tables, counts = {}, []
    for split, table, found in clean_splits(videos, given.source, given.cut_rolling):
        tables[split] = table
        with_captions, ids = set(videos[split]), set(listed[LISTS[split]])
        counts += found + counted(
            split,
            "videos",
            noted={
                f"listed in {LISTS[split]} but has no captions": len(ids - with_captions),
                f"has captions but is not listed in {LISTS[split]}": len(with_captions - ids),
            },
        )
        if split != "train":
            texts, known = (tables[name]["text"].str.lower() for name in (split, "train"))
            counts += counted(
                split,
                "sentences",
                noted={"occurs in train too (in upper or lower case)": texts.isin(known)},
            )
    write_corpus(given, tables, CAPTIONS, counts)


if __name__ == "__main__":
    execute(main, caption_arguments(__doc__).parse_args())
