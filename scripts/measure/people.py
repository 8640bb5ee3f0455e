"""The scores of people, their agreement, and the scores of every system on the same items.

A unit is right or wrong as a whole: a pair, a question with all its candidates, or an instance with
all its options. This module makes these rows of metrics (without the columns of the dataset), for
each metric of the study that has a value for each unit:
  human_<metric>          model human: the mean over units of the mean over the people who answered
                          the unit. There is a row for all units (slice all), for each type that
                          people named (type=…), and for each person on their own units (person=…).
                          The interval is over groups, for these people; sd is over people
  human_agreement         Krippendorff's alpha of single answers (nominal), on the examples that
                          two or more people answered
  <metric>_beside_people  every system on the units that people answered (slices all and type=…)
  <metric>_above_people   how far the system is above people, paired over the groups
A unit has a type if at least half of the people who answered the unit named this type.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scripts.measure.intervals import combination
from scripts.data.items import HUMAN
from scripts.measure.bootstrap import Crossed, Resampling, grouped
from scripts.measure.intervals import SHARE, difference
from scripts.measure.tally import Replicate, Tally, metric_rows, share_tally

# values from 0 to 1 by metric: (units,) for answers, (replicates, units) for a system
Values = dict[str, np.ndarray]


class System(NamedTuple):
    """A system's (replicates, units) values by metric, and its replicates."""

    values: Values
    replicates: list[Replicate]


def alpha(coincidences: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the (…) values of Krippendorff's alpha for nominal data (2011), from (…, labels,
    labels) coincidences; NaN where all answers are the same.
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
    """Return the examples that two or more people answered, and their (examples, labels, labels)
    coincidences. A coincidence is a pair of answers, with the weight 1 / (answers - 1). at: the
    example of each answer; chosen: the number of its label.
    """
    examples, place = np.unique(at, return_inverse=True)
    counts = np.zeros((len(examples), labels))
    np.add.at(counts, (place, chosen), 1)
    counts, examples = counts[counts.sum(1) > 1], examples[counts.sum(1) > 1]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(labels)
    return examples, pairs / (counts.sum(1) - 1)[:, None, None]


class Units(NamedTuple):
    """The units that people answered, the group of each unit (an integer from 0), and the draws
    over groups.
    """

    names: pd.Index
    group: np.ndarray
    drawn: Resampling | Crossed

    def rows(
        self,
        values: Mapping[str, Any],
        name: str,
        slices: dict[str, np.ndarray],
        replicates: Sequence[Replicate] = (),
    ) -> list[dict]:
        """Return the rows of each metric on each slice. values: for all units, by metric. name: the
        name of the rows' metric, in which {} is replaced by the metric.
        """
        groups = len(self.drawn.block)
        tallies = [
            share_tally(part, name.format(metric), np.atleast_2d(found), inside, self.group, groups)
            for metric, found in values.items()
            for part, inside in slices.items()
        ]
        return metric_rows(tallies, replicates, self.drawn)


def agreement_row(
    answers: pd.DataFrame, group: np.ndarray, labels: int, drawn: Resampling | Crossed
) -> list[dict]:
    """Return the row human_agreement. Return no row if no two people answered the same example, or
    if all answers are the same. group: (examples,) integers from 0.
    """
    examples, pairs = coincidences_of(
        answers["at"].to_numpy(), answers["chosen"].to_numpy(), labels
    )
    counts = np.bincount(group[examples], minlength=len(drawn.block))
    sums = np.zeros((len(counts), labels, labels))
    np.add.at(sums, group[examples], pairs)
    tally = Tally("all", {"human_agreement": alpha}, sums[None], counts)
    if not len(examples) or np.isnan(alpha(sums.sum(0), counts.sum())):
        return []
    [row] = metric_rows([tally], [], drawn)
    has_interval = np.isfinite(row["draws"]).all() and row["effective_groups"] > 1
    low, high = combination([row | {"sd": None}], [1])[1:3] if has_interval else (None, None)
    return [row | {"ci_low": low, "ci_high": high, "seeds": answers["system"].nunique()}]


def kinds_of(answers: pd.DataFrame, units: pd.Index) -> dict[str, np.ndarray]:
    """Return for each slice (all, type=…) which units belong to the slice."""
    unit_answers = answers.drop_duplicates(["system", "unit"])
    person_counts = unit_answers.groupby("unit").size().reindex(units)
    given = unit_answers.assign(type=unit_answers["types"].str.split("; ")).explode("type")
    given = given[given["type"].fillna("") != ""].drop_duplicates(["system", "unit", "type"])
    slices = {"all": np.ones(len(units), bool)}
    for name, rows in given.groupby("type"):
        slices[f"type={name}"] = (
            rows.groupby("unit").size().reindex(units, fill_value=0) * 2 >= person_counts
        ).to_numpy()
    return slices


def human_rows(by_person: pd.DataFrame, slices: dict[str, np.ndarray], units: Units) -> list[dict]:
    """Return the rows human_<metric>. by_person: a column of values for each metric, indexed by
    person and unit.
    """
    mean = by_person.groupby(level="unit").mean().reindex(units.names)
    rows, person_rows = units.rows(mean.to_dict("series"), "human_{}", slices), []
    for person, table in by_person.groupby(level="person"):
        table = table.droplevel("person").reindex(units.names)
        answered = {f"person={person}": table.notna().all(axis=1).to_numpy()}
        person_rows += units.rows(table.to_dict("series"), "human_{}", answered)
    people = by_person.index.get_level_values("person").nunique()
    for row in rows:
        row["seeds"] = people
        values = [one["value"] for one in person_rows if one["metric"] == row["metric"]]
        if row["slice"] == "all" and people > 1:
            row["sd"] = float(np.std(values, ddof=1))
    return rows + person_rows


def above_people(row: dict, people: dict) -> dict:
    """Return the row `<metric>_above_people`: how far a row lies above people's, paired."""
    measured = row | difference(row, people, SHARE)._asdict()
    none = dict.fromkeys(("draws", "sd", "sd_beyond_groups"))
    return measured | none | {"metric": f"{row['metric']}_above_people"}


def people_rows(
    answers: pd.DataFrame | None,
    examples: pd.DataFrame,
    values: Callable[[pd.DataFrame, np.ndarray], Values],
    systems: dict[tuple[str, str], System],
    labels: int,
    resamples: int,
    groups: Sequence[str] = ("group_id",),
) -> list[dict]:
    """Return the rows of people, and of all systems on the units that people answered, on one
    split.

    answers   from on_split(); None if nobody answered
    examples  example_id, label, unit, the columns of `groups` and those that `values` reads; the
              units are numbered in order of first occurrence
    values    takes such rows and the numbers of the chosen labels; returns the value of each unit,
              by metric
    systems   by model and method, on all units in that order
    groups    the columns of the groups that are resampled, see grouped()
    """
    if answers is None:
        return []
    place, all_units = pd.factorize(examples["unit"])
    at = np.unique(place[answers["at"]])
    names = pd.Index(all_units[at])
    first = examples.drop_duplicates("unit").set_index("unit")[list(groups)].reindex(names)
    group, drawn = grouped(first, resamples)
    units, slices = Units(names, group, drawn), kinds_of(answers, names)
    by_person = {}
    for person, person_answers in answers.sort_values("at").groupby("system"):
        part = examples.iloc[person_answers["at"].to_numpy()].reset_index(drop=True)
        by_person[person] = pd.DataFrame(
            values(part, person_answers["chosen"].to_numpy()),
            index=pd.Index(part["unit"].unique(), name="unit"),
        )
    measured = human_rows(pd.concat(by_person, names=["person"]), slices, units)
    of_example = pd.Series(group, names).reindex(examples["unit"]).fillna(-1).to_numpy(int)
    measured += agreement_row(answers, of_example, labels, units.drawn)
    rows = [{"model": HUMAN, "method": HUMAN} | row for row in measured]
    reference = {
        row["metric"]: row | {"sd": None, "model": HUMAN, "method": HUMAN}
        for row in measured
        if row["slice"] == "all"
    }
    for (model, method), system in systems.items():
        reached = {name: np.atleast_2d(found)[:, at] for name, found in system.values.items()}
        means = [
            {"model": model, "method": method} | row
            for row in units.rows(reached, "{}", slices, system.replicates)
            if row["seed"] is None
        ]
        rows += [row | {"metric": f"{row['metric']}_beside_people"} for row in means]
        rows += [
            above_people(row, reference[f"human_{row['metric']}"])
            for row in means
            if row["slice"] == "all"
        ]
    return rows
