"""The name of an example on a sheet for people, and in their answers. The example's id would reveal
its label or its place. For example, a pair's id has the video, and among options the right ones
come first.
"""

from typing import TYPE_CHECKING

import numpy as np

from scripts.data.keyed import keyed_hash

if TYPE_CHECKING:
    import pandas as pd

KEY = 20_0211  # separates this use of the hash from others
ITEM = "[0-9a-f]{16}"  # how an item is written
# columns of a file of answers
ANSWER_COLUMNS = ["study", "source", "dataset", "split", "item", "person", "answer", "types"]
HUMAN = "human"  # the model and the method of people's rows of metrics
ENSEMBLE = "_ensemble"  # the end of the method in rows of metrics of the ensembles of seeds


def items_of(example_ids: "pd.Series") -> np.ndarray:
    """Return (n,) uint64, the item of each example; its text has sixteen hexadecimal digits."""
    return keyed_hash(example_ids, KEY)
