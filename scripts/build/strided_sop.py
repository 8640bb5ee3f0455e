"""Build a strided sentence order dataset from cleaned captions (Jain et al. 2020, section 2).

Videos with fewer than five sentences are left out, and the first and the last sentence of each video. For stride n
every span of n + 2 consecutive sentences gives one pair, its first and its last sentence; a coin by hash of the
pair decides whether they stand in the order of the video (label 1) or swapped (label 0).

Reads  <cleaned>/<split>.parquet, or the shards named by <cleaned>/<split>/manifest.json (schema captions)
Writes <output>/<split>.parquet (schema strided pairs), sorted by the videos' order and position

    python -m scripts.build.strided_sop --cleaned results/clean/activitynet --splits train val_1 val_2 \\
        --options '{"stride": 2, "size_matched": null, "max_videos": null, "label_seed": 0}' --output /tmp/stride-2

The first split is the one to learn from; size_matched (a stride) cuts it, and only it, to as many pairs as that
stride has. max_videos keeps that many videos of each split, those with the lowest hash of their id.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.build.options import options_of
from scripts.common.files import whole_set
from scripts.common.keyed import keyed_hash
from scripts.common.program import UserError, execute, log, parser
from scripts.common.tables import CAPTIONS, STRIDED_PAIRS, provenance_of, read_complete, read_table, table_writer
from scripts.common.texts import json_of, text_of

FEWEST_SENTENCES = 5  # section 2: "We discard any videos with fewer than five sentences"

# Separate draws from the same key, so that no choice predicts another.
LABEL, SIZE, VIDEO = 1, 2, 3


def shards(cleaned: Path, split: str) -> list[Path]:
    """The Parquet files of one cleaned split, in order."""
    manifest = cleaned / split / "manifest.json"
    if manifest.exists():
        try:
            return [manifest.parent / shard["file"] for shard in json_of(text_of(manifest), str(manifest))["shards"]]
        except (KeyError, TypeError):
            raise UserError(f"{manifest}: names no shards; clean the source again") from None
    return [cleaned / f"{split}.parquet"]


def spans(captions: pa.Table, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the first and the last sentence of every span of stride + 2 inner sentences.

    `captions` is sorted by video and position; positions of a video run from 0.
    """
    videos = captions["video_id"].combine_chunks().dictionary_encode()
    video = videos.indices.to_numpy()
    position = captions["position"].to_numpy()
    sentences = np.bincount(video, minlength=len(videos.dictionary))[video]
    inner = np.flatnonzero((sentences >= FEWEST_SENTENCES) & (position > 0) & (position < sentences - 1))
    first, last = inner[: max(0, len(inner) - stride - 1)], inner[stride + 1 :]
    same = video[first] == video[last]
    return first[same], last[same]


def pair_table(captions: pa.Table, stride: int, label_seed: int) -> pa.Table:
    """Every pair of a table of captions (schema strided pairs)."""
    first, last = spans(captions, stride)
    first_rows, last_rows = captions.take(first), captions.take(last)
    video_id = first_rows["video_id"].combine_chunks()
    position = first_rows["position"].combine_chunks()
    coin = keyed_hash(video_id.to_pandas(), position.to_numpy(), stride, label_seed, LABEL)
    in_order = pa.array((coin >> np.uint64(63)) == 1)
    first_text, last_text = first_rows["text"].combine_chunks(), last_rows["text"].combine_chunks()
    return pa.table({
        "pair_id": pc.binary_join_element_wise(video_id, str(stride), position.cast(pa.string()), ":"),
        "video_id": video_id,
        "stride": pa.array(np.full(len(first), stride, np.int32)),
        "first_position": position,
        "second_position": last_rows["position"],
        "text_a": pc.if_else(in_order, first_text, last_text),
        "text_b": pc.if_else(in_order, last_text, first_text),
        "label": in_order.cast(pa.int8()),
    })


def lowest(hashes: np.ndarray, keep: int) -> np.uint64:
    """The largest of the `keep` lowest hashes: what is at most this is kept."""
    return np.partition(hashes, keep - 1)[keep - 1] if keep < len(hashes) else np.uint64(2**64 - 1)


def kept_videos(files: list[Path], max_videos: int | None) -> Iterator[pa.Table]:
    """The captions of each shard, cut to the `max_videos` videos whose ids hash lowest."""
    if max_videos is None:
        yield from (read_complete(file, CAPTIONS) for file in files)
        return
    ids = [pc.unique(read_table(file, ["video_id"], CAPTIONS)["video_id"]).to_pandas() for file in files]
    highest = lowest(np.concatenate([keyed_hash(part, VIDEO) for part in ids]), max_videos)
    for file in files:
        captions = read_complete(file, CAPTIONS)
        hashes = keyed_hash(captions["video_id"].to_pandas(), VIDEO)
        yield captions.filter(pa.array(hashes <= highest))


def size_hashes(pairs: pa.Table) -> np.ndarray:
    """The hash by which pairs are cut: the lowest stay."""
    return keyed_hash(pairs["pair_id"].to_pandas(), SIZE)


def build_split(cleaned: Path, split: str, options: dict, match: bool, output: Path) -> dict:
    """Write one split, shard by shard; returns its counts. Raises UserError when no pair is left."""
    files, stride = shards(cleaned, split), options["stride"]
    highest = np.uint64(2**64 - 1)
    if match:
        hashes, wanted = [], 0
        for captions in kept_videos(files, options["max_videos"]):
            wanted += len(spans(captions, options["size_matched"])[0])
            hashes.append(size_hashes(pair_table(captions, stride, options["label_seed"])))
        if wanted == 0:
            raise UserError(f"{output.name}: size_matched names stride {options['size_matched']}, which has no pairs in "
                            f"{cleaned} split {split}; name a smaller stride")
        highest = lowest(np.concatenate(hashes), wanted)
    counts = {"videos": 0, "pairs": 0, "in_order": 0}
    provenance = provenance_of(files[0]) | {"split": split, "options": options}
    with table_writer(output, STRIDED_PAIRS, provenance) as writer:
        for captions in kept_videos(files, options["max_videos"]):
            pairs = pair_table(captions, stride, options["label_seed"])
            if match:
                pairs = pairs.filter(pa.array(size_hashes(pairs) <= highest))
            counts["videos"] += pc.count_distinct(pairs["video_id"]).as_py()
            counts["pairs"] += len(pairs)
            counts["in_order"] += pc.sum(pairs["label"]).as_py() or 0
            writer.write_table(pairs.cast(STRIDED_PAIRS.with_metadata(writer.schema.metadata)))
        if counts["pairs"] == 0:
            fewest = max(FEWEST_SENTENCES, stride + 4)
            raise UserError(f"{output.name}: no pair is left: no video of {cleaned} split {split} has {fewest} sentences "
                            f"or more, which stride {stride} needs; use a smaller stride or another source")
    return counts


def main(given: argparse.Namespace) -> None:
    with whole_set(given.output) as folder:
        for number, split in enumerate(given.splits):
            match = number == 0 and given.options["size_matched"] is not None
            counts = build_split(given.cleaned, split, given.options, match, folder / f"{split}.parquet")
            log.info("%s %s: %d pairs of %d videos, %d in order", given.output, split,
                     counts["pairs"], counts["videos"], counts["in_order"])


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--cleaned", type=Path, required=True, help="the folder of one cleaned source")
    options.add_argument("--splits", nargs="+", required=True, help="its splits, the one to learn from first")
    options.add_argument("--options", type=options_of("strided_sop"), required=True,
                         help="JSON: the options of the study in resources/studies.yaml; what is left out gets its default")
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
