"""The strided pairs of a table of captions, with the columns of their slices: overlap, place,
lengths, category.

Not a program.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.keyed import keyed_hash
from scripts.studies.strided_sop.tables import STRIDED_PAIRS

FEWEST_SENTENCES = 5  # section 2: "We discard any videos with fewer than five sentences"
# The numbers of two draws: the coin that swaps a pair, and a coin that replaces the label in
# training. Other draws from the same key differ.
LABEL, COIN = (1, 9)


def fewest_sentences(stride: int) -> int:
    """Return the smallest number of sentences in a video with a pair of this stride: the span, and
    a first and a last sentence.
    """
    return max(FEWEST_SENTENCES, stride + 4)


def sentences_of(captions: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row the number of its video, from 0, and that video's number of sentences."""
    videos = captions["video_id"].combine_chunks().dictionary_encode()
    video = videos.indices.to_numpy()
    return video, np.bincount(video, minlength=len(videos.dictionary))[video]


def spans(
    captions: pa.Table, stride: int, same_videos: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the row numbers of the first and the last sentence of every span of stride + 2 inner
    sentences. A span whose two sentences have the same text is left out: nothing shows their order.

    `captions` is sorted by video and position; positions of a video begin at 0. same_videos: the
    video must also have a pair of this stride.
    """
    video, sentences = sentences_of(captions)
    position = captions["position"].to_numpy()
    fewest = fewest_sentences(stride if same_videos is None else same_videos)
    inner = np.flatnonzero((sentences >= fewest) & (position > 0) & (position < sentences - 1))
    first, last = inner[: max(0, len(inner) - stride - 1)], inner[stride + 1 :]
    text = captions["text"].combine_chunks()
    differs = pc.not_equal(text.take(pa.array(first)), text.take(pa.array(last)))
    is_pair = (video[first] == video[last]) & differs.to_numpy(zero_copy_only=False)
    return first[is_pair], last[is_pair]


def overlaps(captions: pa.Table, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return (n,) the share of each pair's shorter clip that lies in the other clip, from 0 to 1. A
    clip without length inside the other clip gives 1. A start after its end is exchanged with the
    end.
    """
    times = np.stack([captions["start_s"].to_numpy(), captions["end_s"].to_numpy()])
    start, end = times.min(0), times.max(0)
    begin, until = np.maximum(start[first], start[last]), np.minimum(end[first], end[last])
    shorter = np.minimum(end[first] - start[first], end[last] - start[last])
    shares = np.clip(until - begin, 0, None) / np.where(shorter > 0, shorter, 1)
    return np.where(shorter > 0, np.minimum(shares, 1), (until >= begin).astype(float))


def words(texts: pa.Array) -> pa.Array:
    """Return the number of words of each cleaned text; one space separates two words."""
    return pc.add(pc.count_substring(texts, " "), 1).cast(pa.int32())


def pair_ids(video_id: pa.Array, position: pa.Array, stride: int) -> pa.Array:
    """Return the ids of pairs, from their video and first position."""
    return pc.binary_join_element_wise(video_id, str(stride), position.cast(pa.string()), ":")


def pair_table(
    captions: pa.Table,
    stride: int,
    label_seed: int,
    same_videos: int | None = None,
    categories: pa.Table | None = None,
) -> pa.Table:
    """Return every pair of a table of captions (schema strided pairs). same_videos: see spans();
    categories: video_id and category_1, if known.
    """
    first, last = spans(captions, stride, same_videos)
    first_rows, last_rows = captions.take(first), captions.take(last)
    sentences = sentences_of(captions)[1][first]
    video_id, first_text, position = (
        first_rows[name].combine_chunks() for name in ("video_id", "text", "position")
    )
    last_text, second = (last_rows[name].combine_chunks() for name in ("text", "position"))
    coin = keyed_hash(video_id.to_pandas(), position.to_numpy(), stride, label_seed, LABEL)
    in_order = pa.array((coin >> np.uint64(63)) == 1)
    text_a, text_b = (
        pc.if_else(in_order, first_text, last_text),
        pc.if_else(in_order, last_text, first_text),
    )
    return pa.table(
        {
            "pair_id": pair_ids(video_id, position, stride),
            "video_id": video_id,
            "stride": np.full(len(first), stride),
            "first_position": position,
            "second_position": second,
            "text_a": text_a,
            "text_b": text_b,
            "label": in_order.cast(pa.int8()),
            "overlap": overlaps(captions, first, last),
            "same_start": pc.equal(first_rows["start_s"], last_rows["start_s"]),
            "relative_position": (position.to_numpy() + second.to_numpy())
            / 2
            / np.maximum(sentences - 1, 1),
            "sentences": sentences,
            "words_a": words(text_a),
            "words_b": words(text_b),
            "seconds_apart": pc.subtract(last_rows["start_s"], first_rows["start_s"]),
            "category": pa.nulls(len(first), pa.string())
            if categories is None
            else categories["category_1"]
            .combine_chunks()
            .take(pc.index_in(video_id, categories["video_id"].combine_chunks())),
        },
        schema=STRIDED_PAIRS,
    )


def mixed_pairs(
    captions: pa.Table,
    strides: list[int],
    label_seed: int,
    same_videos: int | None = None,
    categories: pa.Table | None = None,
) -> pa.Table:
    """Return the pairs of several strides, by the place of their first sentence, then by stride."""
    tables = [
        pair_table(captions, stride, label_seed, same_videos, categories) for stride in strides
    ]
    if len(tables) == 1:
        return tables[0]
    first = np.concatenate([spans(captions, stride, same_videos)[0] for stride in strides])
    return pa.concat_tables(tables).take(pa.array(np.argsort(first, kind="stable")))


def with_label(pairs: pa.Table, label: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Return pairs with another label."""
    return pairs.set_column(pairs.column_names.index("label"), "label", label.cast(pa.int8()))


def labelled(pairs: pa.Table, predict: str | None) -> pa.Table:
    """Return pairs with the predicted value as their label: the order (None), the stride, or 2 ·
    stride + order (order_and_stride).
    """
    if predict is None:
        return pairs
    stride = pairs["stride"]
    return with_label(
        pairs,
        stride
        if predict == "stride"
        else pc.add(pc.multiply(stride, 2), pairs["label"].cast(pa.int32())),
    )


def with_coins(pairs: pa.Table, label_seed: int) -> pa.Table:
    """Return pairs with a coin by hash as their label. The texts do not show this label."""
    return with_label(
        pairs, pa.array(keyed_hash(pairs["pair_id"].to_pandas(), label_seed, COIN) >> np.uint64(63))
    )
