"""Make each study's finding for the first screen of its page: a line of plain words with the
control, and the points of a small figure.

A study's finding is its headline on its probes (scripts/publish/scorecard/cells.py). It names the
best system, on the probes where this system ran; if no model ran, the best control. Its verdicts
are those of the scorecard (scripts/publish/verdicts.py).
"""

import numpy as np
import pandas as pd

from scripts.data.declared import method_of_blind
from scripts.measure.ladder import CONTROL_METHODS
from scripts.publish.marks import at_most, limit_if_several, marks_of
from scripts.publish.names import joined, model_title, with_released
from scripts.publish.scorecard.cells import (
    FILLED,
    LIKELIHOOD,
    best_of,
    control_rows,
    people,
    preferred,
    published,
)
from scripts.publish.scorecard.card import at, judged_cells, probe_names, replicates
from scripts.publish.verdicts import ABOVE, BELOW, LEVEL_WITH, UNKNOWN, WORDS

CLAUSES = 2  # corpora in a line; the figure shows all

SAMPLE = "Sample data, made up to try the workflow. The numbers say nothing about language."
NO_MODEL = "No model ran: a control reaches these scores."
NO_CONTROL = "No control ran: nobody knows how little the score takes."
LEVEL_SAYS = "A control reaches this score, so the score does not need the model."
FEW_SEEDS = "Fewer than three seeds ran. Other seeds may give other scores."
ABOVE_SAYS = (
    "The model is above every control that ran. It may use a shortcut that no control uses."
)
READ_BEFORE = "The model may have read these texts in pretraining. No control can show that."


def findings_of(
    metrics: pd.DataFrame, studies: dict, sources: dict, models: dict, networks: dict, claims
) -> list[dict]:
    """Return a finding for each study that has a headline, in the order of `studies`.

    metrics: from read_scores(); networks: from networks_of(); claims: the file published.csv. A
    finding has

    study, title, short      the study's name, title and short title
    clauses                  for each of the first corpora: {corpus, said, of, control, alone,
                             verdicts: [(a key of WORDS, words)]}
    who                      the system, its corpora and the number of items
    experiments              those that measured the system
    caveats                  sentences that limit the finding, the most important first
    marks                    the marks of marks_of()
    groups                   [{title, rows}]: the probes of a corpus, a row for each: title, value,
                             low, high, others, control, human (all in per cent, or None), verdict
    """
    measured = set(metrics["study"])
    studies = {name: of for name, of in studies.items() if name in measured and "headline" in of}
    sources = {
        source: entry | {"title": entry.get("short", entry.get("title", source))}
        for source, entry in sources.items()
    }
    on_probes, _, cells = judged_cells(metrics, studies, sources, networks)
    controls = control_rows(on_probes).assign(way="control")
    controls = preferred(controls, studies).sort_index()
    known, findings = with_released(models, sources), []

    def title(name: str) -> str:
        return "the same model, blind" if method_of_blind(name) else model_title(name, known)

    for name, study in studies.items():
        of_study = cells[cells["study"] == name]
        # The authors' released predictions count only if the study has no other predictions.
        is_own = of_study["method"] != "released"
        of_study = of_study[is_own] if is_own.any() else of_study
        of_controls = controls[controls["study"] == name]
        rows = best_system(of_study) if len(of_study) else best_alone(of_controls)
        if rows.empty:
            continue
        probes = probe_names(rows, studies, sources)
        printed = published(claims, probes, studies)
        humans = pd.concat([people(on_probes), printed[printed["who"] == "human"]])
        human = humans.drop_duplicates("probe").set_index("probe")["value"]
        alone = rows["method"].isin(CONTROL_METHODS)
        rows = rows.assign(
            title=probes["title"],
            corpus_title=probes["corpus_title"],
            place=probes["corpus_title"] + limit_if_several(rows),
            system=rows["model"].map(title),
            alone=alone,
            control=rows["control"].mask(alone, rows["model"]).map(title, na_action="ignore"),
            control_value=rows["value"] - rows["above"].mask(alone, 0),
            human=rows["probe"].map(human),
        )
        findings.append(
            {
                "study": name,
                "title": study["title"],
                "short": study.get("short", study["title"]),
                "clauses": clauses_of(rows, study),
                "who": in_short(rows, of_study, study),
                "experiments": list(dict.fromkeys(rows["experiment"])),
                "caveats": stands_of(rows) + caveats_of(rows, study.get("chance", np.nan)),
                "marks": marks_of(rows),
                "groups": groups_of(rows, of_study),
            }
        )
    return findings


def best_alone(controls: pd.DataFrame) -> pd.DataFrame:
    """Return the best control of each probe. Its distance to a control is missing."""
    nothing = dict.fromkeys(("control", "stands", "verdict"))
    best = best_of(controls).assign(above=np.nan, why="", **nothing)
    return best.sort_values("probe", ignore_index=True)


def best_system(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the best system: the one that beats most others on the probes that both
    have. Ties: the one with most probes, then with the highest mean.
    """
    systems = cells.groupby(["model", "way"], sort=False)["value"].agg(["size", "mean"])
    values = cells.pivot(index=["model", "way"], columns="probe", values="value")
    values = values.loc[systems.index].to_numpy()
    wins = np.nan_to_num(values[:, None] - values).sum(axis=2) > 0
    systems.insert(0, "wins", wins.sum(axis=1))
    model, way = systems.sort_values(list(systems), ascending=False, kind="stable").index[0]
    return cells[(cells["model"] == model) & (cells["way"] == way)].reset_index(drop=True)


def clauses_of(rows: pd.DataFrame, study: dict) -> list[dict]:
    """Return the clause of each of the first corpora (and limits)."""
    plain = rows[rows["option"] != study.get("probe", {}).get("secondary")]
    rows = plain if len(plain) else rows
    parts = [part for _, part in rows.groupby("place", sort=False)]
    clauses = [clause_of(part, study) for part in parts[:CLAUSES]]
    for clause, before in zip(clauses[1:], clauses):  # no repetition
        clause["of"] = "" if clause["of"] == before["of"] else clause["of"]
    return clauses if len(parts) > 1 else [clauses[0] | {"corpus": ""}]


def clause_of(rows: pd.DataFrame, study: dict) -> dict:
    """Return the clause of a corpus. Its percentages are whole, or have one decimal if rounding
    hides which number is higher.
    """
    ends, alone = study.get("probe", {}).get("ends"), bool(rows["alone"].all())
    both = rows[["value", "control_value"]] * 100
    hidden = both["value"].round() == both["control_value"].round()
    decimals = int((hidden & rows["verdict"].isin([ABOVE, BELOW])).any())
    values, beside = (
        (" → " if ends else ", ").join(f"{value:.{decimals}f}" for value in both[name].dropna())
        for name in both
    )
    names = [name.rpartition(": ")[2] for name in rows["title"]]
    if len(names) == 1:
        several = f" at {names[0]}" if ends else ""
    else:
        last = names[-1].rpartition(" ")[2]
        several = f" from {names[0]} to {last}" if ends else f" ({', '.join(names)})"
    controls = joined(list(rows["control"].dropna().unique()), " or ")
    best = "by the best control alone" if alone else f"best control {beside}"
    where = "at" if ends else "in"
    return {
        "corpus": rows["place"].iloc[0],
        "said": f"{values} %",
        "of": f"of {study.get('counted', 'the examples')}{several}",
        "control": f"{best} ({controls})" if controls else "",
        "alone": alone,
        "verdicts": [] if alone else verdicts_of(rows, names, where),
    }


def few_runs(rows: pd.DataFrame) -> str:
    """Return ` in this run` for one seed, ` in these two runs` for two, else an empty text. Fewer
    than three seeds give no finding about a model.
    """
    runs = rows["seeds"].where(rows["wordings"].isna(), 0)
    return {1: " in this run", 2: " in these two runs"}.get(int(runs.max()), "")


def verdicts_of(rows: pd.DataFrame, names: list[str], where: str) -> list[tuple[str, str]]:
    """Return each verdict once, the best first. If verdicts differ, each names its probes."""
    verdicts = rows["verdict"].tolist()
    if not any(verdicts):
        return [(UNKNOWN, "no control ran")]
    named: dict[tuple[str, str], list[str]] = {}
    for kind, why, name in zip(verdicts, rows["why"], names):
        if kind:
            named.setdefault((kind, why or WORDS[kind]), []).append(name)
    kinds = sorted(named, key=lambda one: list(WORDS).index(one[0]))
    several = len(kinds) > 1
    found = [
        (kind, f"{words} {where} {joined(named[kind, words])}" if several else words)
        for kind, words in kinds
    ]
    return [*found[:-1], (found[-1][0], found[-1][1] + few_runs(rows))]


def in_short(rows: pd.DataFrame, cells: pd.DataFrame, study: dict) -> str:
    """Return system, corpora and sizes in short:
    `tiny BERT, fine-tuned (best of 5) · Sample captions · 140–357 pairs · 2 seeds`.
    """
    corpora, sizes = (
        rows["corpus_title"].unique(),
        sorted({int(rows["n"].min()), int(rows["n"].max())}),
    )
    unit = study.get("counted", "items").split(" ")[0]
    facts = [
        corpora[0] if len(corpora) == 1 else f"{len(corpora)} corpora",
        f"{'–'.join(f'{size:,}' for size in sizes)} {unit}",
    ]
    if cells.empty:
        return " · ".join(facts)
    systems = len(cells.drop_duplicates(["model", "way"]))
    system, way = rows[["system", "way"]].iloc[0]
    system = system if way in system else f"{system}, {way}"
    system = system if systems == 1 else f"{system} (best of {systems})"
    part = rows[rows["learnt_part"] != ""]
    learnt = [
        f"{joined(list(of['title']))} learnt from {words}"
        for words, of in part.groupby("learnt_part", sort=False)
    ]
    return " · ".join([system, *facts, *replicates(rows), *learnt])


def stands_of(rows: pd.DataFrame) -> list[str]:
    """Return a sentence for each rung that the system clearly leaves behind, with the places."""
    shown = rows[rows["stands"].notna()]
    names = {
        stands: joined(list(of["title"])) for stands, of in shown.groupby("stands", sort=False)
    }
    if len(names) == 1:
        return [f"{shown['system'].iloc[0]}: {stands}." for stands in names]
    return [f"{shown['system'].iloc[0]}, {where}: {stands}." for stands, where in names.items()]


def caveats_of(rows: pd.DataFrame, chance: float) -> list[str]:
    sample = bool(rows["sample"].any())
    first = [SAMPLE] if sample else []
    first += [
        f"Only {at_most(limit)} of each split were measured, so the intervals are wide."
        for limit in sorted(rows["limit"].dropna().unique())
    ]
    if rows["alone"].all():
        return [*first, NO_MODEL]
    verdicts = set(rows["verdict"])
    holds = {
        NO_CONTROL: verdicts == {None},
        f"The model is at chance ({chance * 100:.0f} %).": (
            (rows["ci_low"] <= chance) & (rows["ci_high"] >= chance)
        ).all(),
        LEVEL_SAYS: verdicts & {LEVEL_WITH, BELOW, UNKNOWN},
        FEW_SEEDS: few_runs(rows) != "",
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
        groups.setdefault(row["place"], []).append(
            {
                "title": row["title"],
                "value": None if row["alone"] else per_cent(row["value"]),
                "low": per_cent(row["ci_low"]),
                "high": per_cent(row["ci_high"]),
                "others": sorted({per_cent(value) for value in at(cells[~is_best], row)["value"]}),
                "human": per_cent(row["human"]),
                "verdict": row["verdict"],
                "control": per_cent(row["control_value"]),
            }
        )
    return [{"title": title if len(groups) > 1 else "", "rows": of} for title, of in groups.items()]


def shared_caveats(findings: list[dict]) -> list[str]:
    caveats = [finding["caveats"] for finding in findings]
    return [text for text in caveats[0] if all(text in of for of in caveats)] if caveats[1:] else []
