"""Write the pairs of a split to its file, table by table."""

from pathlib import Path

import pyarrow.compute as pc

from scripts.data.tables import provenance_of, table_writer
from scripts.running.program import UserError, log
from scripts.studies.strided_sop.captions import shards
from scripts.studies.strided_sop.options import Options
from scripts.studies.strided_sop.orders import CANDIDATES
from scripts.studies.strided_sop.tables import STRIDED_PAIRS, Split, Tables


def none_left(split: Split, options: Options) -> UserError:
    """Return the error that a split has no pair."""
    stride, reach = split.strides[-1], f"stride {split.strides[-1]}"
    if split.reach is not None:
        stride, reach = split.reach, f"same_videos {split.reach}"
    units, shorter = "sentences", ""
    if options.context:
        units, shorter = "windows", ", shorter windows"
    return UserError(
        f"{split.name}.parquet: no pair is left: no video of {split.cleaned} split {split.name} "
        f"has {max(5, stride + 4)} {units} or more with two different texts, which {reach} needs. "
        f"As in the paper, videos with fewer than five {units} are left out, and so are the first "
        f"and the last of each video. Use a smaller stride{shorter} or another source"
    )


def write(read: Tables, split: Split, options: Options, file: Path, facts: dict) -> None:
    """Write the pairs. Raises UserError if there are none. facts: further provenance."""
    videos = pairs = in_order = 0
    schema, items = STRIDED_PAIRS, "pairs"
    if options.is_permuted:
        schema, items = CANDIDATES, "orders"
    provenance = provenance_of(shards(split.cleaned, split.name)[0]) | {"split": file.stem}
    provenance |= {"options": options.written()} | facts
    with table_writer(file, schema, provenance) as writer:
        for table in read():
            videos += pc.count_distinct(table["video_id"]).as_py()
            pairs += len(table)
            in_order += pc.sum(table["label"]).as_py() or 0
            writer.write_table(table.select(schema.names).cast(schema))
        if pairs == 0:
            raise none_left(split, options)
    log.info("%s: %d %s of %d videos, %d in order", file, pairs, items, videos, in_order)
