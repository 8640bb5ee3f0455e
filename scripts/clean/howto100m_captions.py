"""Cleaning the captions of a batch of HowTo100M's videos, all at once, and counting what was done.

Not a program.
"""

from collections import Counter
from itertools import chain

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.clean.captions import EMPTY, NO_SENTENCE, NO_TIME, TOGETHER, UNSORTED
from scripts.clean.howto100m_videos import Video
from scripts.common.keyed import keyed_uniform

SPLITS = ("train", "val")
VAL_SHARE = 0.1
HALF = "half of a surrogate pair: U+FFFD stands for it"
WHITE = r"[\s\v\x{1c}-\x{1f}\x{85}\p{Z}]+"  # as str.split() has it, for Arrow's regular expressions


class BatchCounts:
    """Counts by (split number, unit, action, reason) of a batch of videos; split_of: the split number of each video."""

    def __init__(self, split_of: np.ndarray):
        self.split_of, self.found = split_of, Counter()

    def add(self, unit: str, action: str, reason: str, per_split: np.ndarray) -> None:
        for split in range(len(SPLITS)):
            self.found[split, unit, action, reason] += int(per_split[split])

    def videos(self, action: str, reason: str, amount: np.ndarray, unit: str = "videos") -> None:
        """Count an amount (or yes and no) of each video."""
        self.add(unit, action, reason, np.bincount(self.split_of, weights=amount, minlength=len(SPLITS)))

    def captions(self, action: str, reason: str, video: np.ndarray) -> None:
        """Count captions, given the number of each one's video."""
        self.add("captions", action, reason, np.bincount(self.split_of[video], minlength=len(SPLITS)))


def texts_of(values: list) -> tuple[pa.Array, np.ndarray]:
    """An array of strings from decoded JSON, null for all that is not text; and the places of texts with a mended half."""
    texts = [value if type(value) is str else None for value in values]
    try:
        return pa.array(texts, pa.string()), np.array([], np.int64)
    except UnicodeEncodeError:
        # Half of a surrogate pair is nothing that a file can hold as text; U+FFFD stands for it.
        mended = [text and text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]
        places = [place for place, (text, after) in enumerate(zip(texts, mended)) if text != after]
        return pa.array(mended, pa.string()), np.array(places, np.int64)


def spaced(texts: pa.Array) -> pa.Array:
    """Texts stripped, with one space for every run of white space."""
    # Few need it, and to find them is ten times faster than to replace everywhere.
    odd = pc.match_substring_regex(texts, "[^ -~]|  |^ | $").fill_null(False)
    joined = pc.replace_substring_regex(texts.filter(odd), WHITE, " ")
    return pc.replace_with_mask(texts, odd, pc.utf8_trim(joined, " "))


def goes_on(texts: pa.Array, video: np.ndarray) -> np.ndarray:
    """For each text: does the next one of the same video repeat it, or go on from it by whole words?"""
    if len(texts) < 2:
        return np.zeros(len(texts), bool)
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    characters = np.frombuffer(texts.buffers()[2], np.uint8)
    begin, length = offsets[:-1], np.diff(offsets)
    here, there = begin[:-1], begin[1:]
    behind = np.minimum(there + length[:-1], len(characters) - 1)
    could = (video[:-1] == video[1:]) & (
        (length[:-1] == length[1:]) | ((length[:-1] < length[1:]) & (characters[behind] == ord(" "))))
    could &= characters[here] == characters[there]
    rows = np.flatnonzero(could)
    # Compare what is left byte by byte, all rows at once.
    lengths = length[rows]
    ends = np.cumsum(lengths)
    within = np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)
    differ = characters[np.repeat(here[rows], lengths) + within] != characters[np.repeat(there[rows], lengths) + within]
    same = np.diff(np.concatenate([[0], np.cumsum(differ)])[np.concatenate([[0], ends])]) == 0
    found = np.zeros(len(texts), bool)
    found[rows[same]] = True
    return found


def flattened(videos: list[Video], counts: BatchCounts) -> tuple[np.ndarray, list, np.ndarray, np.ndarray]:
    """The number of the video, the text (whatever it is), start and end of every caption; longer lists are cut."""
    sizes = np.array([(len(one.start), len(one.end), len(one.text)) for one in videos], dtype=np.int64).reshape(-1, 3)
    shortest, longest = sizes.min(axis=1), sizes.max(axis=1)
    for number in np.flatnonzero(shortest < longest):
        for values in (videos[number].start, videos[number].end, videos[number].text):
            del values[shortest[number]:]
    counts.videos("read", "", np.ones(len(videos)))
    counts.videos("changed", "lists of different lengths: cut to the shortest", shortest < longest)
    counts.videos("read", "", longest, unit="captions")
    counts.videos("dropped", "beyond the shortest list", longest - shortest, unit="captions")
    values = list(chain.from_iterable(one.text for one in videos))
    start, end = (pa.array(chain.from_iterable(times), pa.float64(), size=len(values)).fill_null(np.nan).to_numpy()
                  for times in ([one.start for one in videos], [one.end for one in videos]))
    return np.repeat(np.arange(len(videos)), shortest), values, start, end


def with_text(values: list, video: np.ndarray, timed: np.ndarray, counts: BatchCounts) -> tuple[pa.Array, np.ndarray]:
    """The tidy text of every caption, and the rows that have text and times."""
    texts, halves = texts_of(values)
    text = texts.is_valid().to_numpy(zero_copy_only=False)
    missing = np.array([row for row in np.flatnonzero(~text) if values[row] is None or values[row] != values[row]], np.int64)
    tidy = spaced(texts)
    empty = pc.equal(pc.binary_length(tidy), 0).fill_null(False).to_numpy(zero_copy_only=False)
    changed = pc.not_equal(tidy, texts).fill_null(False).to_numpy(zero_copy_only=False)
    broken = pc.match_substring(texts, "\n").fill_null(False).to_numpy(zero_copy_only=False)
    counts.captions("dropped", "text is missing (null or NaN)", video[missing])
    counts.captions("dropped", "text is not text", video[np.setdiff1d(np.flatnonzero(~text), missing)])
    counts.captions("dropped", NO_TIME, video[text & ~timed])
    counts.captions("dropped", EMPTY, video[text & timed & empty])
    rows = np.flatnonzero(text & timed & ~empty)
    counts.captions("changed", "white space stripped and joined", video[rows[changed[rows]]])
    counts.captions("changed", "of these, text on several lines", video[rows[broken[rows]]])
    counts.captions("changed", HALF, video[np.intersect1d(rows, halves)])
    return tidy, rows


def clean_batch(names: list[str], videos: list[Video], source: str) -> tuple[pa.Table, pa.Table, Counter]:
    """The captions and the videos of a batch of different videos, and counts by (split number, unit, action, reason).

    Captions have schema CAPTIONS, videos VIDEOS without the categories.
    """
    counts = BatchCounts((keyed_uniform(pd.Series(names, dtype=object), 0) < VAL_SHARE).astype(np.int64))
    video, values, start, end = flattened(videos, counts)
    tidy, rows = with_text(values, video, np.isfinite(start) & np.isfinite(end), counts)
    counts.captions("noted", "start is after end", video[rows[start[rows] > end[rows]]])
    backwards = (np.diff(start[rows]) < 0) & (np.diff(video[rows]) == 0)
    counts.videos("changed", UNSORTED, np.isin(np.arange(len(videos)), video[rows[1:][backwards]]))
    if backwards.any():
        rows = rows[np.lexsort((start[rows], video[rows]))]
    # What stood between two captions may have kept them apart, so look again until nothing goes.
    tidy = tidy.take(pa.array(rows))
    while (rolling := goes_on(tidy, video[rows])).any():
        counts.captions("dropped", "the next caption repeats it or goes on from it", video[rows[rolling]])
        rows, tidy = rows[~rolling], tidy.filter(pa.array(~rolling))
    kept = np.bincount(video[rows], minlength=len(videos))
    counts.captions("kept", "", video[rows])
    overlapping = (start[rows[1:]] < end[rows[:-1]]) & (video[rows[1:]] == video[rows[:-1]])
    counts.captions("noted", "begins before the one in front ends", video[rows[1:][overlapping]])
    together = (np.diff(start[rows]) == 0) & (np.diff(video[rows]) == 0)
    counts.captions("noted", TOGETHER, video[rows[1:][together]])
    counts.videos("dropped", NO_SENTENCE, kept == 0)
    counts.videos("kept", "", kept > 0)
    ids, splits = pa.array(names, pa.string()), pa.array(SPLITS).take(pa.array(counts.split_of))
    of_row = pa.array(video[rows])
    captions = pa.table({
        "source": pa.repeat(source, len(rows)),
        "split": splits.take(of_row),
        "video_id": ids.take(of_row),
        "position": pa.array(np.arange(len(rows)) - np.repeat(np.cumsum(kept) - kept, kept), pa.int32()),
        "text": tidy,
        "start_s": pa.array(start[rows]),
        "end_s": pa.array(end[rows]),
    })
    listed = pa.table({"source": pa.repeat(source, len(names)), "split": splits, "video_id": ids,
                       "captions": pa.array(kept, pa.int32())})
    return captions, listed, counts.found
