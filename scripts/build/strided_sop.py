"""Build a strided sentence order dataset from cleaned captions (Jain et al. 2020, section 2).

Videos with fewer than five sentences are left out, and the first and the last sentence of each video. For stride n
every span of n + 2 consecutive sentences gives one pair, its first and its last sentence; a coin by hash of the
pair decides whether they stand in the order of the video (label 1) or swapped (label 0).

Reads  <cleaned>/<split>.parquet, or the shards named by <cleaned>/<split>/manifest.json (schema captions)
Writes <output>/<split>.parquet (schema strided pairs), sorted by the videos' order and position

    python -m scripts.build.strided_sop --cleaned results/clean/activitynet --splits train val_1 val_2 \\
        --options '{"stride": 2, "size_matched": null, "max_videos": null, "label_seed": 0}' --output /tmp/stride-2

The first split is the one to learn from; size_matched (a stride) cuts it, and only it, to as many pairs as that
stride has. max_videos keeps that many videos of each split, those with the lowest hash of their id. same_videos (a stride,
this one or a larger one) keeps in every split only the videos that have a pair of that stride, too: so strides are compared
on the same videos. hard keeps, of the splits to measure on, only the pairs that a cross-fitted bag of words does not get
right (scripts/build/hard_pairs.py); what is learnt from stays as it is. On hard pairs a model of words alone is below 50 %.
limit keeps at most that many of the pairs to measure on, by hash of the video and of the place of the first sentence: so strides
are compared on nearly the same pairs. context makes the units that are put in order windows of captions (scripts/build/caption_windows.py):
{"seconds": n} or {"sentences": k}; sentences, strides and positions above are then counted in windows.
Beside each pair stands what it can be told apart by (scripts/build/strided_pairs.py).
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.build.caption_windows import windows
from scripts.build.limit import limit_hashes, told
from scripts.build.options import options_of
from scripts.build.strided_pairs import Categories, fewest_sentences, pair_ids, pair_table, spans
from scripts.common.files import whole_set
from scripts.common.keyed import highest_kept, keyed_hash
from scripts.common.program import UserError, execute, log, parser
from scripts.common.sorted_ids import hashes_of, sorted_ids
from scripts.common.tables import CAPTIONS, STRIDED_PAIRS, provenance_of, read_complete, read_table, table_writer
from scripts.common.texts import json_of, text_of

# Separate draws from the same key, so that no choice predicts another.
SIZE, VIDEO = 2, 3
HIGHEST = np.uint64(2**64 - 1)
BITS = 16  # of a hash, by which pairs are counted
PART = 1 << 18  # captions made into pairs at a time


def shards(cleaned: Path, split: str) -> list[Path]:
    """The Parquet files of one cleaned split, in order."""
    manifest = cleaned / split / "manifest.json"
    if manifest.exists():
        try:
            return [manifest.parent / shard["file"] for shard in json_of(text_of(manifest), str(manifest))["shards"]]
        except (KeyError, TypeError):
            raise UserError(f"{manifest}: names no shards; clean the source again") from None
    return [cleaned / f"{split}.parquet"]


def parts_of(captions: pa.Table) -> Iterator[pa.Table]:
    """Captions in parts of whole videos, of at least PART captions (the last may have less)."""
    firsts, begin = np.append(np.flatnonzero(captions["position"].to_numpy() == 0), len(captions)), 0
    while len(captions) - begin > PART:
        end = int(firsts[np.searchsorted(firsts, begin + PART)])
        yield captions.slice(begin, end - begin)
        begin = end
    yield captions.slice(begin)


def units_of(cleaned: Path, split: str, options: dict) -> Iterator[pa.Table]:
    """What is put in order, in parts: the captions of a split, or its windows of captions (schema captions)."""
    for captions in kept_videos(shards(cleaned, split), options["max_videos"]):
        yield windows(captions, options["context"])


def kept_videos(files: list[Path], max_videos: int | None) -> Iterator[pa.Table]:
    """The captions of each shard in parts, cut to the `max_videos` videos whose ids hash lowest."""
    if max_videos is None:
        for file in files:
            yield from parts_of(read_complete(file, CAPTIONS))
        return
    hashes = [keyed_hash(pc.unique(read_table(file, ["video_id"], CAPTIONS)["video_id"]).to_pandas(), VIDEO) for file in files]
    highest = highest_kept(np.concatenate(hashes), max_videos)
    for file in files:
        captions = read_complete(file, CAPTIONS)
        captions = captions.filter(pa.array(keyed_hash(captions["video_id"].to_pandas(), VIDEO) <= highest))
        yield from parts_of(captions)


def categories_of(cleaned: Path) -> Categories | None:
    """The categories of a source whose cleaner knows them."""
    file = cleaned / "videos.parquet"
    schema = pa.schema([("video_id", pa.string()), ("category_1", pa.string())])
    if not file.exists():
        return None
    videos = read_complete(file, schema, ["category_1"])
    ids = videos["video_id"].combine_chunks()
    return Categories(sorted_ids(ids, hashes_of(ids)), videos["category_1"].combine_chunks())


def pairs_of(cleaned: Path, split: str, options: dict) -> Iterator[pa.Table]:
    """All pairs of a split (schema strided pairs), part by part."""
    categories = categories_of(cleaned)
    for captions in units_of(cleaned, split, options):
        pairs = pair_table(captions, options["stride"], options["label_seed"], options["same_videos"], categories)
        yield pairs.cast(STRIDED_PAIRS)


def size_hashes(ids: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """The hash by which pairs are cut: the lowest stay."""
    return keyed_hash(ids.to_pandas(), SIZE)


def all_of(pairs: pa.Table) -> np.ndarray:
    """(n,) True."""
    return np.ones(len(pairs), bool)


def are_lowest(pairs: pa.Table, highest: np.uint64) -> np.ndarray:
    """(n,) whether each pair stays when the size is cut."""
    return size_hashes(pairs["pair_id"]) <= highest


def hashes_of_pairs(cleaned: Path, split: str, options: dict) -> Iterator[tuple[np.ndarray, int]]:
    """The size hashes of all pairs of a split, and how many stride size_matched has, part by part."""
    stride, same_videos = options["stride"], options["same_videos"]
    for captions in units_of(cleaned, split, options):
        rows = pa.array(spans(captions, stride, same_videos)[0])
        video_id, position = (captions[name].take(rows).combine_chunks() for name in ("video_id", "position"))
        yield size_hashes(pair_ids(video_id, position, stride)), len(spans(captions, options["size_matched"], same_videos)[0])


def size_limit(cleaned: Path, split: str, options: dict) -> np.uint64:
    """The highest hash of a pair that stays, so that as many do as stride size_matched has. Raises UserError for none.

    Pairs are counted by the first bits of their hashes, so that only those near the limit are held.
    """
    shift, counted, wanted = np.uint64(64 - BITS), np.zeros(1 << BITS, np.int64), 0
    for hashes, matched in hashes_of_pairs(cleaned, split, options):
        counted += np.bincount((hashes >> shift).astype(np.int64), minlength=1 << BITS)
        wanted += matched
    if wanted == 0:
        raise UserError(f"{split}.parquet: size_matched names stride {options['size_matched']}, which has no pairs in "
                        f"{cleaned} split {split}; name a smaller stride")
    up_to = np.cumsum(counted)
    if wanted >= up_to[-1]:
        return HIGHEST
    near = int(np.searchsorted(up_to, wanted))
    hashes = [part[part >> shift == near] for part, _ in hashes_of_pairs(cleaned, split, options)]
    return np.sort(np.concatenate(hashes))[wanted - up_to[near] + counted[near] - 1]


def place_hashes(pairs: pa.Table) -> np.ndarray:
    """The hash by which pairs to measure on are cut: the same for pairs of any stride that begin at one place."""
    return limit_hashes(pairs["video_id"].to_pandas(), pairs["first_position"].to_numpy())


def within_limit(cleaned: Path, split: str, options: dict, keep: Callable[[pa.Table], np.ndarray],
                 output: Path) -> tuple[Callable[[pa.Table], np.ndarray], dict]:
    """Which pairs of a split to measure on are kept when those that `keep` tells are cut to the option limit, as a function, and
    what the provenance says of it."""
    limit = options["limit"]
    if limit is None:
        return keep, {}
    hashes = np.concatenate([place_hashes(pairs)[keep(pairs)] for pairs in pairs_of(cleaned, split, options)])
    highest = highest_kept(hashes, limit)
    return (lambda pairs: keep(pairs) & (place_hashes(pairs) <= highest),
            told(min(limit, len(hashes)), len(hashes), "pairs", f"{output} {split}"))


def none_left(cleaned: Path, split: str, options: dict, all_pairs: int) -> UserError:
    """The error that a split has no pair."""
    if all_pairs:
        return UserError(f"{split}.parquet: no pair is left: the bag of words gets all {all_pairs} pairs of {cleaned} split "
                         f"{split} right; set hard: false, or use a larger source")
    stride, same_videos = options["stride"], options["same_videos"]
    reach = f"stride {stride}" if same_videos is None else f"same_videos {same_videos}"
    return UserError(f"{split}.parquet: no pair is left: no video of {cleaned} split {split} has "
                     f"{fewest_sentences(stride if same_videos is None else same_videos)} "
                     f"{'windows' if options['context'] else 'sentences'} or more, which {reach} needs; use a smaller stride"
                     f"{', shorter windows' * bool(options['context'])} or another source")


def build_split(cleaned: Path, split: str, options: dict, keep: Callable[[pa.Table], np.ndarray], cut: dict,
                output: Path) -> dict:
    """Write the pairs of one split that are to be kept, shard by shard; returns its counts. Raises UserError for none.

    cut: what the provenance says besides.
    """
    counts, all_pairs = {"videos": 0, "pairs": 0, "in_order": 0}, 0
    provenance = provenance_of(shards(cleaned, split)[0]) | {"split": split, "options": options} | cut
    with table_writer(output, STRIDED_PAIRS, provenance) as writer:
        for pairs in pairs_of(cleaned, split, options):
            all_pairs += len(pairs)
            pairs = pairs.filter(pa.array(keep(pairs)))
            counts["videos"] += pc.count_distinct(pairs["video_id"]).as_py()
            counts["pairs"] += len(pairs)
            counts["in_order"] += pc.sum(pairs["label"]).as_py() or 0
            writer.write_table(pairs.cast(writer.schema))
        if counts["pairs"] == 0:
            raise none_left(cleaned, split, options, all_pairs)
    return counts


def kept_of(cleaned: Path, splits: list[str], options: dict) -> tuple[Callable, Callable]:
    """Which of a table of pairs are kept (n,), as functions: to learn from, and to measure on."""
    learn = measure = all_of
    if options["size_matched"] is not None:
        learn = partial(are_lowest, highest=size_limit(cleaned, splits[0], options))
    if options["hard"]:
        from scripts.build.hard_pairs import are_hard, learnt_weights  # scikit-learn, which takes a second to load

        weights = learnt_weights(pairs for split in splits for pairs in pairs_of(cleaned, split, options))
        measure = partial(are_hard, weights=weights)
    return learn, measure


def main(given: argparse.Namespace) -> None:
    options = given.options
    if options["same_videos"] is not None and options["same_videos"] < options["stride"]:
        raise UserError(f"same_videos is {options['same_videos']}, but videos that reach it may have no pair of stride "
                        f"{options['stride']}; set same_videos to the largest stride that you compare, or to null")
    with whole_set(given.output) as folder:
        learn, measure = kept_of(given.cleaned, given.splits, options)
        for number, split in enumerate(given.splits):
            keep, cut = within_limit(given.cleaned, split, options, measure, given.output) if number else (learn, {})
            counts = build_split(given.cleaned, split, options, keep, cut, folder / f"{split}.parquet")
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
