"""Answers of models to the items of an audit, and what a model keeps where a shortcut misleads. Not
a program.

An answer names one option or several: by their texts, by letters or by numbers. A longer text names
the longest option that it holds. Letters and numbers count the columns of the file. So they say
nothing of labels, or where the columns show which options are right.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.audit.features import SHORTCUTS
from scripts.audit.reach import Benchmark, Reach, answered, estimate
from scripts.data.choice_columns import Declaration
from scripts.data.choices import as_list, read_records, right_places
from scripts.running.program import UserError, cut, log, shown

KEPT = ["model", "shortcut", "share", "right", "misled"]
READ = {
    "texts": "texts of options",
    "letters": "letters",
    "numbers0": "numbers from 0",
    "numbers1": "numbers from 1",
    "inside": "texts that hold an option",
}


def named_options(answer: list[str], options: list[str], kinds: list[str]) -> tuple[str, list[int]]:
    """Return how an answer names options, and their places. Raises ValueError if it names none."""
    for kind in kinds:
        try:
            return kind, right_places(kind, answer, options)
        except ValueError:
            continue
    said = " ".join(answer)
    held = [place for place, text in enumerate(options) if text and text in said]
    if not held:
        raise ValueError("is no option")
    # of options as long as each other, the first that the answer names
    return "inside", [max(held, key=lambda one: (len(options[one]), -said.index(options[one])))]


def read_answers(file: Path, ids: list[str], without: set[str]) -> dict[str, list[str]]:
    """Return the answers by item_id. ids: of the file of items, in its order; without: items that
    offer no choice. Raises UserError for another number of answers.
    """
    records = read_records(file, Declaration())
    if {"item_id", "answer"} <= {*records.columns}:
        names, answers = records["item_id"].tolist(), records["answer"]
    elif file.suffix == ".txt":
        names, answers = ids, records["text"]
    else:
        raise UserError(f"{file}: needs the columns item_id and answer, or a .txt; correct it")
    odd = sorted({*names} - {*ids} | {*ids} - {*names} - without)
    if odd or len({*names}) != len(names) or len(names) != len(answers):
        about = f" (item {cut(odd[0])}: no answer, or no such item)" if odd else ""
        raise UserError(
            f"{file}: has {len(answers):,} answers for {len(ids):,} items{about}; give each one"
        )
    return dict(zip(names, ([text.casefold() for text in as_list(cell)] for cell in answers)))


def read_choices_of(
    answers: dict[str, list[str]], known: dict[str, list[str]], kinds: list[str]
) -> tuple[Counter, dict[str, list[int]]]:
    """Return how often each kind of answer was read, and the places that each item's answer names.
    known: by item_id, the options by place. Raises ValueError with the item for an answer that
    names none.
    """
    read: Counter = Counter()
    places = {}
    for name, options in known.items():
        try:
            how, places[name] = named_options(answers[name], options, kinds)
        except ValueError as error:
            said = shown(", ".join(answers[name]))
            raise ValueError(f"item {cut(name)}: {said} {error}; correct it") from None
        read[how] += 1
    return read, places


def predicted(file: Path, test: Benchmark, declaration: Declaration) -> np.ndarray:
    """Return (items,) how surely the answers of a file answer each item, and log how they were
    read. Raises UserError for an answer that is no option, and for numbers that may count from 0 or
    from 1.
    """
    rows, ids = test.options[test.is_measured[test.options["item"]]], test.shares.index.tolist()
    answers = read_answers(file, ids, {*ids} - {*rows["item_id"]})
    last = rows.groupby("item_id", sort=False)["place"].max()
    known = {name: [""] * (place + 1) for name, place in last.items()}
    for name, place, text in rows[["item_id", "place", "option"]].itertuples(index=False):
        known[name][place] = text.casefold()
    kind, ways = declaration.answers_are or "", [["texts"]]
    if not declaration.columns.are_unordered() and kind != "labels":
        numbers = [kind] if kind.startswith("numbers") else ["numbers0", "numbers1"]
        ways = [["texts", "letters", number] for number in numbers]
    found, said = [], ""
    for kinds in ways:
        try:
            found.append(read_choices_of(answers, known, kinds))
        except ValueError as error:
            said = str(error)
    if not found:
        raise UserError(f"{file}: {said}")
    (read, places), *others = found
    if any(other[1] != places for other in others):
        raise UserError(f"{file}: its numbers may count from 0 or from 1; write letters or texts")
    how = ", ".join(f"{count:,} {READ[kind]}" for kind, count in read.items())
    log.info("%s: answers are read as %s", file, how)
    scores = np.full(len(test.options), np.nan)
    named = zip(rows["item_id"], rows["place"])
    scores[rows.index] = [place in places[name] for name, place in named]
    return answered(test, scores)


def kept_by_models(
    reaches: list[Reach], models: dict[str, np.ndarray], groups: np.ndarray
) -> pd.DataFrame:
    """Return what each model keeps where a shortcut answers the items (at least half surely) and
    where it misleads: model, shortcut, share, right, misled with intervals.
    """
    rows = []
    for name, values in models.items():
        for reach in reaches:
            if reach.name not in SHORTCUTS or reach.share.ci_low is None:
                continue
            row = [name, reach.title]
            for where in (True, reach.best > 0.5, reach.best < 0.5):
                row += estimate(np.where(where, values, np.nan), groups)[:3]
            rows.append(row)
    ends = [f"{column}{end}" for column in KEPT[2:] for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*KEPT[:2], *ends])
