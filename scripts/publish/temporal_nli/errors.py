"""Choose errors of temporal-expression NLI to read: the surest wrong answers of each model and method.

Taken are, of the first run (by seed) of each source, challenge set, model and method, on the first evaluation split, at
the epoch with the lowest loss on dev: the wrong answers with the highest probability, no two of them of one template and one
kind (how the times are chosen in set I, the hypothesis in set II, the units in set III), and of different templates and
kinds as far as there are enough. A run without errors has no rows.

Reads  metrics.parquet (for which datasets are reduced), <train>/<run>/predictions.parquet and run.json,
       <build>/<source>/<dataset>/<split>.parquet (schema nli), resources/sources.yaml and models.yaml
Writes <output>.csv, .md, .tex

    python -m scripts.publish.temporal_nli.errors --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train/temporal_nli \\
        --build results/build/temporal_nli --runs RUN RUN … --output results/publish/default/tables/temporal_nli_errors
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from scripts.build.temporal_nli_parts import TEMPLATE
from scripts.common.program import UserError, execute, log
from scripts.common.runs import facts_of, read_predictions
from scripts.common.tables import read_table
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import notes_by_dataset
from scripts.publish.names import load, method_title, model_title
from scripts.publish.table import write
from scripts.publish.temporal_nli.metrics import LABELS, METHODS, SETS, data_title, value_name

EACH = 3
KIND = {"temp_order": "choice", "temp_duration": "hypothesis_type", "cross_unit": "unit_pair"}
COLUMNS = ["Source", "Challenge set", "Model", "Method", "Premise", "Hypothesis", "Label", "Predicted", "Probability",
           "Kind", "Pair"]
CAPTION = ("Errors to read: of each source, challenge set, model and method (first seed or wording) the surest wrong answers, of "
           "different templates and kinds, with the probability that the model gave to its answer.")


def errors(run_folder: Path, build: Path, split: str, facts: dict) -> pd.DataFrame:
    """Every wrong answer of a run: the pair's columns, kind, predicted, probability (of what was predicted).

    A model that knows two labels is wrong where it takes entailment for not_entailment, or the other way round.
    """
    file = run_folder / "predictions.parquet"
    table = read_predictions(run_folder, ["split", "selection", "example_id", "score"])
    wanted = (pc.field("split") == split) & (pc.field("selection") != "peak")
    told = table.filter(wanted).select(["example_id", "score"]).to_pandas()
    columns = ["example_id", "group_id", "text_a", "text_b", "label", KIND[facts["data_options"]["challenge_set"]]]
    pairs = read_table(build / facts["source"] / facts["dataset"] / f"{split}.parquet", columns).to_pandas()
    joined = pairs.merge(told, on="example_id", validate="one_to_one")
    if len(joined) != len(pairs):
        raise UserError(f"{file}: has {len(joined)} of the {len(pairs)} pairs of {split}; run it again")
    scores = np.stack(joined["score"].to_numpy())
    answer, names = scores.argmax(1), facts["labels"]
    right = np.minimum(joined["label"].to_numpy(), len(names) - 1)  # of two labels the second is what is not entailment
    joined = joined.assign(predicted=np.array(names, dtype=object)[answer], probability=np.exp(scores.max(1)),
                           kind=joined[columns[-1]].map(lambda value: value_name(columns[-1], value)))
    return joined[answer != right]


def chosen(wrong: pd.DataFrame) -> pd.DataFrame:
    """The errors to read, surest first; ties are broken by id."""
    ranked = wrong.sort_values(["probability", "example_id"], ascending=[False, True])
    apart = ranked.drop_duplicates("group_id").drop_duplicates("kind")
    return pd.concat([apart, ranked]).drop_duplicates(["group_id", "kind"]).head(EACH).sort_values(
        ["probability", "example_id"], ascending=[False, True])


def first_runs(train: Path, runs: list[str], models: dict) -> dict[str, dict]:
    """run.json of the first run (by seed) of each source, set, model and method, by name, in the order of the page.

    Those that hold out more than templates are left out.
    """
    facts = {name: facts_of(train / name / "run.json") for name in runs}
    facts = {name: fact for name, fact in facts.items() if fact["data_options"]["held_out"] == TEMPLATE}
    order = pd.DataFrame([
        {"name": name, "place": list(SETS).index(fact["data_options"]["challenge_set"]),
         "model_place": list(models).index(fact["model"]), "method_place": METHODS.index(fact["method"]),
         **{key: fact[key] for key in ("source", "dataset", "model", "method", "seed")}}
        for name, fact in facts.items()])
    order = order.sort_values(["source", "place", "dataset", "model_place", "method_place", "seed", "name"])
    return {name: facts[name] for name in order.drop_duplicates(["source", "dataset", "model", "method"])["name"]}


def tabulate(runs: list[str], train: Path, build: Path, sources: dict, models: dict,
             notes: dict[tuple, str]) -> pd.DataFrame:
    """A row of text for each error to read; notes: of notes_by_dataset()."""
    tables = [pd.DataFrame(columns=COLUMNS)]
    for name, fact in first_runs(train, runs, models).items():
        taken = chosen(errors(train / name, build, sources[fact["source"]]["evaluate"][0], fact))
        tables.append(pd.DataFrame({
            "Source": data_title(fact["source"], fact["dataset"], sources) + notes.get((fact["source"], fact["dataset"]), ""),
            "Challenge set": SETS[fact["data_options"]["challenge_set"]],
            "Model": model_title(fact["model"], models), "Method": method_title(fact["method"]),
            "Premise": taken["text_a"], "Hypothesis": taken["text_b"],
            "Label": taken["label"].map(dict(enumerate(LABELS))), "Predicted": taken["predicted"].str.replace("_", " "),
            "Probability": taken["probability"].map("{:.2f}".format), "Kind": taken["kind"],
            "Pair": taken["example_id"],
        }))
    return pd.concat(tables, ignore_index=True)


def main(given: argparse.Namespace) -> None:
    metrics = read_table(given.metrics, ["source", "dataset", "sample", "limit"]).to_pandas()
    table = tabulate(given.runs, given.train, given.build, load(given.sources), load(given.models),
                     notes_by_dataset(metrics))
    write(table, CAPTION, ["Probability"], given.output)
    log.info("%s: %d errors to read", given.output, len(table))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs", "datasets").parse_args())
