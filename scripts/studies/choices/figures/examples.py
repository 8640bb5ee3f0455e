"""Publish questions as cards: every option with the rank and the score that each system gives it. A
wrong option in first place counts as an error; so does a right option in another place.
"""

from collections.abc import Mapping

import pandas as pd

from scripts.measure.ranking import scores_of
from scripts.publish.item import Given
from scripts.publish.cards import Items, publish_cards
from scripts.studies.choices.evaluate import read_options, slices_of


def key(facts: Mapping) -> tuple:
    return facts["source"], facts["data_options"]["category"]


def read(items: Items) -> tuple:
    options = read_options(items.file)
    rows = pd.DataFrame(
        {
            "Item": options["instance_id"],
            "Text": options["context"].str.replace(" ?<MASK>$", "", regex=True),
            "Option": options["candidate"],
            "Gold": options["label"].map({1: "right", 0: "wrong"}),
        }
    )
    slices = slices_of(options.drop_duplicates("instance"))
    systems = items.ranked(options, lambda run: scores_of(run, items.split, options)[0])
    return f"{items.options['category'] or 'all'} items", rows, slices, systems


def main(given: Given) -> None:
    publish_cards(given, key, read)
