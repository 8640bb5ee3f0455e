"""The labels or scores that can answer a study's examples, and a digest that identifies the
examples.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.tables import content_digest


@dataclass(frozen=True)
class Answered:
    """The possible answers to a study's examples.

    columns  columns of its datasets: the example's id, the id of its group, and its texts; the
             first text is the one by which candidates are judged
    labels   the sets of labels that may be given; the dataset's own set comes first
    scored   whether the candidates of one text are ranked; a prediction may then be a score
    own      reads a file in the authors' own form: takes the file and the ids of a split, and
             returns the number of each one's label; None for a file of another form
    """

    study: str
    columns: tuple[str, ...]
    labels: tuple[list[str], ...]
    scored: bool = False
    own: Callable[[Path, pd.Series], np.ndarray | None] | None = None

    def digest(self, file: Path) -> str:
        """Return a digest of a split's ids, texts and labels."""
        return content_digest(file, [*self.columns, "label"])
