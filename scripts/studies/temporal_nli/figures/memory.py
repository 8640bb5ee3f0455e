"""Tabulate accuracy on pairs of times that occur in training, and on other pairs: does a model use
a rule, or memory?

The test templates are new, but times come from short lists. So a pair of times often occurs in the
training pairs of another template, with its label. The row `by heart` is not a model. It knows the
pairs of times from training, and guesses on other pairs. Sentences are compared by their time
expressions, with prepositions:

      pair learnt    one training pair has the time expressions of both sentences
      times learnt   training sentences have each time expression, but no training pair has both
      a time is new  no training sentence has the time expression of one of the sentences

Only datasets that hold out only whole templates are read.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from scripts.studies.temporal_nli.evaluate import groups_of
from scripts.studies.temporal_nli.parts import TEMPLATE
from scripts.studies.temporal_nli.tables import NLI
from scripts.studies.temporal_nli.times import MONTHS, NAMES, SHORT_MONTHS, WEEKDAYS
from scripts.data.tables import provenance_of, read_metrics, read_table
from scripts.measure.bootstrap import grouped
from scripts.measure.experiment import Run, read_scores, replicates_of
from scripts.measure.reported import runs_by_dataset
from scripts.measure.tally import Replicate, Tally, metric_rows, share, sums_by_group
from scripts.publish.item import Given
from scripts.publish.marks import notes_by_dataset
from scripts.publish.names import method_note, model_title, split_title
from scripts.publish.table import interval, percent, publish_table
from scripts.studies.temporal_nli.figures.metrics import SETS, data_title

TIME = (
    rf"(?:\b(?:{'|'.join([*MONTHS, *SHORT_MONTHS, *WEEKDAYS, 'AM', 'PM'])}|\d\d?:\d\d|\d+(?:st|nd"
    rf"|rd|th)?|(?:{'|'.join(dict.fromkeys(NAMES.values()))})s*)\b)"
)
# a time with its preposition
SAID = (
    r"(?:\b(?i:at|on|in|before|after|from|to|for) )?(?:\b(?i:less than|more than) )?(?:\b(?i:the) "
    rf")?{TIME}(?: {TIME})*"
)
ALL, PARTS = "all", ["pair learnt", "times learnt", "a time is new"]
WHAT = ["pairs (%)", "accuracy (%)"]
HEAD = ["Source", "Challenge set", "Split", "Model"]
NUMBERS = ["Pairs", "Accuracy (%)", *(f"{part}: {what}" for part in PARTS for what in WHAT)]
BY_HEART = "by heart"


def with_times(pairs: pd.DataFrame) -> pd.DataFrame:
    """Add the columns first, second and both to the pairs: the time expression of each sentence,
    for example `before march`, and both joined. A sentence without a time gives its whole text.
    """
    for name, text in {"first": "text_a", "second": "text_b"}.items():
        said = pairs[text].str.findall(SAID).str.join(" ")
        pairs = pairs.assign(**{name: said.where(said != "", pairs[text]).str.lower()})
    return pairs.assign(both=pairs["first"] + " | " + pairs["second"])


def parts_of(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, np.ndarray]:
    together = test["both"].isin(train["both"]).to_numpy()
    said = pd.concat([train["first"], train["second"]])
    each = (test["first"].isin(said) & test["second"].isin(said)).to_numpy()
    return {ALL: np.ones(len(test), bool)} | dict(zip(PARTS, (together, each & ~together, ~each)))


def by_heart(train: pd.DataFrame, test: pd.DataFrame) -> np.ndarray:
    """Return (n,) the most frequent training label of each pair of times, else the most frequent
    label.
    """
    known = train.groupby(["both", "label"]).size().reset_index(name="n")
    known = known.sort_values(["n", "label"], ascending=[False, True])
    label = known.drop_duplicates("both").set_index("both")["label"]
    return test["both"].map(label).fillna(train["label"].mode()[0]).to_numpy(int)


def right_of(run: Run, split: str, test: pd.DataFrame) -> np.ndarray:
    """Return (n,) 1 if a run judged a pair right, by the labels that the run knows, else 0."""
    scores, gold = read_scores(run, split, test["example_id"], "pairs")[0], test["label"].to_numpy()
    return (scores.argmax(1) == np.minimum(gold, scores.shape[1] - 1)).astype(float)


def training_of(run: Run) -> dict:
    """Return how a run's model was trained: its settings and the run that it begins with."""
    settings = provenance_of(run.folder / "history.parquet")["settings"]
    return dict(sorted((settings["training"] | {"begins with": settings.get("made_by")}).items()))


def in_words(setting: object) -> str:
    """Return a mapping as `sop 1, mlm 0.5`, any other setting as text."""
    parts = setting.items() if isinstance(setting, dict) else ()
    return ", ".join(f"{name} {value:g}" for name, value in parts) or str(setting)


def differences_in_words(settings: dict, others: list[dict]) -> str:
    """Return `, learning rate 0.0001`: the settings that are set and not the same in all others."""
    return "".join(
        f", {name.replace('_', ' ')} {in_words(value)}"
        for name, value in settings.items()
        if value is not None and any(other.get(name) != value for other in others)
    )


def runs_by_title(runs: list[Run], models: dict) -> dict[str, list[Run]]:
    """Group the runs of a dataset that differ only in seed or wording. The key is a title: the
    model, its method unless it is plain, and the settings of training that differ.
    """
    trained: dict[str, list[tuple[dict, Run]]] = {}
    for run in runs:
        title = model_title(run.facts["model"], models) + method_note(run.facts["method"])
        trained.setdefault(title, []).append((training_of(run), run))
    found: dict[str, list[Run]] = {}
    for title, of_title in trained.items():
        every = [training for training, _ in of_title]
        for training, run in of_title:
            found.setdefault(title + differences_in_words(training, every), []).append(run)
    return found


def cells_of(
    name: str,
    right: list[np.ndarray],
    replicates: list[Replicate],
    parts: dict[str, np.ndarray],
    groups: pd.DataFrame,
    resamples: int,
) -> dict[str, str]:
    """Return a system's cells: the share of pairs in each part, and the accuracy on them. right:
    for each replicate (n,) 1 for a right pair; groups: from groups_of().
    """
    group, drawn = grouped(groups, resamples)
    tallies = [
        Tally(
            part,
            {"accuracy": share},
            sums_by_group([one[inside] for one in right], group[inside], len(drawn.block)),
            np.bincount(group[inside], minlength=len(drawn.block)),
        )
        for part, inside in parts.items()
    ]
    rows = metric_rows(tallies, replicates, drawn)
    means = {row["slice"]: row for row in rows if pd.isna(row["seed"])}
    cells = {"Model": name, "Pairs": f"{len(group):,}"}
    cells["Accuracy (%)"] = percent(means[ALL]["value"])
    for part in [part for part in PARTS if part in means]:
        mean = means[part]
        cells[f"{part}: {WHAT[0]}"] = percent(parts[part].mean())
        cells[f"{part}: {WHAT[1]}"] = f"{percent(mean['value'])} ({interval(mean)})"
    return cells


def rows_of(runs: list[Run], build: Path, models: dict, resamples: int) -> list[dict[str, str]]:
    facts = runs[0].facts
    learnt, split = facts["splits"][:2]
    folder, columns = build / facts["source"] / facts["dataset"], list(NLI.names[:5])
    train, test = (
        with_times(read_table(folder / f"{name}.parquet", columns).to_pandas())
        for name in (learnt, split)
    )
    found: list[tuple[str, list[np.ndarray], list[Replicate]]] = [
        (BY_HEART, [(by_heart(train, test) == test["label"]).to_numpy(float)], [])
    ]
    for title, of in runs_by_title(runs, models).items():
        found.append((title, [right_of(run, split, test) for run in of], replicates_of(of)))
    parts, groups = parts_of(train, test), groups_of(test, by_times=False)
    return [
        {"Split": split_title(split)} | cells_of(*one, parts, groups, resamples) for one in found
    ]


def main(given: Given) -> None:
    measured = read_metrics(given.metrics, draws=True)
    metrics = measured.drop_columns("draws").to_pandas()
    ways = pc.list_flatten(measured["draws"])
    resamples = pc.max(pc.list_value_length(ways)).as_py()  # draws for an interval
    notes, models, sources = notes_by_dataset(metrics), given.models, given.sources
    rows = []
    for place, systems in sorted(runs_by_dataset(given.train, given.runs).items()):
        runs: list[Run] = sum(systems.values(), [])
        options = runs[0].facts["data_options"]
        if options["held_out"] == TEMPLATE:
            head = {"Source": data_title(*place, sources) + notes.get(place, "")}
            head["Challenge set"] = SETS[options["challenge_set"]]
            rows += [head | row for row in rows_of(runs, given.build, models, resamples)]
    table = pd.DataFrame(rows, columns=[*HEAD, *NUMBERS], dtype=object).fillna("")
    table = table.sort_values(HEAD[:3], kind="stable", ignore_index=True)
    publish_table(given, table, HEAD)
