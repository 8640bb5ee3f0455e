"""The evaluation of every study. It measures the runs of an experiment and writes a table, or it
prints the scores of predictions made elsewhere.
"""

import argparse
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from scripts.data.options import PEOPLE
from scripts.data.runs import Facts
from scripts.data.studies import options_of
from scripts.measure.experiment import Run, Systems, write_metrics
from scripts.measure.reported import held_out_losses, runs_by_dataset, with_ensembles
from scripts.measure.answered import Answered
from scripts.measure.arguments import evaluation_arguments, evaluation_given
from scripts.measure.filtered import Filter, after_filter, filtered
from scripts.measure.comparisons import SOLVER, Contest, Control
from scripts.measure.external import external_systems, score_predictions
from scripts.measure.elsewhere.people import are_for, on_split, people_given
from scripts.measure.elsewhere.table import refuse
from scripts.running.program import UserError, execute
from scripts.train.asking.answer import SHARES

STILL_FALLS = 0.02  # of the held-out loss in the last epoch: training was not at its end
LEARNT = 0.05  # nats: at a lower held-out loss nothing is left to learn, and the loss always falls


class Part(NamedTuple):
    """A split of a dataset to measure.

    options      the options of the dataset
    entry        the entry of its source in sources.yaml
    measured_on  the entry of the source from which the split comes
                 (both entries are empty where a file of predictions is measured by itself)
    """

    file: Path
    split: str
    systems: Systems
    options: dict
    source: str = ""
    dataset: str = ""
    entry: dict = {}
    measured_on: dict = {}


class Study(NamedTuple):
    """How a study measures.

    schema   the schema of its metrics
    read     reads the examples of a split (with label, and the columns that `answered` names)
    rows     makes the rows of metrics, without the columns that are the same in all rows; takes the
             examples, the part, the number of bootstrap draws, and people's answers
             (from on_split(), or None)
    unit     the column of the units that people answer as a whole
    columns  turns the options of a dataset into columns of metrics
    printed  see print_rows()
    filters  what a filter keeps or drops; None: the study has no filter
    """

    answered: Answered
    schema: pa.Schema
    read: Callable[[Path], pd.DataFrame]
    rows: Callable[[pd.DataFrame, Part, int, pd.DataFrame | None], list[dict]]
    unit: str = "example_id"
    columns: Callable[[dict], dict] = dict
    printed: Mapping[str, tuple[str, ...]] = {}
    filters: Filter | None = None

    def measure(
        self,
        part: Part,
        resamples: int,
        people: pd.DataFrame | None = None,
        solvers: Collection[str] = (),
    ) -> list[dict]:
        """Return every metric on a split (schema metrics, without the experiment); people: from
        people_given(); solvers: the names of controls that declare the answer.
        """
        examples = self.read(part.file)
        if examples.empty:
            return []
        answered = None
        if people is not None:
            facts = next(iter(part.systems.values()))[0].facts
            options = options_of(self.answered.study).of(part.options)
            if option := options.refuses(PEOPLE):
                why = f"people cannot be asked about {{dataset}} with {option}"
                refuse(people, are_for(people, facts), why, "take its rows out")
            else:
                units = examples.assign(unit=examples[self.unit])
                answered = on_split(people, facts, part.split, units)
        # A file that is measured by itself is printed; its dataset need not record its options.
        columns = self.columns(part.options) if part.source else {}
        same = columns | {
            "study": self.answered.study,
            "source": part.source,
            "dataset": part.dataset,
            "split": part.split,
            "sample": "sample" in part.entry or "sample" in part.measured_on,
        }
        rows = self.rows(examples, part, resamples, answered) + unread_rows(part, len(examples))
        rows += self.filtered_rows(examples, part, resamples, solvers)
        return [same | {"runs": names_of(part, row)} | row for row in rows]

    def filtered_rows(
        self, examples: pd.DataFrame, part: Part, resamples: int, solvers: Collection[str]
    ) -> list[dict]:
        """Return the compared rows (means) on what a filter keeps of a split and of the slices that
        it filters, and the rows of the family that it leaves out; empty where the dataset has no
        left-out control.
        """
        if not self.filters:
            return []
        kept, rows = filtered(examples, part.systems, part.split, self.filters, resamples, solvers)
        if not kept.any():
            return rows
        left = examples[kept].reset_index(drop=True)
        only = {
            system: [run._replace(only=left["example_id"]) for run in runs]
            for system, runs in part.systems.items()
        }
        found = self.rows(left, part._replace(systems=only), resamples, None)
        compared = [
            row | {"slice": after_filter(row["slice"])}
            for row in found
            if row.get("draws") is not None and row["seed"] is None
        ]
        measured = {row["slice"] for row in rows}  # with the family that the filter leaves out
        return rows + [row for row in compared if row["slice"] in measured]

    def measure_file(self, run: Run, file: Path, split: str, resamples: int) -> list[dict]:
        system = run.facts["model"], run.facts["method"]
        part = Part(file, split, {system: [run]}, run.facts["data_options"])
        rows = self.measure(part, resamples)
        if not rows:
            raise UserError(f"{file}: no examples; the log of its build says why")
        return [row for row in rows if (row["model"], row["method"]) == system]


def names_of(part: Part, row: dict) -> str | None:
    """Return the names of the runs that a row of metrics is over, with a space between two; None
    for people and for what others released.
    """
    names = [
        run.folder.name
        for system in part.systems.get((row["model"], row["method"]), [])
        for run in system.runs
        if row["seed"] is None
        or (run.facts["seed"], run.facts.get("wording")) == (row["seed"], row.get("wording"))
    ]
    return " ".join(names) or None


def unread_rows(part: Part, n: int) -> list[dict]:
    """Return the share of unreadable answers of each model that was asked in words, over its n
    answers. The metric is `unread_answers`, with a row for each wording and a row for their mean.
    Each other share of SHARES has a metric of its own.
    """
    rows = []
    systems = itertools.product(SHARES, part.systems.items())
    for end, ((model, method), runs) in systems:
        shares = {
            run.facts["wording"]: float(run.facts[end][part.split])
            for run in runs
            if end in run.facts
        }
        if end != "unread" and not any(shares.values()):
            continue
        same = {"model": model, "method": method, "slice": "all", "n": n}
        same["metric"] = f"{end}_answers"
        rows += [same | {"wording": one, "seed": 0, "value": shares[one]} for one in shares if one]
        if shares:
            rows.append(same | {"seed": None, "value": sum(shares.values()) / len(shares)})
    return rows


def parts_of(
    datasets: dict[tuple[str, str], Systems],
    external: dict[tuple[str, str, str], Systems],
    build: Path,
    sources: dict,
) -> Iterator[Part]:
    """Yield the parts to measure; datasets: from runs_by_dataset(), external: from
    external_systems().
    """
    for (source, dataset), systems in datasets.items():
        options, entry = next(iter(systems.values()))[0].facts["data_options"], sources[source]
        measured_on = sources[entry.get("measured_on", source)]
        for split in measured_on["evaluate"]:
            every = systems | external.get((source, dataset, split), {})
            file = build / source / dataset / f"{split}.parquet"
            yield Part(file, split, every, options, source, dataset, entry, measured_on)


def controls_of(facts: list[Facts], declared: Mapping[str, Mapping]) -> dict[str, Control]:
    """Return the controls of an experiment by name. facts: their run.json, which say rung, view and
    value on the training split. declared: what the study says of its controls; a control of a
    user's own says it in its entry.
    """
    found: dict[str, Control] = {}
    for one in facts:
        name = one["model"]
        says = declared.get(name, {})
        before = found[name].training_values if name in found else {}
        value = one["training_value"]
        values = {} if value is None else {(one["source"], one["dataset"]): value}
        reads, learns = says.get("reads", "same"), says.get("learns", "same")
        found[name] = Control(reads, learns, one["rung"], one["sees_all"], {**before, **values})
    return found


def is_at_cap(run: Run) -> bool:
    """Return whether a run ended at its cap of epochs while its held-out loss fell: the last epoch
    that it may take is the best, by more than STILL_FALLS of the loss before it. A loss below
    LEARNT is the end of training.
    """
    facts = run.facts
    cap = facts.get("training", {}).get("epochs")
    learnt = facts.get("held_out_examples") and facts.get("train_examples")
    ended_at_cap = cap and facts.get("epochs") == facts.get("best_epoch") == cap
    if not learnt or not ended_at_cap:
        return False
    losses = held_out_losses(run)
    falls = len(losses) < 2 or losses[-1] < (1 - STILL_FALLS) * losses[-2]
    return falls and losses[-1] > LEARNT


def contest_of(datasets: dict[tuple[str, str], Systems], given: argparse.Namespace) -> Contest:
    """Return what the comparisons of the runs need."""
    study = given.contest
    controls = [
        runs[0].facts
        for systems in datasets.values()
        for (_, method), runs in systems.items()
        if method == "control"
    ]
    at_cap = {
        (*place, *system)
        for place, systems in datasets.items()
        for system, runs in systems.items()
        if any(is_at_cap(run) for one in runs for run in one.runs)
    }
    tried = {
        (*place, *system): runs[0].tried
        for place, systems in datasets.items()
        for system, runs in systems.items()
    }
    return Contest(
        controls_of(controls, study["controls"]),
        dict(pair.split("=") for pair in given.without_pretraining),
        frozenset(at_cap),
        tried,
        study["metrics"],
        study["headline"],
        study["family"],
    )


def evaluate(
    given: argparse.Namespace,
    study: Study,
    released: Callable[[list[Part]], list[dict]] = lambda parts: [],
) -> None:
    """Run the evaluation with a program's arguments (evaluation_given()). released: makes rows of
    other results that were measured on the parts.
    """
    if given.predictions:
        score_predictions(given, study.answered, study.measure_file, study.printed)
        return
    by_dataset = runs_by_dataset(given.trained, given.runs)
    datasets = {place: with_ensembles(systems) for place, systems in by_dataset.items()}
    sources = given.sources
    external = external_systems(given.external, given.build, study.answered)
    people = people_given(given, study.answered.study, datasets, study.answered.labels[0])
    parts = list(parts_of(datasets, external, given.build, sources))
    contest = contest_of(datasets, given)
    solvers = [name for name, one in contest.controls.items() if one.kind() == SOLVER]
    rows = [row for part in parts for row in study.measure(part, given.resamples, people, solvers)]
    write_metrics(rows + released(parts), study.schema, given, contest)


def run_evaluation(doc: str, study: Study) -> None:
    """Run the evaluation of a study as a program. doc: of its module."""
    options = evaluation_arguments(doc, study.answered.study)
    execute(lambda given: evaluate(given, study), evaluation_given(options))
