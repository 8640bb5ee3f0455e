"""The `packed` paradigm: `classify` for texts of several units in one order. The tokenizer's
separator for pairs is written between two units.

The units of an example are in one column, one a line. Every label gets its log-probability, by a
fresh head. Candidates are the orders of the same units. The predicted order is the candidate with
the highest log-odds of the last label (scripts/studies/strided_sop/tallies.py). If the units
together are too long, the longest are cut, all to one length. A model with token types reads the
first unit as the first text of a pair, and the others as the second text.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.running.program import UserError
from scripts.train.paradigms import classify
from scripts.train.batches import Examples, Ragged, pieces, repeated
from scripts.train.paradigms.classify import fields_of_parts, pair_frame
from scripts.train.labels import Head


def units_of(tokenizer, table: pa.Table, column: str) -> list[Ragged]:
    """The tokens of the first unit of each row, of the second, and so on, without special ones;
    each distinct unit is tokenized once. Raises UserError if rows have different numbers of units.
    """
    lines = table[column].to_pandas().str.split("\n", expand=True)
    if lines.isna().to_numpy().any():
        row = int(np.flatnonzero(lines.isna().any(axis=1))[0])
        raise UserError(
            f"example {table['example_id'][row].as_py()}: has fewer units than others, which are "
            "scored beside it; build the dataset again"
        )
    codes, distinct = lines.stack().factorize()
    tokens = pieces(tokenizer, list(distinct), add_special_tokens=False)[0]["input_ids"]
    return [tokens.take(of_unit) for of_unit in codes.reshape(lines.shape).T]


def cut_to(units: list[Ragged], room: int) -> tuple[list[Ragged], int]:
    """The units of each row cut to `room` tokens together, the longest first; and how many rows had
    to be cut.
    """
    lengths = np.stack([unit.lengths for unit in units], axis=1)
    ascending = np.sort(lengths, axis=1)
    shorter = np.cumsum(ascending, axis=1) - ascending
    # the length with which the row fits, whichever units are shorter
    longest = ((room - shorter) // (len(units) - np.arange(len(units)))).max(axis=1)
    cut = [
        unit.cut(np.zeros_like(unit.lengths), np.minimum(unit.lengths, longest)) for unit in units
    ]
    return cut, int((lengths.sum(axis=1) > room).sum())


class Paradigm(classify.Paradigm):
    """Each label gets its log-probability (paradigm.py defines a paradigm)."""

    def __init__(self, model: Path, job: dict, tables: dict[str, pa.Table]):
        head = Head(job["labels"], list(range(len(job["labels"]))), None)
        super().__init__(model, job | {"head": vars(head)}, tables)

    def encode(self, table: pa.Table) -> Examples:
        """The examples of a table."""
        [column] = self.inputs
        units, n = units_of(self.tokenizer, table, column), len(table)
        (before, between, after), types = pair_frame(self.tokenizer, self.model)
        room = self.max_length - len(before) - len(between) * (len(units) - 1) - len(after)
        if room < len(units):
            raise UserError(
                f"max_length {self.max_length} leaves {max(room, 0)} tokens for {len(units)} "
                "units; raise it"
            )
        units, truncated = cut_to(units, room)
        of_first, of_second = types[3], types[4]
        parts, kinds = [repeated(before, n), units[0]], [types[0], of_first]
        for unit in units[1:]:
            parts, kinds = [*parts, repeated(between, n), unit], [*kinds, types[1], of_second]
        parts, kinds = [*parts, repeated(after, n)], [*kinds, types[2]]
        labels = np.array(self.head.columns)[table["label"].to_numpy()]
        return Examples(
            fields_of_parts(self.tokenizer, parts, kinds),
            labels.astype(np.int64),
            np.arange(n),
            truncated,
        )
