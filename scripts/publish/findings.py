"""Make each study's finding for the first screen of its page: a line of plain words with the
control, and the points of a small figure.

A study's finding is its headline on its probes (scripts/publish/scorecard/cells.py). It names the
best system, on the probes where this system ran; if no model ran, the highest control. Beside it
stands the control like for like, with the verdict of the table of comparisons.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from scripts.data.declared import method_of_blind
from scripts.measure.comparisons import (
    ABOVE,
    BELOW,
    CONTROL_METHODS,
    FEW_SEEDS,
    LEVEL_WITH,
    LIKE,
    MORE,
    SHORTCUT,
    TITLES,
    UNKNOWN,
    VERDICTS,
)
from scripts.publish.marks import at_most, limit_if_several, marks_of
from scripts.publish.names import joined, model_title, with_released
from scripts.publish.scorecard.cells import (
    FILLED,
    LIKELIHOOD,
    best_of,
    cells_of,
    chosen_controls,
    people,
    preferred,
    probe_rows,
    published,
)
from scripts.publish.scorecard.card import at, probe_names, replicates
from scripts.publish.table import percent

CLAUSES = 2  # corpora in a line; the figure shows all

SAMPLE = "Sample data, made up to try the workflow. The numbers say nothing about language."
NO_MODEL = "No model ran: a control reaches these scores."
NO_CONTROL = "No control ran: nobody knows how little the score takes."
LEVEL_SAYS = "A control reaches this score, so the score does not need the model."
FEW_RUNS = "Fewer than three seeds ran. Other seeds may give other scores."
ABOVE_SAYS = "It may use a shortcut that no control uses."
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
    clauses                  for each of the first corpora: {corpus, said, of, control, alone,
                             verdicts: [(a verdict, words)]}
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
    on_probes = probe_rows(metrics, studies, sources)
    cells = cells_of(on_probes, metrics, comparisons, studies, networks)
    controls = chosen_controls(on_probes).assign(way="control")
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
            control_value=rows["value"].where(alone, rows[f"{LIKE}_control_value"]),
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
                "caveats": beside_of(rows, title) + caveats_of(rows, study.get("chance", np.nan)),
                "marks": marks_of(rows),
                "groups": groups_of(rows, of_study),
            }
        )
    return findings


def best_alone(controls: pd.DataFrame) -> pd.DataFrame:
    """Return the highest chosen control of each probe. It has no comparison."""
    nothing = {f"{kind}_{name}": np.nan for kind in TITLES for name in ("difference", "words")}
    nothing |= {f"{LIKE}_control_value": np.nan, "at_cap": False}
    missing = dict.fromkeys(("control", "verdict", "words"))
    best = best_of(controls).assign(above=np.nan, **nothing, **missing)
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
    best = "by a control alone" if alone else f"{TITLES[LIKE]} {beside}"
    where = "at" if ends else "in"
    return {
        "corpus": rows["place"].iloc[0],
        "said": f"{values} %",
        "of": f"of {study.get('counted', 'the examples')}{several}",
        "control": f"{best} ({controls})" if controls else "",
        "alone": alone,
        "verdicts": [] if alone else verdicts_of(rows, names, where),
    }


def few_runs(rows: pd.DataFrame) -> bool:
    """Return whether fewer than three seeds ran: they give no finding about a model."""
    runs = rows["seeds"].where(rows["wordings"].isna(), 0)
    return 0 < int(runs.max()) < FEW_SEEDS


def verdicts_of(rows: pd.DataFrame, names: list[str], where: str) -> list[tuple[str, str]]:
    """Return each verdict once, the best first. If verdicts differ, each names its probes."""
    named: dict[tuple[str, str], list[str]] = {}
    for kind, words, name in zip(rows["verdict"], rows["words"], names):
        if isinstance(kind, str):
            named.setdefault((kind, words), []).append(name)
    if not named:
        return [(UNKNOWN, "no control like for like ran")]
    kinds = sorted(named, key=lambda one: VERDICTS.index(one[0]))
    several = len(kinds) > 1
    return [
        (kind, f"{words} {where} {joined(named[kind, words])}" if several else words)
        for kind, words in kinds
    ]


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


def beside_of(rows: pd.DataFrame, title: Callable[[str], str]) -> list[str]:
    """Return a sentence for each other kind of control and each place: `Shortcut at set I: second
    text alone, 52.0 %: clearly above.`
    """
    found = []
    for kind in (SHORTCUT, MORE):
        shown = rows[rows[f"{kind}_difference"].notna()]
        for row in shown.to_dict("records"):
            place = f" ({row['title']})" if len(shown) > 1 else ""
            control = f"{title(row[f'{kind}_control'])}, {percent(row[f'{kind}_control_value'])} %"
            says = f"{TITLES[kind].capitalize()}{place}: {control}: {row[f'{kind}_words']}."
            found.append(says)
    return found


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
        NO_CONTROL: not verdicts & {*VERDICTS},
        f"The model is at chance ({chance * 100:.0f} %).": (
            (rows["ci_low"] <= chance) & (rows["ci_high"] >= chance)
        ).all(),
        LEVEL_SAYS: verdicts & {LEVEL_WITH, BELOW, UNKNOWN},
        AT_CAP: rows["words"].astype(str).str.contains("stopped at its cap").any(),
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
