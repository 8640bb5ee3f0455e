"""Tabulate the size and contents of TimeDial's challenge, for each split and all splits, beside
table 3 of Qin et al. 2021.
"""

from functools import partial
from pathlib import Path

import pandas as pd

from scripts.data.tables import CHALLENGE, SPANS, read_table
from scripts.publish.item import Given
from scripts.publish.published import by_split, publish_statistics
from scripts.running.program import UserError
from scripts.studies.timedial.figures.metrics import RULES, corpus_title
from scripts.text.restored_dialogs import restored_turns

NAMES = {
    "instances": "instances",
    "dialogs": "different dialogs (original option in place)",
    "turns": "turns of a dialog",
    "words": "words of a turn",
    "expressions": "temporal expressions in different dialogs",
    "expressions_of_dialog": "temporal expressions of a dialog",
    "right": "right options of an instance",
    "wrong": "wrong options of an instance",
}
NAMES |= {f"rule_{rule}": f"wrong options by {title} (%)" for rule, title in RULES.items()}
COUNTS = ("instances", "dialogs", "expressions")


def statistics(challenge: pd.DataFrame, spans: pd.DataFrame, where: Path) -> pd.Series:
    turns = restored_turns(challenge, str(where))
    dialogs = turns.groupby("dialog_id", sort=False)["text"].agg("\n".join)
    different = dialogs.index[~dialogs.str.lower().duplicated()]
    labels, many = challenge["label"].value_counts(), len(dialogs)
    rules = challenge.loc[challenge["label"] == 0, "rule"].value_counts(normalize=True) * 100
    values = [
        many,
        len(different),
        len(turns) / many,
        turns["text"].str.split().str.len().mean(),
        spans["dialog_id"].isin(different).sum(),
        len(spans) / many,
        labels.get(1, 0) / many,
        labels.get(0, 0) / many,
        *(rules.get(rule, 0.0) for rule in RULES),
    ]
    return pd.Series(values, pd.MultiIndex.from_product([["all"], NAMES]), float)


def main(given: Given) -> None:
    sources, corpora = given.sources, {}
    for source in given.challenges:
        if source not in sources:
            raise UserError(
                f"{given.resources}/sources.yaml: no source {source}; it has {', '.join(sources)}"
            )
        splits: dict[str, list[pd.DataFrame]] = {}
        for split in sources[source]["splits"]:
            tables = [
                read_table(folder / source / f"{split}.parquet", schema.names).to_pandas()
                for folder, schema in ((given.cleaned, CHALLENGE), (given.spans, SPANS))
            ]
            splits |= {split: tables} if len(tables[0]) else {}
        values = by_split(splits, partial(statistics, where=given.cleaned / source))
        corpora[source] = corpus_title(source, sources), values
    names = {"slice": {"all": ""}, "metric": NAMES}
    publish_statistics(given, "timedial", "measured_on", corpora, names, COUNTS)
