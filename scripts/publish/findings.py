"""Make each study's finding for the first screen of its page: a sentence with the control and the
verdict, and the points of a small figure.

A study's finding is its headline on its probes (scripts/publish/scorecard/cells.py). It names the
best system, on the probes where this system ran; if no model ran, the highest control. Beside it
stands the control like for like, with the verdict of the table of comparisons.
"""

import re
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from scripts.data.declared import method_of_blind
from scripts.measure.comparisons import (
    ABOVE,
    BELOW,
    CANNOT_TELL,
    CONTROL_METHODS,
    FEW_SEEDS,
    LEVEL_WITH,
    LIKE,
    MORE,
    SHORTCUT,
    TITLES,
    UNCLEAR,
    UNKNOWN,
    VERDICTS,
)
from scripts.publish.compared import estimate_of, words_beside
from scripts.publish.marks import at_most, learnt_marks, limit_if_several, marks_of
from scripts.publish.names import joined, model_title, with_released
from scripts.publish.scorecard.cells import (
    FILLED,
    LIKELIHOOD,
    best_of,
    best_system,
    cells_of,
    chosen_controls,
    people,
    preferred,
    probe_rows,
    published,
    ranking,
)
from scripts.publish.scorecard.card import at, probe_names, replicates
from scripts.publish.selection import with_interval
from scripts.publish.table import percent, signed

WHICH = {UNCLEAR: "not clear which is higher", CANNOT_TELL: "too uncertain to tell which is higher"}
SAMPLE = "Sample data, made up to try the workflow. The numbers say nothing about language."
NO_MODEL = "No model ran: a control reaches these scores."
ALONE = "A control alone"
NO_CONTROL = "No control ran: nobody knows how little the score takes."
NO_LIKE = "No control like for like ran: nobody knows whether the score needs pretraining."
LEVEL_SAYS = "A control reaches this score, so the score does not need the model."
FEW_RUNS = "Fewer than three seeds ran. Other seeds may give other scores."
ABOVE_SAYS = "It may use a shortcut that no control uses."
CAPPED = "stopped at its cap"
AT_CAP = "A run was stopped at its cap of epochs, so the model was not trained to the end."
READ_BEFORE = "The model may have read these texts in pretraining. No control can show that."


def findings_of(
    metrics: pd.DataFrame,
    comparisons: pd.DataFrame,
    studies: dict,
    sources: dict,
    models: dict,
    networks: dict,
    claims,
) -> list[dict]:
    """Return a finding for each study that has a headline, in the order of `studies`.

    metrics: from read_scores(); comparisons: from read_comparisons(); networks: from networks_of();
    claims: the file published.csv. A finding has

    study, title, short      the study's name, title and short title
    sentence                 its parts (sentence_of())
    who                      the system, its corpora and the number of items
    experiments              those that measured the system
    beside                   a sentence for each control of each probe
    caveats                  sentences that limit the finding, the most important first
    marks                    the marks of marks_of(), and whether a run stopped at its cap
    groups                   [{title, rows}]: the probes of a corpus, a row for each: title, value,
                             low, high, others, control, shortcut, human (all in per cent, or
                             None), verdict, runs (their number if it is no sample of seeds)
    """
    sources = {
        source: entry | {"title": entry.get("short", entry.get("title", source))}
        for source, entry in sources.items()
    }
    measured = set(metrics["study"])
    studies = {name: of for name, of in studies.items() if name in measured and "headline" in of}
    on_probes = probe_rows(metrics, studies, sources)
    cells = cells_of(on_probes, metrics, comparisons, studies, networks)
    controls = chosen_controls(on_probes).assign(way="control")
    controls = preferred(controls, studies).sort_index()
    titles, findings = with_released(models, sources), []
    for name, study in studies.items():
        of_study = cells[cells["study"] == name]
        of_controls = controls[controls["study"] == name]
        rows = best_system(of_study) if len(of_study) else best_alone(of_controls)
        if len(rows):
            probes = probe_names(rows, studies, sources)
            printed = published(claims, probes, studies)
            humans = pd.concat([people(on_probes), printed[printed["who"] == "human"]])
            rows = with_titles(rows, probes, humans, titles)
            findings.append({"study": name} | finding_of(rows, of_study, study, titles))
    return findings


def title_of(name: str, titles: dict) -> str:
    return "the same model, blind" if method_of_blind(name) else model_title(name, titles)


def with_titles(
    rows: pd.DataFrame, probes: pd.DataFrame, humans: pd.DataFrame, titles: dict
) -> pd.DataFrame:
    """Return the cells of a study's system with the titles of probe, corpus, system and control,
    `name` (the probe, and its place where they differ), `alone` (the system is a control), and the
    scores of the control and of people. A control alone is its own control. probes: from
    probe_names(); humans: probe and value.
    """
    title, alone = partial(title_of, titles=titles), rows["method"].isin(CONTROL_METHODS)
    human = humans.drop_duplicates("probe").set_index("probe")["value"]
    place = probes["corpus_title"] + limit_if_several(rows)
    return rows.assign(
        title=probes["title"],
        corpus_title=probes["corpus_title"],
        place=place,
        name=probes["title"] + (" (" + place + ")" if place.nunique() > 1 else ""),
        system=rows["model"].map(title),
        alone=alone,
        control=rows["control"].mask(alone, rows["model"]).map(title, na_action="ignore"),
        control_value=rows["value"].where(alone, rows[f"{LIKE}_control_value"]),
        human=rows["probe"].map(human),
    )


def finding_of(rows: pd.DataFrame, cells: pd.DataFrame, study: dict, titles: dict) -> dict:
    """Return a study's finding without its name. rows: from with_titles(); cells: of every
    system.
    """
    return {
        "title": study["title"],
        "short": study.get("short", study["title"]),
        "sentence": sentence_of(rows, study),
        "who": in_short(rows, cells, study),
        "experiments": list(dict.fromkeys(rows["experiment"])),
        "beside": beside_of(rows, titles),
        "caveats": caveats_of(rows, study.get("chance", np.nan)),
        "marks": [*marks_of(rows), *([CAPPED] if is_capped(rows) else [])],
        "groups": groups_of(rows, cells),
    }


def best_alone(controls: pd.DataFrame) -> pd.DataFrame:
    """Return the highest chosen control of each probe. It has no comparison."""
    names = ("difference", "words", "verdict", "control_value")
    nothing = {f"{kind}_{name}": np.nan for kind in TITLES for name in names}
    missing = dict.fromkeys(("control", "verdict", "words"))
    best = best_of(controls).assign(above=np.nan, learnt_part="", **nothing, **missing)
    return best.sort_values("probe", ignore_index=True)


def sentence_of(rows: pd.DataFrame, study: dict) -> dict:
    """Return the parts of a sentence about a study's first probe of which the system learnt from
    all training data: `MPNet has 61.7 % of pairs put in the right order (stride 0), the control
    like for like 59.4 %: not clear which is higher.` The figure beside it shows every probe.
    """
    plain = rows[rows["option"] != study.get("probe", {}).get("secondary")]
    plain = plain if len(plain) else rows
    whole = plain[plain["learnt_part"] == ""]
    row = (whole if len(whole) else plain).iloc[0]
    has_control = pd.notna(row["control_value"]) and not row["alone"]
    compared = row["verdict"] if isinstance(row["verdict"], str) else UNKNOWN
    below = row[f"{SHORTCUT}_verdict"] == BELOW
    reached = in_percent(row[f"{SHORTCUT}_control_value"])
    place = f" ({row['title']})" if row["option"] else ""
    return {
        "corpus": row["place"] if rows["place"].nunique() > 1 else "",
        "who": ALONE if row["alone"] else re.split(r", | \(", row["system"])[0],
        "said": in_percent(row["value"]),
        "of": f"of {study.get('counted', 'the examples')}{place}",
        "control": in_percent(row["control_value"]) if has_control else "",
        "verdict": None if row["alone"] else compared,
        "words": short_words(row),
        "shortcut": f"A shortcut, which reads less, has {reached}." if below else "",
    }


def in_percent(share: float) -> str:
    return f"{percent(share)}\u00a0%"


def short_words(row: Mapping) -> str:
    """Return a verdict without its reasons: `below in this run`, `not clear which is higher`."""
    if not isinstance(row["verdict"], str):
        return "no control like for like ran"
    short = re.sub(r" \(.*?\)| among .*|;.*", "", row["words"])
    return WHICH.get(row["verdict"], short)


def few_runs(rows: pd.DataFrame) -> bool:
    """Return whether fewer than three seeds of a test ran: they give no finding about a model."""
    runs = rows["seeds"].where(rows["wordings"].isna(), 0)
    return bool(runs.between(1, FEW_SEEDS - 1).any())


def in_short(rows: pd.DataFrame, cells: pd.DataFrame, study: dict) -> str:
    """Return system, corpora and sizes in short:
    `tiny BERT, fine-tuned, the highest of 5 systems here · Sample captions · 140–357 pairs`.
    """
    corpora = rows["corpus_title"].unique()
    sizes = sorted({int(rows["n"].min()), int(rows["n"].max())})
    unit = study.get("counted", "items").split(" ")[0]
    facts = [
        corpora[0] if len(corpora) == 1 else f"{len(corpora)} corpora",
        f"{'–'.join(f'{size:,}' for size in sizes)} {unit}",
    ]
    if cells.empty:
        return " · ".join([joined(list(rows["system"].unique()), " or "), *facts])
    system, way = rows[["system", "way"]].iloc[0]
    named = system if way in system else f"{system}, {way}"
    system = ", ".join([named, *rank_in_words(rows, cells)])
    part = rows[rows["learnt_part"] != ""]
    learnt = [
        f"{joined(list(of['name']))} learnt from {words}"
        for words, of in part.groupby("learnt_part", sort=False)
    ]
    return " · ".join([system, *facts, *replicates(rows), *learnt])


def rank_in_words(rows: pd.DataFrame, cells: pd.DataFrame) -> list[str]:
    """Return how the best system stands to the others of ranking(); nothing without others."""
    systems = ranking(cells)
    if len(systems) == 1:
        return []
    ranked = cells.set_index(["model", "way"]).loc[systems.index]
    highest = ranked.groupby("probe")["value"].max()
    if highest.equals(rows.set_index("probe")["value"].sort_index()):
        return [f"the highest of {len(systems)} systems here"]
    return [f"on average ahead of {systems['wins'].iloc[0]} of {len(systems) - 1} others here"]


def beside_of(rows: pd.DataFrame, titles: dict) -> list[str]:
    """Return a sentence for each kind of control and each place: `Shortcut, set I: second text
    alone, 52.0 %. The model is +8.0 points (+6.0 to +10.0): clearly above.`
    """
    found = []
    for kind in (LIKE, SHORTCUT, MORE):
        for row in rows[rows[f"{kind}_difference"].notna()].to_dict("records"):
            control, reached = row[f"{kind}_control"], percent(row[f"{kind}_control_value"])
            place = f"{TITLES[kind].capitalize()}, {row['name']}"
            above = with_interval(estimate_of(row, kind), signed, " points")
            control = f"{title_of(control, titles)}, {reached} %"
            found.append(f"{place}: {control}. The model: {above}, {words_beside(row, kind)}.")
    return found


def is_capped(rows: pd.DataFrame) -> bool:
    return bool(rows["words"].astype(str).str.contains(CAPPED).any())


def caveats_of(rows: pd.DataFrame, chance: float) -> list[str]:
    sample = bool(rows["sample"].any())
    first = [SAMPLE] if sample else []
    first += [
        f"Only {at_most(limit)} of each split were measured, so the intervals are wide."
        for limit in sorted(rows["limit"].dropna().unique())
    ]
    first += [
        f"A first look: models and controls were {mark}." for mark in learnt_marks(rows["dataset"])
    ]
    if rows["alone"].all():
        return [*first, NO_MODEL]
    verdicts = set(rows["verdict"])
    has_like = bool(verdicts & {*VERDICTS})
    has_other = rows[[f"{kind}_difference" for kind in (SHORTCUT, MORE)]].notna().any(axis=None)
    holds = {
        NO_CONTROL: not has_like and not has_other,
        NO_LIKE: not has_like and has_other,
        f"The model is at chance ({chance * 100:.0f} %).": (
            (rows["ci_low"] <= chance) & (rows["ci_high"] >= chance)
        ).all(),
        LEVEL_SAYS: verdicts & {LEVEL_WITH, BELOW},
        AT_CAP: is_capped(rows),
        FEW_RUNS: few_runs(rows),
        READ_BEFORE: rows["way"].isin([LIKELIHOOD, FILLED]).any() and not sample,
        ABOVE_SAYS: verdicts == {ABOVE},
    }
    return first + [text for text, condition in holds.items() if condition]


def groups_of(rows: pd.DataFrame, cells: pd.DataFrame) -> list[dict]:
    """Return the rows of the small figure, by corpus and limit. cells: of all systems; the others
    are pale points.
    """

    def per_cent(value: float) -> float | None:
        return None if pd.isna(value) else round(float(value) * 100, 1)

    groups: dict[str, list[dict]] = {}
    is_best = (cells["model"] == rows["model"].iloc[0]) & (cells["way"] == rows["way"].iloc[0])
    for row in rows.to_dict("records"):
        runs = 0 if row["alone"] or pd.notna(row["wordings"]) else row["seeds"]
        groups.setdefault(row["place"], []).append(
            {
                "title": row["title"],
                "value": None if row["alone"] else per_cent(row["value"]),
                "low": per_cent(row["ci_low"]),
                "high": per_cent(row["ci_high"]),
                "others": sorted({per_cent(value) for value in at(cells[~is_best], row)["value"]}),
                "human": per_cent(row["human"]),
                "verdict": row["verdict"] if isinstance(row["verdict"], str) else "",
                "runs": int(runs) if 0 < runs < FEW_SEEDS else None,
                "control": per_cent(row["control_value"]),
                "shortcut": per_cent(row[f"{SHORTCUT}_control_value"]),
            }
        )
    return [{"title": title if len(groups) > 1 else "", "rows": of} for title, of in groups.items()]


def shared_caveats(findings: list[dict]) -> list[str]:
    caveats = [finding["caveats"] for finding in findings]
    return [text for text in caveats[0] if all(text in of for of in caveats)] if caveats[1:] else []
