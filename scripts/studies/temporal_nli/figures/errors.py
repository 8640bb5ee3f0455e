"""Publish pairs of temporal-expression NLI as cards: for each source and challenge set, the first
evaluation split of the dataset that holds out only templates.

A model without the premise counts as a control. A model that knows two labels makes an error if it
takes entailment for not_entailment, or the other way round.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.studies.temporal_nli.parts import TEMPLATE
from scripts.data.tables import read_table
from scripts.publish.item import Given
from scripts.publish.cards import Items, publish_cards
from scripts.publish.names import details_of
from scripts.studies.temporal_nli.evaluate import LABELS
from scripts.studies.temporal_nli.figures.metrics import SETS, value_name

# The columns of each set that the page filters by.
PARTS = {
    "temp_order": ["choice", "premise_type", "next_cycle"],
    "temp_duration": ["hypothesis_type", "duration_format"],
    "cross_unit": ["unit_pair", "direction", "distance"],
}


def key(facts: Mapping) -> tuple | None:
    options = facts["data_options"]
    place = facts["source"], list(SETS).index(options["challenge_set"])
    return place if options["held_out"] == TEMPLATE else None


def read(items: Items) -> tuple:
    name = items.options["challenge_set"]
    columns = ["example_id", "text_a", "text_b", "label", *PARTS[name]]
    pairs = read_table(items.file, columns).to_pandas()
    gold = pairs["label"].to_numpy()
    rows = pd.DataFrame(
        {
            "Item": pairs["example_id"],
            "Premise": pairs["text_a"],
            "Hypothesis": pairs["text_b"],
            "Gold": np.array(LABELS, dtype=object)[gold],
        }
    )
    slices = {
        f"{column}={value_name(column, str(value).lower())}": pairs[column].eq(value).to_numpy(bool)
        for column in PARTS[name]
        for value in pairs[column].dropna().unique()
    }
    title = SETS[name] + details_of(items.facts["dataset"])
    return title, rows, slices, items.labelled(pairs["example_id"], "pairs", gold)


def main(given: Given) -> None:
    publish_cards(given, key, read)
