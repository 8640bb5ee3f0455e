"""Items of HellaSwag to read as cards: every ending with the rank and the score
that each system gives it.

An ending is judged wrong where it is first and not the right one, or the reverse.
scripts/publish/cards.py says which items are chosen, and what the table holds.
"""

import argparse

import pandas as pd

from scripts.measure.experiment import Run
from scripts.studies.hellaswag.evaluate import read_endings, scores_of
from scripts.publish.arguments import run_program
from scripts.publish.cards import (
    Place,
    Resources,
    about_of,
    ranked,
    resources_of,
    runs_by_place,
    write_cards,
)

CAPTION = (
    "Items with every ending and whether it is right (gold). Before a score stands its rank; a "
    "score is a log-probability or a log-likelihood, of a control what it counts, and compares "
    "with those of one system on one item only. × marks a wrong ending that is first, and the "
    "right one where it is not."
)


def place_of(facts: dict) -> tuple:
    """The corpus, and which of its items."""
    return facts["source"], facts["data_options"]["domain"]


def place(runs: list[Run], given: argparse.Namespace, resources: Resources) -> Place:
    """The items of a dataset, with what these runs said of their endings."""
    facts = runs[0].facts
    about = about_of(facts, f"{facts['data_options']['domain']} items", resources)
    file = given.build / facts["source"] / facts["dataset"] / f"{about['Split']}.parquet"
    endings = read_endings(file)
    systems = [
        ranked(run.facts, resources.models, endings, scores_of(run, about["Split"], endings))
        for run in runs
    ]
    rows = pd.DataFrame(
        {
            "Item": endings["instance_id"],
            "Context": endings["context"].str.replace("<MASK>", "").str.rstrip(),
            "Ending": endings["candidate"],
            "Gold": endings["label"].map({1: "right", 0: "wrong"}),
        }
    )
    domains = endings.drop_duplicates("instance")["domain"].to_numpy()
    return Place(
        about, rows, {f"domain={name}": domains == name for name in sorted(set(domains))}, systems
    )


def main(given: argparse.Namespace) -> None:
    resources = resources_of(given)
    runs = runs_by_place(given.train, given.runs, place_of)
    write_cards([place(each, given, resources) for each in runs], CAPTION, given.output)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets")
