"""The options train_labels and predict: other labels of pairs than their order."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.keyed import keyed_hash
from scripts.studies.strided_sop.options import Options

COIN = 9  # the number of the draw of labels: other draws from the same key differ


def with_label(pairs: pa.Table, label: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Return pairs with another label."""
    return pairs.set_column(pairs.column_names.index("label"), "label", label.cast(pa.int8()))


def labelled(pairs: pa.Table, predict: str | None) -> pa.Table:
    """Return pairs with the predicted value as their label: the order (None), the stride, or 2 ·
    stride + order (order_and_stride).
    """
    if predict is None:
        return pairs
    if predict == "stride":
        return with_label(pairs, pairs["stride"])
    twice = pc.multiply(pairs["stride"], 2)
    return with_label(pairs, pc.add(twice, pairs["label"].cast(pa.int32())))


def in_training(pairs: pa.Table, options: Options) -> pa.Table:
    """Return training pairs with their label. train_labels: coin replaces the order by a coin by
    hash, which the texts do not show.
    """
    if options.train_labels == "coin":
        coin = keyed_hash(pairs["pair_id"].to_pandas(), options.label_seed, COIN)
        pairs = with_label(pairs, pa.array(coin >> np.uint64(63)))
    return labelled(pairs, options.predict)
