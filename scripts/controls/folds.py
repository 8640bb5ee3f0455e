"""The value of a control on its training split, and its scores of a test alone, both cross-fitted:
the same folds and the same measure for all controls of a study.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError

FOLDS, FOLD = 5, 37  # of the groups, and the mark of their draw
BLOCK = "block"  # the column of groups that share a text (study.yaml, folds_by)
LEAST_FOLDS = 3  # with a group, so that controls can be compared
Scores = Callable[[pd.DataFrame], np.ndarray]  # of a table: (n, labels), or (n, 1) ranks


def fold_of(train: pd.DataFrame) -> np.ndarray:
    """(n,) the fold of each example; a group stays in one fold."""
    return (keyed_hash(train["group_id"], FOLD) % np.uint64(FOLDS)).astype(int)


def block_fold_of(train: pd.DataFrame) -> np.ndarray:
    """(n,) the fold of each example; a block of groups stays in one fold where there are blocks."""
    return fold_of(train.assign(group_id=train[BLOCK]) if BLOCK in train else train)


def enough_folds(fold: np.ndarray) -> bool:
    """Whether enough folds have a group."""
    return len(np.unique(fold)) >= LEAST_FOLDS


def cross_fitted(train: pd.DataFrame, fit: Callable[[pd.DataFrame], Scores]) -> Scores:
    """The scores of the control that `fit` makes from the training split. The examples of a test
    alone are those of the training split: each fold of their groups is scored by the control that
    learnt from the other folds. Raises UserError if too few folds have a group.
    """
    learnt = fit(train)

    def scores(table: pd.DataFrame) -> np.ndarray:
        # More examples than a control reads are a sample, so a few may be missing.
        if table["example_id"].isin(train["example_id"]).mean() < 0.5:
            return learnt(table)
        fold, of_train = fold_of(table), fold_of(train)
        if not enough_folds(of_train):
            raise UserError(
                f"a test of {train['group_id'].nunique()} groups is too small for controls that "
                f"learn: fewer than {LEAST_FOLDS} of {FOLDS} folds have a group; declare smaller "
                "groups (`columns: {group: …}`), or write `controls: [random]`"
            )
        rows = [np.flatnonzero(fold == number) for number in np.unique(fold)]
        found = [fit(train[of_train != fold[part[0]]])(table.iloc[part]) for part in rows]
        return np.concatenate(found)[np.argsort(np.concatenate(rows))]

    return scores


def as_margin(scores: np.ndarray) -> np.ndarray:
    """(n,) how much likelier the last label is; for ranks the ranks themselves."""
    return scores[:, -1] - (scores[:, 0] if scores.shape[1] > 1 else 0)


def top_is_right(table: pd.DataFrame, margin: np.ndarray) -> float:
    """The share of choices whose highest candidate is right; ties are shared."""
    known = pd.DataFrame({"choice": table["choice_id"].to_numpy(), "margin": margin})
    top = known["margin"] == known.groupby("choice")["margin"].transform("max")
    right = pd.Series(table["label"].to_numpy())[top].groupby(known["choice"][top]).mean()
    return float(right.mean())


def rights_of(table: pd.DataFrame, scores: np.ndarray, whole: bool) -> np.ndarray:
    """Whether each group is right as a whole (`whole`), or each example, by value_of()'s scores."""
    chosen = scores.argmax(1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
    right = pd.Series(chosen == table["label"].to_numpy())
    return (right.groupby(table["group_id"].to_numpy()).all() if whole else right).to_numpy()


def value_of(table: pd.DataFrame, scores: np.ndarray, whole: bool) -> float:
    """The share of choices whose highest candidate is right; else of groups that are right as a
    whole (`whole`), or of examples. scores: (n, labels), or (n, 1) ranks, which choose above 0.
    """
    if "choice_id" in table:
        return top_is_right(table, as_margin(scores))
    return float(rights_of(table, scores, whole).mean())


def left_out_value(
    train: pd.DataFrame, fit: Callable[[pd.DataFrame], Scores], whole: bool
) -> float | None:
    """The value of a control on the training split. Each fold is scored by the control that `fit`
    makes from the other folds. None if too few folds have a group.
    """
    fold = block_fold_of(train)
    if not enough_folds(fold):
        return None
    parts = [np.flatnonzero(fold == number) for number in np.unique(fold)]
    scores = np.concatenate(
        [fit(train.drop(train.index[part]))(train.iloc[part]) for part in parts]
    )
    return value_of(train.iloc[np.concatenate(parts)], scores, whole)
