"""Tabulate what TimeDial's challenge holds, of all splits together and of each, beside table 3 of
Qin et al. 2021.
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.data.tables import CHALLENGE, SPANS, read_table
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.published import STATISTICS, claims_beside, statistics_table
from scripts.publish.table import filled, publish_table, with_commas
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
    return pd.Series(dict(zip(NAMES, values)))


def read_challenge(
    given: argparse.Namespace, source: str, splits: list[str]
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """By split the options of a challenge, and the temporal expressions of its dialogs."""
    tables = (
        [
            read_table(folder / source / f"{split}.parquet", schema.names).to_pandas()
            for split in splits
        ]
        for folder, schema in ((given.cleaned, CHALLENGE), (given.spans, SPANS))
    )
    return dict(zip(splits, zip(*tables)))


def tabulate(
    cleaned: Path,
    tables: dict[str, tuple[pd.DataFrame, pd.DataFrame]],
    claims: pd.DataFrame,
    title: str,
) -> pd.DataFrame:
    tables = {split: parts for split, parts in tables.items() if len(parts[0])}
    values = {
        split: statistics(*parts, cleaned / f"{split}.parquet") for split, parts in tables.items()
    }
    if len(values) > 1:
        challenge, spans = (pd.concat(parts, ignore_index=True) for parts in zip(*tables.values()))
        values = {"All": statistics(challenge, spans, cleaned)} | values
    every = pd.concat({"all": pd.DataFrame(values)}, names=["slice", "metric"])
    table = statistics_table(every, COUNTS, claims).reset_index(drop=True)
    table["In the paper"] = table["In the paper"].map(with_commas)
    names = pd.DataFrame({"Corpus": title, "Number": list(NAMES.values())})
    return pd.concat([names, table], axis=1)


def main(given: argparse.Namespace) -> None:
    sources, tables = load(given.sources), []
    if lost := [name for name in given.challenges if name not in sources]:
        raise UserError(f"{given.sources}: no source {lost[0]}; it has {', '.join(sources)}")
    claims = claims_beside(given.sources, "timedial", ["measured_on", "slice"])
    claims = claims[claims["metric"].str.startswith(STATISTICS)]
    for source in given.challenges:
        parts = read_challenge(given, source, sources[source]["splits"])
        about = claims[claims["measured_on"] == source]
        title = corpus_title(source, sources)
        tables.append(tabulate(given.cleaned / source, parts, about, title))
    table = pd.concat(tables, ignore_index=True).fillna("")
    order = sorted(table, key="In the paper".__eq__)
    table = filled(table[order], order[:-1])
    publish_table(given, table, ["Corpus", "Number"])


if __name__ == "__main__":
    run_program(main, __doc__, "spans")
