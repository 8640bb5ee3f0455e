"""The name of an example on a page for people, and in their answers. The example's id would tell
its label or its place: of a pair it names the video, of an option the right ones come first.
"""

from typing import TYPE_CHECKING

import numpy as np

from scripts.data.keyed import keyed_hash

if TYPE_CHECKING:
    import pandas as pd

KEY = 20_0211  # of this use of the hash
ITEM = "[0-9a-f]{16}"  # how an item is written
# of a file of answers
ANSWER_COLUMNS = ["study", "source", "dataset", "split", "item", "person", "answer", "types"]
HUMAN = "human"  # the model and the method of their rows of metrics


def items_of(example_ids: "pd.Series") -> np.ndarray:
    """(n,) uint64, the item of each example; written as sixteen hexadecimal digits."""
    return keyed_hash(example_ids, KEY)
