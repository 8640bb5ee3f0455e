"""The option `choices`: instances of the challenge that the control `nearest_two` cannot solve.

In the challenge the two right options are neighbours in size and the wrong ones are far from each
other (scripts/studies/timedial/controls.py). The option keeps only instances with two right and two
wrong options. It does not change the extras.

  missed     the instances on which `nearest_two` is never right
  exchanged  two dialogs exchange their right options. Both have the same four options, and the
             right options of one dialog are wrong in the other

A rule that reads no dialog chooses the same two options in both dialogs of an exchange. So it is
right in at most half of the exchanged instances, even if it has learnt from the test set.

Is a borrowed option wrong in its new dialog? People wrote a wrong option for this dialog. The
borrowed option lies beyond this wrong option, on the same side of both right options. If "two
hours" is right and people called "three days" wrong, then "a week" is wrong. The sizes come from
scripts/text/sizes.py. Two dialogs exchange options if this holds in both.

The text around the gap could help without the dialog ("a ... paid holiday"). So an exchange is kept
only if a trigram model of the training dialogs finds both arrangements about equally likely. This
step reads the labels of the split, as a filter of a test does. The exchanges depend neither on
context_scope nor on how the training candidates were drawn.
"""

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.measure.ranking import outranked_by_chance
from scripts.running.program import UserError, log
from scripts.studies.timedial.controls import nearest_two
from scripts.text.sizes import GROUPS, sizes
from scripts.text.trigrams import MASK, Trigrams, learn, trigram

RULE = "exchanged"  # the value of the column `rule` for a borrowed option
LIKELIER = 1.0  # the largest allowed difference in mean log-probability of a word
ORDER = 5  # the number of this kind of draw (build.py and pool.py have others)
CIRCLES = {kind: circle for group in GROUPS for kind, circle in group.items()}


def table_of(options: pd.DataFrame) -> pd.DataFrame:
    """Return options (schema cloze) with the columns that controls read: first, second,
    choice_id.
    """
    names = {"context": "first", "candidate": "second", "instance_id": "choice_id"}
    return options.rename(columns=names)


def missed(options: pd.DataFrame) -> pd.DataFrame:
    """Return the instances (schema cloze) on which `nearest_two` is never right, for any order of
    ties.
    """
    instance, score = pd.factorize(options["instance_id"])[0], nearest_two(table_of(options))
    right = outranked_by_chance(score, options["label"].to_numpy(), instance)[0]
    return options[(right == 0)[instance]]


def are_wrong(right: np.ndarray, wrong: np.ndarray, circle: float) -> np.ndarray:
    """Return (n, n) True if both right options of the second instance are surely wrong in the
    first.

    right, wrong: (n, 2) sizes of the options of n instances, NaN for a wrong option without a size.
    circle: the size after which sizes start again, or infinite.
    """

    def gap(start: np.ndarray, end: np.ndarray) -> np.ndarray:
        return end - start if np.isinf(circle) else (end - start + circle / 2) % circle - circle / 2

    # Axes: first instance, second instance, right option of the second, wrong option of the first,
    # right option of the first.
    known = gap(right[:, None, :], wrong[:, :, None])[:, None, None]
    new = gap(right[:, None, None, :], right[None, :, :, None])[:, :, :, None]
    side = np.sign(known[..., :1])
    outside = (np.sign(known) == side) & (known != 0)
    return (outside & (new * side >= np.abs(known) - 1e-9)).all(4).any(3).all(2)


def possible(options: pd.DataFrame) -> np.ndarray:
    """Return (m, 2) the numbers of instances that can exchange options. Their right options have
    sizes of the same kinds, and the first of these kinds in CIRCLES compares them.

    options: (schema cloze) the four options of each instance in a row, the right ones first.
    """
    size = np.array(
        [[sizes(text).get(kind, np.nan) for kind in CIRCLES] for text in options["candidate"]]
    ).reshape(-1, 4, len(CIRCLES))
    dialog, found = options["dialog_id"].to_numpy()[::4], [np.empty((0, 2), int)]
    shared = ~np.isnan(size[:, :2]).any(1)  # (n, kinds)
    for kinds in np.unique(shared[shared.any(1)], axis=0):
        rows, kind = np.flatnonzero((shared == kinds).all(1)), kinds.argmax()
        wrong = are_wrong(size[rows, :2, kind], size[rows, 2:, kind], [*CIRCLES.values()][kind])
        pairs = rows[np.argwhere(np.triu(wrong & wrong.T))]
        found.append(pairs[dialog[pairs[:, 0]] != dialog[pairs[:, 1]]])
    return np.concatenate(found)


def likelier(options: pd.DataFrame, pairs: np.ndarray, model: Trigrams) -> np.ndarray:
    """Return (m,) how much likelier two instances are with their own right options than with
    exchanged ones: the difference in mean log-probability of a word, summed over both dialogs.
    """
    line = options["context"].str.extract(f"([^\n]*{MASK}[^\n]*)")[0].to_numpy()[::4]
    right = options["candidate"].to_numpy().reshape(-1, 4)[:, :2]
    place = np.concatenate([pairs, pairs[:, ::-1], np.arange(len(right))[:, None].repeat(2, 1)])
    asked = pd.DataFrame({"place": place[:, 0].repeat(2), "second": right[place[:, 1]].ravel()})
    unique = asked.drop_duplicates(ignore_index=True)
    unique["score"] = trigram(unique.assign(first=line[unique["place"]]), model)
    score = asked.merge(unique, how="left")["score"].to_numpy().reshape(-1, 2).mean(1)
    borrowed, of_itself = score[: 2 * len(pairs)].reshape(2, -1).sum(0), score[2 * len(pairs) :]
    return of_itself[pairs].sum(1) - borrowed


def matched(pairs: np.ndarray, cost: np.ndarray, order: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs that share no instance. The instance with the fewest partners left chooses
    first, and chooses its cheapest partner. order: (n,) decides between equal instances; the lowest
    number goes first.
    """
    partners: dict[int, dict[int, float]] = {}
    for (one, other), price in zip(pairs.tolist(), cost.tolist()):
        partners.setdefault(one, {})[other] = partners.setdefault(other, {})[one] = price
    found = []
    while partners:
        one = min(partners, key=lambda place: (len(partners[place]), order[place]))
        other = min(partners[one], key=lambda place: (partners[one][place], order[place]))
        found.append((one, other))
        for gone in (one, other):
            for place in partners.pop(gone):
                if place in partners:
                    partners[place].pop(gone)
        partners = {place: rest for place, rest in partners.items() if rest}
    return found


def exchanged(options: pd.DataFrame, turns: pd.Series) -> pd.DataFrame:
    """Return the instances (schema cloze) that have a partner. Their wrong options are the
    partner's right options.

    turns: the texts of the training dialogs.
    """
    options = options.sort_values(["instance_id", "label"], ascending=[True, False], kind="stable")
    pairs = possible(options)
    cost = np.abs(likelier(options, pairs, learn(pd.DataFrame({"first": turns, "second": ""}))))
    even = cost <= LIKELIER
    names = pd.Series(options["instance_id"].to_numpy()[::4])
    chosen_pairs = matched(pairs[even], cost[even], keyed_hash(names, ORDER))
    both = np.array(chosen_pairs + [pair[::-1] for pair in chosen_pairs], int).reshape(-1, 2)
    kept = options.iloc[(4 * both[:, :1] + np.arange(4)).ravel()].copy()
    wrong = np.tile([False, False, True, True], len(both))
    kept.loc[wrong, "candidate"] = (
        options["candidate"].to_numpy().reshape(-1, 4)[both[:, 1], :2].ravel()
    )
    kept.loc[wrong, "rule"] = RULE
    return kept


def chosen(options: pd.DataFrame, choices: str, turns: pd.Series, where: str) -> pd.DataFrame:
    """Return the options (schema cloze, full context) that `choices` selects. A split without
    instances of two right and two wrong options keeps all options.

    turns: the texts of the training dialogs. where: the dataset and its split. Raises UserError if
    no instance is left.
    """
    label = options.groupby("instance_id")["label"].transform
    asked = options[(label("sum") == 2) & (label("size") == 4)].reset_index(drop=True)
    if choices == "all" or asked.empty:
        return options
    kept = missed(asked) if choices == "missed" else exchanged(asked, turns)
    if kept.empty:
        raise UserError(
            f"{where}: choices: {choices} keeps no instance of {asked['instance_id'].nunique()}; "
            "use choices: all, or a larger challenge"
        )
    left, of = kept["instance_id"].nunique(), options["instance_id"].nunique()
    log.info("%s: choices: %s keeps %d of %d instances", where, choices, left, of)
    place = pd.Series(np.arange(of), options["instance_id"].unique())
    kept = kept.assign(place=kept["instance_id"].map(place))
    order = ["place", "label"]
    return kept.sort_values(order, ascending=[True, False], kind="stable").drop(columns="place")
