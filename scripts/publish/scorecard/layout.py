"""How the scorecard's cells are laid out: its rows, its probes, what stands below them, and what could not be asked."""

import argparse
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from scripts.running.program import UserError
from scripts.data.yaml_files import read_yaml
from scripts.publish.marks import face_of, note_of
from scripts.publish.names import load, load_systems, model_title
from scripts.publish.scorecard.cells import (
    ELSEWHERE,
    KINDS,
    OTHER_WAYS,
    PROBE,
    SCORES,
    UNKNOWN,
    WAYS,
    best_controls,
    cells_of,
    is_clear,
    networks_of,
    people,
    published,
    rank,
    read_scores,
    way_of,
)
from scripts.publish.table import interval, percent

NOT_ASKED, NO_ANSWER, NOT_RUN = "nothing fits it", "could not be asked", "not run"
FEET = ("best control", "best in the paper", "human")  # what stands below the models


@dataclass
class Scorecard:
    """All that the scorecard's figure and table show.

    cells    of cells_of(), with clear (is_clear)
    rows     of row_order()
    probes   of probe_names(), as mappings
    reasons  of reasons_of()
    studies, sources, models  the entries of resources/: of the studies those that were measured
    controls, human, papers   of best_controls(), people() and published()
    """

    cells: pd.DataFrame
    rows: list[dict]
    probes: list[dict]
    reasons: dict[tuple[str, str, str], str]
    studies: dict
    sources: dict
    models: dict
    controls: pd.DataFrame
    human: pd.DataFrame
    papers: pd.DataFrame

    def cells_of(self, row: dict) -> pd.DataFrame:
        """The cells of a row."""
        return self.cells[(self.cells["model"] == row["model"]) & (self.cells["way"] == row["way"])]

    def cell(self, row: dict, probe: dict) -> pd.Series | str:
        """The cell of a row and a probe; in words why there is none."""
        own = at(self.cells_of(row), probe)
        if len(own):
            return own.iloc[0]
        return (
            f"left out: {reason}"
            if (reason := self.reasons.get((row["model"], row["way"], probe["study"])))
            else NOT_RUN
        )

    def asked(self, row: dict) -> str:
        """How the model of a row was asked, and what its cells are means of."""
        return ", ".join(filter(None, [row["way"], replicates(self.cells_of(row))]))

    def feet(self, probe: dict) -> dict[str, tuple[str, str, str]]:
        """The value, the interval and the name in each of FEET; empty texts if there is none."""
        found = dict.fromkeys(FEET, ("", "", ""))
        for row in at(self.papers, probe).to_dict("records"):
            who, name = (
                ("human", "in the paper") if row["who"] == "human" else (FEET[1], row["row"])
            )
            found[who] = percent(row["value"]), "", name
        for row in at(self.controls, probe).to_dict("records"):
            title = model_title(row["model"], self.models)
            found[FEET[0]] = percent(row["value"]), interval(row), title
        for row in at(self.human, probe).to_dict("records"):
            found["human"] = percent(row["value"]), interval(row), ""
        return found


def read_measured(given: argparse.Namespace) -> tuple[pd.DataFrame, dict, dict]:
    """What was measured, the studies' entries and the networks, of the files of a program."""
    metrics, studies = read_scores(given.metrics), load(given.sources.parent / "studies.yaml")
    studies = {name: study for name, study in studies.items() if name in set(metrics["study"])}
    return metrics, studies, networks_of([given.train / name / "run.json" for name in given.runs])


def read_scorecard(given: argparse.Namespace) -> Scorecard:
    """The scorecard of the files that a program is given. Raises UserError where no model was measured on a probe."""
    resources, sources = given.sources.parent, load(given.sources)
    models = load_systems(given.models, given.sources)
    metrics, studies, networks = read_measured(given)
    cells = cells_of(metrics, studies, sources, networks)
    if cells.empty:
        raise UserError(
            f"{given.metrics}: no headline of a model on a whole split; run an experiment with a model"
        )
    controls = best_controls(metrics, cells, studies, sources)
    cells = cells.assign(clear=is_clear(cells, controls))
    probes = probe_names(cells, studies, sources)
    reasons = reasons_of(read_left_out(resources / "left_out.yaml"), studies, networks)
    return Scorecard(
        cells,
        row_order(cells, models, reasons).to_dict("records"),
        probes.to_dict("records"),
        reasons,
        studies,
        sources,
        models,
        controls,
        people(metrics, studies, sources),
        published(resources / "published.csv", probes, studies),
    )


def read_left_out(file: Path) -> list[dict]:
    """What was not asked, and why: {experiment, study, model, method, reason}; nothing where no such file was handed over."""
    return read_yaml(file) if file.is_file() else []


def reasons_of(
    left_out: list[dict], studies: dict, networks: dict[str, tuple[str, float]]
) -> dict[tuple[str, str, str], str]:
    """Why a model was not asked, by model, way and study; by the way NOT_ASKED for whatever way comes first."""
    found: dict[tuple[str, str, str], str] = {}
    for entry in left_out:
        kind = networks.get(entry["model"], (UNKNOWN, None))[0]
        for way in (
            way_of(studies.get(entry["study"], {"methods": {}}), entry["method"], kind),
            NOT_ASKED,
        ):
            found.setdefault((entry["model"], way, entry["study"]), entry["reason"])
    return found


def row_order(
    cells: pd.DataFrame, models: dict, reasons: dict[tuple[str, str, str], str]
) -> pd.DataFrame:
    """The scorecard's rows: kind, parameters, model, way, title; by kind and size, those that the runs tell nothing of last.

    A model that nothing could ask has a row as well, its way NOT_ASKED.
    """
    rows = cells.drop_duplicates(["model", "way"])[["kind", "parameters", "model", "way"]]
    silent = sorted({model for model, _, _ in reasons} - set(rows["model"]))
    rows = pd.concat(
        [
            rows,
            pd.DataFrame(
                {"kind": NO_ANSWER, "parameters": float("nan"), "model": silent, "way": NOT_ASKED}
            )[: len(silent)],
        ]
    )
    rows = rows.assign(title=rows["model"].map(lambda name: model_title(name, models)))
    kinds, ways = [*KINDS.values(), ELSEWHERE, UNKNOWN], [*WAYS, *OTHER_WAYS.values(), NOT_ASKED]
    rows = rows.reset_index(drop=True)
    order = rows.assign(kind=rank(rows["kind"], kinds), way=rank(rows["way"], ways))
    return rows.loc[order.sort_values(["kind", "parameters", "title", "way"], kind="stable").index]


def option_title(probe: dict, studies: dict) -> str:
    """What a probe is called within its study."""
    study = studies[probe["study"]]
    of, headline = study.get("probe", {}), study["headline"]
    if "option" in of:
        return of.get("titles", {}).get(probe["option"], f"{of['option']} {probe['option']}")
    return SCORES.get(headline, headline.replace("_", " "))


def probe_names(cells: pd.DataFrame, studies: dict, sources: dict) -> pd.DataFrame:
    """The probes in their order: PROBE, sample, n (of the cells: the most), scoring (the finest), study_title, corpus_title, title,
    face and note (marks)."""
    cells = cells.assign(scoring=cells["scoring"].astype(object).fillna(""))
    groups = cells.groupby(PROBE, sort=False, dropna=False)
    probes = groups.agg(
        sample=("sample", "any"), n=("n", "max"), scoring=("scoring", "max")
    ).reset_index()
    return probes.assign(
        study_title=[studies[name]["title"] for name in probes["study"]],
        corpus_title=[sources.get(name, {}).get("title", name) for name in probes["corpus"]],
        face=[face_of(of) for _, of in groups],
        note=[note_of(of) for _, of in groups],
        title=[option_title(probe, studies) for probe in probes.to_dict("records")],
    )


def corpus_line(probe: dict) -> str:
    """The title of a probe's corpus, empty where it is named like its study."""
    return "" if probe["corpus_title"] == probe["study_title"] else probe["corpus_title"]


def at(table: pd.DataFrame, probe: dict) -> pd.DataFrame:
    """The rows of a table that are of a probe."""
    same = (
        table[["study", "corpus", "option"]]
        == [probe[name] for name in ("study", "corpus", "option")]
    ).all(axis=1)
    limit = table["limit"].isna() if pd.isna(probe["limit"]) else table["limit"] == probe["limit"]
    return table[same & limit]


def replicates(cells: pd.DataFrame) -> str:
    """`3 wordings`, `2 seeds`: what the cells of a row are means of; empty where they are of one run each."""
    wordings, seeds = (
        cells["wordings"].dropna(),
        cells.loc[cells["wordings"].isna(), "seeds"].dropna(),
    )
    told = []
    for counts, word in ((wordings, "wording"), (seeds, "seed")):
        if (counts > 1).any():
            low, high = int(counts[counts > 0].min()), int(counts.max())
            told.append(f"{low}–{high} {word}s" if low != high else f"{high} {word}s")
    return ", ".join(told + ["two labels"] * bool((cells["scoring"] == "binary").any()))


def size_in_words(parameters: float) -> str:
    """`110 M`: how many parameters a network has, in words; empty where that is not known."""
    if pd.isna(parameters):
        return ""
    factor, unit = next(
        (pair for pair in ((1e9, " B"), (1e6, " M"), (1e3, " k")) if parameters >= pair[0]), (1, "")
    )
    return f"{parameters / factor:.3g}{unit}"
