"""Captions of HowTo100M that repeat other captions.

texts: the tidy text of every caption of a batch. video: the number of the video of each caption.
rows: the kept captions in order, by video and start time.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.clean.captions import ALL_CUT, CUT, ROLLS, rolls
from scripts.text.repeated_ends import without_first_words


def without_rolling(texts: pa.Array, video: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows in order, without the rows that the video's next kept row repeats or continues by whole
    words.
    """
    said = list(zip(video[rows].tolist(), texts.take(rows).to_pylist()))
    stay: list[int] = []
    for place in reversed(range(len(rows))):
        name, text = said[place]
        after, following = said[stay[-1]] if stay else (None, "")
        if after != name or not f"{following} ".startswith(f"{text} "):
            stay.append(place)
    return rows[np.array(stay[::-1], int)]


def occur_again(
    texts: pa.Array, video: np.ndarray, start: np.ndarray, end: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Of rows in order: those with the video, times and text of an earlier row."""
    columns = {"video": video[rows], "start": start[rows], "end": end[rows]}
    table = pd.DataFrame(columns | {"text": texts.take(rows).to_pandas()})
    return rows[table.duplicated()]


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
