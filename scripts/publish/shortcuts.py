"""How a study's table of shortcuts is made: what a cue says in training, what in evaluation, and
what it scores alone.

Each study has a program (scripts/studies/<study>/shortcuts.py) that names its cues. A cue of a
table is two arrays: where it stands, and which label it says there. Alone, it scores by what it
says where it stands, and by what is most frequent elsewhere. Where a cue is right more often than
average in training and less often in evaluation, or the reverse, the evaluation punishes who learnt
it.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from scripts.data.runs import facts_of
from scripts.data.tables import read_metrics, read_sample
from scripts.measure.ranking import outranked_by_chance
from scripts.publish.marks import notes_by_dataset
from scripts.publish.names import load, split_title
from scripts.publish.table import percent, publish_table

MOST, DRAW = 100_000, 31  # examples of a split that are counted, drawn by hash
LEAST = 30  # examples with a cue, in training and in evaluation
CLEAR = 0.05  # from the average, for a cue to say something
HEAD, VERDICT = ["Corpus", "Dataset", "Split"], "The evaluation"
NUMBERS = {
    "train": "P in training (%)",
    "train_average": "Average",
    "evaluation": "P in evaluation (%)",
    "average": "Average there",
    "coverage": "Coverage (%)",
    "alone": "Alone (%)",
    "at_best": "At best (%)",
}
# None: training decides which label a cue says
Cues = dict[str, tuple[np.ndarray, np.ndarray | None]]


class Shortcuts(NamedTuple):
    """How the table reads a study. columns: the id to draw and to group by, and the two texts,
    called group, first and second from here on. cues: of a table, and of the training data. A group
    is right if all of it is. applies: whether a dataset with these options has the cues. is_coin:
    elsewhere than the cue a coin is thrown, which is the average, too. is_ranked: candidates are
    ranked by the cue, ties broken at random, in expectation.
    """

    columns: list[str]
    cues: Callable[[pd.DataFrame, pd.DataFrame], Cues]
    applies: Callable[[dict], bool] = lambda options: True
    is_coin: bool = False
    is_ranked: bool = False


def most(labels: pd.Series) -> int:
    """The most frequent label; 0 of none."""
    return int(labels.mode().iloc[0]) if len(labels) else 0


def score_alone(
    study: Shortcuts,
    there: np.ndarray,
    right: np.ndarray,
    trusted: bool,
    rest: int,
    table: pd.DataFrame,
) -> float:
    """What the cue scores alone, believed (trusted) or not; rest: the label where it does not
    stand.
    """
    label, group = table["label"].to_numpy(), pd.factorize(table["group"])[0]
    if study.is_ranked:
        return float(outranked_by_chance((there == trusted).astype(float), label, group)[0].mean())
    elsewhere = 0.5 if study.is_coin else label == rest
    return float(
        pd.Series(np.where(there, right if trusted else ~right, elsewhere), dtype=float)
        .groupby(group)
        .min()
        .mean()
    )


def verdict(train: float, evaluation: float, train_average: float, average: float) -> str:
    learnt, met = train - train_average, evaluation - average
    if abs(learnt) < CLEAR:
        return "says little in training"
    if abs(met) < CLEAR:
        return "says little in evaluation"
    return "helps" if learnt * met > 0 else "punished"


def audit(study: Shortcuts, train: pd.DataFrame, evaluated: pd.DataFrame) -> pd.DataFrame:
    """A row for each cue that stands often enough in both splits, surest in training first."""
    in_train, in_evaluation = (study.cues(table, train) for table in (train, evaluated))
    rows = []
    for name in [name for name in in_train if name in in_evaluation]:
        (there, says), (met, said) = in_train[name], in_evaluation[name]
        if min(there.sum(), met.sum()) < LEAST:
            continue
        label = most(train.loc[there, "label"]) if says is None else None
        right, right_there = (
            (label if heard is None else heard) == table["label"].to_numpy()
            for heard, table in ((says, train), (said, evaluated))
        )
        p_train, p_met = right[there].mean(), right_there[met].mean()
        averages = [0.5, 0.5] if study.is_coin else [right.mean(), right_there.mean()]
        rest, trusted = most(train.loc[~there, "label"]), says is None or p_train >= averages[0]
        alone = {
            believed: score_alone(study, met, right_there, believed, rest, evaluated)
            for believed in (True, False)
        }
        rows.append(
            {
                "cue": name,
                "label": label,
                "train": p_train,
                "train_average": averages[0],
                "evaluation": p_met,
                "average": averages[1],
                "coverage": met.mean(),
                "n": int(met.sum()),
                "alone": alone[trusted],
                "at_best": max(alone.values()),
                "verdict": verdict(p_train, p_met, *averages),
            }
        )
    return pd.DataFrame(
        sorted(rows, key=lambda row: -abs(row["train"] - row["train_average"])), dtype=object
    )


def publish_shortcuts(given: argparse.Namespace, study: Shortcuts) -> None:
    sources, notes = load(given.sources), notes_by_dataset(read_metrics(given.metrics).to_pandas())
    facts = {
        (fact["source"], fact["dataset"]): fact
        for fact in (facts_of(given.train / name / "run.json") for name in given.runs)
        if study.applies(fact["data_options"])
    }
    rows = []
    for (source, dataset), fact in sorted(facts.items()):
        tables = []
        for split in fact["splits"][:2]:
            file = given.build / source / dataset / f"{split}.parquet"
            table = read_sample(file, [*study.columns, "label"], study.columns[0], MOST, DRAW)
            names = ["group", "first", "second", "label"]
            tables.append(table.to_pandas().set_axis(names, axis=1))
        place = sources[source]["title"] + notes.get((source, dataset), ""), dataset
        head = dict(zip(HEAD, (*place, split_title(fact["splits"][1]))))
        for row in audit(study, *tables).to_dict("records"):
            label = row["label"]
            says = "" if label is None else f" ({fact['labels'][label].replace('_', ' ')})"
            cells = {title: percent(row[name]) for name, title in NUMBERS.items()}
            cells |= {"Cue": row["cue"] + says, "n": f"{row['n']:,}", VERDICT: row["verdict"]}
            rows.append(head | cells)
    names = list(NUMBERS.values())
    columns = [*HEAD, "Cue", *names[:5], "n", *names[5:], VERDICT]
    table = pd.DataFrame(rows, columns=columns)
    publish_table(given, table, [*HEAD, "Cue", VERDICT])
