"""What people reach, how far they agree, and what everything else reaches on the very same items.

Not a program. A unit is what is right or wrong as a whole: a pair, a question with all its
candidates, an instance with all its options. Rows of metrics (beside what tells the dataset), for
each metric of the study that a unit has a value of:
  human_<metric>          model human: the mean over units of the mean over those who answered it,
                          on all units (slice all), of each kind that people named (type=…), and of
                          each person on their own units (person=…). The interval is over groups,
                          for these people; sd is over them
  human_agreement         Krippendorff's alpha of single answers (nominal), of what two or more
                          answered
  <metric>_beside_people  of every system on the units that people answered (slices all and type=…)
  <metric>_above_people   how far it lies above them, paired over the groups
A unit is of a kind where at least half of those who answered it said so.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from scripts.measure.intervals import combination
from scripts.data.items import HUMAN
from scripts.measure.bootstrap import Resampling, resampling
from scripts.measure.experiment import above
from scripts.measure.tally import Replicate, Tally, metric_rows, share

# by metric: (units,) of answers, (replicates, units) of a system, 0 to 1
Values = dict[str, np.ndarray]


class System(NamedTuple):
    """What a system reaches: by metric its (replicates, units) values, and its replicates."""

    values: Values
    replicates: list[Replicate]


def alpha(coincidences: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(…)

    Krippendorff's alpha for nominal data (2011), from (…, labels, labels) coincidences; NaN where
    all answers are one.
    """
    of_label = coincidences.sum(-1)
    total = of_label.sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = 1 - np.trace(coincidences, axis1=-2, axis2=-1) / total
        expected = 1 - (of_label * (of_label - 1)).sum(-1) / (total * (total - 1))
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def coincidences_of(
    at: np.ndarray, chosen: np.ndarray, labels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Of answers (chosen: a label's number) on examples (at): the examples that two or more
    answered, and their (examples, labels, labels) coincidences: the pairs of answers, each weighed
    by 1 / (answers - 1).
    """
    examples, place = np.unique(at, return_inverse=True)
    counts = np.zeros((len(examples), labels))
    np.add.at(counts, (place, chosen), 1)
    counts, examples = counts[counts.sum(1) > 1], examples[counts.sum(1) > 1]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(labels)
    return examples, pairs / (counts.sum(1) - 1)[:, None, None]


def agreement_row(
    answers: pd.DataFrame, group: np.ndarray, labels: int, drawn: Resampling, groups: int
) -> list[dict]:
    """The row human_agreement, or none where no two answered the same or all answers are one;
    group: (examples,) integers from 0.
    """
    examples, pairs = coincidences_of(
        answers["at"].to_numpy(), answers["chosen"].to_numpy(), labels
    )
    sums = np.zeros((groups, labels, labels))
    np.add.at(sums, group[examples], pairs)
    counts = np.bincount(group[examples], minlength=groups)
    tally = Tally("all", {"human_agreement": alpha}, sums[None], counts)
    if not len(examples) or np.isnan(alpha(sums.sum(0), counts.sum())):
        return []
    [row] = metric_rows([tally], [], drawn)
    has_interval = np.isfinite(row["draws"]).all() and row["effective_groups"] > 1
    low, high = combination([row | {"sd": None}], [1])[1:3] if has_interval else (None, None)
    return [row | {"ci_low": low, "ci_high": high, "seeds": answers["person"].nunique()}]


def kinds_of(answers: pd.DataFrame, units: pd.Index) -> dict[str, np.ndarray]:
    """By slice (all, type=…) which units belong to it."""
    unit_answers = answers.drop_duplicates(["person", "unit"])
    person_counts = unit_answers.groupby("unit").size().reindex(units)
    given = unit_answers.assign(type=unit_answers["types"].str.split("; ")).explode("type")
    given = given[given["type"].fillna("") != ""].drop_duplicates(["person", "unit", "type"])
    slices = {"all": np.ones(len(units), bool)}
    for name, rows in given.groupby("type"):
        slices[f"type={name}"] = (
            rows.groupby("unit").size().reindex(units, fill_value=0) * 2 >= person_counts
        ).to_numpy()
    return slices


def tallies_of(
    values: Values, name: str, slices: dict[str, np.ndarray], group: np.ndarray, groups: int
) -> list[Tally]:
    """A tally for each metric and slice; name: what stands in the place of {} in a metric's name;
    group: (units,) integers from 0.
    """
    return [
        Tally(
            part,
            {name.format(metric): share},
            np.stack(
                [
                    np.bincount(group, np.where(inside, one, 0), groups)
                    for one in np.atleast_2d(rows)
                ]
            ),
            np.bincount(group[inside], minlength=groups),
        )
        for metric, rows in values.items()
        for part, inside in slices.items()
    ]


def human_rows(
    by_person: pd.DataFrame,
    slices: dict[str, np.ndarray],
    units: pd.Index,
    group: np.ndarray,
    drawn: Resampling,
    groups: int,
) -> list[dict]:
    """The rows human_<metric>; by_person: by person and unit a column of values a metric."""
    mean = by_person.groupby(level="unit").mean().reindex(units)
    together = tallies_of(
        {name: mean[name].to_numpy() for name in mean}, "human_{}", slices, group, groups
    )
    alone = []
    for person, table in by_person.groupby(level="person"):
        table = table.droplevel("person").reindex(units)
        answered = {f"person={person}": table.notna().all(axis=1).to_numpy()}
        alone += tallies_of(
            {name: table[name].fillna(0).to_numpy() for name in table},
            "human_{}",
            answered,
            group,
            groups,
        )
    person_rows = metric_rows(alone, [], drawn)
    rows = metric_rows(together, [], drawn)
    people = by_person.index.get_level_values("person").nunique()
    for row in rows:
        row["seeds"] = people
        values = [one["value"] for one in person_rows if one["metric"] == row["metric"]]
        if row["slice"] == "all" and people > 1:
            row["sd"] = float(np.std(values, ddof=1))
    return rows + person_rows


def people_rows(
    answers: pd.DataFrame | None,
    examples: pd.DataFrame,
    values: Callable[[pd.DataFrame, np.ndarray], Values],
    systems: dict[tuple[str, str], System],
    labels: int,
    resamples: int,
) -> list[dict]:
    """The rows of people and of all systems on what they answered, on one split.

    answers: of on_split(), None where nobody answered. examples: example_id, group_id, label, unit
    and what `values` reads, units as they first come. values: of such rows and the chosen labels'
    numbers, by metric the value of each unit. systems: by model and method, on all units in that
    order.
    """
    if answers is None:
        return []
    place, all_units = pd.factorize(examples["unit"])
    units = pd.Index(all_units[np.unique(place[answers["at"]])])
    first = examples.drop_duplicates("unit").set_index("unit")["group_id"].reindex(units)
    group, names = pd.factorize(first)
    drawn = resampling(names, resamples)
    slices = kinds_of(answers, units)
    by_person = {}
    for person, person_answers in answers.sort_values("at").groupby("person"):
        part = examples.iloc[person_answers["at"].to_numpy()].reset_index(drop=True)
        by_person[person] = pd.DataFrame(
            values(part, person_answers["chosen"].to_numpy()),
            index=pd.Index(part["unit"].unique(), name="unit"),
        )
    people_measures = human_rows(
        pd.concat(by_person, names=["person"]), slices, units, group, drawn, len(names)
    )
    of_example = pd.Series(group, units).reindex(examples["unit"]).fillna(-1).to_numpy(int)
    people_measures += agreement_row(answers, of_example, labels, drawn, len(names))
    rows = [{"model": HUMAN, "method": HUMAN} | row for row in people_measures]
    reference = {
        row["metric"].removeprefix("human_"): row | {"sd": None}
        for row in people_measures
        if row["slice"] == "all"
    }
    at = pd.Index(all_units).get_indexer(units)
    for (model, method), system in systems.items():
        answered_values = {
            metric: np.atleast_2d(found)[:, at] for metric, found in system.values.items()
        }
        reached = metric_rows(
            tallies_of(answered_values, "{}_beside_people", slices, group, len(names)),
            system.replicates,
            drawn,
        )
        reached = [
            {"model": model, "method": method} | row for row in reached if row["seed"] is None
        ]
        rows += reached
        for row in (row for row in reached if row["slice"] == "all"):
            metric = row["metric"].removesuffix("_beside_people")
            rows.append(above(row | {"metric": metric}, reference[metric], HUMAN, "people"))
    return rows
