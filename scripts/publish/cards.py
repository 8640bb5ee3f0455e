"""Choose items to read as cards, and write the table of the cards. Not a program.

A row is an option of an item, or an item without options. `contradiction 0.87 ×` is an answer, its
score, and × for a wrong answer.

The items are in cells by who was right: the best model, the best control, people. A control that
declares the answer (a solver) is left out. The cells take turns, and a hash of the ids draws from
each. So a rare cell has as many cards as a common one, as long as its items last. The cards do not
show how common a cell is.
"""

from collections.abc import Callable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.running.program import log
from scripts.data.declared import method_of_blind
from scripts.data.tables import read_table
from scripts.measure.experiment import Run, read_scores
from scripts.measure.reported import runs_by_dataset
from scripts.publish.item import Given
from scripts.publish.marks import notes_by_dataset, run_name
from scripts.publish.names import method_note, model_title, source_title
from scripts.publish.table import caption_of, write

MOST_ITEMS, LEAST_ITEMS = 40, 4  # the most in a study, shared by its places; the least in a place
MOST_MODELS = 6  # in a place: those that are right most often
KINDS = ["model", "control", "human"]
ABOUT = ["Corpus", "Dataset", "Split", "Item", "Model", "Control"]
ABOUT += ["Model right", "Control right", "Human right"]
DRAW = 15  # the key of the hash: another number draws other items


class System(NamedTuple):
    """A system that answered the rows of a place. kind: model, control or human. answer: (rows,)
    text, empty without an answer; score: (rows,) of the answer, NaN without one; wrong: (rows,).
    """

    name: str
    kind: str
    answer: np.ndarray
    score: np.ndarray
    wrong: np.ndarray


def runs_by_place(
    train: Path, names: list[str], key: Callable[[dict], tuple | None], studies: Mapping
) -> list[list[Run]]:
    """Return the runs to read for each place, in the order of the places' keys. key: makes the key
    from a run.json (None: not shown). Datasets with one key: the one with most models is read, then
    with most systems. Of a system, the run with the lowest seed is read; a solver is left out.
    """
    places: dict[tuple, list[tuple]] = {}
    for (_, dataset), systems in runs_by_dataset(train, names).items():
        runs = [
            min(of, key=lambda run: (run.facts["seed"], run.facts["run"]))
            for of in systems.values()
            if not is_solver(of[0].facts, studies)
        ]
        if runs and (place := key(runs[0].facts)) is not None:
            models = [run for run in runs if kind_of(run.facts) == "model"]
            worth = -len(models), -len(runs), len(dataset), dataset
            places.setdefault(place, []).append((worth, runs))
    return [min(places[place], key=itemgetter(0))[1] for place in sorted(places)]


def system_name(facts: Mapping, models: dict) -> str:
    """Return a run's name, for example `BERT-base, classification, seed 1`. Controls, and runs
    without training, seed and wording, have no seed there.
    """
    varies = facts["train_examples"] or facts["seed"] or facts.get("wording") is not None
    run = f", {run_name(facts)}" if varies and facts["method"] != "control" else ""
    return model_title(facts["model"], models) + method_note(facts["method"]) + run


def kind_of(facts: Mapping) -> str:
    """Return `control` or `model`. A blind model counts as a control."""
    method = facts["method"]
    return "control" if method == "control" or method_of_blind(method) else "model"


def is_solver(facts: Mapping, studies: Mapping) -> bool:
    """Return whether a run is of a control that declares the answer."""
    control = studies[facts["study"]].get("controls", {}).get(facts["model"], {})
    return control.get("learns") == "declared"


def right_by_item(system: System, item: np.ndarray) -> np.ndarray:
    """Return (items,): 1.0 if all rows of an item are right, else 0.0; NaN if one has no answer."""
    rows = pd.DataFrame({"missing": system.answer == "", "wrong": system.wrong}).groupby(item).any()
    return np.where(rows["missing"], np.nan, ~rows["wrong"])


def most_right(
    systems: list[System], kind: str, item: np.ndarray
) -> list[tuple[System, np.ndarray]]:
    """Return the systems of a kind with their right_by_item(), the best first."""
    judged = [(system, right_by_item(system, item)) for system in systems if system.kind == kind]
    return sorted(judged, key=lambda one: -np.nan_to_num(one[1]).sum())


def drawn(items: pd.DataFrame, many: int) -> pd.DataFrame:
    ordered = items.iloc[np.argsort(keyed_hash(items["Item"], DRAW), kind="stable")]
    cell = ordered.groupby(KINDS, dropna=False, sort=False)
    turns = ordered.assign(turn=cell.cumcount()).sort_values(
        ["turn", *KINDS], ascending=[True, False, True, True], kind="stable"
    )
    # The order of the cards: right by the model alone, by the control alone, by neither, by both.
    first = turns.head(many)
    model, control = first["model"].eq(1), first["control"].eq(1)
    return first.assign(known=model & ~control, guessed=~model & control).sort_values(
        ["known", "guessed", "model", "turn"], ascending=[False, False, True, True], kind="stable"
    )


def parts_of(slices: Mapping[str, np.ndarray], at: np.ndarray) -> dict[str, list[str]]:
    """Return the slices of the items at these places, by column (`slice: category`). An item may be
    in several.
    """
    parts: dict[str, list[list[str]]] = {}
    for name, inside in slices.items():
        partition, sign, value = name.replace("_", " ").partition("=")
        if sign:
            values = parts.setdefault(f"slice: {partition}", [[] for _ in at])
            for place in np.flatnonzero(inside[at]):
                values[place].append(value)
    return {name: list(map("; ".join, values)) for name, values in parts.items()}


def cells(system: System, at: np.ndarray) -> list[str]:
    scores = [
        "" if np.isnan(score) else f"{score:.2f}".replace("-", "−") for score in system.score[at]
    ]
    return [
        " ".join(filter(None, [answer, score, "×" if wrong and answer else ""]))
        for answer, score, wrong in zip(system.answer[at], scores, system.wrong[at])
    ]


def cards_of(
    rows: pd.DataFrame, slices: Mapping[str, np.ndarray], systems: list[System], many: int
) -> pd.DataFrame:
    """Return the rows of `many` items of a place, with the systems' answers. rows: Item, the texts
    and Gold, a row for each option. slices: by name (`category=duration`), which items are in it.
    """
    item, ids = pd.factorize(rows["Item"])
    ranked = {kind: most_right(systems, kind, item) for kind in KINDS}
    right = {kind: best[0][1] if best else np.nan for kind, best in ranked.items()}
    items = pd.DataFrame({"Item": np.asarray(ids, dtype=object), **right})
    taken = drawn(items, many)
    order = pd.Series(range(len(taken)), taken.index).reindex(item).reset_index(drop=True)
    at = order.dropna().sort_values(kind="stable").index.to_numpy()
    table = rows.iloc[at].assign(**parts_of(slices, item[at]))
    for kind, best in ranked.items():
        table[kind.capitalize()] = best[0][0].name if best else ""
        judged = items[kind].map({1.0: "yes", 0.0: "no"}).fillna("")
        table[f"{kind.capitalize()} right"] = judged[item[at]].to_numpy()
        for system, _ in best[: MOST_MODELS if kind == "model" else 1]:
            name = kind if kind == "human" else f"{kind}: {system.name}"
            table[name] = cells(system, at)
    return table.drop(columns="Human")


class Items(NamedTuple):
    """The sources of a place's items: the runs to read, and the file of their split."""

    runs: list[Run]
    split: str
    file: Path
    given: Given
    sources: dict
    models: dict

    @property
    def facts(self) -> dict:
        return self.runs[0].facts

    @property
    def options(self) -> dict:
        return self.facts["data_options"]

    def _system(self, run: Run, *answers: np.ndarray) -> System:
        return System(system_name(run.facts, self.models), kind_of(run.facts), *answers)

    def labelled(
        self, ids: pd.Series, what: str, gold: np.ndarray, labels: list[str] | None = None
    ) -> list[System]:
        """Return the runs as systems that choose among labels, by default those of run.json. A tie
        is wrong. ids: of the items; what: their name in messages. gold: (rows,) numbers of labels;
        a number beyond a run's last label means this last label.
        """
        systems = []
        for run in self.runs:
            scores, _ = read_scores(run, self.split, ids, what)
            names = labels or [label.replace("_", " ") for label in run.facts["labels"]]
            predicted, highest = scores.argmax(1), scores.max(1)
            wrong = predicted != np.minimum(gold, len(names) - 1)
            wrong |= (scores == highest[:, None]).sum(1) > 1
            answer = np.array(names, dtype=object)[predicted]
            systems.append(self._system(run, answer, np.exp(highest), wrong))
        return systems

    def ranked(self, options: pd.DataFrame, score: Callable[[Run], np.ndarray]) -> list[System]:
        """Return the runs as systems that score options. In a tie, a wrong option ranks first."""
        systems = []
        for run in self.runs:
            table = options[["instance", "label"]].assign(score=score(run)).reset_index(drop=True)
            order = table.sort_values(["score", "label"], ascending=[False, True], kind="stable")
            rank = (order.groupby("instance").cumcount() + 1).sort_index()
            right = table.groupby("instance")["label"].transform("sum")
            wrong = ((rank <= right) != (table["label"] == 1)).to_numpy()
            answer = ("#" + rank.astype(str)).to_numpy(dtype=object)
            systems.append(self._system(run, answer, table["score"].to_numpy(), wrong))
        return systems


def publish_cards(
    given: Given, key: Callable[[Mapping], tuple | None], read: Callable[[Items], tuple]
) -> None:
    """Write the cards of a study. key: see runs_by_place(). read: makes from Items the dataset's
    name, and the rows, slices and systems for cards_of().
    """
    sources, models = given.sources, given.models
    metrics = read_table(given.metrics, ["source", "dataset", "sample", "limit"]).to_pandas()
    notes, tables = notes_by_dataset(metrics), [pd.DataFrame(columns=ABOUT)]
    places = runs_by_place(given.train, given.runs, key, given.studies)
    many = max(LEAST_ITEMS, MOST_ITEMS // max(len(places), 1))
    for runs in places:
        source, dataset = (runs[0].facts[name] for name in ("source", "dataset"))
        measured = sources[source].get("measured_on", source)
        split = sources[measured]["evaluate"][0]
        file = given.build / source / dataset / f"{split}.parquet"
        name, *parts = read(Items(runs, split, file, given, sources, models))
        corpus = source_title(measured, sources) + notes.get((source, dataset), "")
        tables.append(cards_of(*parts, many).assign(Corpus=corpus, Dataset=name, Split=split))
    table = pd.concat(tables, ignore_index=True).fillna("")
    of_slices = [name for name in table if name.startswith("slice: ")]
    said = [name for kind in KINDS for name in table if f"{name}: ".startswith(f"{kind}: ")]
    texts = [name for name in table if name not in (*ABOUT, *of_slices, *said)]
    write(table[[*ABOUT, *of_slices, *texts, *said]], caption_of(given), [], given.output)
    items = len(table.drop_duplicates(ABOUT[:4]))
    log.info("%s: %d items to read of %d places", given.output, items, len(places))
