"""The dataset of strided sentence order prediction; columns.yaml explains its columns."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from scripts.data.tables import table_schema

Tables = Callable[[], Iterator[pa.Table]]  # reads tables, again at each call
Step = Callable[[pa.Table], pa.Table]

STRIDED_PAIRS = table_schema(
    "pair_id video_id stride first_position second_position text_a text_b label overlap same_start "
    "relative_position sentences words_a words_b seconds_apart category",
    **dict.fromkeys(("stride", "first_position", "second_position"), "int32"),
    **dict.fromkeys(("sentences", "words_a", "words_b"), "int32"),
    **dict.fromkeys(("overlap", "relative_position", "seconds_apart"), "float64"),
    label="int8",
    same_start="bool",
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
