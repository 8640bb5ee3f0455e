"""The dataset of strided sentence order prediction; columns.yaml explains its columns. Not a
program.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

Tables = Callable[[], Iterator[pa.Table]]  # reads tables, again at each call
Step = Callable[[pa.Table], pa.Table]

TEXT, COUNT, NUMBER = pa.string(), pa.int32(), pa.float64()
STRIDED_PAIRS = pa.schema(
    {
        "pair_id": TEXT,
        "video_id": TEXT,
        "stride": COUNT,
        "first_position": COUNT,
        "second_position": COUNT,
        "text_a": TEXT,
        "text_b": TEXT,
        "label": pa.int8(),
        "overlap": NUMBER,
        "same_start": pa.bool_(),
        "relative_position": NUMBER,
        "sentences": COUNT,
        "words_a": COUNT,
        "words_b": COUNT,
        "seconds_apart": NUMBER,
        "category": TEXT,
    }
)


class Split(NamedTuple):
    """A split of a cleaned source, the strides of its pairs, a stride that its videos must also
    reach (or None), and the ids of videos that are left out (or None).
    """

    cleaned: Path
    name: str
    strides: list[int]
    reach: int | None
    left_out: pa.Array | None = None


def after(read: Tables, step: Step) -> Tables:
    """Return the tables after a step."""
    return lambda: map(step, read())
