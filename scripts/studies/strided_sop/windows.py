"""The option context: windows of captions are put in order, not single captions.

Single captions may be no useful units (HowTo100M's lines of speech are cut anywhere). Windows do
not overlap.

  {"seconds": n}     window k of a video contains the captions that start in [k·n, (k+1)·n) seconds.
                     A window without captions does not exist. So neighbours may be further apart
                     (column seconds_apart of the pairs)
  {"sentences": k}   k captions in a row, fewer in a video's last window
"""

import numpy as np
import pyarrow as pa

from scripts.data.tables import CAPTIONS


def windows(captions: pa.Table, context: dict) -> pa.Table:
    """Return the windows of a table of whole videos (schema captions, positions from 0). A window's
    text joins its captions with spaces; it lasts from the first start to the last end.
    """
    if not len(captions):
        return captions
    position = captions["position"].to_numpy()
    [(unit, length)] = context.items()
    bin_of = position // length
    if unit == "seconds":
        bin_of = np.floor(captions["start_s"].to_numpy() / length)
    begins = np.append(True, (position[1:] == 0) | (bin_of[1:] != bin_of[:-1]))
    frame = captions.select(["text", "start_s", "end_s"]).to_pandas()
    joined = frame.groupby(np.cumsum(begins) - 1).agg(
        {"text": " ".join, "start_s": "min", "end_s": "max"}
    )
    number = np.arange(len(joined))
    changed = dict(joined) | {
        "position": number - np.maximum.accumulate(np.where(position[begins] == 0, number, 0))
    }
    first = captions.filter(pa.array(begins))
    return pa.table(
        {name: changed.get(name, first[name]) for name in CAPTIONS.names}, schema=CAPTIONS
    )
