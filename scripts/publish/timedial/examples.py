"""Choose dialogs of TimeDial to read, as table 6 of Qin et al. 2021: every option with the score that each paradigm gives it.

Of each challenge and paradigm the model with the highest 2-best accuracy is read, with the most context it was measured
with; of its runs the one with the lowest seed, at the epoch that held-out dialogs chose. Shown are

  wrong  of each rule the dialogs in which the best of these models ranks a wrong option made by that rule above a right
         one: first those in which most of the models do, then the widest margins
  right  dialogs in which most of the models, and the best one, make no mistake: the widest margins

A score is a log-probability (classification) or the mean log-likelihood of the option's tokens; only scores of one model
on one dialog compare. Behind it its rank; × marks a wrong option among the highest (as many as are right), and a right one
that is not among them. Short dialogs are preferred.

Reads  metrics.parquet (schema metrics), <train>/<run>/predictions.parquet and run.json,
       <build>/<source>/<dataset>/<split>.parquet (schema cloze), resources/sources.yaml and models.yaml
Writes <output>.csv, .md, .tex: a row for each option

    python -m scripts.publish.timedial.examples --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train/timedial \\
        --build results/build/timedial --runs RUN RUN … --output results/publish/default/tables/timedial_examples
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.common.probe import BLIND
from scripts.common.program import UserError, execute, log
from scripts.common.runs import facts_of
from scripts.common.tables import CLOZE, read_table
from scripts.evaluate.experiment import EXTERNAL, Run
from scripts.evaluate.timedial import scores_of
from scripts.evaluate.timedial_ranking import checked
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import note_of, run_name
from scripts.publish.names import load
from scripts.publish.table import write
from scripts.publish.timedial.metrics import (
    PARADIGMS, RULES, label_of, over_seeds, paradigm_title, timedial_metrics, title_of, widest)

EACH = {"wrong": 2, "right": 2}  # of each rule; in all
SHORT = 700  # characters
WORDS = ["Corpus", "Models", "Category", "Outcome", "Question", "Candidate", "Label", "Rule"]
CAPTION = ("Dialogs of TimeDial with every option, whether it is right, and the rule that made a wrong one; for the best "
           "model of each paradigm the option's score with its rank, × where the model is mistaken. Wrong: a wrong option "
           "ranks above a right one. Right: no mistake.")


def best_systems(metrics: pd.DataFrame) -> pd.DataFrame:
    """Of each challenge and paradigm the row of the system with the highest 2-best accuracy, highest first."""
    rows = over_seeds(metrics)
    rows = rows[(rows["metric"] == "two_best_accuracy") & (rows["slice"] == "all") & ~rows["paradigm"].isin(["control", EXTERNAL])
                & ~rows["method"].str.endswith(BLIND)]
    rows = widest(rows).sort_values("value", ascending=False, kind="stable")
    return rows.drop_duplicates(["measured_on", "paradigm"])


def run_of(best: pd.Series, runs: list[str], train: Path) -> dict:
    """run.json of the run with the lowest seed of a system (best_systems)."""
    every = [facts_of(train / name / "run.json") for name in runs]
    keys = ["source", "dataset", "model", "method"]
    same = [facts for facts in every if all(facts[key] == best[key] for key in keys)]
    if not same:
        raise UserError(f"{train}: none of the runs named is of {best['model']}, {best['method']}, on {best['source']} "
                        f"{best['dataset']}, the best of the metrics; name its runs, or evaluate the runs again")
    return min(same, key=lambda facts: (facts["seed"], facts["run"]))


def place_of(title: str) -> int:
    """Where a paradigm stands among the columns."""
    return list(PARADIGMS.values()).index(title) if title in PARADIGMS.values() else len(PARADIGMS)


def judged(options: pd.DataFrame, score: np.ndarray) -> pd.DataFrame:
    """By option score, rank (from 1; a tie counts against the model), mistaken, and above (a wrong one over a right one).

    margin: how far it lies over the lowest right option of its instance, in standard deviations of these differences.
    """
    ranked = options[["instance", "label", "rule"]].assign(score=score)
    ranked["right"] = ranked.groupby("instance")["label"].transform("sum")
    order = ranked.sort_values(["score", "label"], ascending=[False, True], kind="stable")
    ranked["rank"] = order.groupby("instance").cumcount() + 1
    ranked["mistaken"] = (ranked["rank"] <= ranked["right"]) != (ranked["label"] == 1)
    lowest = ranked["score"].where(ranked["label"] == 1).groupby(ranked["instance"]).transform("min")
    apart = ranked["score"] - lowest
    spread = apart[ranked["label"] == 0].std()
    return ranked.assign(above=(ranked["label"] == 0) & (apart >= 0), margin=apart / (spread if spread > 0 else 1))


def chosen(options: pd.DataFrame, models: list[pd.DataFrame]) -> pd.DataFrame:
    """The instances to read: instance, outcome, what; none twice. models: tables of judged(), of the best model first."""
    size = options.groupby("instance")["context"].first().str.len()
    taken, parts = set(), []

    def take(order: pd.DataFrame, many: int, outcome: str, what: str) -> None:
        """The first of the instances that are not yet taken, short ones before long ones."""
        left = order[~order.index.isin(taken)]
        left = left.assign(long=size[left.index] > SHORT).sort_values(["long", "times", "margin"], kind="stable",
                                                                       ascending=[True, False, False])
        for instance in left.index[:many]:
            taken.add(instance)
            parts.append({"instance": instance, "outcome": outcome, "what": what})

    for rule, title in RULES.items():
        found = [table[table["above"] & (table["rule"] == rule)] for table in models]
        times = sum(table.groupby("instance").size().gt(0).astype(int).reindex(size.index, fill_value=0) for table in found)
        margin = found[0].groupby("instance")["margin"].max()
        take(pd.DataFrame({"times": times[margin.index], "margin": margin}), EACH["wrong"], "wrong", title)
    closest = [table[table["label"] == 0].groupby("instance")["margin"].max() for table in models]
    right = closest[0][closest[0] < 0].index
    times = sum((gap < 0).astype(int) for gap in closest)
    take(pd.DataFrame({"times": times[right], "margin": -closest[0][right]}), EACH["right"], "right", "")
    return pd.DataFrame(parts, columns=["instance", "outcome", "what"])


def shown(systems: pd.DataFrame, options: pd.DataFrame, models: list[pd.DataFrame], names: list[str],
          sources: dict) -> pd.DataFrame:
    """A row of text for each option of the chosen instances, those of the best model first; names: of their runs (run_name)."""
    named = {paradigm_title(row["paradigm"]): label_of(row) + (f", {name}" if row["domain"] != "zero_shot" or "wording" in name else "")
             for (_, row), name in zip(systems.iterrows(), names)}
    taken = chosen(options, models).assign(place=lambda table: range(len(table)))
    cells = {paradigm_title(name): table["score"].map("{:.2f}".format).str.replace("-", "−")
             + table["rank"].map(" ({})".format) + table["mistaken"].map({True: " ×", False: ""})
             for name, table in zip(systems["paradigm"], models)}
    told = taken.merge(options.assign(**cells), on="instance").sort_values("place", kind="stable")
    first = systems.iloc[0]
    kind = told["kind"].fillna("").replace("", "other")
    return pd.DataFrame({
        "Corpus": title_of(first["measured_on"], sources) + note_of(systems),
        "Models": "; ".join(f"{name}: {named[name]}" for name in sorted(named, key=place_of)),
        "Category": (told["what"] + ", ").where(told["what"] != "", "") + kind,
        "Outcome": told["outcome"], "Question": told["context"].str.replace("<MASK>", "____"), "Candidate": told["candidate"],
        "Label": told["label"].map({1: "right", 0: "wrong"}), "Rule": told["rule"].map(RULES).fillna(""),
        **{name: told[name] for name in cells}})


def main(given: argparse.Namespace) -> None:
    sources, tables = load(given.sources), []
    best = best_systems(timedial_metrics(given.metrics, load(given.models), sources))
    if best.empty:
        raise UserError(f"{given.metrics}: no two_best_accuracy of a model; run an experiment of timedial with a model")
    # Real data first, as in the figures.
    for _, systems in best.sort_values("sample", kind="stable").groupby("measured_on", sort=False):
        runs = [run_of(row, given.runs, given.train) for _, row in systems.iterrows()]
        files = [given.build / row["source"] / row["dataset"] / f"{row['split']}.parquet" for _, row in systems.iterrows()]
        every = [checked(read_table(file, CLOZE.names).to_pandas(), file) for file in files]
        options, ids = every[0], every[0]["example_id"]
        models = []
        for facts, own, split, file in zip(runs, every, systems["split"], files):
            if set(own["example_id"]) != set(ids):
                raise UserError(f"{file}: its options are not those of {files[0]}; build both datasets again")
            # Every table in the order of the first one's options.
            models.append(judged(options, scores_of(Run(given.train / facts["run"], facts), split, options)[0]))
        tables.append(shown(systems, options, models, [run_name(facts) for facts in runs], sources))
    table = pd.concat(tables, ignore_index=True).fillna("")
    paradigms = [name for name in table if name not in WORDS]
    write(table[[*WORDS, *sorted(paradigms, key=place_of)]], CAPTION, paradigms, given.output)
    log.info("%s: %d dialogs to read", given.output, len(table.drop_duplicates(["Corpus", "Question"])))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs", "datasets").parse_args())
