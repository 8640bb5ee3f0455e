"""Collect the content of the scorecard's figure and table: rows, probes, the values below the
models, and the reasons for missing cells.
"""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from scripts.data.yaml_files import read_yaml
from scripts.measure.comparisons import LIKE, MORE, SHORTCUT, SOLVER, TITLES
from scripts.publish.compared import read_comparisons
from scripts.publish.item import Given
from scripts.publish.marks import note_of
from scripts.publish.names import in_order, source_title, split_title, titles_of
from scripts.publish.scorecard.cells import (
    ELSEWHERE,
    KINDS,
    PROBE,
    UNKNOWN,
    WAYS,
    Networks,
    cells_of,
    controls_beside,
    networks_of,
    people,
    probe_rows,
    published,
    read_scores,
    way_of,
)
from scripts.publish.table import interval

NO_HEADLINE = "No model has a headline on a plain, whole split."
NOT_ASKED, NO_ANSWER, NOT_RUN = "no method fits it", "could not be asked", "not run"
BELOW = "for comparison"
Reasons = dict[tuple[str, str, str], str]  # by model, way and study
# the rows below the models
KINDS_BELOW = (LIKE, SHORTCUT, MORE, SOLVER)
FEET = (*(TITLES[kind] for kind in KINDS_BELOW), "best in the paper", "human")


class Scorecard(NamedTuple):
    """The content of the scorecard's figure and table.

    cells    from cells_of()
    by_row   the same cells, by model, way and probe
    rows     from rows_of()
    probes   from probe_names(), as mappings
    feet     probe, who (one of FEET), value, ends (the interval in words), whose
    reasons  from reasons_of()
    studies  the entries of the measured studies
    """

    cells: pd.DataFrame
    by_row: dict[tuple, dict]
    rows: list[dict]
    probes: list[dict]
    feet: pd.DataFrame
    reasons: Reasons
    studies: dict
    sources: dict

    def cell(self, row: dict, probe: dict) -> dict | str:
        """Return a row's cell of a probe, or why the cell is missing."""
        asked = row["model"], row["way"]
        reason = self.reasons.get((*asked, probe["study"]))
        missing = f"left out: {reason}" if reason else NOT_RUN
        return self.by_row.get((*asked, probe["probe"]), missing)


def read_scorecard(given: Given) -> Scorecard | None:
    """Read the scorecard; None if no model has a headline (NO_HEADLINE)."""
    resources, sources, models = given.resources, given.sources, given.models
    sources = {  # short titles fit over a panel
        name: entry | {"title": entry.get("short", entry.get("title", name))}
        for name, entry in sources.items()
    }
    metrics, studies = read_scores(given.metrics), given.studies
    studies = {name: study for name, study in studies.items() if name in set(metrics["study"])}
    networks, on_probes = networks_of(given.facts), probe_rows(metrics, studies, sources)
    compared = read_comparisons(given.metrics)
    cells = cells_of(on_probes, metrics, compared, studies, networks)
    if cells.empty:
        return None
    probes = probe_names(cells, studies, sources)
    reasons = reasons_of(read_left_out(resources / "left_out.yaml"), studies, networks)
    in_paper, human = FEET[-2:]
    controls = controls_beside(on_probes, cells)
    controls = controls.assign(who=controls["kind_of_control"].map(TITLES))
    here = pd.concat([controls, people(on_probes).assign(who=human)])
    here["whose"] = titles_of(here, models).mask(here["who"] == human, "")
    here["ends"] = [interval(row) for row in here.to_dict("records")]
    papers = published(resources / "published.csv", probes, studies)
    papers = papers.assign(whose=papers["row"].mask(papers["who"] == human, "in the paper"))
    papers["who"] = papers["who"].replace("paper", in_paper)
    feet = pd.concat([here, papers])[["probe", "who", "value", "ends", "whose"]]
    feet = feet.fillna({"ends": ""}).drop_duplicates(["probe", "who"])
    feet = in_order(feet, ["who"], who=FEET)
    rows = rows_of(cells, models, reasons)
    by_row = {(one["model"], one["way"], one["probe"]): one for one in cells.to_dict("records")}
    return Scorecard(
        cells, by_row, rows, probes.to_dict("records"), feet, reasons, studies, sources
    )


def read_left_out(file: Path) -> list[dict]:
    """Read the methods that were left out: {experiment, study, model, method, reason}."""
    return read_yaml(file) if file.is_file() else []


def reasons_of(left_out: list[dict], studies: dict, networks: Networks) -> Reasons:
    """Return why a model was not asked, by model, way (NOT_ASKED: the first reason) and study."""
    found: Reasons = {}
    for entry in left_out:
        kind, study = networks.get(entry["model"], (UNKNOWN, 0))[0], entry["study"]
        way = way_of(studies.get(study, {"methods": {}}), entry["method"], kind)
        for place in ((entry["model"], way, study), (entry["model"], NOT_ASKED, study)):
            found.setdefault(place, entry["reason"])
    return found


def rows_of(cells: pd.DataFrame, models: dict, reasons: Reasons) -> list[dict]:
    """Return the scorecard's rows, sorted by kind and size: kind, parameters, model, way, title,
    asked (the way and replicates()).

    A model that no method fits also has a row, with the way NOT_ASKED.
    """
    rows = [
        of.iloc[0][["kind", "parameters", "model", "way"]].to_dict()
        | {"asked": ", ".join([way, *replicates(of)])}
        for (_, way), of in cells.groupby(["model", "way"], sort=False)
    ]
    silent = sorted({model for model, _, _ in reasons} - set(cells["model"]))
    nothing = {"kind": NO_ANSWER, "way": NOT_ASKED, "asked": NOT_ASKED, "parameters": float("nan")}
    rows = pd.DataFrame(rows + [nothing | {"model": model} for model in silent])
    rows = rows.assign(title=titles_of(rows, models))
    kinds = [*KINDS.values(), ELSEWHERE, UNKNOWN]
    by = ["kind", "parameters", "title", "way"]
    return in_order(rows, by, kind=kinds, way=WAYS).to_dict("records")


def replicates(cells: pd.DataFrame) -> list[str]:
    """Return `3 wordings`, `2 seeds`, if a row's cells are means over these, and the words of
    coarse scorings.
    """
    parts = []
    seeds = cells.loc[cells["wordings"].isna(), "seeds"]
    for counts, word in ((cells["wordings"].dropna(), "wording"), (seeds.dropna(), "seed")):
        if (counts > 1).any():
            low, high = int(counts[counts > 0].min()), int(counts.max())
            parts.append(f"{low}–{high} {word}s" if low != high else f"{high} {word}s")
    return [*parts, *filter(None, cells["scored"].unique())]


def option_title(probe: dict, studies: dict) -> str:
    study = studies[probe["study"]]
    of = study.get("probe", {})
    if "option" in of:
        return of.get("titles", {}).get(probe["option"], f"{of['option']} {probe['option']}")
    return study["metrics"][study["headline"]]["title"]


def probe_names(cells: pd.DataFrame, studies: dict, sources: dict) -> pd.DataFrame:
    """Return the probes in their order: probe, PROBE, split, sample, n (the largest), scoring (the
    finest), titles and note (marks).
    """
    cells = cells.assign(scoring=cells["scoring"].astype(object).fillna(""))
    groups = cells.sort_values("coarse", kind="stable").groupby("probe")
    first = dict.fromkeys([*PROBE, "split", "scoring"], "first")
    probes = groups.agg(first | {"sample": "any", "n": "max"}).reset_index()
    return probes.assign(
        study_title=[studies[name]["title"] for name in probes["study"]],
        corpus_title=[  # ActivityNet, validation 1
            source_title(corpus, sources)
            + (f", {split_title(split)}" if split[-1:].isdigit() else "")
            for corpus, split in zip(probes["corpus"], probes["split"])
        ],
        note=[note_of(of) for _, of in groups],
        title=[option_title(probe, studies) for probe in probes.to_dict("records")],
    )


def corpus_line(probe: dict) -> str:
    """Return the title of a probe's corpus, empty if the study has the same title."""
    return "" if probe["corpus_title"] == probe["study_title"] else probe["corpus_title"]


def at(table: pd.DataFrame, probe: dict) -> pd.DataFrame:
    return table[table["probe"] == probe["probe"]]


def size_in_words(parameters: float) -> str:
    """Return a number of parameters as text, for example `110 M`."""
    if pd.isna(parameters):
        return ""
    for factor, unit in ((1e9, " B"), (1e6, " M"), (1e3, " k")):
        if parameters >= factor:
            return f"{parameters / factor:.3g}{unit}"
    return f"{parameters:.3g}"
