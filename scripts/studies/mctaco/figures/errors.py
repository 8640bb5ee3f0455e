"""Questions of MC-TACO to read as cards: every candidate with its label, and what was judged; with
and without unit normalization.

Read are runs that learnt from all questions, and judgements that the paper's authors released. A
question is right where every candidate is judged right, as exact match counts. The slice `model's
quantities` tells where the best model accepts two quantities and none or one between them is turned
down, as 1 hour and 9 hours without the hours between (Zhou et al. 2019, section 4).
scripts/publish/cards.py says which questions are chosen, and what the table holds.
"""

import argparse

import numpy as np
import pandas as pd

from scripts.data.tables import read_table
from scripts.studies.mctaco.tables import ANSWERS
from scripts.measure.experiment import Run, read_scores
from scripts.studies.mctaco.evaluate import consistency, quantity_of, slices
from scripts.studies.mctaco.prediction_files import released_judgements
from scripts.publish.arguments import run_program
from scripts.publish.cards import (
    Place,
    Resources,
    System,
    about_of,
    labelled,
    most_right,
    resources_of,
    runs_by_place,
    write_cards,
)
from scripts.studies.mctaco.figures.metrics import NORMALIZED
from scripts.publish.names import model_title

LABELS = ["unlikely", "likely"]
CAPTION = (
    "Questions with every candidate answer, and whether people found it likely (gold). Behind a "
    "judgement the probability that was given to it (released judgements have none); × where it is "
    "wrong. A question is right where no candidate is judged wrong."
)


def place_of(facts: dict) -> tuple | None:
    """Corpus, and whether units were normalized, of runs that learnt from all questions; None of
    others, and of contrast pairs.
    """
    options = facts["data_options"]
    return (
        (facts["source"], bool(options["unit_normalization"]))
        if options["train_questions"] is None and "contrast" not in options
        else None
    )


def released(
    answers: pd.DataFrame, facts: dict, split: str, given: argparse.Namespace, resources: Resources
) -> list[System]:
    """What systems of the paper judged of these answers, where their judgements were released for
    this split.
    """
    systems, gold = [], answers["label"].to_numpy()
    for name, entry in resources.sources[facts["source"]].get("predictions", {}).items():
        if given.fetched and entry.get("split", split) == split:
            accepted = released_judgements(given.fetched / facts["source"] / entry["file"], answers)
            title = model_title(name, {name: entry}) + (
                NORMALIZED if entry.get("unit_normalization") else ""
            )
            systems.append(
                System(
                    title,
                    "model",
                    np.array(LABELS, dtype=object)[accepted],
                    np.full(len(gold), np.nan),
                    accepted != gold,
                )
            )
    return systems


def gaps(systems: list[System], question: np.ndarray, seconds: np.ndarray) -> dict[str, np.ndarray]:
    """The questions in which the quantities that the best model accepts form one range, and those
    in which they do not.
    """
    best = most_right(systems, "model", question)
    accepted = (
        (best[0][0].answer == LABELS[1]).astype(int) if best else np.zeros(len(question), int)
    )
    coherent = consistency(accepted, seconds, question)
    return {
        "model's quantities=one range": coherent == 1,
        "model's quantities=with a gap": coherent == 0,
    }


def place(runs: list[Run], given: argparse.Namespace, resources: Resources) -> Place:
    """The questions of a dataset, with what these runs and released judgements said of their
    candidates.
    """
    facts = runs[0].facts
    name = "units normalized" if facts["data_options"]["unit_normalization"] else "as written"
    about = about_of(facts, name, resources)
    file = given.build / facts["source"] / facts["dataset"] / f"{about['Split']}.parquet"
    answers = read_table(file, ANSWERS.names).to_pandas()
    gold = answers["label"].to_numpy()
    systems = [
        labelled(
            run.facts,
            resources.models,
            read_scores(run, about["Split"], answers["example_id"], "answers")[0],
            LABELS,
            gold,
        )
        for run in runs
    ] + released(answers, facts, about["Split"], given, resources)
    order = pd.DataFrame(
        {
            "question": pd.factorize(answers["group_id"])[0],
            "seconds": quantity_of(answers["answer"]),
        }
    )
    parts = slices(answers) | gaps(
        systems, order["question"].to_numpy(), order["seconds"].to_numpy()
    )  # in the order of the questions
    order = order.sort_values(["question", "seconds"], kind="stable").index.to_numpy()
    systems = [
        system._replace(
            answer=system.answer[order], score=system.score[order], wrong=system.wrong[order]
        )
        for system in systems
    ]
    answers = answers.iloc[order]
    rows = pd.DataFrame(
        {
            "Item": answers["group_id"],
            "Question": answers["text_a"],
            "Candidate": answers["answer"],
            "Read as": answers["text_b"].where(answers["text_b"] != answers["answer"], ""),
            "Gold": np.array(LABELS, dtype=object)[gold[order]],
        }
    )
    return Place(
        about,
        rows if (rows["Read as"] != "").any() else rows.drop(columns="Read as"),
        parts,
        systems,
    )


def main(given: argparse.Namespace) -> None:
    resources = resources_of(given)
    runs = runs_by_place(given.train, given.runs, place_of)
    write_cards([place(each, given, resources) for each in runs], CAPTION, given.output)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets", "released")
