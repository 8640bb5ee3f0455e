"""Choose questions of MC-TACO to read: every candidate with its label, what the best model judged, and how sure it was.

The best system of each corpus is the one with the highest exact match; of a model's runs the one with the lowest seed is
read, at the epoch that is reported. Shown are

  gap    questions of duration or frequency in which two quantities are accepted and one between them is rejected, as
         "1 hour" and "9 hours" without the hours between (Zhou et al. 2019, section 4); most rejected first
  wrong  of each category the question with the surest wrong judgement
  right  of each category, of the questions with every candidate judged right, the surest

Reads  metrics.parquet (schema metrics), <train>/<run>/predictions.parquet and run.json,
       <build>/<source>/<dataset>/<split>.parquet (schema answers), <fetched>/<source>/<file> of released judgements,
       resources/sources.yaml and models.yaml
Writes <output>.csv, .md, .tex: a row for each candidate, quantities in their order

    python -m scripts.publish.mctaco.errors --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train/mctaco \\
        --build results/build/mctaco --fetched results/fetch --runs RUN RUN … \\
        --output results/publish/default/tables/mctaco_errors
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from scripts.common.probe import BLIND
from scripts.common.program import UserError, execute, log
from scripts.common.runs import facts_of, read_predictions
from scripts.common.tables import ANSWERS, read_table
from scripts.evaluate.experiment import EXTERNAL
from scripts.evaluate.mctaco import consistency, quantity_of
from scripts.evaluate.mctaco_predictions import released_judgements
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import note_of, run_name
from scripts.publish.mctaco.metrics import (
    BASELINES, CATEGORIES, load_systems, mctaco_metrics, over_seeds, title_of, trained_most)
from scripts.publish.names import load
from scripts.publish.table import write

GAPS = {"duration": 2, "frequency": 1}
EACH = {"wrong": 1, "right": 1}  # of each category
JUDGED = {1: "accepted", 0: "rejected"}
CAPTION = ("Questions of MC-TACO with every candidate, its label, what the best system judged, and the probability it "
           "gave to likely (released judgements have none). Gap: quantities accepted, but not those between. Wrong: the surest wrong judgement of each "
           "category. Right: the surest question without a mistake.")


def best_systems(metrics: pd.DataFrame) -> pd.DataFrame:
    """Of each corpus and split the row of the model (no control) with the highest exact match, from a table of mctaco_metrics()."""
    rows = trained_most(over_seeds(metrics))
    rows = rows[(rows["metric"] == "exact_match") & (rows["slice"] == "all") & ~rows["model"].isin(BASELINES)]
    rows = rows[~rows["method"].isin(["control", EXTERNAL]) & ~rows["method"].str.endswith(BLIND)]
    return rows.loc[rows.groupby(["source", "split"], sort=False)["value"].idxmax()]


def run_of(best: pd.Series, every: list[dict], train: Path) -> dict:
    """run.json of the run with the lowest seed of a system (best_systems)."""
    keys = ["source", "dataset", "model", "method"]
    same = [facts for facts in every if all(facts[key] == best[key] for key in keys)]
    if not same:
        raise UserError(f"{train}: none of the runs named is of {best['model']} on {best['source']} {best['dataset']}, "
                        "the best of the metrics; name its runs, or evaluate the runs again")
    return min(same, key=lambda facts: (facts["seed"], facts["run"]))


def dataset_like(best: pd.Series, every: list[dict]) -> str:
    """A dataset of a corpus whose answers read as those that released judgements were made of."""
    of_source = [facts for facts in every if facts["source"] == best["source"]]
    return min(of_source, key=lambda facts: (facts["data_options"]["unit_normalization"] != best["unit_normalization"],
                                             facts["dataset"]))["dataset"]


def answers_of(file: Path) -> pd.DataFrame:
    """Every answer of a split, with seconds (the quantity, where there is one; of a range the middle on a log scale) and
    order (in the data)."""
    answers = read_table(file, ANSWERS.names).to_pandas()
    return answers.assign(seconds=quantity_of(answers["answer"]), order=range(len(answers)))


def judgements(answers: pd.DataFrame, folder: Path, split: str) -> pd.DataFrame:
    """answers_of() a split with what a run judged: likely (its probability), accepted, right."""
    table = read_predictions(folder, ["split", "selection", "example_id", "score"])
    table = table.filter((pc.field("split") == split) & (pc.field("selection") != "peak")).combine_chunks()
    scores = pc.list_flatten(table["score"]).to_numpy().reshape(len(table), -1)
    frame = pd.DataFrame({"example_id": table["example_id"].to_pandas(), "likely": np.exp(scores[:, 1]),
                          "accepted": scores.argmax(1)})
    joined = answers.merge(frame, on="example_id", validate="one_to_one")
    if len(joined) != len(answers):
        raise UserError(f"{folder}: its predictions are not of the answers that were built; run it again")
    return joined.assign(right=joined["accepted"] == joined["label"])


def judged_by(best: pd.Series, given: argparse.Namespace, sources: dict) -> tuple[str, pd.DataFrame]:
    """Who is shown, and every answer with what that system judged (judgements)."""
    every = [facts_of(given.train / name / "run.json") for name in given.runs]
    released = best["method"] == "released"
    facts = {} if released else run_of(best, every, given.train)
    dataset = dataset_like(best, every) if released else best["dataset"]
    answers = answers_of(given.build / best["source"] / dataset / f"{best['split']}.parquet")
    if not released:
        return f"{best['system']}, {run_name(facts)}", judgements(answers, given.train / facts["run"], best["split"])
    file = given.fetched / best["source"] / sources[best["source"]]["predictions"][best["model"]]["file"]
    accepted = released_judgements(file, answers)
    return best["system"], answers.assign(accepted=accepted, likely=accepted.astype(float), right=accepted == answers["label"])


def gaps(rows: pd.DataFrame) -> pd.Series:
    """By group_id of each question with a gap: how many quantities between accepted ones are rejected, most first."""
    ranged = rows[rows["category"].isin(GAPS)]
    if ranged.empty:
        return pd.Series(dtype=float)
    number, names = pd.factorize(ranged["group_id"])
    broken = names[consistency(ranged["accepted"].to_numpy(), ranged["seconds"].to_numpy(), number) == 0]
    amounts = ranged[ranged["group_id"].isin(broken)].dropna(subset="seconds")
    taken = amounts[amounts["accepted"] == 1].groupby("group_id")["seconds"].agg(["min", "max"])
    ends = amounts[["group_id"]].join(taken, on="group_id")
    between = (amounts["accepted"] == 0) & (amounts["seconds"] > ends["min"]) & (amounts["seconds"] < ends["max"])
    return between.groupby(amounts["group_id"]).sum().sort_index().sort_values(ascending=False, kind="stable")


def chosen(rows: pd.DataFrame) -> pd.DataFrame:
    """The questions to read: group_id, outcome, category; no question twice. From a table of judgements()."""
    sure = np.where(rows["accepted"] == 1, rows["likely"], 1 - rows["likely"])
    rows = rows.assign(sure=sure, surely_wrong=np.where(rows["right"], 0, sure))
    questions = rows.groupby("group_id").agg(
        category=("category", "first"), right=("right", "all"), least=("sure", "min"), size=("sure", "size"),
        worst=("surely_wrong", "max"))
    broken = gaps(rows)
    broken = pd.DataFrame({"category": questions["category"].reindex(broken.index)})
    parts = [broken[broken["category"] == name].head(many).assign(outcome="gap") for name, many in GAPS.items()]
    left = questions[~questions.index.isin(pd.concat(parts).index)].sort_index()
    # A question with a single candidate says little of a model that judges each candidate for itself.
    ranked = {"wrong": left[~left["right"]].sort_values("worst", ascending=False, kind="stable"),
              "right": left[left["right"] & (left["size"] > 1)].sort_values("least", ascending=False, kind="stable")}
    parts += [ranked[outcome][ranked[outcome]["category"] == name].head(many).assign(outcome=outcome)
              for name in CATEGORIES for outcome, many in EACH.items()]
    return pd.concat(parts)[["outcome", "category"]].rename_axis("group_id").reset_index()


def shown(best: pd.Series, who: str, rows: pd.DataFrame, sources: dict) -> pd.DataFrame:
    """A row of text for each candidate of the chosen questions."""
    probability = "" if best["method"] == "released" else "{:.2f}"
    taken = chosen(rows).assign(place=lambda table: range(len(table))).drop(columns="category")
    told = taken.merge(rows, on="group_id").sort_values(["place", "seconds", "order"], kind="stable")
    return pd.DataFrame({
        "Corpus": title_of(best["source"], sources) + note_of(best),
        "Model": who, "Category": told["category"].map(CATEGORIES),
        "Outcome": told["outcome"], "Question": told["text_a"], "P(likely)": told["likely"].map(probability.format),
        "Candidate": told["answer"], "Read as": told["text_b"].where(told["text_b"] != told["answer"], ""),
        "Label": told["label"].map({1: "likely", 0: "unlikely"}), "Judged": told["accepted"].map(JUDGED),
        "Right": told["right"].map({True: "yes", False: "no"}),
    })


def main(given: argparse.Namespace) -> None:
    sources = load(given.sources)
    tables = []
    for _, best in best_systems(mctaco_metrics(given.metrics, load_systems(given.models, given.sources))).iterrows():
        who, rows = judged_by(best, given, sources)
        tables.append(shown(best, who, rows, sources))
    if not tables:
        raise UserError(f"{given.metrics}: no exact_match of a model; run an experiment of mctaco with a model")
    table = pd.concat(tables, ignore_index=True)
    table = table.loc[:, [name for name in table if name != "Read as" or (table[name] != "").any()]]
    write(table, CAPTION, ["P(likely)"], given.output)
    log.info("%s: %d questions to read", given.output, len(table.drop_duplicates(["Corpus", "Outcome", "Question"])))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs", "datasets", "released").parse_args())
