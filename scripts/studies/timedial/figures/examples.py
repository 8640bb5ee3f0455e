"""Dialogs of TimeDial to read as cards, as table 6 of Qin et al. 2021:
every option with the score and rank that each system gives it.

For each corpus that was learnt from and context that was seen. An option is judged wrong where it
is among the highest, of which there are as many as right options, and no right one, or the reverse;
a dialog is right where no option is, as 2-best accuracy counts. scripts/publish/cards.py says which
dialogs are chosen, and what the table holds.
"""

import argparse

import numpy as np
import pandas as pd

from scripts.data.tables import read_table
from scripts.studies.timedial.tables import CLOZE
from scripts.measure.experiment import Run
from scripts.studies.timedial.evaluate import scores_of
from scripts.measure.ranking import checked, slices
from scripts.publish.arguments import run_program
from scripts.publish.cards import (
    Place,
    Resources,
    System,
    about_of,
    most_right,
    ranked,
    resources_of,
    runs_by_place,
    write_cards,
)
from scripts.studies.timedial.figures.metrics import RULES, SCOPES

CAPTION = (
    "Dialogs with every option for what is left out (____), whether it is right (gold), and the "
    "rule that made a wrong one. Before a score stands its rank; a score is a log-probability or "
    "the mean log-likelihood of the option's tokens, of a control what it counts, and compares "
    "with those of one system on one dialog only. × marks a wrong option among the highest, of "
    "which there are as many as right ones, and a right one that is not among them."
)


def place_of(facts: dict) -> tuple:
    """The corpus learnt from, and the context."""
    return facts["source"], -SCOPES.index(facts["data_options"]["context_scope"])


def misled_by(options: pd.DataFrame, systems: list[System]) -> dict[str, np.ndarray]:
    """By rule the instances in which the best model takes an option made by it for a right one."""
    item = options["instance"].to_numpy()
    best = most_right(systems, "model", item)
    taken = (
        best[0][0].wrong & (options["label"] == 0).to_numpy() if best else np.zeros(len(item), bool)
    )
    return {
        f"model misled by={title}": np.bincount(
            item, taken & (options["rule"] == rule).to_numpy(bool)
        )
        > 0
        for rule, title in RULES.items()
    }


def place(runs: list[Run], given: argparse.Namespace, resources: Resources) -> Place:
    """The dialogs of a dataset, with what these runs said of their options."""
    facts = runs[0].facts
    learnt = resources.sources[facts["source"]]
    corpus_note = (
        f", learnt from {learnt.get('title', facts['source'])}" if "measured_on" in learnt else ""
    )
    about = about_of(
        facts, f"{facts['data_options']['context_scope']} context{corpus_note}", resources
    )
    file = given.build / facts["source"] / facts["dataset"] / f"{about['Split']}.parquet"
    options = checked(read_table(file, CLOZE.names).to_pandas(), file)
    systems = [
        ranked(run.facts, resources.models, options, scores_of(run, about["Split"], options)[0])
        for run in runs
    ]
    rows = pd.DataFrame(
        {
            "Item": options["instance_id"],
            "Dialog": options["context"].str.replace("<MASK>", "____"),
            "Option": options["candidate"],
            "Rule": options["rule"].map(RULES).fillna(""),
            "Gold": options["label"].map({1: "right", 0: "wrong"}),
        }
    )
    return Place(
        about,
        rows,
        slices(options.drop_duplicates("instance")) | misled_by(options, systems),
        systems,
    )


def main(given: argparse.Namespace) -> None:
    resources = resources_of(given)
    runs = runs_by_place(given.train, given.runs, place_of)
    write_cards([place(each, given, resources) for each in runs], CAPTION, given.output)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets")
