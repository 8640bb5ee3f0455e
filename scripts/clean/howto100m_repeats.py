"""Captions of HowTo100M that repeat other captions. Not a program.

texts: the tidy text of every caption of a batch. video: the number of the video of each caption.
rows: the kept captions in order, by video and start time.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.clean.captions import ALL_CUT, CUT, ROLLS, rolls
from scripts.text.repeated_ends import without_first_words

SPACE = 32


def goes_on(texts: pa.Array, here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Among pairs of rows with text: those where the second repeats or continues the first.

    It must continue by whole words.
    """
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :]
    characters = np.frombuffer(texts.buffers()[2], np.uint8)
    first, second = offsets[here], offsets[there]
    size, size_there = offsets[here + 1] - first, offsets[there + 1] - second
    behind = np.minimum(second + size, len(characters) - 1)
    pairs = np.flatnonzero(
        (size == size_there) | ((size < size_there) & (characters[behind] == SPACE))
    )
    for at in (np.zeros_like(size), size - 1, size // 2):  # single bytes differ in nearly all pairs
        pairs = pairs[characters[(first + at)[pairs]] == characters[(second + at)[pairs]]]
    # Compare the remaining pairs byte by byte, all at once.
    sizes = size[pairs].astype(np.int64)
    begins = np.cumsum(sizes) - sizes
    within = np.arange(sizes.sum()) - np.repeat(begins, sizes)
    one, other = (characters[np.repeat(side[pairs], sizes) + within] for side in (first, second))
    return pairs[np.logical_and.reduceat(one == other, begins)]


def without_rolling(texts: pa.Array, video: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows in order, without the rows that the video's next kept row repeats or continues."""
    while True:
        pairs = np.flatnonzero(video[rows[:-1]] == video[rows[1:]])
        rolls = pairs[goes_on(texts, rows[pairs], rows[pairs + 1])] if len(pairs) else pairs
        if not len(rolls):
            return rows
        rows = np.delete(rows, rolls)  # the rows before these now have another next row


def occur_again(
    texts: pa.Array, video: np.ndarray, start: np.ndarray, end: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Of rows in order: those with the video, times and text of an earlier row."""
    beside = (np.diff(start[rows]) == 0) & (np.diff(video[rows]) == 0)
    is_near = np.zeros(len(rows), bool)
    is_near[1:] |= beside
    is_near[:-1] |= beside
    near = rows[is_near]  # few start together
    table = pd.DataFrame({"video": video[near], "start": start[near], "end": end[near]})
    return near[table.assign(text=texts.take(near).to_pandas()).duplicated()]


def without_repeats(
    texts: pa.Array, video: np.ndarray, rows: np.ndarray, cut: bool
) -> tuple[pa.Array, np.ndarray, dict[tuple[str, str], np.ndarray]]:
    """Texts and rows in order, and the rows to count by action and reason. With `cut` a text loses
    the words that repeat the end of the text before it, and a row without other words goes.
    """
    table = pd.DataFrame(
        {"video_id": video[rows], "text": texts.take(rows).to_numpy(zero_copy_only=False)},
        index=rows,
    )
    repeated = rolls(table)
    repeated = repeated[repeated > 0].sort_index()
    if not cut:
        return texts, rows, {("noted", ROLLS): repeated.index.to_numpy()}
    left = without_first_words(table.loc[repeated.index, "text"], repeated)
    is_cut = np.isin(np.arange(len(texts)), left.index)
    gone, cut_rows = (left.index[found].to_numpy() for found in (left == "", left != ""))
    return (
        pc.replace_with_mask(texts, is_cut, pa.array(left, pa.string())),
        rows[~np.isin(rows, gone)],
        {("dropped", ALL_CUT): gone, ("changed", CUT): cut_rows},
    )
