"""Pairs of temporal-expression NLI to read as cards: for each source and challenge set,
on the first evaluation split.

Read are datasets that hold out whole templates alone. A model that was not shown the premise counts
as a control, and one that knows two labels is wrong where it takes entailment for not_entailment,
or the other way round. scripts/publish/cards.py says which pairs are chosen, and what the table
holds.
"""

import argparse

import numpy as np
import pandas as pd

from scripts.studies.temporal_nli.parts import TEMPLATE
from scripts.data.tables import read_table
from scripts.measure.experiment import Run, read_scores
from scripts.publish.arguments import run_program
from scripts.publish.cards import (
    Place,
    Resources,
    about_of,
    labelled,
    resources_of,
    runs_by_place,
    write_cards,
)
from scripts.publish.names import details_of
from scripts.studies.temporal_nli.evaluate import LABELS
from scripts.studies.temporal_nli.figures.metrics import SETS, value_name

# Of each set what is shown of a pair: the partitions that the page filters by.
PARTS = {
    "temp_order": ["choice", "premise_type", "next_cycle"],
    "temp_duration": ["hypothesis_type", "duration_format"],
    "cross_unit": ["unit_pair", "direction", "distance"],
}
CAPTION = (
    "Pairs to read: premise, hypothesis, and what the premise says of the hypothesis (gold). "
    "Behind an answer the probability that was given to it; × where it is wrong."
)


def place_of(facts: dict) -> tuple | None:
    """Source and challenge set of a dataset that holds out templates alone."""
    options = facts["data_options"]
    return (
        (facts["source"], list(SETS).index(options["challenge_set"]))
        if options["held_out"] == TEMPLATE
        else None
    )


def place(runs: list[Run], given: argparse.Namespace, resources: Resources) -> Place:
    """The pairs of a dataset, with what these runs said of them."""
    facts = runs[0].facts
    name = facts["data_options"]["challenge_set"]
    about = about_of(facts, SETS[name] + details_of(facts["dataset"], ["limit"]), resources)
    file = given.build / facts["source"] / facts["dataset"] / f"{about['Split']}.parquet"
    pairs = read_table(file, ["example_id", "text_a", "text_b", "label", *PARTS[name]]).to_pandas()
    gold = pairs["label"].to_numpy()
    systems = []
    for run in runs:
        names = [label.replace("_", " ") for label in run.facts["labels"]]
        scores, _ = read_scores(run, about["Split"], pairs["example_id"], "pairs")
        # Of two labels the second is what is not entailment.
        systems.append(
            labelled(run.facts, resources.models, scores, names, np.minimum(gold, len(names) - 1))
        )
    rows = pd.DataFrame(
        {
            "Item": pairs["example_id"],
            "Premise": pairs["text_a"],
            "Hypothesis": pairs["text_b"],
            "Gold": np.array(LABELS, dtype=object)[gold],
        }
    )
    slices = {
        f"{column}={value_name(column, str(value).lower())}": (pairs[column] == value).to_numpy(
            dtype=bool
        )
        for column in PARTS[name]
        for value in pairs[column].dropna().unique()
    }
    return Place(about, rows, slices, systems)


def main(given: argparse.Namespace) -> None:
    resources = resources_of(given)
    runs = runs_by_place(given.train, given.runs, place_of)
    write_cards([place(each, given, resources) for each in runs], CAPTION, given.output)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets")
