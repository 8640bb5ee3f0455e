"""Captions: reading the JSON of videos, and one split as a table."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from scripts.clean.corpus import EMPTY, Count, changed_spaces, cleaner_arguments, counted, joined
from scripts.clean.corpus import kept_of
from scripts.data.texts import STRING, json_of, text_of
from scripts.running.program import cut
from scripts.text.repeated_ends import rolling_words, without_first_words

NO_TIME = "start or end is not a finite number"
UNSORTED = "not in the order of start times: sorted"
TOGETHER = "starts together with the one in front: in the order of the file"
NO_SENTENCE = "no sentence is left"
AGAIN = "occurs a second time, with the same video, times and text"
ROLLS = "begins with the end of the one in front"
CUT, ALL_CUT = f"{ROLLS}: cut", "repeats nothing but the end of the one in front"


def caption_arguments(doc: str) -> argparse.ArgumentParser:
    """The arguments of every cleaner of captions."""
    shared = cleaner_arguments(doc)
    shared.add_argument(
        "--cut-rolling",
        action="store_true",
        help="cut the words with which a caption repeats the end of the caption before it",
    )
    return shared


class Captions(msgspec.Struct):
    """The captions of one video: times in seconds, one text for each."""

    duration: float
    timestamps: list[tuple[float, float]]
    sentences: list[str]


def read_json(file: Path) -> object:
    """Read a JSON file of videos. Raises UserError if it is missing, not UTF-8,
    broken, or has a repeated key.
    """

    def behind(before: str) -> str:
        # The last key of an object before the fault names the video with the fault, or the one
        # before it.
        found = re.findall(rf"({STRING})(\s*+:\s*+\{{)?", before, re.DOTALL)
        keys = [key[1:-1] for key, opens in found if opens]
        return f", in or just behind video {cut(keys[-1])}" if keys else ", before the first video"

    return json_of(text_of(file), str(file), behind=behind)


def sentences_of(videos: dict[str, Captions]) -> pd.DataFrame:
    """A row a sentence, in the order of the file: video_id, duration, start_s, end_s, raw (as it
    was read) and text.
    """
    rows = [
        (name, video.duration, *span, text)
        for name, video in videos.items()
        for span, text in zip(video.timestamps, video.sentences)
    ]
    table = pd.DataFrame(rows, columns=["video_id", "duration", "start_s", "end_s", "raw"]).astype(
        {"video_id": object, "duration": float, "start_s": float, "end_s": float, "raw": object}
    )
    return table.assign(text=joined(table["raw"]))


def rolls(rows: pd.DataFrame) -> pd.Series:
    """How many words of each sentence repeat the end of the sentence before it, 0 for one that does
    not roll. rows: video_id and text, in order.
    """
    words = rolling_words(rows["text"].iloc[:-1], rows["text"].iloc[1:])
    same_video = rows["video_id"].to_numpy()[1:] == rows["video_id"].to_numpy()[:-1]
    return pd.Series([0, *(words * same_video)][: len(rows)], index=rows.index, dtype=int)


def cut_repeats(rows: pd.DataFrame, cut: bool) -> tuple[pd.DataFrame, dict[str, dict]]:
    """Sentences in order, and counts by action and reason. With `cut` a sentence loses the words
    that repeat the end of the sentence before it.
    """
    repeated = rolls(rows)
    if not cut:
        return rows, {"noted": {ROLLS: repeated > 0}}
    texts = without_first_words(rows["text"], repeated)
    left = texts != ""
    return rows.assign(text=texts)[left], {
        "dropped": {ALL_CUT: ~left},
        "changed": {CUT: (repeated > 0) & left},
    }


def clean_split(
    videos: dict[str, Captions], source: str, split: str, cut_rolling: bool = False
) -> tuple[pd.DataFrame, list[Count]]:
    """One split (thousands of videos, not millions) as a table of captions,
    and the counts of what was found and changed.

    Sorted by video_id and start time; equal times keep the order of the file. A sentence is dropped
    only for an empty text, a time that is not a finite number, or if it occurs a second time. Odd
    times are counted and stay. A sentence that repeats the end of the one before it is counted;
    with cut_rolling the repeated words go.
    """
    rows = sentences_of(videos)
    noted = {
        "start is after end": rows["start_s"] > rows["end_s"],
        "start equals end": rows["start_s"] == rows["end_s"],
        "end is past the duration of the video": rows["end_s"] > rows["duration"],
        "start is before the video": rows["start_s"] < 0,
    }
    timed = np.isfinite(rows[["start_s", "end_s"]]).all(axis=1)
    empty = timed & (rows["text"] == "")
    again = timed & ~empty & rows.duplicated(["video_id", "start_s", "end_s", "text"])
    kept_sentences = rows[timed & ~empty & ~again]
    backwards = kept_sentences.groupby("video_id", sort=False)["start_s"].diff() < 0
    unsorted = {UNSORTED: kept_sentences.loc[backwards, "video_id"].nunique()}
    kept_sentences = kept_sentences.sort_values(["video_id", "start_s"], kind="stable")
    kept_sentences, rolling = cut_repeats(kept_sentences, cut_rolling)
    by_video = kept_sentences.groupby("video_id", sort=False)
    counts = [
        *kept_of(split, "videos", len(videos), by_video.ngroups, NO_SENTENCE, changed=unsorted),
        *counted(
            split,
            "sentences",
            read=len(rows),
            dropped={NO_TIME: ~timed, EMPTY: empty, AGAIN: again} | rolling.get("dropped", {}),
            kept=len(kept_sentences),
            changed=changed_spaces(rows["raw"]) | rolling.get("changed", {}),
            noted=noted | {TOGETHER: by_video["start_s"].diff() == 0} | rolling.get("noted", {}),
        ),
    ]
    return kept_sentences.assign(source=source, split=split, position=by_video.cumcount()), counts


def clean_splits(
    videos: dict[str, dict[str, Captions]], source: str, cut_rolling: bool = False
) -> Iterator[tuple[str, pd.DataFrame, list[Count]]]:
    """Every split with its table and counts. A video of another split leaves `train`."""
    others = [split for split in videos if split != "train"]
    for split, read in videos.items():
        shared: set[str] = set()
        dropped: list[Count] = []
        if split == "train":
            shared = set(read) & set().union(*(videos[other] for other in others))
            why = f"also a video of {' or '.join(others)}"
            dropped = counted(split, "videos", dropped={why: len(shared)})
        left = {name: video for name, video in read.items() if name not in shared}
        table, counts = clean_split(left, source, split, cut_rolling)
        yield split, table, dropped + counts
