"""The option `choices`: instances of the challenge whose options a control cannot tell apart.

Not a program. In the challenge the two right options are neighbours in size and the wrong ones are
far from each other (scripts/studies/timedial/controls.py). Only instances with two right and two
wrong options change; the extras stay as they are.
  pair      one right and one wrong option of each instance, one pair of the four
  missed    the instances on which the control `nearest_two` is never right, with all options
  repaired  one wrong option becomes a neighbour in size of the other wrong one. `nearest_two` then
            finds two pairs of neighbours, and takes the right pair or the wrong one

For `pair` and `repaired` each instance has some versions. They are chosen so that each cue is right
as often as wrong over the split, as far as the versions allow. This reads the labels of the split,
as a filter of a test does. A cue reads words, lengths, sizes and counts of the training
dialogs. No neural model has a say. The versions depend neither on context_scope nor on how the
training candidates were drawn.

A neighbour of a RIGHT option would often be right itself: "two weeks" beside "three weeks". So
`repaired` copies a wrong option: "six decades" gives "five decades". Its numbers and words change
by the rules for MC-TACO (scripts/people/candidates_perturbation.py). The new option lies near the
one that it copies, at no place closer to a right option than that one, and equals no option. Sizes
are those of controls.py. An instance without such a version leaves.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.measure.ranking import outranked_by_chance
from scripts.people.candidates_perturbation import perturbed
from scripts.people.candidates_rules import TERMS, load_terms, mentions
from scripts.running.program import UserError, log
from scripts.studies.timedial.controls import FAR, distance, letters, nearest_two, sizes
from scripts.text.number_words import WORD
from scripts.text.text_features import frequency, in_context, shared_numbers
from scripts.text.trigrams import learn, trigram

READ_CUES = ("pair", "repaired")
RULE = "neighbour"  # of a new option, in the column `rule`
ROUNDS = 3  # in which each instance chooses again, given what all others have chosen
# Fives, tens, a half or a dozen.
ROUND = (
    r"(?i)(?<![\d:])\d*[05]\b(?!:)|\b(?:five|ten|fifteen|twenty|thirty|forty|fifty|half|dozen)\b"
)
ATTEMPTS = 120  # changes of a wrong option, drawn by hash
CLOSE = 2.2  # a neighbour's distance at most: a factor of nine, two hours, two years
EQUAL = 0.03  # two sizes that are this close are one: twelve months and a year
# ranges and "forty-five", whose parts would change one by one
RANGE = rf"(?i)\b(?:to|or|and)\b|(?:\d|\b{WORD})\s*-\s*(?:\d|{WORD})"
ORDER = 5  # of the draws from one key (scripts/studies/timedial/build.py has another)

Cue = Callable[[pd.DataFrame], np.ndarray]  # of a table with first, second, choice_id: (n,) scores


def cues_of(turns: pd.Series, spans: pd.Series) -> dict[str, Cue]:
    """By name, what a single option may give away.

    turns: the texts of the dialogs that are learnt from. spans: the temporal expressions in them.
    """
    model = learn(pd.DataFrame({"first": turns, "second": ""}))

    def least_said(table: pd.DataFrame) -> np.ndarray:
        return -(shared_numbers(table) + 0.5 * in_context(table))

    return {
        "fewest shared numbers": lambda table: -shared_numbers(table),
        "not in its dialog": lambda table: -in_context(table),
        "both, then trigrams": lambda table: least_said(table) + 1e-3 * trigram(table, model),
        "both, then most frequent": lambda table: (
            least_said(table) + 1e-6 * frequency(table, spans)
        ),
        "most frequent": lambda table: frequency(table, spans),
        "trigrams": lambda table: trigram(table, model),
        "longest text": lambda table: table["second"].str.len().to_numpy(float),
        "a digit": lambda table: table["second"].str.contains(r"\d").to_numpy(float),
        "a round number": lambda table: table["second"].str.contains(ROUND).to_numpy(float),
        "longest duration": lambda table: np.array(
            [sizes(text).get("duration", 0.0) for text in table["second"]]
        ),
    }


def most_alike(table: pd.DataFrame) -> np.ndarray:
    """(n,) the share of three letters in a row that an option has in common with the option of its
    instance that is most like it.
    """
    spelt, found = table["second"].map(letters).to_numpy(), np.zeros(len(table))
    for rows in table.groupby("choice_id", sort=False).indices.values():
        for row in rows:
            one, others = spelt[row], [spelt[other] for other in rows if other != row]
            found[row] = max(len(one & other) / len(one | other) for other in others)
    return found.round(9)


def table_of(options: pd.DataFrame) -> pd.DataFrame:
    """Options (schema cloze) with the columns that controls read: first, second, choice_id."""
    names = {"context": "first", "candidate": "second", "instance_id": "choice_id"}
    return options.rename(columns=names)


def without_cues(
    options: pd.DataFrame, versions: np.ndarray, cues: Mapping[str, Cue]
) -> pd.DataFrame:
    """Of each instance the version (schema cloze) such that the cues cancel: each is higher for the
    right options, in the mean, as often as for the wrong ones.

    versions: (versions, k) rows of options, the right ones first.
    """
    rows, number = versions.ravel(), np.repeat(np.arange(len(versions)), versions.shape[1])
    table = table_of(options)
    whole = table.iloc[rows].assign(choice_id=number)
    beside = {"nearest two": nearest_two(whole), "most alike": most_alike(whole)}
    scores = np.stack([*(cue(table)[rows] for cue in cues.values()), *beside.values()])
    right, wrong = np.moveaxis(scores.reshape(len(scores), len(versions), 2, -1).mean(3), 2, 0)
    instance, names = pd.factorize(options["instance_id"].to_numpy()[versions[:, 0]])
    order = np.argsort(keyed_hash(pd.Series(names), ORDER), kind="stable")
    gains = np.sign((right - wrong).round(9)).T
    return options.iloc[versions[balanced(gains, instance, order)].ravel()]


def balanced(gains: np.ndarray, instance: np.ndarray, order: np.ndarray) -> np.ndarray:
    """(instances,) the version of each instance, so that the sum of each cue's gains is near zero.

    gains: (versions, cues). instance: (versions,) from 0. order: in which instances choose.
    """
    versions = [np.flatnonzero(instance == one) for one in range(len(order))]
    chosen = np.array([rows[0] for rows in versions])
    total = gains[chosen].sum(0)
    for one in np.tile(order, ROUNDS):
        rest = total - gains[chosen[one]]
        chosen[one] = versions[one][((rest + gains[versions[one]]) ** 2).sum(1).argmin()]
        total = rest + gains[chosen[one]]
    return chosen


def pair(options: pd.DataFrame, cues: Mapping[str, Cue]) -> pd.DataFrame:
    """One right and one wrong option of each instance (schema cloze)."""
    rows = options[["instance_id", "label"]].assign(row=np.arange(len(options)))
    right, wrong = (rows[rows["label"] == label] for label in (1, 0))
    versions = right.merge(wrong, on="instance_id")[["row_x", "row_y"]].to_numpy()
    return without_cues(options, versions, cues)


def missed(options: pd.DataFrame, cues: Mapping[str, Cue]) -> pd.DataFrame:
    """The instances on which `nearest_two` is never right, however ties are broken."""
    instance, score = pd.factorize(options["instance_id"])[0], nearest_two(table_of(options))
    right = outranked_by_chance(score, options["label"].to_numpy(), instance)[0]
    return options[(right == 0)[instance]]


def is_safe(new: str, copied: str, said: list[str], right: list[str]) -> bool:
    """Whether an option is as surely wrong as the one that it copies: near to that one, nowhere
    closer to a right option, and equal to no option that is said.
    """
    size, wrong = sizes(new), sizes(copied)
    far = [distance(wrong, sizes(text)) for text in right]
    return (
        size.keys() == wrong.keys()
        and all(size[kind] * wrong[kind] >= 0 for kind in size)  # both ago, or both from now
        and max(far) < FAR
        and min(distance(size, sizes(text)) for text in said) > EQUAL
        and distance(size, wrong) <= min(CLOSE, min(far) / 2)
        and all(distance(size, sizes(text)) >= gap for text, gap in zip(right, far))
    )


def neighbours(options: pd.DataFrame) -> pd.DataFrame:
    """New wrong options (schema cloze) with `copied`, the row of the option that each copies."""
    wrong = np.flatnonzero((options["label"] == 0) & ~options["candidate"].str.contains(RANGE))
    texts, terms = options["candidate"].iloc[wrong].tolist(), load_terms(TERMS)
    found = [mentions(terms, text) for text in texts]
    keys, names = (options[name].iloc[wrong] for name in ("example_id", "instance_id"))
    new = perturbed(terms, keys, texts, found, ATTEMPTS, 0).drop_duplicates(["row", "answer"])
    beside = options.groupby("instance_id")["candidate"].agg(list)
    right = options[options["label"] == 1].groupby("instance_id")["candidate"].agg(list)
    safe = [
        is_safe(answer, texts[row], beside[name], right[name])
        for row, answer, name in zip(new["row"], new["answer"], names.iloc[new["row"]])
    ]
    new = new[safe]
    rows = options.iloc[wrong[new["row"]]].assign(copied=wrong[new["row"]])
    return rows.assign(candidate=new["answer"].to_numpy(), rule=RULE, is_original=False)


def repaired(options: pd.DataFrame, cues: Mapping[str, Cue]) -> pd.DataFrame:
    """The instances that have a version with a new option (schema cloze)."""
    new = neighbours(options)
    right = options.assign(row=np.arange(len(options)))[options["label"] == 1]
    right = right.groupby("instance_id")["row"].agg(list)
    versions = np.column_stack(
        [
            np.array(right[new["instance_id"]].tolist()).reshape(-1, 2),
            new["copied"],
            len(options) + np.arange(len(new)),
        ]
    )
    table = pd.concat([options, new.drop(columns="copied")], ignore_index=True)
    return without_cues(table, versions, cues)


def chosen(
    options: pd.DataFrame, choices: str, cues: Mapping[str, Cue], where: str
) -> pd.DataFrame:
    """The options (schema cloze, full context) that `choices` asks for; all of a split without
    instances of two right and two wrong options.

    where: the dataset and its split. Raises UserError where no instance is left.
    """
    label = options.groupby("instance_id")["label"].transform
    asked = options[(label("sum") == 2) & (label("size") == 4)].reset_index(drop=True)
    if choices == "all" or asked.empty:
        return options
    kept = {"pair": pair, "missed": missed, "repaired": repaired}[choices](asked, cues)
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
