"""Wrong candidates for masked spans (Qin et al. 2021, section 4): the pool of the spans' texts, and draws from it.

Not a program.
"""

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash, keyed_uniform

DRAW, OWN = 1, 3  # of the draws from one key, so that no choice predicts another (scripts/studies/timedial/build.py has the other)


def words_as_written(spans: pd.DataFrame, key: pd.Series) -> pd.Series:
    """For each span text in lower case (key) its form in the midst of a sentence, the most frequent one.

    A text that only ever starts a sentence loses its capital if its first word is written small elsewhere.
    """
    forms = pd.DataFrame({"key": key, "form": spans["text"], "initial": spans["initial"]})
    forms = forms.groupby(["key", "initial", "form"], as_index=False).size()
    small = forms.loc[~forms["initial"], "form"].str.split(n=1).str[0].unique()
    forms = forms.sort_values(["key", "initial", "size", "form"], ascending=[True, True, False, True])
    forms = forms.drop_duplicates("key").set_index("key")
    lower = forms["form"].str[:1].str.lower() + forms["form"].str[1:]
    return forms["form"].mask(forms["initial"] & lower.str.split(n=1).str[0].isin(small), lower)


def joined(one: pd.Series, other: pd.Series) -> np.ndarray:
    """A number per row: the same for rows that are equal in one column or the other, directly or through further rows."""
    one, other = pd.factorize(one)[0], pd.factorize(other)[0]
    number, before = one, None
    while before is None or (number != before).any():
        before = number
        for column in (other, one):
            lowest = np.full(column.max(initial=-1) + 1, len(column))
            np.minimum.at(lowest, column, number)
            number = lowest[column]
    return number


def pool_of(spans: pd.DataFrame, by_kind: bool, by_occurrence: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pool of the different texts of spans, and for each span where to draw from.

    pool: kind (one for all unless by_kind), form, meaning, end. A meaning is a number that texts share when any of their
    spans share a value, and a text with itself in another case. Texts lie on a line, each as wide as it is likely to be drawn
    (1, or its occurrences), and end where `end` says.
    spans: first and size (the piece of that line for its kind), meaning, meanings (how many the pool of its kind has), row
    (of its text in the pool), kind.
    """
    key = spans["text"].str.lower()
    texts = pd.DataFrame({"kind": spans["kind"] if by_kind else "", "key": key, "meaning": joined(key, spans["value"])})
    texts["width"] = texts.groupby(["kind", "key"])["key"].transform("size") if by_occurrence else 1
    pool = texts.drop_duplicates(["kind", "key"]).sort_values(["kind", "key"], ignore_index=True)
    kinds = pool.groupby("kind").agg(size=("width", "sum"), meanings=("meaning", "nunique"))
    kinds["first"] = kinds["size"].cumsum() - kinds["size"]
    pool["form"] = pool["key"].map(words_as_written(spans, key))
    pool["end"] = pool["width"].cumsum()
    texts["row"] = pd.MultiIndex.from_frame(pool[["kind", "key"]]).get_indexer(pd.MultiIndex.from_frame(texts[["kind", "key"]]))
    return pool[["kind", "form", "meaning", "end"]], texts[["kind", "meaning", "row"]].join(kinds, on="kind")


def from_dialogs(ids: pd.Series, dialogs: pd.Series, places: pd.DataFrame, wanted: int, seed: int) -> np.ndarray:
    """Rows of the pool, shape (instances, wanted): other spans of the instance's dialog, each meaning once; -1 where there
    are too few. dialogs: the number of each instance's dialog."""
    spans = places[["kind", "meaning", "row"]].reset_index(drop=True).assign(instance=np.arange(len(ids)), dialog=dialogs.to_numpy())
    said = spans.drop_duplicates(["dialog", "kind", "meaning"])[["dialog", "kind", "meaning", "row"]]
    pairs = spans.merge(said, on=["dialog", "kind"], suffixes=("", "_said")).query("meaning != meaning_said")
    pairs["order"] = keyed_hash(ids.iloc[pairs["instance"]], seed, OWN, pairs["row_said"].to_numpy())
    pairs = pairs.sort_values(["instance", "order"])
    rank = pairs.groupby("instance").cumcount()
    pairs, rank = pairs[rank < wanted], rank[rank < wanted]
    taken = np.full((len(ids), wanted), -1)
    taken[pairs["instance"], rank] = pairs["row_said"]
    return taken


def wrong_rows(ids: pd.Series, dialogs: pd.Series, places: pd.DataFrame, pool: pd.DataFrame, options: dict) -> np.ndarray:
    """Rows of the pool for every instance, shape (instances, negatives), from where negatives_from says."""
    wanted, seed = options["negatives"], options["negative_seed"]
    if options["negatives_from"] == "pool":
        return drawn(ids, places, pool, wanted, seed)
    own = from_dialogs(ids, dialogs, places, wanted if options["negatives_from"] == "dialog" else -(-wanted // 2), seed)
    # Behind the dialog's own as many from the pool that enough are left when those that mean the same are passed over.
    rest = drawn(ids, places, pool, int(min(2 * wanted, places["meanings"].min() - 1)), seed)
    meanings = np.append(pool["meaning"].to_numpy(), -1)  # of row -1: none
    passed = (meanings[rest][:, :, None] == meanings[own][:, None, :]).any(2)
    rows, passed = np.hstack([own, rest]), np.hstack([own < 0, passed])
    return np.take_along_axis(rows, np.argsort(passed, axis=1, kind="stable")[:, :wanted], 1)


def drawn(ids: pd.Series, places: pd.DataFrame, pool: pd.DataFrame, wanted: int, seed: int) -> np.ndarray:
    """Rows of the pool for every instance, shape (instances, wanted), from its id and the seed alone.

    Draws are uniform over the piece of the line (first, size) that places give; one whose meaning is the instance's own, or
    that of an earlier draw, is passed over. Instances that still lack some are drawn for again, with twice as many draws.
    """
    taken = np.zeros((len(ids), wanted), np.int64)
    left, draws = np.arange(len(ids)), 2 * wanted + 2
    first, size, own = (places[name].to_numpy() for name in ("first", "size", "meaning"))
    ends, meanings = pool["end"].to_numpy(), pool["meaning"].to_numpy()
    while len(left):
        share = keyed_uniform(ids.iloc[left], seed, DRAW, np.arange(draws)[:, None]).T
        rows = np.searchsorted(ends, first[left, None] + (share * size[left, None]).astype(np.int64), side="right")
        meant = meanings[rows]
        order = np.argsort(meant, axis=1, kind="stable")
        inorder = np.take_along_axis(meant, order, 1)
        passed = np.zeros(meant.shape, bool)
        np.put_along_axis(passed, order[:, 1:], inorder[:, 1:] == inorder[:, :-1], 1)
        passed |= meant == own[left, None]
        enough = (~passed).sum(1) >= wanted
        chosen = np.argsort(passed[enough], axis=1, kind="stable")[:, :wanted]
        taken[left[enough]] = np.take_along_axis(rows[enough], chosen, 1)
        left, draws = left[~enough], 2 * draws
    return taken
