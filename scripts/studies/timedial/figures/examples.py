"""Publish dialogs of TimeDial as cards, as table 6 of Qin et al. 2021: every option with the score
and rank that each system gives it.

The chosen options are the highest, as many as there are right options. A chosen wrong option counts
as an error; so does a right option that is not chosen.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.data.tables import read_table
from scripts.studies.timedial.tables import CLOZE
from scripts.measure.ranking import checked, scores_of
from scripts.studies.timedial.tallies import slices, with_time_and_form
from scripts.publish.item import Given
from scripts.publish.cards import Items, System, most_right, publish_cards
from scripts.publish.names import source_title
from scripts.studies.timedial.figures.metrics import RULES, SCOPES


def key(facts: Mapping) -> tuple:
    return facts["source"], -SCOPES.index(facts["data_options"]["context_scope"])


def misled_by(options: pd.DataFrame, systems: list[System]) -> dict[str, np.ndarray]:
    """Return for each rule the instances in which the best model ranks a wrong option of that rule
    as right.
    """
    item = options["instance"].to_numpy()
    best = most_right(systems, "model", item)
    taken = best[0][0].wrong & (options["label"] == 0) if best else np.zeros(len(item), bool)
    return {
        f"model misled by={title}": np.bincount(item, taken & (options["rule"] == rule)) > 0
        for rule, title in RULES.items()
    }


def read(items: Items) -> tuple:
    options = checked(read_table(items.file, CLOZE.names).to_pandas(), items.file)
    rows = pd.DataFrame(
        {
            "Item": options["instance_id"],
            "Dialog": options["context"].str.replace("<MASK>", "____"),
            "Option": options["candidate"],
            "Rule": options["rule"].map(RULES).fillna(""),
            "Gold": options["label"].map({1: "right", 0: "wrong"}),
        }
    )
    systems = items.ranked(options, lambda run: scores_of(run, items.split, options)[0])
    parts = slices(with_time_and_form(options)) | misled_by(options, systems)
    source, name = items.facts["source"], f"{items.options['context_scope']} context"
    if "measured_on" in items.sources[source]:
        name += f", learnt from {source_title(source, items.sources)}"
    return name, rows, parts, systems


def main(given: Given) -> None:
    publish_cards(given, key, read)
