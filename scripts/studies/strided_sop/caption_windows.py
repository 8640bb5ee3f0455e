"""Windows of captions: the units that are put in order where one caption is none (HowTo100M's lines of speech are cut anywhere).

Not a program. Windows do not overlap. {"seconds": n}: window k of a video holds the captions that start in [k·n, (k+1)·n) seconds; where
none starts there is no window, so that neighbours may be further apart (column seconds_apart of the pairs). {"sentences": k}: k captions
after one another, fewer in a video's last window.
"""

import numpy as np
import pyarrow as pa

from scripts.data.tables import CAPTIONS


def windows(captions: pa.Table, context: dict | None) -> pa.Table:
    """The windows of a table of whole videos (schema captions, positions from 0): their captions joined by a space, from the first start
    to the last end. Without a context the captions themselves."""
    if context is None or not len(captions):
        return captions
    position = captions["position"].to_numpy()
    [(unit, length)] = context.items()
    bin_of = position // length if unit == "sentences" else np.floor(captions["start_s"].to_numpy() / length)
    begins = np.append(True, (position[1:] == 0) | (bin_of[1:] != bin_of[:-1]))
    window = np.cumsum(begins) - 1
    frame = captions.select(["text", "start_s", "end_s"]).to_pandas()
    joined = frame.groupby(window).agg(text=("text", " ".join), start_s=("start_s", "min"), end_s=("end_s", "max"))
    is_first = position[begins] == 0
    number = np.arange(len(joined))
    first = captions.filter(pa.array(begins))
    changed = {"position": number - np.maximum.accumulate(np.where(is_first, number, 0)), **{name: joined[name] for name in joined}}
    return pa.table({name: pa.array(changed[name]) if name in changed else first[name] for name in CAPTIONS.names}).cast(CAPTIONS)
