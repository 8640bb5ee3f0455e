"""How far each shortcut reaches on a test with options: learnt on some items, measured on others.
Not a program.

An item is answered if all its right options score above all its wrong ones; ties are broken at
random. Items without a right option, or without a wrong one, offer no choice and do not count.

Folds are made twice. `apart`: items with near copies of one text, or of one declared group, are in
one fold. `copies`: items with the same text are in one fold, but their variants may be learnt from.
With a training split, every item of the test is measured after learning from that split.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from scripts.audit.features import VIEWS, View, centred, words_of
from scripts.measure.bootstrap import drawn_sums, resampling
from scripts.measure.intervals import Estimate, over_groups, share_interval
from scripts.measure.ranking import outranked_by_chance
from scripts.measure.tally import effective_groups
from scripts.running.program import UserError
from scripts.text.near_copies import near_copies

FOLDS, RESAMPLES, PENALTY = 5, 2000, 1.0
LEAST_GROUPS = 5  # effective groups of near copies, for an interval over them
NEAREST = {"near_copies": "as the most similar item"}  # answers as this one was answered


@dataclass(frozen=True)
class Benchmark:
    """options  the rows of scripts/data/choices.py, with `item`, a number from 0
    items    by item: item_id, category, question, context, text (the context, else the question),
             apart and copies (numbers of groups), resampled (the groups of intervals: apart, or
             copies where nearly all items are near copies), is_train, chance
    shares   by item_id of the test: the share of right options, also of items without a choice
    """

    options: pd.DataFrame
    items: pd.DataFrame
    shares: pd.Series

    @property
    def is_measured(self) -> np.ndarray:
        return ~self.items["is_train"].to_numpy()

    @property
    def chance(self) -> float:
        return float(self.items["chance"][self.is_measured].mean())

    @property
    def groups(self) -> np.ndarray:
        return self.items["resampled"].to_numpy()


@dataclass(frozen=True)
class Reach:
    """The share of items that a shortcut answers. answered: (items,) from 0 to 1, NaN for an item
    that is not measured; copies: the same, where variants of an item were learnt from.
    """

    name: str
    title: str
    answered: np.ndarray
    copies: np.ndarray
    share: Estimate
    share_copies: Estimate

    @property
    def is_apart(self) -> bool:
        """Whether folds could keep near copies together: the items are not all one group."""
        return not np.isnan(self.answered).all()

    @property
    def best(self) -> np.ndarray:
        """What counts of the two: without copies, if that could be measured."""
        return self.answered if self.is_apart else self.copies

    @property
    def shown(self) -> Estimate:
        return self.share if self.is_apart else self.share_copies


def has_choice(shares: pd.Series) -> pd.Series:
    """Return which shares of right options leave a right and a wrong option."""
    return shares.between(0, 1, inclusive="neither")


def benchmark_of(options: pd.DataFrame, train: pd.DataFrame | None, where: str) -> Benchmark:
    """Return the test of a table of scripts/data/choices.py, and of a training split. Raises
    UserError if no item offers a choice, and if there are no other items to learn from.
    """
    shares = options.groupby("item_id", sort=False)["right"].mean()
    parts = [options.assign(is_train=False)]
    if train is not None:
        parts.append(train.assign(is_train=True, item_id="train " + train["item_id"]))
    options = pd.concat(parts)
    right = options.groupby("item_id", sort=False)["right"].transform("mean")
    options = options[has_choice(right)].reset_index(drop=True)
    if options.empty or options["is_train"].all():
        raise UserError(f"{where}: no item has a right and a wrong option; correct `answers_are`")
    options = options.assign(item=pd.factorize(options["item_id"])[0])
    items = options.drop_duplicates("item").set_index("item")
    copies = pd.factorize(items["context"] + "\n" + items["question"])[0]
    if copies.max() == 0 and not items["is_train"].any():
        raise UserError(
            f"{where}: all items have one text, so nothing is learnt from others; add items, or "
            "correct `columns`"
        )
    text = items["context"].where(items["context"] != "", items["question"])
    apart = near_copies(text, pd.factorize(items["group_id"])[0])
    effective = effective_groups(np.bincount(apart[~items["is_train"].to_numpy()]))
    counts = options.groupby("item")["right"].agg(["sum", "size"])
    names = ["item_id", "category", "is_train", "question", "context"]
    items = items[names].assign(
        text=text,
        apart=apart,
        copies=copies,
        resampled=apart if effective >= LEAST_GROUPS else copies,
        chance=[1 / math.comb(size, right) for right, size in counts.itertuples(index=False)],
    )
    return Benchmark(options, items, shares)


def folds_of(test: Benchmark, groups: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the options to learn from and those to score, (n,) True and False; none if all items
    are one group.
    """
    item = test.options["item"].to_numpy()
    is_train = test.items["is_train"].to_numpy()
    if is_train.any():
        yield is_train[item], ~is_train[item]
        return
    group = test.items[groups].to_numpy()
    if (count := len(np.unique(group))) < 2:
        return
    folds = GroupKFold(min(FOLDS, count), shuffle=True, random_state=0)
    for _, measured in folds.split(group, groups=group):
        is_measured = np.isin(item, measured)
        yield ~is_measured, is_measured


def answered(test: Benchmark, scores: np.ndarray) -> np.ndarray:
    """Return (items,) how surely scores answer each item; NaN for an item without scores."""
    item, right = (test.options[name].to_numpy() for name in ("item", "right"))
    has_scores = ~np.isnan(scores)
    found = np.full(len(test.items), np.nan)
    names, code = np.unique(item[has_scores], return_inverse=True)
    if len(names):
        found[names] = outranked_by_chance(scores[has_scores], right[has_scores], code)[0]
    return found


def learnt(test: Benchmark, features: sparse.csr_matrix, groups: str, centre: bool) -> np.ndarray:
    """Return (n,) the scores of options by a logistic regression that learnt from other folds."""
    right, scores = test.options["right"].to_numpy(), np.full(len(test.options), np.nan)
    for learn, score in folds_of(test, groups):
        model = LogisticRegression(C=PENALTY, tol=1e-3, max_iter=200, fit_intercept=not centre)
        scores[score] = model.fit(features[learn], right[learn]).decision_function(features[score])
    return scores.round(9)


def like_the_nearest(test: Benchmark, groups: str) -> np.ndarray:
    """Return (n,) the scores of options: the share of words with the right options of the item of
    another fold whose text is most similar.
    """
    options, items = test.options, test.items
    item, scores = options["item"].to_numpy(), np.full(len(options), np.nan)
    counter = TfidfVectorizer(token_pattern=r"\w+", ngram_range=(1, 2), sublinear_tf=True)
    texts = counter.fit_transform("the " + items["context"] + " " + items["question"])
    words = (words_of(options["option"]) > 0).astype(float)
    is_right = options["right"].to_numpy() == 1
    right = sparse.csr_matrix((np.ones(is_right.sum()), (item[is_right], np.flatnonzero(is_right))),
                              shape=(len(items), len(options))) @ words  # fmt: skip
    for learn, score in folds_of(test, groups):
        known, asked = np.unique(item[learn]), np.unique(item[score])
        nearest = known[np.asarray((texts[asked] @ texts[known].T).argmax(1)).ravel()]
        other = right[nearest[np.searchsorted(asked, item[score])]]
        both = np.asarray(words[score].multiply(other > 0).sum(1)).ravel()
        either = np.asarray(((words[score] + other) > 0).sum(1)).ravel()
        scores[score] = both / np.maximum(either, 1)
    return scores


def estimate(values: np.ndarray, groups: np.ndarray) -> Estimate:
    """Return the mean of values from 0 to 1 with its interval over groups, without NaN."""
    known = ~np.isnan(values)
    if not known.any():
        return Estimate(math.nan, None, None)
    names, code = np.unique(groups[known], return_inverse=True)
    sums = np.column_stack([np.bincount(code, values[known]), np.bincount(code)]).astype(float)
    share, effective = float(sums[:, 0].sum() / sums[:, 1].sum()), effective_groups(sums[:, 1])
    if effective <= 1:
        return Estimate(share, None, None)
    total, count = drawn_sums(sums, resampling(names, RESAMPLES)).T
    part = over_groups(total / count, effective)
    return Estimate(share, *share_interval(share, [part], effective))


def scorer_of(test: Benchmark, view: View) -> Callable[[str], np.ndarray]:
    """Return a function from the kind of groups to (n,) the scores of options by a view."""
    features = view.features(test.options).tocsc()
    is_frequent = np.diff(features.indptr) > 2  # most hashes have no text
    features = (features[:, is_frequent] if is_frequent.any() else features).tocsr()
    features = centred(features, test.options["item"].to_numpy()) if view.centred else features
    return lambda groups: learnt(test, features, groups, view.centred)


def reaches_of(test: Benchmark) -> list[Reach]:
    """Return how far each shortcut reaches. A column that is the same for all items is no
    shortcut.
    """
    titles, found = {name: view.title for name, view in VIEWS.items()} | NEAREST, []
    for name, title in titles.items():
        if name in ("category", "question", "context") and test.items[name].nunique() < 2:
            continue
        view = VIEWS.get(name)
        scores = scorer_of(test, view) if view else partial(like_the_nearest, test)
        both = [answered(test, scores(groups)) for groups in ("apart", "copies")]
        found.append(Reach(name, title, *both, *(estimate(each, test.groups) for each in both)))
    return found
