"""Tabulate the size and contents of MC-TACO, for each split and all splits, beside table 1 of Zhou
et al. 2019.
"""

import pandas as pd

from scripts.data.tables import QUESTIONS, read_table
from scripts.publish.item import Given
from scripts.publish.names import source_title
from scripts.publish.published import by_split, publish_statistics
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
WORDS = ["sentence_words", "question_words", "answer_words"]  # only for all categories together
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


def main(given: Given) -> None:
    sources, corpora = given.sources, {}
    metrics = mctaco_metrics(given.metrics, given.models)
    for source, sample in metrics.groupby("source")["sample"].any().items():
        files = sorted((given.cleaned / source).glob("*.parquet"))
        splits = {file.stem: [read_table(file, QUESTIONS.names).to_pandas()] for file in files}
        title = source_title(source, sources) + (" [sample data]" if sample else "")
        corpora[source] = title, by_split(splits, statistics)
    names = {"slice": PARTS, "metric": NAMES}
    publish_statistics(given, "mctaco", "source", corpora, names, ["questions", "pairs"])
