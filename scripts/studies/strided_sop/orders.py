"""The orders of the units of a span, as candidates with one right order (the option order_by:
permutations of strided sentence order).

A row is one order. Its columns are

  units           the units in this order, one a line, for models that read all at once
  label           1 for the order of the video
  text_a, text_b  for the controls. text_a repeats each unit once for each unit after it; text_b
                  repeats it once for each unit before it
  others          the columns of the pair of the first and the last unit

A bag of words scores text_a and text_b with the sum of its scores on all pairs. So it scores spans
in the same way when their pairs put them in order.

The training split has the right order and some others (the option wrong_orders), drawn by hash. The
evaluation splits have all k! orders.
"""

import math
from itertools import permutations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.keyed import keyed_hash
from scripts.studies.strided_sop.options import Options
from scripts.studies.strided_sop.pair_columns import words
from scripts.studies.strided_sop.tables import STRIDED_PAIRS

CANDIDATES = STRIDED_PAIRS.append(pa.field("units", pa.string()))
DRAW = 8  # the number of the draw of wrong orders: other draws from the same key differ


def chosen_orders(
    pairs: pa.Table, orders: int, label_seed: int, wrong: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the span of each candidate, as a row of `pairs`, and its order: a number below
    `orders`, 0 for the right order.

    wrong: the number of wrong orders of each span, those with the lowest hashes; None: all.
    """
    n, others = len(pairs), orders - 1
    video, place = pairs["video_id"].to_pandas(), pairs["first_position"].to_numpy()
    draw = np.stack(
        [keyed_hash(video, place, order, label_seed, DRAW) for order in range(1, orders)], axis=1
    )
    lowest = np.sort(np.argsort(draw, axis=1)[:, : others if wrong is None else wrong], axis=1)
    chosen = np.column_stack([np.zeros(n, int), lowest + 1])
    return np.repeat(np.arange(n), chosen.shape[1]), chosen.ravel()


def lines(texts: pa.Array, rows: np.ndarray) -> pa.Array:
    """Return the texts of each row of (n, k) row numbers, one a line."""
    return pc.binary_join_element_wise(*(texts.take(pa.array(column)) for column in rows.T), "\n")


def with_units(pairs: pa.Table, captions: pa.Table, options: Options) -> pa.Table:
    """Return the pairs of the first and the last unit of spans, with all units of each span (a list
    of k texts). captions: of which the pairs were made.
    """
    length = options.span or 0
    starts = np.flatnonzero(captions["position"].to_numpy() == 0)
    videos = captions["video_id"].take(pa.array(starts)).combine_chunks()
    video = pc.index_in(pairs["video_id"], videos).to_numpy()
    first = starts[video] + pairs["first_position"].to_numpy()
    rows = first[:, None] + options.step * np.arange(length)
    texts = captions["text"].combine_chunks().take(pa.array(rows.ravel()))
    return pairs.append_column("units", pa.FixedSizeListArray.from_arrays(texts, length))


def candidates(pairs: pa.Table, label_seed: int, wrong: int | None) -> pa.Table:
    """Return the orders (CANDIDATES) of spans from with_units(). A span with two equal units is
    left out: it has no single right order. wrong: see chosen_orders().
    """
    length = pairs.schema.field("units").type.list_size
    texts = pc.list_flatten(pairs["units"]).combine_chunks()
    rows = np.arange(len(texts)).reshape(-1, length)
    unit = np.sort(texts.dictionary_encode().indices.to_numpy().reshape(-1, length), axis=1)
    differs = (np.diff(unit, axis=1) > 0).all(axis=1)
    pairs, rows = pairs.filter(pa.array(differs)), rows[differs]
    span, order = chosen_orders(pairs, math.factorial(length), label_seed, wrong)
    every = np.array(list(permutations(range(length))))
    shown = np.take_along_axis(rows[span], every[order], axis=1)
    # each unit i times, once for each unit before it
    before = np.repeat(np.arange(length), np.arange(length))
    first = lines(texts, shown[:, length - 1 - before[::-1]])
    second = lines(texts, shown[:, before])
    named = pa.array(["".join(map(str, one)) for one in every]).take(pa.array(order))
    table = pairs.take(pa.array(span))
    changed = {
        "pair_id": pc.binary_join_element_wise(table["pair_id"], named, ":"),
        "text_a": first,
        "text_b": second,
        "label": (order == 0).astype(np.int8),
        "words_a": words(pc.replace_substring(first, "\n", " ")),
        "words_b": words(pc.replace_substring(second, "\n", " ")),
        "units": lines(texts, shown),
    }
    return pa.table(
        {name: table[name] for name in STRIDED_PAIRS.names} | changed, schema=CANDIDATES
    )
