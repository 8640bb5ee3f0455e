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
stride up_to_n mixes strides 0 to n: of each as many pairs as n has, those with the lowest hash. train_stride: the stride, or the strides,
of the split to learn from, where it is not that of those to measure on; --learn-from: another corpus for that split. predict: the label
is then not the order but the stride, or 2 · stride + order.
Beside each pair stands what it can be told apart by (scripts/build/strided_pairs.py).
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.build.caption_windows import windows
from scripts.build.limit import limit_hashes, told
from scripts.build.options import options_of
from scripts.build.strided_pairs import Categories, fewest_sentences, labelled, mixed_pairs, pair_ids, spans
from scripts.common.files import whole_set
from scripts.common.keyed import highest_kept, keyed_hash
from scripts.common.program import UserError, execute, log, parser
from scripts.common.strides import strides_of
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


class Part(NamedTuple):
    """A split of a cleaned source, and the strides of the pairs that it gives."""

    cleaned: Path
    split: str
    strides: list[int]


def units_of(part: Part, options: dict) -> Iterator[pa.Table]:
    """What is put in order, a table after the other: the captions of a split, or its windows of captions (schema captions)."""
    for captions in kept_videos(shards(part.cleaned, part.split), options["max_videos"]):
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


def pairs_of(part: Part, options: dict) -> Iterator[pa.Table]:
    """All pairs of a split (schema strided pairs), table by table; their label is the order."""
    categories = categories_of(part.cleaned)
    for captions in units_of(part, options):
        pairs = mixed_pairs(captions, part.strides, options["label_seed"], options["same_videos"], categories)
        yield pairs.cast(STRIDED_PAIRS)


def size_hashes(ids: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """The hash by which pairs are cut: the lowest stay."""
    return keyed_hash(ids.to_pandas(), SIZE)


def all_of(pairs: pa.Table) -> np.ndarray:
    """(n,) True."""
    return np.ones(len(pairs), bool)


def are_lowest(pairs: pa.Table, highest: dict[int, np.uint64]) -> np.ndarray:
    """(n,) whether each pair stays when the size is cut; highest: by stride the highest hash that stays."""
    strides = sorted(highest)
    limits = np.array([highest[stride] for stride in strides], np.uint64)
    return size_hashes(pairs["pair_id"]) <= limits[np.searchsorted(strides, pairs["stride"].to_numpy())]


def hashes_of_pairs(part: Part, stride: int, matched: int, options: dict) -> Iterator[tuple[np.ndarray, int]]:
    """The size hashes of all pairs of a split of one stride, and how many the stride `matched` has, table by table."""
    same_videos = options["same_videos"]
    for captions in units_of(part, options):
        rows = pa.array(spans(captions, stride, same_videos)[0])
        video_id, position = (captions[name].take(rows).combine_chunks() for name in ("video_id", "position"))
        yield size_hashes(pair_ids(video_id, position, stride)), len(spans(captions, matched, same_videos)[0])


def size_limit(part: Part, stride: int, matched: int, share: int, options: dict) -> np.uint64:
    """The highest hash of a pair of a stride that stays, so that as many do as the stride `matched` has, divided by `share` and
    rounded up. Raises UserError for none.

    Pairs are counted by the first bits of their hashes, so that only those near the limit are held.
    """
    shift, counted, wanted = np.uint64(64 - BITS), np.zeros(1 << BITS, np.int64), 0
    for hashes, of_matched in hashes_of_pairs(part, stride, matched, options):
        counted += np.bincount((hashes >> shift).astype(np.int64), minlength=1 << BITS)
        wanted += of_matched
    if wanted == 0:
        asked = f"stride {options['stride']} mixes" if options["size_matched"] is None else "size_matched names"
        raise UserError(f"{part.split}.parquet: {asked} stride {matched}, which has no pairs in {part.cleaned} split {part.split}; name a "
                        "smaller stride")
    wanted, up_to = -(-wanted // share), np.cumsum(counted)
    if wanted >= up_to[-1]:
        return HIGHEST
    near = int(np.searchsorted(up_to, wanted))
    hashes = [table[table >> shift == near] for table, _ in hashes_of_pairs(part, stride, matched, options)]
    return np.sort(np.concatenate(hashes))[wanted - up_to[near] + counted[near] - 1]


def cut_to_size(part: Part, matched: int | None, options: dict) -> Callable[[pa.Table], np.ndarray]:
    """Which pairs of a split stay, as a function: of several strides as many of each as the largest has, or together as many as the
    stride `matched`."""
    if matched is None and len(part.strides) == 1:
        return all_of
    size, share = (part.strides[-1], 1) if matched is None else (matched, len(part.strides))
    return partial(are_lowest, highest={stride: size_limit(part, stride, size, share, options) for stride in part.strides})


def place_hashes(pairs: pa.Table, mixed: bool) -> np.ndarray:
    """The hash by which pairs to measure on are cut: the same for pairs of any stride that begin at one place; in a mixture another
    for each."""
    numbers = [pairs[name].to_numpy() for name in ("first_position", *(["stride"] if mixed else []))]
    return limit_hashes(pairs["video_id"].to_pandas(), *numbers)


def within_limit(part: Part, options: dict, keep: Callable[[pa.Table], np.ndarray], output: Path) -> tuple[Callable[[pa.Table], np.ndarray], dict]:
    """Which pairs of a split to measure on are kept when those that `keep` tells are cut to the option limit, as a function, and
    what the provenance says of it."""
    limit = options["limit"]
    if limit is None:
        return keep, {}
    mixed = len(part.strides) > 1
    hashes = np.concatenate([place_hashes(pairs, mixed)[keep(pairs)] for pairs in pairs_of(part, options)])
    highest = highest_kept(hashes, limit)
    return (lambda pairs: keep(pairs) & (place_hashes(pairs, mixed) <= highest),
            told(min(limit, len(hashes)), len(hashes), "pairs", f"{output} {part.split}"))


def none_left(part: Part, options: dict, all_pairs: int) -> UserError:
    """The error that a split has no pair."""
    cleaned, split = part.cleaned, part.split
    if all_pairs:
        return UserError(f"{split}.parquet: no pair is left: the bag of words gets all {all_pairs} pairs of {cleaned} split "
                         f"{split} right; set hard: false, or use a larger source")
    stride, same_videos = part.strides[-1], options["same_videos"]
    reach = f"stride {stride}" if same_videos is None else f"same_videos {same_videos}"
    return UserError(f"{split}.parquet: no pair is left: no video of {cleaned} split {split} has "
                     f"{fewest_sentences(stride if same_videos is None else same_videos)} "
                     f"{'windows' if options['context'] else 'sentences'} or more, which {reach} needs; use a smaller stride"
                     f"{', shorter windows' * bool(options['context'])} or another source")


def build_split(part: Part, options: dict, keep: Callable[[pa.Table], np.ndarray], cut: dict, output: Path) -> dict:
    """Write the pairs of one split that are to be kept, shard by shard; returns its counts. Raises UserError for none.

    cut: what the provenance says besides.
    """
    counts, all_pairs = {"videos": 0, "pairs": 0, "in_order": 0}, 0
    provenance = provenance_of(shards(part.cleaned, part.split)[0]) | {"split": output.stem, "options": options} | cut
    with table_writer(output, STRIDED_PAIRS, provenance) as writer:
        for pairs in pairs_of(part, options):
            all_pairs += len(pairs)
            pairs = pairs.filter(pa.array(keep(pairs)))
            counts["videos"] += pc.count_distinct(pairs["video_id"]).as_py()
            counts["pairs"] += len(pairs)
            counts["in_order"] += pc.sum(pairs["label"]).as_py() or 0
            writer.write_table(labelled(pairs, options["predict"]).cast(writer.schema))
        if counts["pairs"] == 0:
            raise none_left(part, options, all_pairs)
    return counts


def hard_of(parts: list[Part], options: dict) -> Callable[[pa.Table], np.ndarray]:
    """Which of a table of pairs are hard (n,), as a function."""
    from scripts.build.hard_pairs import are_hard, learnt_weights  # scikit-learn, which takes a second to load

    weights = learnt_weights(pairs for part in parts for pairs in pairs_of(part, options))
    return partial(are_hard, weights=weights)


def both(first: Callable, second: Callable) -> Callable[[pa.Table], np.ndarray]:
    """What is kept by both."""
    return lambda pairs: first(pairs) & second(pairs)


def main(given: argparse.Namespace) -> None:
    options = given.options
    measured = strides_of(options["stride"])
    learnt = measured if options["train_stride"] is None else strides_of(options["train_stride"])
    if options["same_videos"] is not None and options["same_videos"] < (largest := max(*measured, *learnt)):
        raise UserError(f"same_videos is {options['same_videos']}, but videos that reach it may have no pair of stride "
                        f"{largest}; set same_videos to the largest stride that you compare, or to null")
    folder_learnt, split_learnt = given.learn_from or (given.cleaned, given.splits[0])
    learn, *measure = [Part(Path(folder_learnt), split_learnt, learnt), *(Part(given.cleaned, split, measured) for split in given.splits[1:])]
    hard = hard_of([Part(given.cleaned, split, measured) for split in given.splits], options) if options["hard"] else all_of
    with whole_set(given.output) as folder:
        for name, part in zip(given.splits, [learn, *measure]):
            keep, cut = cut_to_size(part, options["size_matched"] if part is learn else None, options), {}
            if part is not learn:
                keep, cut = within_limit(part, options, both(keep, hard), given.output)
            counts = build_split(part, options, keep, cut, folder / f"{name}.parquet")
            log.info("%s %s: %d pairs of %d videos, %d in order", given.output, name,
                     counts["pairs"], counts["videos"], counts["in_order"])


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--cleaned", type=Path, required=True, help="the folder of one cleaned source")
    options.add_argument("--splits", nargs="+", required=True, help="its splits, the one to learn from first")
    options.add_argument("--learn-from", nargs=2, metavar=("CLEANED", "SPLIT"), help="another cleaned source to learn from, and its split; "
                         "it gets the name of the first")
    options.add_argument("--options", type=options_of("strided_sop"), required=True,
                         help="JSON: the options of the study in resources/studies.yaml; what is left out gets its default")
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
