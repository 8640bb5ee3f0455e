"""Tabulate what MC-TACO holds beside what the paper prints of it (Zhou et al. 2019, table 1).

Questions (one with its sentence: the authors group by both), question and answer pairs, words of a sentence, question and
answer (split at white space, a pair each counted), and by category the questions and the candidates of each; of all splits
together, as in the paper, and of each.

Reads  <cleaned>/<source>/<split>.parquet (schema questions), metrics.parquet (which corpora were measured on), sources.yaml,
       published.csv beside it
Writes <output>.csv, .md, .tex

    python -m scripts.publish.mctaco.statistics --metrics results/evaluate/default/metrics.parquet --cleaned results/clean \\
        --sources resources/sources.yaml --models resources/models.yaml --output results/publish/tables/mctaco_statistics
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.common.program import execute, log
from scripts.common.tables import QUESTIONS, read_table
from scripts.publish.arguments import publisher_arguments
from scripts.publish.comparison import settings_of
from scripts.publish.mctaco.metrics import CATEGORIES, claims_of, mctaco_metrics, title_of
from scripts.publish.names import load, load_systems
from scripts.publish.table import write

PREFIX = "statistics."  # of the paper's metrics
NAMES = {"questions": "questions", "pairs": "question and answer pairs", "sentence_words": "words of a sentence",
         "question_words": "words of a question", "answer_words": "words of an answer",
         "candidates": "candidates of a question", "likely": "likely answers (%)"}
CAPTION = ("What MC-TACO holds: counts and means of the cleaned corpus beside table 1 of Zhou et al. 2019. A question is one "
           "with its sentence; words are split at white space, and means of words are over question and answer pairs. The "
           "released development file is the train split here.")


def statistics(answers: pd.DataFrame) -> pd.DataFrame:
    """slice (all, or a category), metric and value of a table of the schema questions."""
    words = pd.DataFrame({f"{name}_words": answers[name].str.split().str.len() for name in ("sentence", "question", "answer")})
    rows = []
    for name in ("all", *CATEGORIES):
        part = answers if name == "all" else answers[answers["category"] == name]
        if part.empty:
            continue
        questions = part["question_id"].nunique()
        found = {"questions": questions, "pairs": len(part), "candidates": len(part) / questions,
                 "likely": part["label"].mean() * 100}
        found |= words.loc[part.index].mean().to_dict() if name == "all" else {}
        rows += [{"slice": name if name == "all" else f"category={name}", "metric": metric, "value": value}
                 for metric, value in found.items()]
    return pd.DataFrame(rows)


def written(metric: str, value: float) -> str:
    """A count as it is, a mean with one decimal."""
    return f"{value:,.0f}" if metric in ("questions", "pairs") else f"{value:.1f}"


def printed(claims: pd.DataFrame, source: str) -> dict[tuple[str, str], str]:
    """What the paper prints on a corpus, by slice and metric."""
    claims = claims[claims["metric"].str.startswith(PREFIX)]
    settings = claims["setting"].map(settings_of)
    return {(part["slice"], metric.removeprefix(PREFIX)): value
            for part, metric, value in zip(settings, claims["metric"], claims["value"]) if part["source"] == source}


def tabulate(cleaned: Path, source: str, claims: pd.DataFrame, title: str) -> pd.DataFrame:
    """A row of text for each number of one corpus."""
    splits = {file.stem: read_table(file, QUESTIONS.names).to_pandas() for file in sorted((cleaned / source).glob("*.parquet"))}
    whole = pd.concat(splits.values(), ignore_index=True)
    key, paper = ["slice", "metric"], printed(claims, source)
    tables = {"All": statistics(whole)} | {split: statistics(rows) for split, rows in splits.items()}
    values = {name: table.set_index(key)["value"] for name, table in tables.items()}
    order = sorted(values["All"].index, key=lambda at: ["all", *(f"category={name}" for name in CATEGORIES)].index(at[0]) * 100
                   + list(NAMES).index(at[1]))
    return pd.DataFrame([
        {"Corpus": title, "Of": "all" if part == "all" else CATEGORIES[part.removeprefix("category=")], "Number": NAMES[metric]}
        | {name: written(metric, value[part, metric]) if (part, metric) in value.index else "" for name, value in values.items()}
        | {"In the paper": paper.get((part, metric), "")} for part, metric in order])


def main(given: argparse.Namespace) -> None:
    sources, claims = load(given.sources), claims_of(given.sources.parent / "published.csv")
    metrics = mctaco_metrics(given.metrics, load_systems(given.models, given.sources))
    samples = metrics.groupby("source")["sample"].any()
    table = pd.concat([tabulate(given.cleaned, source, claims, title_of(source, sources) + (" [sample data]" if sample else ""))
                       for source, sample in samples.items()], ignore_index=True).fillna("")
    table = table.loc[:, [name for name in table if (table[name] != "").any()]]
    write(table, CAPTION + (" SAMPLE DATA where marked: made-up questions, not a corpus." if samples.any() else ""),
          [name for name in table if name not in ("Corpus", "Of", "Number")], given.output)
    log.info("%s: %d numbers, %d of them in the paper", given.output, len(table),
             (table["In the paper"] != "").sum() if "In the paper" in table else 0)


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "cleaned").parse_args())
