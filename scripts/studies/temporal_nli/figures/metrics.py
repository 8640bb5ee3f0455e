"""The titles of temporal-expression NLI in its figures and tables, and its rows of the metrics."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from scripts.studies.temporal_nli.parts import TEMPLATE
from scripts.studies.temporal_nli.evaluate import NAMES, SCHEMA
from scripts.publish.selection import only
from scripts.publish.names import (
    details_of,
    experiment_if_needed,
    in_order,
    method_title,
    of_most_pairs,
    source_title,
    study_metrics,
    titles_of,
    without_people,
)

STUDY = "temporal_nli"
SETS = {
    "temp_order": "Set I: Temp-Order",
    "temp_duration": "Set II: Temp-Duration",
    "cross_unit": "Set III: Cross-Unit",
}
BASELINES = {"rule_reader": "rule-based reader"}  # titles of systems that are no model: the ceiling
METHODS = (
    "majority baseline direct hypothesis_only likelihood likelihood_blind likelihood_pmi train "
    "external control"
).split()  # in the paper's order
PLACE = ["source", "dataset", "split"]
SYSTEM = ["series", "method", "scoring"]
# the columns that name a point in a figure's CSV
ABOUT = "source dataset challenge_set split model method scoring experiment".split()

# Titles of the values that vary in the sets, in the order of the figures. Slices name these columns
# of the datasets.
SPELLINGS = {"full": "full", "abbreviated": "abbr.", "both": "both"}
VALUES = {
    "written": {"names": "names", "numerals": "numerals", "two_clocks": "two clocks"},
    "choice": {
        "hour_12": "hours, 12 h",
        "hour_24": "hours, 24 h",
        "hour_both": "hours, 12 h and 24 h",
        "weekday": "weekdays",
        "month_day": "days of a month",
        "month_full": "months, full name",
        "month_abbreviated": "months, abbreviated",
        "month_both": "months, both",
        "year": "years",
        "number_word": "number words",
        "letter": "letters",
        "greek": "Greek letters",
        "rank": "military ranks",
        "planet": "planets",
        "invented": "invented words",
        **{
            f"date_{kind}{key}": f"date: {day}month ({name}), year"
            for kind, day in (("my_", ""), ("dmy_", "day, "), ("", ""))
            for key, name in SPELLINGS.items()
        },
    },
    "hypothesis_type": {
        "equal_gold": "for gold (E)",
        "equal_gold_plus_1": "for gold + 1 (C)",
        "equal_gold_times_10": "for gold × 10 (C)",
        "less_than_gold": "less than gold (C)",
        "less_than_gold_plus_1": "less than gold + 1 (E)",
        "less_than_gold_times_10": "less than gold × 10 (E)",
    },
    "unit_pair": {
        "minutes_hours": "minutes, hours",
        "hours_days": "hours, days",
        "days_months": "days, months",
        "months_years": "months, years",
    },
    "premise_type": {
        "fixed": "premise at a fixed time",
        "interval": "premise before or after a time",
    },
    "next_cycle": {"false": "ends in the same cycle", "true": "ends in the next cycle"},
    "direction": {"lower": "hypothesis names less time", "higher": "hypothesis names more time"},
    "tense": {"past": "past tense", "future": "future tense"},
    "premise_position": {"forward": "premise: time last", "fronted": "premise: time first"},
    "hypothesis_position": {
        "forward": "hypothesis: time last",
        "fronted": "hypothesis: time first",
    },
    "distance": {
        "same": "the same time",
        "to_eighth": "up to 1/8 of the list",
        "to_quarter": "1/8 to 1/4",
        "to_half": "1/4 to 1/2",
        "over_half": "more than half",
        "to_1": "up to 1 of the larger unit",
        "to_2": "1 to 2",
        "to_3": "2 to 3",
        "over_3": "more than 3",
    },
    "hypothesis_size": {
        "to_3": "T2 up to 3 of the larger unit",
        "to_6": "3 to 6",
        "to_9": "6 to 9",
        "over_9": "more than 9",
    },
    "hypothesis_preposition": {"before": "hypothesis: before", "after": "hypothesis: after"},
    "part": {"seen": "seen in training", "unseen": "held out of training"},
    "premise_form": {"one_clause": "lasted from … to …", "two_clauses": "began …, lasted until …"},
}


# titles of the options balanced and contrast, by their part of a dataset's name
CHANGED = {
    "balanced-True": "balanced",
    "preposition": "contrast pairs: prepositions",
    "times": "contrast pairs: times",
}


def value_name(column: str, value: str) -> str:
    return VALUES.get(column, {}).get(value, value.replace("_", " "))


def data_title(source: str, dataset: str, sources: dict) -> str:
    """Return a source's title, with how the dataset was reduced, drawn or changed, from the
    dataset's name.
    """
    changed = [title for part, title in CHANGED.items() if f"-{part}-" in f"{dataset}-"]
    details = details_of(dataset)
    return ", ".join([source_title(source, sources) + details, *changed])


def detail_of(method: str, scoring: str) -> str:
    """Return how a model was asked: `direct evaluation, binary`."""
    return method_title(method) + ("" if scoring == "ternary" else f", {scoring}")


def nli_metrics(
    path: Path, models: dict, held_out: Sequence[str] = (TEMPLATE,), by_list: bool = False
) -> pd.DataFrame:
    """Return the study's rows in the paper's order, with `series`: the model. held_out: keep
    datasets that hold out one of these; the default is the paper's, only whole templates. by_list:
    keep the datasets with held_out_list, instead of those without.
    """
    metrics = without_people(study_metrics(path, STUDY, SCHEMA))
    metrics = metrics[metrics["held_out_list"].notna() == by_list]
    metrics = of_most_pairs(metrics, ["source", "challenge_set", "held_out"])
    metrics = only(metrics, held_out=held_out).copy()
    point = [*PLACE, "model", "method", "scoring", "slice", "metric"]
    titles = titles_of(metrics, models, BASELINES)
    metrics["series"] = titles + experiment_if_needed(metrics, point)
    return in_order(
        metrics,
        ["source", "challenge_set", *PLACE[1:], "model", *SYSTEM, "slice", "metric", "seed"],
        challenge_set=SETS,
        method=METHODS,
        scoring=NAMES,
        model=["majority", *BASELINES, *models],
    )


def finest(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return each system's accuracies over all seeds, under the finest scoring of the system."""
    rows = only(metrics, metric="accuracy", seed=None)
    best = rows.groupby([*PLACE, *SYSTEM[:2]])["scoring"].transform(
        lambda scoring: min(scoring, key=list(NAMES).index)
    )
    return rows[rows["scoring"] == best]
