"""Publish questions of MC-TACO as cards: every candidate with its label and each system's
judgement.

The systems are runs that learnt from all questions, and judgements that the paper's authors
released.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.data.tables import read_table
from scripts.publish.item import Given
from scripts.publish.cards import Items, System, publish_cards
from scripts.publish.names import model_title
from scripts.studies.mctaco.evaluate import slices
from scripts.studies.mctaco.figures.metrics import NORMALIZED
from scripts.studies.mctaco.prediction_files import released_judgements
from scripts.studies.mctaco.tables import ANSWERS

LABELS = np.array(["unlikely", "likely"], dtype=object)


def key(facts: Mapping) -> tuple | None:
    """Return corpus and unit normalization of a run that learnt from all questions; None for
    contrast pairs.
    """
    options = facts["data_options"]
    is_whole = options["train_questions"] is None and "contrast" not in options
    return (facts["source"], bool(options["unit_normalization"])) if is_whole else None


def released(items: Items, answers: pd.DataFrame) -> list[System]:
    """Return the released judgements of the paper's systems on these answers."""
    systems, source = [], items.facts["source"]
    for name, entry in items.sources[source].get("predictions", {}).items():
        if items.given.fetched and entry.get("split", items.split) == items.split:
            judged = released_judgements(
                items.given.fetched / source / entry["file"], answers["example_id"]
            )
            title = model_title(name, {name: entry})
            title += NORMALIZED if entry.get("unit_normalization") else ""
            score, wrong = np.full(len(judged), np.nan), judged != answers["label"].to_numpy()
            systems.append(System(title, "model", LABELS[judged], score, wrong))
    return systems


def read(items: Items) -> tuple:
    answers = read_table(items.file, ANSWERS.names).to_pandas()
    answers = answers.assign(question=pd.factorize(answers["group_id"])[0])
    parts = slices(answers)  # in the order of the questions
    order = answers.sort_values("question", kind="stable").index
    gold = answers["label"].to_numpy()
    systems = items.labelled(answers["example_id"], "answers", gold, list(LABELS))
    systems += released(items, answers)
    answers = answers.loc[order]
    rows = pd.DataFrame(
        {
            "Item": answers["group_id"],
            "Question": answers["text_a"],
            "Candidate": answers["answer"],
            "Read as": answers["text_b"].where(answers["text_b"] != answers["answer"], ""),
            "Gold": LABELS[gold[order]],
        }
    )
    rows = rows if (rows["Read as"] != "").any() else rows.drop(columns="Read as")
    systems = [System(*one[:2], *(column[order] for column in one[2:])) for one in systems]
    is_normalized = items.options["unit_normalization"]
    return "units normalized" if is_normalized else "as written", rows, parts, systems


def main(given: Given) -> None:
    publish_cards(given, key, read)
