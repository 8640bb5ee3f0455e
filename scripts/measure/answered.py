"""The labels or scores that a study's examples may be answered with, and a digest that
distinguishes these examples from others. Not a program.
"""

from dataclasses import dataclass
from pathlib import Path

from scripts.data.tables import content_digest


@dataclass(frozen=True)
class Answered:
    """What a study's examples are answered with.

    columns  of its datasets: the example's id, the id of its group, and its texts, first what it is
             judged by
    labels   the sets of labels that may be given, the dataset's own one first
    scored   whether candidates of one text are ranked, so that one may have a score, without labels
    """

    study: str
    columns: tuple[str, ...]
    labels: tuple[list[str], ...]
    scored: bool = False

    def digest(self, file: Path) -> str:
        """What distinguishes the examples of a split: their ids, texts and labels."""
        return content_digest(file, [*self.columns, "label"])
