"""Build a strided sentence order dataset from cleaned captions (Jain et al. 2020, section 2).

Videos with fewer than five sentences are left out. So are the first and the last sentence of each
video. For stride n every span of n + 2 consecutive sentences gives one pair: its first and its last
sentence. A coin (a hash of the pair) decides whether both are in the order of the video (label 1)
or swapped (label 0).

Reads  <cleaned>/<split>.parquet, or the shards named by <cleaned>/<split>/manifest.json (schema
       captions)
Writes <output>/<split>.parquet (schema strided pairs), sorted by the videos' order and position

    python -m scripts.studies.strided_sop.build --cleaned results/clean/activitynet \\
        --splits train val_1 val_2 \\
        --options '{"stride": 2, "size_matched": null, "max_videos": null, "label_seed": 0}' \\
        --output /tmp/stride-2

options.py explains the options. The first split is the training split.

  hard pairs    evaluation pairs that hard_pairs.py keeps; the training pairs do not change
  limit         draws pairs by hash of the video and of the place of the first sentence. So all
                strides are compared on nearly the same places. Spans are drawn by hash of place.
                The draw ignores the control of hard pairs, so the control is right on about half
                of the drawn hard pairs
  context       sentences, strides and positions are counted in windows (parts.py)
  span: k       the evaluation pairs are all pairs of k units (tallies.py puts the units in order),
                from the videos that have k units; the training pairs have all strides of these
                pairs, equally many of each
  order_by      permutations: a row is one order of the k units (orders.py), and size_matched cuts
                spans

Each row also has the columns of the pair's slices (pairs.py).
"""

import argparse
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.studies.strided_sop import orders
from scripts.data.limit import limit_hashes, limit_provenance
from scripts.data.builder_arguments import builder_arguments
from scripts.studies.strided_sop.pairs import (
    fewest_sentences,
    labelled,
    pair_ids,
    spans,
    with_coins,
)
from scripts.studies.strided_sop.parts import Part, pairs_of, shards, units_of
from scripts.studies.strided_sop.options import Options
from scripts.data.files import whole_set
from scripts.data.keyed import cutoff_hash, keyed_hash
from scripts.running.program import UserError, execute, log
from scripts.data.tables import provenance_of, table_writer
from scripts.studies.strided_sop.tables import STRIDED_PAIRS

Keep = Callable[[pa.Table], np.ndarray]  # from a table of pairs to (n,) booleans, the kept rows
SIZE = 2  # the number of the draw of pairs: other draws from the same key differ
HIGHEST = np.uint64(2**64 - 1)
BITS = 16  # the first bits of a hash, used to count pairs
PERMUTATIONS = "permutations"  # a value of the option order_by


def filtered(tables: Iterator[pa.Table], keep: Keep) -> Iterator[pa.Table]:
    """Return the kept pairs, table by table."""
    return (pairs.filter(pa.array(keep(pairs))) for pairs in tables)


def of_kept(part: Part, options: Options, keep: Keep) -> Iterator[pa.Table]:
    """Return the kept pairs of a split, table by table."""
    return filtered(pairs_of(part, options), keep)


def size_hashes(ids: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the hash that decides the cut to a size: pairs with the lowest hashes are kept."""
    return keyed_hash(ids.to_pandas(), SIZE)


def all_of(pairs: pa.Table) -> np.ndarray:
    """Return (n,) True."""
    return np.ones(len(pairs), bool)


def are_lowest(pairs: pa.Table, highest: dict[int, np.uint64]) -> np.ndarray:
    """Return (n,) whether each pair is kept in the cut to a size. highest: the highest kept hash of
    each stride.
    """
    strides = sorted(highest)
    limits = np.array([highest[stride] for stride in strides], np.uint64)
    return (
        size_hashes(pairs["pair_id"])
        <= limits[np.searchsorted(strides, pairs["stride"].to_numpy())]
    )


def hashes_of_pairs(
    part: Part, stride: int, matched: int, options: Options
) -> Iterator[tuple[np.ndarray, int]]:
    """Return, table by table, the size hashes of all pairs of one stride in a split, and the number
    of pairs of the stride `matched`.
    """
    for captions in units_of(part, options):
        rows = pa.array(spans(captions, stride, part.same_videos)[0])
        video_id, position = (
            captions[name].take(rows).combine_chunks() for name in ("video_id", "position")
        )
        yield (
            size_hashes(pair_ids(video_id, position, stride)),
            len(spans(captions, matched, part.same_videos)[0]),
        )


def size_limit(
    part: Part, stride: int, matched: int, share: int, options: Options, most: int | None
) -> np.uint64:
    """Return the highest hash of the kept pairs of a stride. The number of kept pairs is `most`, or
    else the number of pairs of the stride `matched`, divided by `share` and rounded up. Raises
    UserError if no pair is kept, or if there are fewer than `most`.

    The function counts pairs by the first bits of their hashes. So memory holds only those near the
    limit.
    """
    shift, counted, wanted = np.uint64(64 - BITS), np.zeros(1 << BITS, np.int64), 0
    for hashes, of_matched in hashes_of_pairs(part, stride, matched, options):
        counted += np.bincount((hashes >> shift).astype(np.int64), minlength=1 << BITS)
        wanted += of_matched
    if wanted == 0:
        setting = (
            f"stride {options.stride} mixes"
            if options.size_matched is None
            else "size_matched names"
        )
        raise UserError(
            f"{part.split}.parquet: {setting} stride {matched}, which has no pairs in "
            f"{part.cleaned} split {part.split}; name a smaller stride"
        )
    wanted, up_to = most or -(-wanted // share), np.cumsum(counted)
    if most and most > up_to[-1]:
        raise UserError(
            f"{part.split}.parquet: train_pairs is {most}, but {part.cleaned} split {part.split} "
            f"has {up_to[-1]} pairs of stride {stride}; ask for fewer"
        )
    if wanted >= up_to[-1]:
        return HIGHEST
    near = int(np.searchsorted(up_to, wanted))
    held = [
        table[table >> shift == near]
        for table, _ in hashes_of_pairs(part, stride, matched, options)
    ]
    return np.sort(np.concatenate(held))[wanted - up_to[near] + counted[near] - 1]


def cut_to_size(part: Part, matched: int | None, options: Options, most: int | None = None) -> Keep:
    """Return a function that selects the kept pairs of a split. Of several strides it keeps equally
    many pairs, as many as the largest stride has. With `matched`, all strides together keep as many
    pairs as the stride `matched` has. With `most`, each stride keeps `most` pairs.
    """
    if matched is None and most is None and len(part.strides) == 1:
        return all_of
    size, share = (part.strides[-1], 1) if matched is None else (matched, len(part.strides))
    return partial(
        are_lowest,
        highest={
            stride: size_limit(part, stride, size, share, options, most) for stride in part.strides
        },
    )


def place_hashes(pairs: pa.Table, mixed: bool) -> np.ndarray:
    """Return the hash that decides the limit of evaluation pairs. Pairs of any stride that begin at
    one place have the same hash; in a mixture of strides each stride has another hash.
    """
    numbers = [
        pairs[name].to_numpy() for name in ("first_position", *(["stride"] if mixed else []))
    ]
    return limit_hashes(pairs["video_id"].to_pandas(), *numbers)


def of_kept_spans(pairs: pa.Table, highest: np.uint64, length: int, step: int) -> np.ndarray:
    """Return (n,) whether each pair is in a kept span: a span of `length` units with a hash of at
    most `highest`. The units of a span are `step` places apart.
    """
    first, sentences = (
        pairs[name].to_numpy().astype(np.int64) for name in ("first_position", "sentences")
    )
    video, gap, is_kept = (
        pairs["video_id"].to_pandas(),
        (pairs["stride"].to_numpy() + 1) // step,
        np.zeros(len(pairs), bool),
    )
    for place in range(length - 1):  # the place of the pair's first unit in the span
        start = first - place * step
        fits = (
            (start >= 1) & (start + (length - 1) * step <= sentences - 2) & (place + gap < length)
        )
        is_kept |= fits & (limit_hashes(video, start.astype(np.int32)) <= highest)
    return is_kept


def within_limit(part: Part, options: Options, keep: Keep, output: Path) -> tuple[Keep, dict]:
    """Return a function that selects the kept evaluation pairs of a split, and the provenance of
    the cut. It cuts the pairs of `keep`, or their spans, to the option limit.
    """
    length, limit = options.span, options.limit
    if limit is None:
        return keep, {}
    # count one pair for each span
    counted = part if length is None else part._replace(strides=part.strides[-1:])
    mixed = len(counted.strides) > 1
    hashes = np.concatenate(
        [place_hashes(pairs, mixed)[keep(pairs)] for pairs in pairs_of(counted, options)]
    )
    highest, items = cutoff_hash(hashes, limit), "pairs" if length is None else "spans"
    cut = limit_provenance(min(limit, len(hashes)), len(hashes), items, f"{output} {part.split}")
    if length is not None:
        return partial(of_kept_spans, highest=highest, length=length, step=options.step), cut
    return lambda pairs: keep(pairs) & (place_hashes(pairs, mixed) <= highest), cut


def none_left(part: Part, options: Options) -> UserError:
    """Return the error that a split has no pair."""
    cleaned, split = part.cleaned, part.split
    stride, same_videos = part.strides[-1], part.same_videos
    reach = f"stride {stride}" if same_videos is None else f"same_videos {same_videos}"
    units = "windows" if options.context else "sentences"
    return UserError(
        f"{split}.parquet: no pair is left: no video of {cleaned} split {split} has "
        f"{fewest_sentences(stride if same_videos is None else same_videos)} {units} or more with "
        f"two different texts, which {reach} needs. As in the paper, videos with fewer than five "
        f"{units} are left out, and so are the first and the last of each video. Use a smaller "
        f"stride{', shorter windows' * bool(options.context)} or another source"
    )


def build_split(
    part: Part, options: Options, keep: Keep, cut: dict, output: Path, learnt: bool
) -> dict:
    """Write the kept pairs of one split, or the orders of its kept spans, shard by shard. Return
    its counts. Raises UserError if nothing is kept.

    cut: further facts for the provenance. learnt: whether this is the training split.
    """
    counts, schema, tables = (
        {"videos": 0, "pairs": 0, "in_order": 0},
        STRIDED_PAIRS,
        pairs_of(part, options),
    )
    if options.order_by == PERMUTATIONS:
        tables, keep, schema = (
            orders.orders_of(part, options, keep, options.wrong_orders if learnt else None),
            all_of,
            orders.CANDIDATES,
        )
    provenance = {"split": output.stem, "options": options.written()}
    provenance = provenance_of(shards(part)[0]) | provenance | cut
    with table_writer(output, schema, provenance) as writer:
        for pairs in filtered(tables, keep):
            if learnt and options.train_labels == "coin":
                pairs = with_coins(pairs, options.label_seed)
            counts["videos"] += pc.count_distinct(pairs["video_id"]).as_py()
            counts["pairs"] += len(pairs)
            counts["in_order"] += pc.sum(pairs["label"]).as_py() or 0
            writer.write_table(labelled(pairs, options.predict).cast(writer.schema))
        if counts["pairs"] == 0:
            raise none_left(part, options)
    return counts


def main(given: argparse.Namespace) -> None:
    options = Options.of(given.options)
    measured, learnt = options.measured_strides, options.learnt_strides
    reached = measured[-1] if options.span is not None else options.same_videos
    other = given.beside.get("learn_from")
    cleaned, split = (other.cleaned, other.train) if other else (given.cleaned, given.splits[0])
    learn = Part(cleaned, split, learnt, options.same_videos)
    measured_parts = [Part(given.cleaned, split, measured, reached) for split in given.splits]
    if options.hard:
        # imported here, because scikit-learn takes a second
        from scripts.studies.strided_sop.hard_pairs import hard_of, judge_of

        all_pairs = (pairs for part in measured_parts for pairs in pairs_of(part, options))
        judge = cache(partial(judge_of, all_pairs, str(given.cleaned)))
    with whole_set(given.output) as folder:
        for name, part in zip(given.splits, [learn, *measured_parts[1:]]):
            cut: dict = {}
            if part is learn:
                keep = cut_to_size(part, options.size_matched, options, options.train_pairs)
            else:
                keep = all_of if options.span else cut_to_size(part, None, options)
                if options.hard:
                    sized = partial(of_kept, part, options, keep)
                    keep = hard_of(sized, judge, f"{given.cleaned} split {name}")
                keep, cut = within_limit(part, options, keep, given.output)
            counts = build_split(
                part, options, keep, cut, folder / f"{name}.parquet", part is learn
            )
            log.info(
                "%s %s: %d %s of %d videos, %d in order",
                given.output,
                name,
                counts["pairs"],
                "orders" if options.order_by == PERMUTATIONS else "pairs",
                counts["videos"],
                counts["in_order"],
            )


if __name__ == "__main__":
    execute(main, builder_arguments(__doc__, Options).parse_args())
