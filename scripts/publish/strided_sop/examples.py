"""Choose pairs to read: for each corpus and stride, right and wrong answers, sentences in the order of the video.

Taken are, of the first run of each corpus and stride (by name, on the first evaluation split, at the epoch chosen on
held-out videos), the surest right answers, the surest wrong ones, and the least sure of all.

Reads  metrics.parquet (for which corpora are samples), <train>/<run>/predictions.parquet and run.json,
       <build>/<source>/<dataset>/<split>.parquet (schema strided pairs), resources/sources.yaml and models.yaml
Writes <output>.csv, .md, .tex

    python -m scripts.publish.strided_sop.examples --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train/strided_sop \\
        --build results/build/strided_sop --runs RUN RUN … --output results/publish/default/tables/strided_sop_examples
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from scripts.common.program import execute, log
from scripts.common.runs import facts_of, read_predictions
from scripts.common.tables import read_table
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import notes_by_dataset, run_name
from scripts.publish.names import load, model_title
from scripts.publish.strided_sop.metrics import variant_title
from scripts.publish.table import write

EACH = {"right": 2, "wrong": 2, "undecided": 1}
CAPTION = ("Pairs in the order of the video, with the probability that the model gave to the right order. "
           "Right and wrong: the surest of each; undecided: nearest to one half.")


def answers(run_folder: Path, build: Path, split: str, facts: dict) -> pd.DataFrame:
    """Every pair of a split: first, second (in true order), right_probability, example_id."""
    table = read_predictions(run_folder, ["split", "selection", "example_id", "label", "score"])
    table = table.filter((pc.field("split") == split) & (pc.field("selection") != "peak")).combine_chunks()
    scores = pc.list_flatten(table["score"]).to_numpy().reshape(len(table), -1)
    right = np.exp(scores[np.arange(len(table)), table["label"].to_numpy()])
    frame = pd.DataFrame({"example_id": table["example_id"].to_pandas(), "right_probability": right})
    columns = ["pair_id", "text_a", "text_b", "label"]
    pairs = read_table(build / facts["source"] / facts["dataset"] / f"{split}.parquet", columns).to_pandas()
    joined = frame.merge(pairs, left_on="example_id", right_on="pair_id", validate="one_to_one")
    in_order = joined["label"] == 1
    return joined.assign(first=joined["text_a"].where(in_order, joined["text_b"]),
                         second=joined["text_b"].where(in_order, joined["text_a"]))


def variant_of(facts: dict) -> dict:
    """What variant_title() needs of a run.json."""
    return facts["data_options"] | {"method": facts["method"]}


def chosen(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs to read, with a column `outcome`; ties are broken by id."""
    ranked = pairs.sort_values(["right_probability", "example_id"], ignore_index=True)
    right, wrong = ranked[ranked["right_probability"] > 0.5], ranked[ranked["right_probability"] < 0.5]
    undecided = ranked.loc[(ranked["right_probability"] - 0.5).abs().sort_values(kind="stable").index]
    parts = {"right": right[::-1], "wrong": wrong, "undecided": undecided}
    taken = pd.concat([part.head(EACH[outcome]).assign(outcome=outcome) for outcome, part in parts.items()])
    return taken.drop_duplicates("example_id")


def examples(runs: list[str], train: Path, build: Path, sources: dict, models: dict,
             notes: dict[tuple, str]) -> pd.DataFrame:
    """A row of text for each pair to read (notes: of notes_by_dataset()): of a plain run, or where there is none at its stride of a size-matched one, say."""
    tables, seen = [], set()
    facts_by_run = {name: facts_of(train / name / "run.json") for name in runs}
    for name in sorted(runs, key=lambda run: (variant_title(variant_of(facts_by_run[run])), run)):
        facts = facts_by_run[name]
        point = facts["source"], facts["data_options"]["stride"]
        if point in seen:
            continue
        seen.add(point)
        split = sources[facts["source"]]["evaluate"][0]
        taken = chosen(answers(train / name, build, split, facts))
        tables.append(pd.DataFrame({
            "Corpus": sources[facts["source"]]["title"] + notes.get((facts["source"], facts["dataset"]), ""), "Stride": str(point[1]), "Split": split,
            "Model": f"{model_title(facts['model'], models)}, {run_name(facts)}{variant_title(variant_of(facts))}",
            "Outcome": taken["outcome"],
            "First": taken["first"], "Second": taken["second"],
            "P(right order)": taken["right_probability"].map("{:.2f}".format), "Pair": taken["example_id"],
        }))
    return pd.concat(tables, ignore_index=True)


def main(given: argparse.Namespace) -> None:
    metrics = read_table(given.metrics, ["source", "dataset", "sample", "limit"]).to_pandas()
    table = examples(given.runs, given.train, given.build, load(given.sources), load(given.models),
                     notes_by_dataset(metrics))
    write(table, CAPTION, ["Stride", "P(right order)"], given.output)
    log.info("%s: %d pairs to read", given.output, len(table))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs", "datasets").parse_args())
