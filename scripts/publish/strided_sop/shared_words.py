"""Tabulate how many words the two texts of a pair share: of the error types of Jain et al. 2020 (table 1) those that a program can tell.

Repeated words: a run of RUN words of one text stands in the other one, as where speech captions roll on. No shared word: not
even "the"; then nothing but what is told orders the two. Of each evaluation split at most MOST pairs are counted, drawn by hash. Other types are
told by people (scripts/publish/people.py).

Reads  metrics.parquet (for which corpora are samples), <build>/<source>/<dataset>/<split>.parquet, resources/sources.yaml for titles
Writes <output>.csv, .md, .tex

    python -m scripts.publish.strided_sop.shared_words --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --build results/build/strided_sop \\
        --output results/publish/default/tables/strided_sop_shared_words
"""

import argparse

import numpy as np
import pandas as pd

from scripts.build.word_overlap import runs_of
from scripts.common.program import execute, log
from scripts.common.tables import read_sample
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import caption_of, note_of
from scripts.publish.names import load, split_title
from scripts.publish.strided_sop.metrics import strided_metrics
from scripts.publish.table import percent, write

RUN = 4  # words
MOST, DRAW = 100_000, 31  # pairs of a split that are counted, drawn by hash
WORDS = ["Corpus", "Split"]
CAPTION = (f"Words that the two texts of a pair share. Repeated words: a run of {RUN} words of one stands in the other. No shared word: none at "
           f"all. Pairs of the evaluation splits, at most {MOST:,} of each.")


def repeats(pairs: pd.DataFrame, run: int) -> np.ndarray:
    """(n,) whether a run of so many words of text_a stands in text_b."""
    first, second = (runs_of(pairs[name], run)[["text", "run"]].drop_duplicates() for name in ("text_a", "text_b"))
    found = np.zeros(len(pairs), bool)
    found[first.merge(second, on=["text", "run"])["text"].unique()] = True
    return found


def tabulate(metrics: pd.DataFrame, build, sources: dict) -> pd.DataFrame:
    """A row of text for each dataset and split that was measured on, from a table made by strided_metrics()."""
    rows = []
    for _, row in metrics.drop_duplicates(["source", "split", "dataset"]).sort_values(["source", "split", "stride"], kind="stable").iterrows():
        file = build / row["source"] / row["dataset"] / f"{row['split']}.parquet"
        pairs = read_sample(file, ["pair_id", "text_a", "text_b"], "pair_id", MOST, DRAW).to_pandas()
        repeated, shared = repeats(pairs, RUN), repeats(pairs, 1)
        rows.append({"Corpus": sources.get(row["source"], {}).get("title", row["source"]) + note_of(row), "Split": split_title(row["split"]),
                     "Dataset": row["dataset"], "Stride": str(row["stride"]), "Pairs": f"{len(pairs):,}",
                     "Repeated words (%)": percent(repeated.mean()), "No shared word (%)": percent((~shared).mean())})
    return pd.DataFrame(rows)


def main(given: argparse.Namespace) -> None:
    metrics = strided_metrics(given.metrics, load(given.models))
    table = tabulate(metrics, given.build, load(given.sources))
    write(table, caption_of(CAPTION, metrics, "made-up sentences, not a corpus"),
          [name for name in table if name not in [*WORDS, "Dataset"]], given.output)
    log.info("%s: %d datasets", given.output, len(table))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "datasets").parse_args())
