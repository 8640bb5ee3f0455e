"""The examples of a split, to which answers are joined by the ids and texts of questions."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import pyarrow.parquet as pq

from scripts.data.tables import read_table
from scripts.measure.answered import Answered
from scripts.running.program import UserError, cut, shown
from scripts.train.asking.letters import bare


def plain(text: object) -> str:
    return bare(str(text)).lower()


class Examples:
    """names: the ids of the examples. candidates: by question (an instance or a group) and plain
    text, the id of the example.
    """

    def __init__(self, answered: Answered, split_file: Path):
        self.answered, self.file = answered, split_file
        self.where = f"{split_file.parent.name} {split_file.stem}"
        names = pq.read_schema(split_file).names
        example, group, *_, text = answered.columns
        self.question = "instance_id" if "instance_id" in names else group
        table = read_table(split_file, [example, self.question, text]).to_pandas()
        self.names = table[example].to_list()
        self.ids = {*self.names}
        self.candidates: dict[str, dict[str, str]] = {}
        for one, name, candidate in table.itertuples(index=False):
            self.candidates.setdefault(name, {})[plain(candidate)] = one

    @cached_property
    def elsewhere(self) -> set[str]:
        """The questions that only other splits of the dataset have."""
        splits = [file for file in self.file.parent.glob("*.parquet") if file != self.file]
        names = {name for one in splits for name in read_table(one, [self.question])[0].to_pylist()}
        return names - {*self.candidates}

    def of_question(self, name: str, texts: Iterable[object], place: str) -> list[str]:
        """Return the examples of all candidates of a question, in the order of texts. Raises
        UserError for an unknown question, and for other candidates than its own.
        """
        if name not in self.candidates:
            raise UserError(
                f"{place}: {self.where} has no example and no question {cut(name)}; write an id of "
                "the dataset's split"
            )
        known, given = self.candidates[name], [plain(text) for text in texts]
        unknown = [text for text in given if text not in known]
        missing = [text for text in known if text not in given]
        if unknown or missing or len(given) > len(known):
            if unknown:
                what = f"{shown(unknown[0])} is not one of its candidates"
            else:
                what = f"{shown((missing or given)[0])} is missing, or there twice"
            raise UserError(f"{place}: id {cut(name)}: {what}; give {', '.join(map(shown, known))}")
        return [known[text] for text in given]
