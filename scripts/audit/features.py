"""What a shortcut may read of an item with options, as features of each option. Not a program.

A table of options has the columns of scripts/data/choices.py and `item`, a number from 0. Features
of compared options are centred: what all options of an item share is zero.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import StandardScaler, normalize

from scripts.text.near_copies import without_numbers
from scripts.text.sizes import nearest, sizes
from scripts.text.text_features import in_context, overlap, words_of

NUMBER = r"(\d+(?:[.,]\d+)*)"
MOST_CATEGORIES = 12  # with which the words of a question are crossed
LENGTH = 5.0  # of the words of any text, as a vector: so long texts weigh no more
FAR = 30.0  # a larger distance in size counts as this


@dataclass(frozen=True)
class View:
    """What a shortcut reads. centred: whether it compares the options of an item."""

    title: str
    features: Callable[[pd.DataFrame], sparse.csr_matrix]
    centred: bool = True


def numbers_of(options: pd.DataFrame) -> pd.DataFrame:
    """Return of each option its lengths, its size and its first and last number, as logarithms; NaN
    if it has none.
    """
    text = options["option"]
    digits = text.str.replace(",", "").str.findall(NUMBER)
    size = {each: next(iter(sizes(each).values()), np.nan) for each in text.unique()}
    found = {
        "letters": np.log1p(text.str.len()),
        "words": np.log1p(text.str.count(r"\S+")),
        "size": text.map(size),
        "first number": np.log1p(pd.to_numeric(digits.str[0], errors="coerce")),
        "last number": np.log1p(pd.to_numeric(digits.str[-1], errors="coerce")),
    }
    return pd.DataFrame(found).astype(float).replace(np.inf, np.nan)  # 310 digits and more


def shared_words(options: pd.DataFrame) -> pd.DataFrame:
    """Return of each option the share of its words that another option has, and how many of its
    words no other has.
    """
    words, item = (words_of(options["option"]) > 0).astype(np.float32), options["item"].to_numpy()
    of_item = sparse.csr_matrix((np.ones(len(item), np.float32), (item, np.arange(len(item)))))
    others = ((of_item @ words)[item] - words) > 0
    both, count = (np.asarray(each.sum(1)).ravel() for each in (words.multiply(others), words))
    return pd.DataFrame({"shared": both / np.maximum(count, 1), "own": count - both})


def ranks_in_item(values: pd.DataFrame, item: np.ndarray) -> dict[str, pd.Series]:
    """Return of each column whether an option is lowest, highest or between in its item, and how
    far it is from the item's mean.
    """
    found = {}
    for name, column in values.items():
        grouped = column.groupby(item)
        rank, count = grouped.rank(), grouped.transform("count")
        spread = grouped.transform("std").replace(0, np.nan)
        found |= {
            f"lowest {name}": (rank == 1) & (count > 1),
            f"highest {name}": (rank == count) & (count > 1),
            f"middle {name}": (rank > 1) & (rank < count),
            f"{name} from the mean": ((column - grouped.transform("mean")) / spread).fillna(0),
        }
    return found


def distances(options: pd.DataFrame) -> pd.Series:
    """Return the distance in size of each option to the nearest option of its item."""
    table = options.rename(columns={"option": "second", "item": "choice_id"})
    return pd.Series(nearest(table)[0].clip(max=FAR), name="distance")


def dense(columns: dict[str, pd.Series] | pd.DataFrame) -> sparse.csr_matrix:
    return sparse.csr_matrix(StandardScaler().fit_transform(pd.DataFrame(columns).astype(float)))


def one_hot(values: pd.Series) -> sparse.csr_matrix:
    code, names = pd.factorize(values)
    return sparse.csr_matrix(np.eye(len(names))[code]) if len(names) < 50 else words_of(values)


def words(options: pd.DataFrame) -> sparse.csr_matrix:
    """Words and pairs of words of each option, with its numbers and without."""
    parts = [words_of(options["option"]), words_of(without_numbers(options["option"]))]
    return sparse.hstack(parts, "csr")


def one_option(options: pd.DataFrame) -> sparse.csr_matrix:
    numbers = numbers_of(options)
    first = np.expm1(numbers["first number"]).round()
    more = {f"round {step}": first % step == 0 for step in (5, 10, 100)}
    known = dict(numbers.fillna(0)) | {f"no {name}": numbers[name].isna() for name in numbers}
    return sparse.hstack([words(options), dense(known | more)], "csr")


def all_options(options: pd.DataFrame) -> sparse.csr_matrix:
    item = options["item"].to_numpy()
    values = pd.concat([numbers_of(options), shared_words(options), distances(options)], axis=1)
    return sparse.hstack(
        [one_option(options), dense(ranks_in_item(values, item)), one_hot(options["place"])], "csr"
    )


def by_place(texts: pd.Series, place: pd.Series) -> sparse.csr_matrix:
    """Words of a text, a weight for each place of an option: labels have the same place always."""
    rows = LENGTH * normalize(words_of(texts))
    places = [sparse.diags((place == each).to_numpy(float)) @ rows for each in sorted({*place})]
    return sparse.hstack([*places, one_hot(place)], "csr")


def question_alone(options: pd.DataFrame) -> sparse.csr_matrix:
    """Words of the question by place; for labels also by category and place (a relation, …)."""
    place, category = options["place"], options["category"]
    parts = [by_place(options["question"], place)]
    if are_labels(options) and 1 < category.nunique() <= MOST_CATEGORIES:
        parts.append(by_place(options["question"], category + place.astype(str)))
    return sparse.hstack(parts, "csr")


def shared_with(name: str) -> Callable[[pd.DataFrame], sparse.csr_matrix]:
    """Return a feature: the words and numbers that an option shares with the text in a column."""

    def feature(options: pd.DataFrame) -> sparse.csr_matrix:
        table = options.rename(columns={name: "first", "option": "second"})
        columns = [overlap(table).toarray(), in_context(table)]
        return dense(pd.DataFrame(np.column_stack(columns)))

    return feature


def question_and_options(options: pd.DataFrame) -> sparse.csr_matrix:
    return sparse.hstack([all_options(options), shared_with("question")(options)], "csr")


def are_labels(options: pd.DataFrame) -> bool:
    """Return whether all items have the same options at the same places."""
    return options.groupby("place")["option"].nunique().max() == 1


def everything(options: pd.DataFrame) -> sparse.csr_matrix:
    """For labels: the words of question and context, and what the two share, for each label."""
    if not are_labels(options):
        parts = [question_and_options(options), shared_with("context")(options)]
        return sparse.hstack(parts, "csr")
    place = options["place"]
    alike = shared_with("context")(options.assign(option=options["question"]))
    labels = [sparse.diags((place == each).to_numpy(float)) @ alike for each in {*place}]
    texts = [question_alone(options), by_place(options["context"], place)]
    return sparse.hstack([*labels, *texts], "csr")


def centred(features: sparse.csr_matrix, item: np.ndarray) -> sparse.csr_matrix:
    """Return features less the mean over the options of each item."""
    weight = 1 / np.bincount(item)[item]
    mean = sparse.csr_matrix((weight, (item, np.arange(len(item))))) @ features
    return sparse.csr_matrix(features - mean[item])


VIEWS = {
    "position": View("position", lambda options: one_hot(options["place"])),
    "answer": View("how often an option is right", lambda options: one_hot(options["option"])),
    "category": View(
        "category alone", lambda options: by_place(options["category"], options["place"])
    ),
    "one_option": View("one option", one_option, centred=False),
    "options": View("all options", all_options),
    "question": View("question alone", question_alone),
    "context": View(
        "context alone", lambda options: by_place(options["context"], options["place"])
    ),
    "question_options": View("question and options", question_and_options),
    "words": View("everything, by words", everything),
}
# what reads less than the test asks for
SHORTCUTS = ("position", "answer", "category", "one_option", "options", "question", "context")
