"""Build a strided sentence order dataset from cleaned captions (Jain et al. 2020, section 2).

spans() and swapped() are the paper's protocol. Every other step serves options (options.py), and
stands in a file of its own:

  captions.py    reads the captions of a split; max_videos
  windows.py     context
  sizes.py       size_matched, train_pairs, and equally many pairs of several strides
  hard_pairs.py  hard
  limited.py     limit
  orders.py      order_by: permutations
  labels.py      train_labels, predict

The strides of the pairs follow from stride, span and train_stride. The first split is the training
split; with learn_from it is that of another source, without the videos that are measured. The
videos of same_videos have a pair of that stride; those of span have its k units.

Reads  <cleaned>/<split>.parquet, or the shards named by <cleaned>/<split>/manifest.json (schema
       captions)
Writes <output>/<split>.parquet (schema strided pairs), sorted by the videos' order and position

    python -m scripts.studies.strided_sop.build --cleaned results/clean/activitynet \\
        --splits train val_1 val_2 \\
        --options '{"stride": 2, "size_matched": null, "max_videos": null, "label_seed": 0}' \\
        --output /tmp/stride-2
"""

import argparse
from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.builder_arguments import builder_arguments
from scripts.data.files import whole_set
from scripts.data.keyed import keyed_hash
from scripts.running.program import execute
from scripts.studies.strided_sop.captions import captions_of, categories_of, with_counts
from scripts.studies.strided_sop.labels import in_training, labelled
from scripts.studies.strided_sop.limited import limited
from scripts.studies.strided_sop.options import Options
from scripts.studies.strided_sop.orders import candidates, with_units
from scripts.studies.strided_sop.pair_columns import described
from scripts.studies.strided_sop.sizes import cut_to_size
from scripts.studies.strided_sop.tables import Split, Tables, after
from scripts.studies.strided_sop.windows import windows
from scripts.studies.strided_sop.written import write

FEWEST = 5
COIN = 1  # the number of the draw that swaps a pair: other draws from the same key differ


# ---- the paper, section 2


def spans(captions: pa.Table, stride: int) -> tuple[pa.Table, pa.Table]:
    """Return the captions of the first and of the last sentence of every span.

    captions: whole videos, sorted by video and position, with `sentences` and `row`.
    """
    position, sentences = (captions[name].to_numpy() for name in ("position", "sentences"))
    # "We discard any videos with fewer than five sentences and discard the first and last sentence
    # per video."
    is_inner = (sentences >= FEWEST) & (position > 0) & (position < sentences - 1)
    inner = captions.filter(pa.array(is_inner))
    # "When stride is set to n, n + 2 consecutive sentences are selected to form a span. From the
    # span, the first and last sentences are picked to form the sentence pair."
    first, last = inner[: max(0, len(inner) - stride - 1)], inner[stride + 1 :]
    is_span = pc.equal(first["video_id"], last["video_id"])
    # Not in the paper: nothing shows the order of two equal sentences.
    is_pair = pc.and_(is_span, pc.not_equal(first["text"], last["text"]))
    return first.filter(is_pair), last.filter(is_pair)


def swapped(first: pa.Table, last: pa.Table, stride: int, label_seed: int) -> pa.Table:
    """Return the pairs of spans(). A coin decides whether the model sees a pair in the order of the
    video (label 1) or swapped (label 0).
    """
    video, place = first["video_id"], first["position"]
    coin = keyed_hash(video.to_pandas(), place.to_numpy(), stride, label_seed, COIN)
    in_order = pa.array(coin >= np.uint64(1 << 63))
    pair = {
        "pair_id": pc.binary_join_element_wise(video, str(stride), place.cast(pa.string()), ":"),
        "video_id": video,
        "stride": np.full(len(first), stride),
        "first_position": place,
        "second_position": last["position"],
        "text_a": pc.if_else(in_order, first["text"], last["text"]),
        "text_b": pc.if_else(in_order, last["text"], first["text"]),
        "label": in_order.cast(pa.int8()),
    }
    return pa.table(pair)


# ---- the options


def all_pairs(
    captions: pa.Table, strides: list[int], label_seed: int, categories: pa.Table | None = None
) -> pa.Table:
    """Return every pair of captions from units_of() (schema strided pairs), by the place of its
    first sentence, then by stride. categories: video_id and category_1, if known.
    """
    tables, rows = [], []
    for stride in strides:
        first, last = spans(captions, stride)
        tables.append(described(swapped(first, last, stride, label_seed), first, last, categories))
        rows.append(first["row"].to_numpy())
    if len(strides) == 1:
        return tables[0]
    return pa.concat_tables(tables).take(pa.array(np.argsort(np.concatenate(rows), kind="stable")))


def units_of(split: Split, options: Options) -> Iterator[pa.Table]:
    """Return the captions of a split, or its windows, table by table: whole videos."""
    for captions in captions_of(split.cleaned, split.name, options.max_videos):
        if options.context:
            captions = windows(captions, options.context)
        captions = with_counts(captions)
        if split.left_out is not None:
            captions = captions.filter(pc.invert(pc.is_in(captions["video_id"], split.left_out)))
        if split.reach is not None:
            captions = captions.filter(pc.field("sentences") >= split.reach + 4)
        yield captions


def ids_of(split: Split, options: Options) -> Iterator[pa.Table]:
    """Return pair_id and stride of the pairs of a split, to count them in less time."""
    for captions in units_of(split, options):
        for stride in split.strides:
            pairs = swapped(*spans(captions, stride), stride, options.label_seed)
            yield pairs.select(["pair_id", "stride"])


def pairs_of(split: Split, options: Options) -> Iterator[pa.Table]:
    """Return the pairs of a split before any cut, table by table."""
    categories = categories_of(split.cleaned)
    for captions in units_of(split, options):
        pairs = all_pairs(captions, split.strides, options.label_seed, categories)
        if options.is_permuted:
            pairs = with_units(pairs, captions, options)
        yield pairs


def learnt_pairs(split: Split, options: Options) -> Tables:
    """Return the training pairs."""
    read: Tables = partial(pairs_of, split, options)
    ids, matched = partial(ids_of, split, options), None
    if options.size_matched is not None:
        captions = units_of(split, options)
        matched = sum(len(spans(table, options.size_matched)[0]) for table in captions)
    if len(split.strides) > 1 or matched is not None or options.train_pairs:
        read = after(read, cut_to_size(ids, split, options, matched, options.train_pairs))
    if options.is_permuted:
        wrong = options.wrong_orders
        read = after(read, partial(candidates, label_seed=options.label_seed, wrong=wrong))
    return after(read, partial(in_training, options=options))


def measured_pairs(
    split: Split, every: Tables, options: Options, where: str
) -> tuple[Tables, dict]:
    """Return the pairs of an evaluation split, and the provenance of the limit. every: the pairs of
    all splits, from which the judge of hard pairs learns.
    """
    read: Tables = partial(pairs_of, split, options)
    cut: dict = {}
    if len(split.strides) > 1 and options.span is None:
        ids = partial(ids_of, split, options)
        read = after(read, cut_to_size(ids, split, options))
    if options.hard:
        # imported here, because scikit-learn takes a second
        from scripts.studies.strided_sop.hard_pairs import hard_pairs

        read = after(read, hard_pairs(read, every, str(split.cleaned), split.name))
    if options.limit is not None:
        step, cut = limited(read, split.strides, options, where)
        read = after(read, step)
    if options.is_permuted:
        read = after(read, partial(candidates, label_seed=options.label_seed, wrong=None))
    return after(read, partial(labelled, predict=options.predict)), cut


def main(given: argparse.Namespace) -> None:
    options, [training, *_] = Options.of(given.options), given.splits
    learn = Split(given.cleaned, training, options.learnt_strides, options.same_videos)
    strides, reach = options.measured_strides, options.same_videos
    if options.span is not None:
        reach = strides[-1]
    splits = [Split(given.cleaned, name, strides, reach) for name in given.splits]
    if other := given.beside.get("learn_from"):
        every_split = (captions_of(split.cleaned, split.name, None) for split in splits[1:])
        measured = [table["video_id"].unique() for tables in every_split for table in tables]
        learn = Split(other.cleaned, other.train, *learn[2:4], pa.concat_arrays(measured))

    def every() -> Iterator[pa.Table]:
        return (pairs for split in splits for pairs in pairs_of(split, options))

    with whole_set(given.output) as folder:
        write(learnt_pairs(learn, options), learn, options, folder / f"{training}.parquet", {})
        for split in splits[1:]:
            where = f"{given.output} {split.name}"
            read, cut = measured_pairs(split, every, options, where)
            write(read, split, options, folder / f"{split.name}.parquet", cut)


if __name__ == "__main__":
    execute(main, builder_arguments(__doc__, Options).parse_args())
