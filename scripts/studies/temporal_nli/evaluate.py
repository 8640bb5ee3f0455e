"""Measure temporal-expression NLI (Thukral et al. 2021, tables 5 to 7 and figure 1).

Scores are from the epoch with the lowest loss on dev, whose templates are held out of train.

  accuracy, weighted_f1  of all pairs, and of each slice (by choice of times, premise,
                         hypothesis, …)
  says_entailment        the share of pairs with the prediction entailment
  confusion              the share of pairs with this label and this prediction (two labels for a
                         model that knows two)
  contrast_accuracy      in datasets with contrast pairs: the share of contrast pairs with both
                         predictions right
  less_than_consistency  in set II, over premises with all three hypotheses "less than": the share
                         of premises on which entailment, once predicted, remains the prediction
                         for longer durations
  unread                 the share of pairs that the rule-based reader cannot read

Slices are also by
  distance, hypothesis_size   the size of the difference, and of T2
  part                        seen or unseen, by what the dataset holds out
  written                     set I: numerals, which their digits order; two_clocks; names
  contrast                    original or counterpart
  withheld                    only in datasets that hold out nothing but templates: the pairs that
                              another dataset holds out. Here the model learnt from such pairs

Scoring is ternary, and binary with neutral and contradiction as one label (a model that knows two
labels has binary scoring only). The majority baseline predicts the most frequent label of the
evaluation split. The model rule_reader is the ceiling: it reads both sentences by rule, and
predicts neutral for a pair that it cannot read. Groups are templates and pairs of times, resampled
in two ways at once (crossed() of scripts/measure/bootstrap.py). `groups` counts templates; where
more than templates are held out it counts the different pairs of times of a slice.

External predictions have the labels entailment, neutral and contradiction, or entailment and
not_entailment.
"""

import re
from functools import partial
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.counterparts import contrast_pairs, is_counterpart
from scripts.studies.temporal_nli.parts import KINDS, TEMPLATE, unseen
from scripts.studies.temporal_nli.reader import FALLBACK, LABELS, read_labels
from scripts.studies.temporal_nli.options import Options
from scripts.studies.temporal_nli.tables import NLI, VARIED
from scripts.studies.temporal_nli.times import LISTS, TIME, times_in
from scripts.text.sizes import shared_kind
from scripts.measure.bootstrap import grouped
from scripts.measure.experiment import Run, read_examples, read_scores, replicates_of
from scripts.data.declared import ceilings
from scripts.measure.filtered import Filter
from scripts.measure.answered import Answered
from scripts.measure.people import System, Values, people_rows
from scripts.measure.study import Part, Study, run_evaluation
from scripts.measure.tally import Metric, Replicate, Tally, metrics_schema, rows_by_system, share
from scripts.measure.tally import sums_by_group

NAMES = {"ternary": LABELS, "binary": ["entailment", "not_entailment"]}
# for each scoring, the number of the name that each label gets
MERGED = {"ternary": np.arange(3), "binary": np.array([0, 1, 1])}
ANSWERED = Answered(
    "temporal_nli", ("example_id", "group_id", "text_a", "text_b"), tuple(NAMES.values())
)
# The slices of figure 1 and sections 5.1 to 5.3: by one column, or by two columns together.
SLICES = {
    "temp_order": "choice, premise_type, choice premise_type, time, tense, premise_position, "
    "distance, distance premise_type, part, part written",
    "temp_duration": "choice, time, hypothesis_type, next_cycle, premise_form, choice next_cycle, "
    "choice hypothesis_type, distance, hypothesis_type distance, part",
    "cross_unit": "time, unit_pair, premise_type, unit_pair premise_type, direction, "
    "premise_position, hypothesis_position, unit_pair direction, distance, distance premise_type, "
    "hypothesis_size, hypothesis_size hypothesis_preposition, part",
}
# A dataset with held_out_list also has these, and its groups are pairs of items.
BY_LIST = ["choice distance"]
LESS_THAN = ["less_than_gold", "less_than_gold_plus_1", "less_than_gold_times_10"]
BASELINES = {"majority": "majority", "rule_reader": "baseline"}  # and their methods
SCHEMA = metrics_schema(Options, {"scoring": pa.string()})


# ---- the paper's metrics


def accuracy(cells: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return (…) the accuracy, from (…, 3, labels) of counts_of() and the number of pairs."""
    return np.einsum("...i->...", cells[..., 2, :]) / count


def weighted_f1(cells: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return (…) the F1 of each label, weighted by the label's frequency, from the same arguments
    as accuracy().
    """
    support, predicted, right = (cells[..., kind, :] for kind in range(3))
    both = support + predicted
    f1 = np.divide(2 * right, both, out=np.zeros_like(right, float), where=both > 0)
    return np.einsum("...i,...i->...", f1, support) / count


def says_entailment(cells: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return (…) the share of pairs with the prediction entailment, the first label."""
    return cells[..., 1, 0] / count


METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "weighted_f1": weighted_f1,
    "says_entailment": says_entailment,
}


def counts_of(
    label: np.ndarray, predicted: np.ndarray, group: np.ndarray, labels: int, groups: int
) -> np.ndarray:
    """Return (groups, 3, labels) how many pairs have a label, are predicted to have it, and both.
    label, predicted and group are (n,) integers from 0.
    """
    right = label[label == predicted]
    places = ((label, group), (predicted, group), (right, group[label == predicted]))
    counts = [np.bincount(of * labels + one, minlength=groups * labels) for one, of in places]
    return np.stack([found.reshape(groups, labels) for found in counts], axis=1)


def slices(pairs: pd.DataFrame, challenge_set: str, options: dict) -> dict[str, np.ndarray]:
    """Return the rows of each slice: `all`, `choice=year`, `choice=year; premise_type=fixed`, …

    options: of the dataset. Slices `withheld=list`, … exist only if it holds out nothing but whole
    templates.
    """
    held_out, by_list = options.get("held_out", TEMPLATE), options.get("held_out_list")
    parts, counterpart = {"all": np.arange(len(pairs))}, is_counterpart(pairs["example_id"])
    pairs = pairs.assign(contrast=np.where(counterpart, "counterpart", "original"))
    names = SLICES[challenge_set].split(", ") + ["contrast"] * bool(counterpart.any())
    names += BY_LIST if by_list else []
    for columns in map(str.split, names):
        for values, rows in pairs.groupby(columns, sort=True).indices.items():
            values = values if isinstance(values, tuple) else (values,)
            named = "; ".join(f"{column}={value}" for column, value in zip(columns, values))
            parts[named.lower()] = rows
    for kind in KINDS if held_out == TEMPLATE else ():
        if (has := unseen(pairs, kind).to_numpy()).any():
            parts[f"withheld={kind}"] = np.flatnonzero(has)
    return parts


def predictions_of(
    pairs: pd.DataFrame, split: str, systems: dict[tuple, list[Run]], read: np.ndarray
) -> dict[tuple, list[np.ndarray]]:
    """Return by model, method and scoring the predictions of each run, in the order of the pairs;
    the baselines come first. read: from read_labels().
    """
    found = {
        ("majority", BASELINES["majority"], scoring): [
            np.full(len(pairs), np.bincount(merged[pairs["label"]]).argmax())
        ]
        for scoring, merged in MERGED.items()
    } | {
        ("rule_reader", BASELINES["rule_reader"], scoring): [
            merged[np.where(read < 0, FALLBACK, read)]
        ]
        for scoring, merged in MERGED.items()
    }
    for (model, method), runs in systems.items():
        for run in runs:
            predicted = read_scores(run, split, pairs["example_id"], "pairs")[0].argmax(1)
            merged = MERGED if len(run.facts["labels"]) >= len(LABELS) else {"binary": np.arange(2)}
            for scoring, places in merged.items():
                found.setdefault((model, method, scoring), []).append(places[predicted])
    return found


def tallies_of(
    pairs: pd.DataFrame,
    predictions: list[np.ndarray],
    gold: np.ndarray,
    labels: int,
    parts: dict[str, np.ndarray],
    group: np.ndarray,
) -> Iterator[Tally]:
    """Return the counts of each slice, and those of pairs that belong together (contrast_accuracy,
    less_than_consistency). predictions: of each run; group: (pairs,) integers from 0.
    """
    many = group.max() + 1
    for name, part in parts.items():
        counts = [
            counts_of(gold[part], predicted[part], group[part], labels, many)
            for predicted in predictions
        ]
        size = np.bincount(group[part], minlength=many)
        is_compared = name.startswith(("part=unseen", "time="))
        yield Tally(name, METRICS, np.stack(counts), size, compared=is_compared)
    contrasts, less_than = contrast_pairs(pairs["example_id"]), less_than_premises(pairs)
    both = [(predicted == gold)[contrasts].all(1) for predicted in predictions]
    says = [(predicted == 0)[less_than].astype(int) for predicted in predictions]
    grows = [(np.diff(said) >= 0).all(1) for said in says]
    yield from together("contrast_accuracy", contrasts, both, group, many)
    yield from together("less_than_consistency", less_than, grows, group, many)


def rows_of(
    pairs: pd.DataFrame, part: Part, resamples: int, people: pd.DataFrame | None
) -> list[dict]:
    """Return the rows of a split of one challenge set."""
    systems = part.systems
    challenge_set, label = pairs["challenge_set"].iloc[0], pairs["label"].to_numpy()
    parts, read = slices(pairs, challenge_set, part.options), read_labels(pairs)
    groups = groups_of(pairs, part.options.get("held_out", TEMPLATE) != TEMPLATE)
    group, drawn = grouped(groups, resamples)
    found = predictions_of(pairs, part.split, systems, read)
    replicates = {system: replicates_of(runs) for system, runs in systems.items()}
    measured: dict[tuple, list[dict]] = {}
    for scoring, merged in MERGED.items():
        of = {system: runs for system, runs in found.items() if system[2] == scoring}
        predictions = list(chain(*of.values()))
        labels = len(NAMES[scoring])
        tallies = tallies_of(pairs, predictions, merged[label], labels, parts, group)
        of_systems = [replicates.get(system[:2], []) for system in of]
        measured |= zip(of, rows_by_system(tallies, of_systems, drawn))
    rows = []
    of_set, counted = {"challenge_set": challenge_set}, {"groups": groups["first"].nunique()}
    for (model, method, scoring), predictions in found.items():
        gold, names = MERGED[scoring][label], NAMES[scoring]
        same = of_set | {"model": model, "method": method, "scoring": scoring}
        rows += [same | row for row in measured[model, method, scoring]]
        finest = scoring == "ternary" or (model, method, "ternary") not in found
        if finest and method not in (*BASELINES.values(), "control"):
            rows += [same | counted | row for row in confusion_rows(gold, predictions, names)]
    reader = {"model": "rule_reader", "method": BASELINES["rule_reader"], "scoring": "ternary"}
    unread = {"slice": "all", "metric": "unread", "seed": None, "value": float((read < 0).mean())}
    rows.append(of_set | reader | unread | counted | {"n": len(pairs)})
    rows += people_on(pairs, found, replicates, people, resamples)
    return [{"sample": part.options.get("test_templates") is not None} | row for row in rows]


def read_pairs(file: Path) -> pd.DataFrame:
    """Return a split of a dataset, with `written` (how its times are written), `times` (both, in
    either order) and `time` (the kind of the premise's times). Raises UserError if it has no pairs.
    """
    pairs = read_examples(file, NLI, len(LABELS), missing=set(VARIED) - {"withheld"})
    times = zip(*(times_in(pairs[text]) for text in ("text_a", "text_b")))
    is_order = pairs["challenge_set"] == "temp_order"
    return pairs.assign(
        written=pairs["choice"].where(is_order).map(written, na_action="ignore"),
        times=[" > ".join(sorted(both)) for both in times],
        time=pairs["text_a"].str.findall(TIME).map(shared_kind),
    )


def written(choice: str | None) -> str | None:
    """Return how the times of a list are written: numerals (ordered by their digits), two_clocks
    (5 PM and 17:00) or names.
    """
    if not choice or (choice not in LISTS and not choice.startswith("date")):
        return None
    spellings = LISTS[choice][2] if choice in LISTS else ()
    if not all(re.search(r"\d", item) for items in spellings for item in items):
        return "names"
    return "two_clocks" if len(set(map(tuple, spellings))) > 1 else "numerals"


# ---- beside the paper: groups of times, answers by label, pairs that belong together, people


def groups_of(pairs: pd.DataFrame, by_times: bool) -> pd.DataFrame:
    """Return the two groups of each pair, as columns first and second, for grouped(). Pairs of one
    template form a group, and pairs of the same two times another.

    by_times: count pairs of times first, in either order, because a list may have few of them.
    """
    times = [times_in(pairs[text]) for text in ("text_a", "text_b")]
    if by_times:
        named = pairs["choice"].fillna("") + ": " + pairs["times"]
        return pd.DataFrame({"first": named, "second": pairs["group_id"]})
    return pd.DataFrame({"first": pairs["group_id"], "second": times[0] + " > " + times[1]})


def confusion_rows(gold: np.ndarray, predictions: list[np.ndarray], names: list[str]) -> list[dict]:
    """Return the share of pairs with each label and prediction, as the mean of the replicates."""
    cells = [
        np.bincount(gold * len(names) + predicted, minlength=len(names) ** 2)
        for predicted in predictions
    ]
    return [
        {
            "slice": f"label={true}; predicted={chosen}",
            "metric": "confusion",
            "seed": None,
            "n": len(gold),
            "value": count / len(gold),
        }
        for (true, chosen), count in zip(product(names, names), np.mean(cells, 0))
    ]


def less_than_premises(pairs: pd.DataFrame) -> np.ndarray:
    """Return (n, 3) the rows of the hypotheses "less than" of each premise of set II, the shortest
    duration first. Premises without all three hypotheses are left out.
    """
    table = pairs.assign(row=np.arange(len(pairs))).drop_duplicates(["text_a", "hypothesis_type"])
    rows = table.pivot(index="text_a", columns="hypothesis_type", values="row")
    return rows.reindex(columns=LESS_THAN).dropna().to_numpy(int)


def together(
    metric: str, rows: np.ndarray, held: list[np.ndarray], group: np.ndarray, groups: int
) -> list[Tally]:
    """Return the share of the (n, k) rows whose pairs all hold, by replicate; empty if n is 0.

    held: for each replicate (n,) whether the pairs of a row hold; group: the group of each pair, of
    `groups`.
    """
    if not len(rows):
        return []
    of = group[rows[:, 0]]
    counts = np.bincount(of, minlength=groups)
    return [Tally("all", {metric: share}, sums_by_group(held, of, groups), counts)]


def of_people(merged: np.ndarray, part: pd.DataFrame, chosen: np.ndarray) -> Values:
    """Return whether people chose the right label of each pair. merged: for each label the label
    that it counts as.
    """
    return {"accuracy": (merged[part["label"].to_numpy()] == chosen).astype(float)}


def people_on(
    pairs: pd.DataFrame,
    found: dict[tuple, list[np.ndarray]],
    replicates: dict[tuple, list[Replicate]],
    people: pd.DataFrame | None,
    resamples: int,
) -> list[dict]:
    """Return the score of people on a split, and of every system on the same pairs, under each
    scoring. found: from predictions_of(); replicates: by model and method.
    """
    if people is None:
        return []
    rows, by_unit = [], pairs.assign(unit=pairs["example_id"])
    for scoring, merged in MERGED.items():
        gold = merged[pairs["label"].to_numpy()]
        reached = {
            (model, method): System(
                {"accuracy": (np.stack(predictions) == gold).astype(float)},
                replicates.get((model, method), []),
            )
            for (model, method, found_scoring), predictions in found.items()
            if found_scoring == scoring and model not in ceilings()
        }
        answered = people_rows(
            people.assign(chosen=merged[people["chosen"]]),
            by_unit,
            partial(of_people, merged),
            reached,
            len(NAMES[scoring]),
            resamples,
            ("group_id", "times"),
        )
        rows += [
            {"challenge_set": pairs["challenge_set"].iloc[0], "scoring": scoring} | row
            for row in answered
        ]
    return rows


FILTER = Filter("example_id", ("group_id", "times"), ("part", "choice"), ("part", "part written"))
STUDY = Study(ANSWERED, SCHEMA, read_pairs, rows_of, filters=FILTER)


if __name__ == "__main__":
    run_evaluation(__doc__, STUDY)
