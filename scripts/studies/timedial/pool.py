"""Draw wrong candidates for masked spans (Qin et al. 2021, section 4) from the pool of the spans'
texts.
"""

import numpy as np
import pandas as pd
from scipy import sparse

from scripts.studies.timedial.options import Options
from scripts.data.keyed import keyed_hash, keyed_uniform
from scripts.running.program import UserError

# A number of its own for each kind of draw, so that no choice predicts another.
# left_out.py and choices.py have the others.
DRAW, FROM_DIALOG = (1, 3)


def words_as_written(spans: pd.DataFrame) -> pd.Series:
    """Return the form that each text of spans (given in lower case) has inside a sentence: its most
    frequent form there.

    If a text only occurs at the start of sentences, it loses its capital if its first word occurs
    in lower case elsewhere.
    """
    forms = pd.DataFrame(
        {"key": spans["text"].str.lower(), "form": spans["text"], "initial": spans["initial"]}
    )
    forms = forms.groupby(["key", "initial", "form"], as_index=False).size()
    small = forms.loc[~forms["initial"], "form"].str.split(n=1).str[0].unique()
    forms = forms.sort_values(
        ["key", "initial", "size", "form"], ascending=[True, True, False, True]
    )
    forms = forms.drop_duplicates("key").set_index("key")
    lower = forms["form"].str[:1].str.lower() + forms["form"].str[1:]
    return forms["form"].mask(forms["initial"] & lower.str.split(n=1).str[0].isin(small), lower)


def joined(one: pd.Series, other: pd.Series) -> np.ndarray:
    """Return a number for each row. Rows that are equal in one column or the other, directly or
    through further rows, have the same number.
    """
    rows, columns = pd.factorize(one)[0], pd.factorize(other)[0]
    many = len(rows)
    graph = sparse.coo_array((np.ones(many), (rows, many + columns)), shape=(2 * many, 2 * many))
    return sparse.csgraph.connected_components(graph, directed=False)[1][rows]


def pool_of(
    spans: pd.DataFrame, options: Options, masks: int, where: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pool of the different texts of spans, and the part of the pool that each of the
    first `masks` spans draws from. Raises UserError if the pool of a kind is too small.

    pool: kind (one for all unless same_kind), form, meaning, end. Two texts have the same meaning
    (a number) if any of their spans share a value, or if they differ only in case. Texts lie on a
    line. A text's width is its weight in draws (1, or its occurrences), and it ends at `end`.
    spans: kind, meaning, row (of its text in the pool), first and size (the piece of the line for
    its kind), meanings (the number of meanings in the pool of its kind).
    """
    key = spans["text"].str.lower()
    texts = pd.DataFrame({"kind": "", "key": key, "meaning": joined(key, spans["value"])})
    if options.negatives_of == "same_kind":
        texts["kind"] = spans["kind"]
    place = texts.groupby(["kind", "key"])
    texts["row"], texts["width"] = place.ngroup(), 1
    if options.negatives_by == "occurrence":
        texts["width"] = place["key"].transform("size")
    pool = texts.drop_duplicates("row").sort_values("row", ignore_index=True)
    kinds = pool.groupby("kind").agg(size=("width", "sum"), meanings=("meaning", "nunique"))
    kinds["first"] = kinds["size"].cumsum() - kinds["size"]
    pool = pool.assign(form=pool["key"].map(words_as_written(spans)), end=pool["width"].cumsum())
    places = texts[["kind", "meaning", "row"]].join(kinds, on="kind").head(masks)
    small = places[places["meanings"] <= options.negatives]
    if len(small):
        kind, alternative = "", ""
        if options.negatives_of == "same_kind":
            kind, alternative = f" of kind {small['kind'].iloc[0]}", ", or any_kind,"
        raise UserError(
            f"{where}: {options.negatives} wrong candidates for each span need as many other "
            f"values{kind}, but there are only {small['meanings'].iloc[0] - 1}; ask for fewer "
            f"negatives{alternative} or give more dialogs"
        )
    return pool, places


def from_dialogs(ids: pd.Series, spans: pd.DataFrame, wanted: int, seed: int) -> np.ndarray:
    """Return rows of the pool, shape (instances, wanted): other spans of the instance's dialog,
    each meaning only once; -1 if there are too few. spans: dialog, kind, meaning, row.
    """
    # each span with each other meaning of its kind in its dialog, in the words of one of the spans
    said = spans.drop_duplicates(["dialog", "kind", "meaning"])
    pairs = spans.assign(instance=np.arange(len(ids)))
    pairs = pairs.merge(said, on=["dialog", "kind"], suffixes=("", "_said"))
    pairs = pairs[pairs["meaning"] != pairs["meaning_said"]]
    pairs["order"] = keyed_hash(
        ids.iloc[pairs["instance"]], seed, FROM_DIALOG, pairs["row_said"].to_numpy()
    )
    pairs = pairs.sort_values(["instance", "order"])
    pairs["rank"] = pairs.groupby("instance").cumcount()
    pairs = pairs[pairs["rank"] < wanted]
    taken = np.full((len(ids), wanted), -1)
    taken[pairs["instance"], pairs["rank"]] = pairs["row_said"]
    return taken


def wrong_rows(
    spans: pd.DataFrame, places: pd.DataFrame, pool: pd.DataFrame, options: Options
) -> np.ndarray:
    """Return rows of the pool for every instance, shape (instances, negatives), from the place that
    negatives_from names.
    """
    ids, wanted, seed = spans["instance_id"], options.negatives, options.negative_seed
    if options.negatives_from == "pool":
        return drawn(ids, places, pool, wanted, seed)
    said = places[["kind", "meaning", "row"]].assign(dialog=spans["dialog"])
    dialog_rows = from_dialogs(
        ids, said, wanted if options.negatives_from == "dialog" else -(-wanted // 2), seed
    )
    # Draws from the pool follow the dialog's own candidates. There are enough draws, even without
    # those that repeat a meaning.
    rest = drawn(ids, places, pool, int(min(2 * wanted, places["meanings"].min() - 1)), seed)
    meanings = np.append(pool["meaning"].to_numpy(), -1)  # of row -1: none
    passed = (meanings[rest][:, :, None] == meanings[dialog_rows][:, None, :]).any(2)
    return first_of(np.hstack([dialog_rows, rest]), np.hstack([dialog_rows < 0, passed]), wanted)


def first_of(rows: np.ndarray, passed: np.ndarray, wanted: int) -> np.ndarray:
    """Return the first `wanted` entries of each line that are not passed over."""
    return np.take_along_axis(rows, np.argsort(passed, axis=1, kind="stable")[:, :wanted], 1)


def drawn(
    ids: pd.Series, places: pd.DataFrame, pool: pd.DataFrame, wanted: int, seed: int
) -> np.ndarray:
    """Return rows of the pool for every instance, shape (instances, wanted). They depend only on
    the instance's id and the seed.

    Draws are uniform over the piece of the line (first, size) that places give. A draw is passed
    over if it has the meaning of the instance or of an earlier draw. An instance with too few
    candidates gets new draws, twice as many.
    """
    taken = np.zeros((len(ids), wanted), np.int64)
    left, draws = np.arange(len(ids)), 2 * wanted + 2
    first, size, own_meaning = (
        places[name].to_numpy()[:, None] for name in ("first", "size", "meaning")
    )
    while len(left):
        share = keyed_uniform(ids.iloc[left], seed, DRAW, np.arange(draws)[:, None]).T
        rows = np.searchsorted(
            pool["end"], first[left] + (share * size[left]).astype(np.int64), side="right"
        )
        meant = pool["meaning"].to_numpy()[rows]
        passed = np.tril(meant[:, :, None] == meant[:, None, :], -1).any(2) | (
            meant == own_meaning[left]
        )
        enough = (~passed).sum(1) >= wanted
        taken[left[enough]] = first_of(rows, passed, wanted)[enough]
        left, draws = left[~enough], 2 * draws
    return taken
