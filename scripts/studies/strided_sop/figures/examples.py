"""Publish pairs of sentences as cards, as a model read them: for each corpus and stride, the first
evaluation split.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.data.items import items_of
from scripts.data.tables import read_table
from scripts.measure.elsewhere.people import are_for, rows_of
from scripts.studies.strided_sop.slices import READ, parts_of, slices_of
from scripts.studies.strided_sop.evaluate import columns_of
from scripts.publish.item import Given
from scripts.publish.cards import Items, System, publish_cards
from scripts.studies.strided_sop.figures.metrics import variant_title

LABELS = ["swapped", "in order"]


def key(facts: Mapping) -> tuple | None:
    """Return corpus and stride; None for a mixture of strides, or for spans."""
    options = facts["data_options"]
    is_pair = isinstance(options["stride"], int) and not options.get("span")
    return (facts["source"], options["stride"]) if is_pair else None


def answers_of_people(items: Items, pairs: pd.DataFrame) -> list[System]:
    if not items.given.human:
        return []
    answers = pd.concat(map(rows_of, items.given.human))
    answers = answers[are_for(answers, items.facts) & (answers["split"] == items.split)]
    ids = [f"{item:016x}" for item in items_of(pairs["pair_id"])]
    counts = answers.groupby(["item", "candidate"]).size().unstack(fill_value=0)
    labels = [label.replace(" ", "_") for label in LABELS]
    counts = counts.reindex(index=ids, columns=labels, fill_value=0).to_numpy()
    if not counts.any():
        return []
    several = answers["system"].nunique() > 1
    texts = [
        ", ".join(
            f"{label} ({count})" if several else label for label, count in zip(LABELS, row) if count
        )
        for row in counts
    ]
    right = np.eye(2, dtype=bool)[pairs["label"]]
    wrong = counts[~right] > counts[right]  # most people chose the wrong label
    score = np.full(len(pairs), np.nan)
    return [System("people", "human", np.array(texts, dtype=object), score, wrong)]


def read(items: Items) -> tuple:
    pairs = read_table(items.file, dict.fromkeys([*READ, "text_a", "text_b", "label"])).to_pandas()
    gold = pairs["label"].to_numpy()
    rows = pd.DataFrame(
        {
            "Item": pairs["pair_id"],
            "Shown first": pairs["text_a"],
            "Shown second": pairs["text_b"],
            "Gold": np.array(LABELS, dtype=object)[gold],
        }
    )
    systems = items.labelled(pairs["pair_id"], "pairs", gold, LABELS)
    systems += answers_of_people(items, pairs)
    variant = variant_title({"method": "train"} | columns_of(items.options))
    return f"stride {items.options['stride']}{variant}", rows, slices_of(parts_of(pairs)), systems


def main(given: Given) -> None:
    publish_cards(given, key, read)
