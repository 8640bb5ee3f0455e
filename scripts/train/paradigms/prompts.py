"""A table's examples as texts for a language model. A text has a context and a scored part. Two
texts are equal if both parts are.

Texts are columns of pandas, filled a column at a time. Equal texts are held, and read, only once.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.running.program import UserError
from scripts.text.placeholders import CANDIDATE, parts_of

MASK = "<MASK>"
AT_ONCE = 32  # the most texts that share a context in one reading


@dataclass
class Texts:
    """The distinct texts of a table, and where each example's are.

    frame: context, scored, and must_stay: how many characters of `scored` must be read whole (a
    candidate); the end of the rest may be cut. places: (texts of an example, examples) row numbers
    of the frame.
    """

    frame: pd.DataFrame
    places: np.ndarray


def columns_of(table: pa.Table, inputs: list[str]) -> pd.DataFrame:
    """The values of placeholders, one column each.

    The two sides of a mask are the context around it, with one space before the mask. Raises
    UserError for a context without exactly one <MASK>.
    """
    columns = table.select([name for name in inputs if name != "context"]).to_pandas()
    if "context" in inputs:
        context = table["context"].to_pandas()
        marks = context.str.count(MASK)
        if (marks != 1).any():
            row = int((marks != 1).to_numpy().argmax())
            raise UserError(
                f"example {table['example_id'][row].as_py()}: its context has {marks[row]} <MASK>, "
                "not one; build the dataset again from mended dialogs"
            )
        halves = context.str.split(MASK, n=1)
        left = halves.str[0].str.rstrip()
        columns["left"] = left.where(left == "", left + " ")
        columns["right"] = halves.str[1]
    return columns


def filled(text: str, columns: pd.DataFrame) -> pd.Series:
    """A text with its placeholders filled, for each row."""
    found = pd.Series("", columns.index, dtype=object)
    for written, name in parts_of(text):
        found = found + (columns[name] if name else written)
    return found


def scored_texts(text: str, columns: pd.DataFrame) -> pd.DataFrame:
    """context, scored and must_stay of each row, for one text of a wording."""
    before, after = text.split("|")
    place = after.find(f"{{{CANDIDATE}}}")
    through = after[: place + len(CANDIDATE) + 2] if place >= 0 else ""
    return pd.DataFrame(
        {
            "context": filled(before, columns),
            "scored": filled(after, columns),
            "must_stay": filled(through, columns).str.len().astype(np.int64),
        }
    )


def texts_of(table: pa.Table, prompt: dict, inputs: list[str], shots: str) -> Texts:
    """The texts of a table: for each example those of the wording, in its order. With a domain, as
    many texts again after these.
    """
    columns = columns_of(table, inputs)
    parts = [scored_texts(text, columns) for text in prompt["texts"].values()]
    if prompt["domain"] is not None:
        domain = filled(prompt["domain"], columns)
        parts += [part.assign(context=domain) for part in parts]
    every = pd.concat(parts, ignore_index=True)
    every["context"] = shots + every["context"]
    codes = every.groupby(["context", "scored"], sort=False).ngroup().to_numpy()
    return Texts(
        every[~pd.Series(codes).duplicated()].reset_index(drop=True), codes.reshape(len(parts), -1)
    )


def groups_of(context: pd.Series) -> np.ndarray:
    """A number for each text, equal for texts that share a context, at most AT_ONCE of them. A text
    without a context has its own number.
    """
    turn = context.groupby(context, sort=False).cumcount() // AT_ONCE
    turn = turn.where(context != "", np.arange(len(context)))
    return context.groupby([context, turn], sort=False).ngroup().to_numpy()


def shots_of(
    table: pa.Table, prompt: dict, labels: list[str], inputs: list[str], count: int, seed: int
) -> str:
    """`count` examples of the training split in the same wording with their right labels, each with
    a blank line after it.

    Drawn by the seed, equally many of each label. For candidates only right ones are drawn; where
    the wording writes one label, only examples of that label. Raises UserError if there are too
    few.
    """
    if not count:
        return ""
    draw, label = np.random.default_rng(seed), table["label"].to_numpy()
    texts = prompt["texts"]
    written = (
        {1: texts[CANDIDATE]}
        if CANDIDATE in texts
        else {labels.index(name): text for name, text in texts.items()}
    )
    numbers = draw.permutation(list(written))  # the label that gets one more is drawn as well
    found = []
    for place, number in enumerate(numbers):
        wanted, rows = len(range(place, count, len(numbers))), np.flatnonzero(label == number)
        if len(rows) < wanted:
            raise UserError(
                f"shots: {count} needs {wanted} training examples of the label {labels[number]}, "
                f"but there are {len(rows)}; lower shots"
            )
        chosen = table.take(draw.choice(rows, wanted, replace=False))
        found += filled(written[number].replace("|", ""), columns_of(chosen, inputs)).to_list()
    return "".join(f"{found[place].strip()}\n\n" for place in draw.permutation(len(found)))
