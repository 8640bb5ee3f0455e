"""Tabulate what MC-TACO holds, of all splits together and of each, beside table 1 of Zhou et al.
2019.
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.data.tables import QUESTIONS, read_table
from scripts.publish.arguments import run_program
from scripts.publish.names import load, load_systems, source_title
from scripts.publish.published import STATISTICS, claims_beside, statistics_table
from scripts.publish.table import filled, publish_table
from scripts.studies.mctaco.figures.metrics import SLICES, mctaco_metrics

NAMES = {
    "questions": "questions",
    "pairs": "question and answer pairs",
    "sentence_words": "words of a sentence",
    "question_words": "words of a question",
    "answer_words": "words of an answer",
    "candidates": "candidates of a question",
    "likely": "likely answers (%)",
}
WORDS = ["sentence_words", "question_words", "answer_words"]  # counted over all categories alone
PARTS = {"all": "all"} | SLICES


def statistics(answers: pd.DataFrame) -> pd.Series:
    words = {name: answers[name.removesuffix("_words")].str.split().str.len() for name in WORDS}
    rows = answers.assign(**words)
    parts = pd.concat([rows.assign(slice="all"), rows.assign(slice="category=" + rows["category"])])
    table = parts.groupby("slice").agg(
        questions=("question_id", "nunique"),
        pairs=("label", "size"),
        likely=("label", "mean"),
        **{name: (name, "mean") for name in WORDS},
    )
    table["candidates"] = table["pairs"] / table["questions"]
    table["likely"] *= 100
    table[WORDS] = table[WORDS].where(table.index.to_series() == "all", axis=0)
    return table.reindex(list(PARTS))[list(NAMES)].rename_axis(columns="metric").stack().dropna()


def tabulate(cleaned: Path, claims: pd.DataFrame, title: str) -> pd.DataFrame:
    files = sorted(cleaned.glob("*.parquet"))
    splits = {file.stem: read_table(file, QUESTIONS.names).to_pandas() for file in files}
    parts = {"All": pd.concat(splits.values(), ignore_index=True)} | splits
    values = pd.DataFrame({name: statistics(rows) for name, rows in parts.items()})
    values = values.reindex(statistics(parts["All"]).index)
    slices, metrics = (values.index.get_level_values(level) for level in values.index.names)
    table = statistics_table(values, ["questions", "pairs"], claims).reset_index(drop=True)
    names = {"Corpus": title, "Of": slices.map(PARTS), "Number": metrics.map(NAMES)}
    return pd.concat([pd.DataFrame(names), table], axis=1)


def main(given: argparse.Namespace) -> None:
    sources = load(given.sources)
    claims = claims_beside(given.sources, "mctaco", ["source", "slice"])
    claims = claims[claims["metric"].str.startswith(STATISTICS)]
    metrics = mctaco_metrics(given.metrics, load_systems(given.models, given.sources))
    samples, tables = metrics.groupby("source")["sample"].any(), []
    for source, sample in samples.items():
        title = source_title(source, sources) + " [sample data]" * sample
        about = claims[claims["source"] == source]
        tables.append(tabulate(given.cleaned / source, about, title))
    table = filled(pd.concat(tables, ignore_index=True).fillna(""), [])
    publish_table(given, table, ["Corpus", "Of", "Number"])


if __name__ == "__main__":
    run_program(main, __doc__, "cleaned")
