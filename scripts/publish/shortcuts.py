"""Tabulate the shortcuts of a study: what a cue says in training, what in evaluation, and what it
scores alone.

For each cue of scripts/publish/shortcut_cues.py, on each dataset: P(right | cue), how often what
the cue says is right, in training and in the first evaluation split; coverage, the share of the
evaluated examples with the cue; and the score of the cue alone: what it says where it stands, and
what is most frequent elsewhere (a coin in sentence order; for candidates they are ranked by the
cue, ties broken at random, in expectation). Where a cue is right more often than average in
training and less often in evaluation, or the reverse, the evaluation punishes who learnt it.

Reads  metrics.parquet (for which corpora are samples), <train>/<run>/run.json, <build>/<source>/<dataset>/<split>.parquet,
       resources/sources.yaml for titles
Writes <output>.csv, .md, .tex

    python -m scripts.publish.shortcuts --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train/mctaco \\
        --build results/build/mctaco --runs RUN RUN … --output results/publish/default/tables/mctaco_shortcuts
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.running.program import execute
from scripts.data.runs import facts_of
from scripts.studies.strided_sop.strides import tells_of_pairs
from scripts.data.tables import read_metrics, read_sample
from scripts.measure.ranking import outranked_by_chance
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import notes_by_dataset
from scripts.publish.names import load, split_title
from scripts.publish.shortcut_cues import of_answers, of_candidates, of_hypotheses, of_order
from scripts.publish.table import percent, publish_table

MOST, DRAW = 100_000, 31  # examples of a split that are counted, drawn by hash
LEAST = 30  # examples with a cue, in training and in evaluation
CLEAR = 0.05  # from the average, for a cue to say something
STUDIES = {  # the id to draw by, the two texts, the cues, what is scored
    "strided_sop": ("pair_id", "text_a", "text_b", of_order, "accuracy"),
    "temporal_nli": ("example_id", "text_a", "text_b", of_hypotheses, "accuracy"),
    "mctaco": ("group_id", "text_a", "text_b", of_answers, "exact match"),
    "timedial": ("instance_id", "context", "candidate", of_candidates, "2-best accuracy"),
}
WORDS = ["Corpus", "Dataset", "Split", "Cue", "The evaluation"]
COLUMNS = [*WORDS[:4], "P in training (%)", "Average", "P in evaluation (%)", "Average there",
           "Coverage (%)", "n", "Alone (%)", WORDS[4]]
CAPTION = ("Shortcuts: how often what a cue says is right, in training and in evaluation, on how many of the evaluated examples it "
           "stands, and what it scores alone ({score}). Punished: right more often than average in training, less often "
           "in evaluation, or the reverse, each by five points at least.")


def read_split(file: Path, study: str) -> pd.DataFrame:
    """A split: group, first, second, label."""
    columns = [*STUDIES[study][:3], "label"]
    table = read_sample(file, columns, columns[0], MOST, DRAW).to_pandas()
    return table.set_axis(["group", "first", "second", "label"], axis=1)


def cues_of(study: str, train: pd.DataFrame, evaluated: pd.DataFrame) -> tuple[dict, dict]:
    """The cues of the training and of the evaluation split."""
    cues = STUDIES[study][3]
    learnt = [train.loc[train["label"] == 1, "second"]] if study == "timedial" else []
    return cues(train), cues(evaluated, *learnt)


def most(labels: pd.Series) -> int:
    """The most frequent label; 0 of none."""
    return int(labels.mode().iloc[0]) if len(labels) else 0


def score_alone(study: str, there: np.ndarray, right: np.ndarray, trusted: bool, rest: int,
                table: pd.DataFrame) -> float:
    """What the cue scores alone, where it stands (there) and is right: it is believed (trusted) or
    its opposite is.

    rest: the label where it does not stand.
    """
    label = table["label"].to_numpy()
    if study == "timedial":
        group = pd.factorize(table["group"])[0]
        return float(outranked_by_chance((there == trusted).astype(float), label, group)[0].mean())
    told = right if trusted or study == "temporal_nli" else ~right
    score = pd.Series(np.where(there, told, 0.5 if study == "strided_sop" else label == rest),
                      dtype=float)
    if study == "mctaco":
        score = score.groupby(table["group"].to_numpy()).min()
    return float(score.mean())


def verdict(train: float, evaluation: float, train_average: float, average: float) -> str:
    """What the evaluation does to who learnt the cue."""
    learnt, met = train - train_average, evaluation - average
    if abs(learnt) < CLEAR:
        return "says little in training"
    if abs(met) < CLEAR:
        return "says little in evaluation"
    return "helps" if learnt * met > 0 else "punished"


def audit(study: str, train: pd.DataFrame, evaluated: pd.DataFrame) -> pd.DataFrame:
    """A row for each cue that stands often enough in both splits: numbers, surest in training
    first.
    """
    in_train, in_evaluation = cues_of(study, train, evaluated)
    rows = []
    for name in [name for name in in_train if name in in_evaluation]:
        (there, says), (met, said) = in_train[name], in_evaluation[name]
        if min(there.sum(), met.sum()) < LEAST:
            continue
        if says is None:  # the label that is most frequent with it in training
            says, said = (np.full(len(table), most(train.loc[there, "label"]))
                          for table in (train, evaluated))
        right = says == train["label"].to_numpy()
        right_there = said == evaluated["label"].to_numpy()
        p_train, p_met = right[there].mean(), right_there[met].mean()
        averages = [0.5, 0.5] if study == "strided_sop" else [right.mean(), right_there.mean()]
        rest, trusted = most(train.loc[~there, "label"]), p_train >= averages[0]
        rows.append({"cue": name, "label": int(said[0]), "train": p_train,
                     "train_average": averages[0],
                     "evaluation": p_met, "average": averages[1], "n": int(met.sum()),
                     "coverage": met.mean(),
                     "alone": score_alone(study, met, right_there, trusted, rest, evaluated),
                     "verdict": verdict(p_train, p_met, *averages)})
    rows.sort(key=lambda row: -abs(row["train"] - row["train_average"]))
    return pd.DataFrame(rows)


def tabulate(study: str, names: list[str], train: Path, build: Path, sources: dict,
             notes: dict[tuple, str]) -> pd.DataFrame:
    """A row of text for each dataset and cue; notes: of notes_by_dataset()."""
    facts = {(fact["source"], fact["dataset"]): fact
             for fact in (facts_of(train / name / "run.json") for name in names)
             if tells_of_pairs(fact["data_options"])}
    rows = []
    for (source, dataset), fact in sorted(facts.items()):
        splits = fact["splits"][:2]
        tables = [read_split(build / source / dataset / f"{split}.parquet", study)
                  for split in splits]
        title = sources[source]["title"] + notes.get((source, dataset), "")
        for row in audit(study, *tables).to_dict("records"):
            says = f" ({fact['labels'][row['label']].replace('_', ' ')})" if study == "temporal_nli" else ""
            numbers = [percent(row[name])
                       for name in ("train", "train_average", "evaluation", "average", "coverage")]
            rows.append([title, dataset, split_title(splits[1]), row["cue"] + says, *numbers,
                         f"{row['n']:,}",
                         percent(row["alone"]), row["verdict"]])
    return pd.DataFrame(rows, columns=COLUMNS)


def main(given: argparse.Namespace) -> None:
    study = given.output.name.removesuffix("_shortcuts")
    metrics = read_metrics(given.metrics).to_pandas()
    table = tabulate(study, given.runs, given.train, given.build, load(given.sources),
                     notes_by_dataset(metrics))
    publish_table(given, table, CAPTION.format(score=STUDIES[study][-1]), WORDS)


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs", "datasets").parse_args())
