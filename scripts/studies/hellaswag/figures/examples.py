"""Publish items of HellaSwag as cards: every ending with the rank and the score that each system
gives it. A wrong ending in first place counts as an error; so does the right ending in another
place.
"""

from collections.abc import Mapping

import pandas as pd

from scripts.measure.ranking import scores_of
from scripts.publish.item import Given
from scripts.publish.cards import Items, publish_cards
from scripts.studies.hellaswag.evaluate import read_endings


def key(facts: Mapping) -> tuple:
    return facts["source"], facts["data_options"]["domain"]


def read(items: Items) -> tuple:
    endings = read_endings(items.file)
    rows = pd.DataFrame(
        {
            "Item": endings["instance_id"],
            "Context": endings["context"].str.replace("<MASK>", "").str.rstrip(),
            "Ending": endings["candidate"],
            "Gold": endings["label"].map({1: "right", 0: "wrong"}),
        }
    )
    domains = endings.drop_duplicates("instance")["domain"].to_numpy()
    slices = {f"domain={name}": domains == name for name in sorted(set(domains))}
    systems = items.ranked(endings, lambda run: scores_of(run, items.split, endings)[0])
    return f"{items.options['domain']} items", rows, slices, systems


def main(given: Given) -> None:
    publish_cards(given, key, read)
