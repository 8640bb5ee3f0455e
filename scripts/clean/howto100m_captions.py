"""Cleaning the captions of a batch of HowTo100M's videos, all at once, and counting what was done.

Not a program.
"""

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.clean.captions import EMPTY, NO_SENTENCE, NO_TIME, TOGETHER, UNSORTED
from scripts.clean.howto100m_batches import MENDED, MISSING, NOT_TEXT
from scripts.common.keyed import keyed_uniform

SPLITS = ("train", "val")
VAL_SHARE = 0.1
HALF = "half of a surrogate pair: U+FFFD stands for it"
WHITE = r"[\s\v\x{1c}-\x{1f}\x{85}\p{Z}]+"  # as str.split() has it, for Arrow's regular expressions
SPACE, LAST = 32, 126  # the first and the last plain sign of ASCII


class BatchCounts:
    """Counts by (split number, unit, action, reason) of a batch of videos.

    split_of: the split number of each video; video: the number of each caption's video.
    """

    def __init__(self, split_of: np.ndarray, video: np.ndarray):
        self.split_of, self.split_of_row, self.found = split_of, split_of[video], Counter()

    def add(self, unit: str, action: str, reason: str, per_split: np.ndarray) -> None:
        for split in range(len(SPLITS)):
            self.found[split, unit, action, reason] += int(per_split[split])

    def videos(self, action: str, reason: str, amount: np.ndarray, unit: str = "videos") -> None:
        """Count an amount (or yes and no) of each video."""
        self.add(unit, action, reason, np.bincount(self.split_of, weights=amount, minlength=len(SPLITS)))

    def captions(self, action: str, reason: str, rows: np.ndarray) -> None:
        """Count captions, given their rows, or yes and no for each."""
        self.add("captions", action, reason, np.bincount(self.split_of_row[rows], minlength=len(SPLITS)))


def pieces(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Of an array of strings: where in the bytes each begins, and the last one ends; and the bytes up to there."""
    if not len(texts):
        return np.zeros(1, np.int32), np.array([], np.uint8)
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return offsets, np.frombuffer(texts.buffers()[2] or b"", np.uint8)[: offsets[-1]]


def odd(texts: pa.Array) -> np.ndarray:
    """(n,) whether a text has a sign that is not plain ASCII, two spaces in a row, or a space at an end."""
    rows, (offsets, characters) = np.zeros(len(texts), bool), pieces(texts)
    space, strange = characters == SPACE, characters - np.uint8(SPACE) > LAST - SPACE  # what is less than 32 wraps
    strange[1:] |= space[1:] & space[:-1]  # across two texts it does not matter: both have a space at an end
    strange[: offsets[0]] = False
    rows[np.searchsorted(offsets, np.flatnonzero(strange), "right") - 1] = True
    filled = np.flatnonzero(np.diff(offsets))
    rows[filled] |= space[offsets[filled]] | space[offsets[filled + 1] - 1]
    return rows


def spaced(texts: pa.Array) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Texts stripped, with one space for every run of white space; the rows that this changes; those with several lines."""
    # Few need it, and to find them is ten times faster than to replace everywhere.
    mask = odd(texts)
    before = texts.filter(pa.array(mask))
    after = pc.utf8_trim(pc.replace_substring_regex(before, WHITE, " "), " ")
    changed, broken = (found.fill_null(False).to_numpy(zero_copy_only=False)
                       for found in (pc.not_equal(before, after), pc.match_substring(before, "\n")))
    rows = np.flatnonzero(mask)
    return pc.replace_with_mask(texts, pa.array(mask), after), rows[changed], rows[broken]


def goes_on(texts: pa.Array, here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """For pairs of rows, with text in each: does the second one repeat the first, or go on from it by whole words?"""
    offsets, characters = pieces(texts)
    first, second = offsets[here], offsets[there]
    size, size_there = offsets[here + 1] - first, offsets[there + 1] - second
    behind = np.minimum(second + size, len(characters) - 1)
    could = (size == size_there) | ((size < size_there) & (characters[behind] == SPACE))
    could &= characters[first] == characters[second]
    pairs = np.flatnonzero(could)
    for at in (size - 1, size // 2):
        pairs = pairs[characters[(first + at)[pairs]] == characters[(second + at)[pairs]]]
    # Compare what is left byte by byte, all pairs at once.
    sizes = size[pairs].astype(np.int64)
    ends = np.cumsum(sizes)
    within = np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes)
    differ = characters[np.repeat(first[pairs], sizes) + within] != characters[np.repeat(second[pairs], sizes) + within]
    same = np.diff(np.concatenate([[0], np.cumsum(differ)])[np.concatenate([[0], ends])]) == 0
    found = np.zeros(len(here), bool)
    found[pairs[same]] = True
    return found


def rolling(texts: pa.Array, video: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Of rows in order, which the next one of the video that stays repeats or goes on from: yes and no for each."""
    rolls, behind = np.zeros(len(rows), bool), np.arange(1, len(rows) + 1)  # behind: the place of the next one that stays
    here, there = behind[:-1] - 1, behind[:-1]
    while len(here):
        same = video[rows[here]] == video[rows[there]]
        here, there = here[same], there[same]
        rolls[here[goes_on(texts, rows[here], rows[there])]] = True
        # What stood between two captions may have kept them apart, so look at those again that have got another one behind.
        stay = np.flatnonzero(~rolls)
        moved = behind[stay[:-1]] != stay[1:]
        here, there = stay[:-1][moved], stay[1:][moved]
        behind[here] = there
    return rolls


def with_text(videos: pa.RecordBatch, timed: np.ndarray, counts: BatchCounts) -> tuple[pa.Array, np.ndarray]:
    """The tidy text of every caption, and the rows that have text and times."""
    texts, what = videos["text"].flatten(), videos["what"].flatten().to_numpy()
    text = (what != MISSING) & (what != NOT_TEXT)
    tidy, changed, broken = spaced(texts)
    empty = np.diff(pieces(tidy)[0]) == 0
    counts.captions("dropped", "text is missing (null or NaN)", what == MISSING)
    counts.captions("dropped", "text is not text", what == NOT_TEXT)
    counts.captions("dropped", NO_TIME, text & ~timed)
    counts.captions("dropped", EMPTY, text & timed & empty)
    kept = text & timed & ~empty
    counts.captions("changed", "white space stripped and joined", changed[kept[changed]])
    counts.captions("changed", "of these, text on several lines", broken[kept[broken]])
    counts.captions("changed", HALF, kept & (what == MENDED))
    return tidy, np.flatnonzero(kept)


def count_lists(videos: pa.RecordBatch, shortest: np.ndarray, counts: BatchCounts) -> None:
    """Count what was read, and what was cut from longer lists."""
    longest = videos["longest"].to_numpy()
    counts.videos("read", "", np.ones(len(videos)))
    counts.videos("changed", "lists of different lengths: cut to the shortest", shortest < longest)
    counts.videos("read", "", longest, unit="captions")
    counts.videos("dropped", "beyond the shortest list", longest - shortest, unit="captions")


def note_times(start: np.ndarray, end: np.ndarray, video: np.ndarray, rows: np.ndarray, counts: BatchCounts) -> None:
    """Count what is odd in the times of the captions that stay."""
    same = video[rows[1:]] == video[rows[:-1]]
    counts.captions("noted", "begins before the one in front ends", rows[1:][(start[rows[1:]] < end[rows[:-1]]) & same])
    counts.captions("noted", TOGETHER, rows[1:][(start[rows[1:]] == start[rows[:-1]]) & same])


def kept_rows(tidy: pa.Array, start: np.ndarray, video: np.ndarray, rows: np.ndarray, counts: BatchCounts,
              keep_rolling: bool = False) -> np.ndarray:
    """Of the rows with text and times those that stay, by start time, without those that the next one repeats or goes on from
    (keep_rolling: with them; then they are counted only)."""
    of_row, unsorted = video[rows], np.zeros(len(counts.split_of), bool)
    unsorted[of_row[1:][(np.diff(start[rows]) < 0) & (of_row[1:] == of_row[:-1])]] = True
    counts.videos("changed", UNSORTED, unsorted)
    places = np.flatnonzero(unsorted[of_row])
    rows[places] = rows[places][np.lexsort((start[rows[places]], of_row[places]))]
    rolls = rolling(tidy, video, rows)
    counts.captions("noted" if keep_rolling else "dropped", "the next caption repeats it or goes on from it", rows[rolls])
    rolls &= not keep_rolling
    counts.captions("kept", "", rows[~rolls])
    return rows[~rolls]


def clean_batch(videos: pa.RecordBatch, source: str, keep_rolling: bool = False) -> tuple[list[pa.Table], pa.Table, Counter]:
    """The captions of each split and the videos of a batch of different videos (scripts/clean/howto100m_batches.py), and counts
    by (split number, unit, action, reason).

    keep_rolling: whether captions stay that the next one repeats or goes on from. Captions have schema CAPTIONS, videos VIDEOS without the categories.
    """
    ids = videos["video_id"]
    split_of = (keyed_uniform(pd.Series(ids.to_pylist(), dtype=object), 0) < VAL_SHARE).astype(np.int64)
    sizes = videos["text"].value_lengths().to_numpy()
    video = np.repeat(np.arange(len(videos)), sizes)
    start, end = (videos[name].flatten().to_numpy() for name in ("start", "end"))
    counts = BatchCounts(split_of, video)
    count_lists(videos, sizes, counts)
    tidy, rows = with_text(videos, np.isfinite(start) & np.isfinite(end), counts)
    counts.captions("noted", "start is after end", rows[start[rows] > end[rows]])
    rows = kept_rows(tidy, start, video, rows, counts, keep_rolling)
    note_times(start, end, video, rows, counts)
    kept = np.bincount(video[rows], minlength=len(videos))
    counts.videos("dropped", NO_SENTENCE, kept == 0)
    counts.videos("kept", "", kept > 0)
    position = np.arange(len(rows), dtype=np.int32) - np.repeat(np.cumsum(kept) - kept, kept).astype(np.int32)
    captions = []
    for number, split in enumerate(SPLITS):
        here = counts.split_of_row[rows] == number
        of_split = rows[here]
        captions.append(pa.table({
            "source": pa.repeat(source, len(of_split)), "split": pa.repeat(split, len(of_split)),
            "video_id": ids.take(pa.array(video[of_split])), "position": pa.array(position[here]),
            "text": tidy.take(pa.array(of_split)), "start_s": pa.array(start[of_split]), "end_s": pa.array(end[of_split])}))
    own = ids.take(pa.array(np.arange(len(ids))))  # a copy: what is listed is held, and would hold all that was read with it
    listed = pa.table({"source": pa.repeat(source, len(videos)), "split": pa.array(SPLITS).take(pa.array(split_of)),
                       "video_id": own, "captions": pa.array(kept, pa.int32())})
    return captions, listed, counts.found
