"""Pairs of sentences to read as cards, as a model met them: for each corpus and stride,
on the first evaluation split.

Read is the plain dataset of each corpus and stride where there is one, else a size-matched one.
scripts/publish/cards.py says which pairs are chosen, and what the table holds.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.items import ANSWER_COLUMNS, items_of
from scripts.people.label_sheets import AGAIN, rows_of
from scripts.data.tables import read_table
from scripts.measure.experiment import Run, read_scores
from scripts.measure.people_answers import limit_of, whole_of
from scripts.studies.strided_sop.slices import READ, parts_of, slices_of
from scripts.studies.strided_sop.evaluate import columns_of
from scripts.publish.arguments import run_program
from scripts.publish.cards import (
    Place,
    Resources,
    System,
    about_of,
    labelled,
    resources_of,
    runs_by_place,
    write_cards,
)
from scripts.studies.strided_sop.figures.metrics import variant_title

LABELS = ["swapped", "in order"]
CAPTION = (
    "Pairs of sentences as a model met them: the one shown first and the one shown second. Gold: "
    "whether they stand in the order of the video. Behind an answer the probability that was given "
    "to it; × where it is wrong."
)


def place_of(facts: dict) -> tuple | None:
    """Corpus and stride; plain datasets have shorter names than size-matched or hard ones. None of
    a mixture of strides, or of spans.
    """
    stride = facts["data_options"]["stride"]
    return (
        (facts["source"], stride)
        if isinstance(stride, int) and not facts["data_options"].get("span")
        else None
    )


def answers_of_people(
    files: list[Path], facts: dict, split: str, pairs: pd.DataFrame
) -> list[System]:
    """The people's answers to these pairs; none where nobody answered."""
    # answers to a whole dataset hold for a cut one
    whole = whole_of(facts["dataset"], limit_of(facts))
    answers = pd.concat(
        [
            pd.DataFrame(columns=ANSWER_COLUMNS),
            *(rows_of(file, ANSWER_COLUMNS, AGAIN) for file in files),
        ]
    )
    answers = answers[
        (answers["source"] == facts["source"])
        & answers["dataset"].isin([facts["dataset"], whole])
        & (answers["split"] == split)
    ]
    counts = (
        answers.groupby(["item", "answer"])
        .size()
        .unstack(fill_value=0)
        .reindex(columns=[label.replace(" ", "_") for label in LABELS], fill_value=0)
    )
    counts = counts.reindex(
        [f"{item:016x}" for item in items_of(pairs["pair_id"])], fill_value=0
    ).to_numpy()
    several = answers["person"].nunique() > 1
    answer_texts = np.array(
        [
            ", ".join(label + f" ({count})" * several for label, count in zip(LABELS, row) if count)
            for row in counts
        ],
        dtype=object,
    )
    wrong = (
        counts[np.arange(len(pairs)), 1 - pairs["label"]]
        > counts[np.arange(len(pairs)), pairs["label"]]
    )  # in the eyes of most
    return (
        [System("people", "human", answer_texts, np.full(len(answer_texts), np.nan), wrong)]
        if (answer_texts != "").any()
        else []
    )


def place(runs: list[Run], given: argparse.Namespace, resources: Resources) -> Place:
    """The pairs of a dataset, with what these runs and people said of them."""
    facts = runs[0].facts
    variant = variant_title({"method": "train"} | columns_of(facts["data_options"]))
    about = about_of(facts, f"stride {facts['data_options']['stride']}{variant}", resources)
    file = given.build / facts["source"] / facts["dataset"] / f"{about['Split']}.parquet"
    pairs = read_table(file, dict.fromkeys([*READ, "text_a", "text_b", "label"])).to_pandas()
    gold = pairs["label"].to_numpy()
    systems = [
        labelled(
            run.facts,
            resources.models,
            read_scores(run, about["Split"], pairs["pair_id"], "pairs")[0],
            LABELS,
            gold,
        )
        for run in runs
    ]
    rows = pd.DataFrame(
        {
            "Item": pairs["pair_id"],
            "Shown first": pairs["text_a"],
            "Shown second": pairs["text_b"],
            "Gold": np.array(LABELS, dtype=object)[gold],
        }
    )
    people = answers_of_people(given.human, facts, about["Split"], pairs)
    return Place(about, rows, slices_of(parts_of(pairs)), systems + people)


def main(given: argparse.Namespace) -> None:
    resources = resources_of(given)
    runs = runs_by_place(given.train, given.runs, place_of)
    write_cards([place(each, given, resources) for each in runs], CAPTION, given.output)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets", "human")
