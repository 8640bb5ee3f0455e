"""What each study found, on the first screen of its page: a line of plain words with the control beside it, and the points of a small figure.

Not a program. A study is told by its headline on its probes (scripts/publish/scorecard/cells.py). Where several systems (a model and a
way of asking it) ran, the best of those measured on most probes is told, and that it is the best; where none did, the best control is.
The control is the best one of each probe, so what stands below or level with it is told to say nothing about time.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scripts.common.probe import BLIND
from scripts.evaluate.experiment import CONTROL_METHODS
from scripts.publish.marks import at_most, marks_of
from scripts.publish.names import model_title, with_released
from scripts.publish.scorecard.cells import FILLED, LIKELIHOOD, PROBE, cells_of, people, places, preferred, published, with_probes
from scripts.publish.scorecard.layout import at, probe_names

CHANCE = {"strided_sop": 0.5, "timedial": 1 / 6}  # of the other studies the controls hold the most frequent label
ABOVE, LEVEL, BELOW, UNKNOWN = "above", "level", "below", "unknown"
VERDICTS = {ABOVE: "clearly above the control", LEVEL: "no better than the control", BELOW: "below the control",
            UNKNOWN: "no interval to tell it from the control"}
AFTER_ANOTHER = {ABOVE: "clearly above", LEVEL: "no better", BELOW: "below it", UNKNOWN: "not to be told"}
UNITS_NORMALIZED = "True"  # a probe of MC-TACO that its figure shows and its line leaves out
CLAUSES = 2  # corpora that a line tells of; the figure shows all

SAMPLE = "Sample data, made up to try the workflow: the numbers say nothing about language."
NO_MODEL = "No model ran: this is how far one gets without any understanding of time."
NO_CONTROL = "No control ran beside it: nothing tells whether the number has to do with time."
LEVEL_SAYS = "What a control reaches says nothing about an understanding of time."
ONE_SEED = "One seed: how much depends on it is not known."
ABOVE_SAYS = "Above every control that ran here; a shortcut that none of them takes may be left."
READ_BEFORE = "What it was pretrained on may have held these texts: no control here tells."


@dataclass
class Finding:
    """What the page shows of a study on its first screen.

    study, title, short      its name, and what it is called
    clauses                  of each corpus told: {corpus, said, of, control, alone, verdicts: [(one of VERDICTS' keys, words)]}
    who                      the system told, its corpora and how much it was measured on
    caveats                  sentences on what it is worth, the weightiest first
    marks                    of marks_of()
    groups                   [{title, rows}]: the probes of a corpus, a row each of: title, value, low, high, others, control, human (all in
                             per cent, or None), verdict
    """

    study: str
    title: str
    short: str
    clauses: list[dict]
    who: str
    caveats: list[str]
    marks: list[str]
    groups: list[dict]

    @property
    def line(self) -> str:
        """The clauses as one text."""
        return f"{self.short}: " + "; ".join(clause_text(clause) for clause in self.clauses)


def findings_of(metrics: pd.DataFrame, studies: dict, sources: dict, models: dict, networks: dict, claims) -> list[Finding]:
    """A finding for each study that has a headline, in the order of `studies`.

    metrics: of read_scores(); networks: of networks_of(); claims: the file published.csv.
    """
    studies = {name: study for name, study in studies.items() if name in set(metrics["study"]) and "headline" in study}
    sources = {source: entry | {"title": entry.get("short", entry.get("title", source))} for source, entry in sources.items()}
    titles = titles_of(metrics, models, sources)
    controls = control_rows(metrics, studies, sources)
    has_model = bool((~metrics["method"].isin([*CONTROL_METHODS, "human"])).any())
    cells = cells_of(metrics, studies, sources, networks) if has_model else controls.iloc[:0]
    found = []
    for name, study in studies.items():
        own = of_runs(cells[cells["study"] == name])
        rows = told_system(own) if len(own) else best_of(controls[controls["study"] == name], studies, sources)
        if rows.empty:
            continue
        probes = probe_names(rows, studies, sources)
        humans = pd.concat([people(metrics, studies, sources), of_people(published(claims, probes, studies))])
        rows = rows.assign(title=probes["title"].to_numpy(), corpus_title=probes["corpus_title"].to_numpy(),
                           human=[next(iter(at(humans, probe)["value"]), np.nan) for probe in probes.to_dict("records")])
        rows["verdict"] = [verdict_of(row) for row in rows.to_dict("records")]
        found.append(Finding(name, study["title"], study.get("short", study["title"]), clauses_of(rows, study, titles),
                             who_told(rows, own, study, titles), caveats_of(rows), marks_of(rows), groups_of(rows, own)))
    return found


def titles_of(metrics: pd.DataFrame, models: dict, sources: dict) -> dict[str, str]:
    """What models are called, and the predictions that a source releases."""
    systems = with_released(models, sources)
    names = {*metrics["model"], *metrics["control"].dropna()}
    return {name: "the same model, blind" if name.endswith(BLIND) else model_title(name, systems) for name in names}


def control_rows(metrics: pd.DataFrame, studies: dict, sources: dict) -> pd.DataFrame:
    """One row of each control on each probe, with the columns of cells_of() that a control has."""
    rows = with_probes(metrics, studies, sources)
    rows = rows[rows["method"].isin(CONTROL_METHODS) & (rows["model"] != "gold") & rows["seed"].isna()]
    rows = rows[~rows["metric"].str.endswith("_above_control")]
    return preferred(rows.assign(way="control"), studies).sort_index()


def best_of(controls: pd.DataFrame, studies: dict, sources: dict) -> pd.DataFrame:
    """The best control of each probe, in the place of a system: without anything to stand beside it."""
    best = controls.sort_values("value", ascending=False, kind="stable").drop_duplicates(PROBE)
    order = pd.concat([places(best[name], studies, sources).rename(name) for name in PROBE], axis=1)
    best = best.loc[order.sort_values(PROBE, kind="stable").index]
    return best.assign(above=np.nan, above_low=np.nan, above_high=np.nan, control=None).reset_index(drop=True)


def of_runs(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells without those of predictions that a paper's authors released, where there are others: these were found elsewhere."""
    own = cells[cells["method"] != "released"]
    return own if len(own) else cells


def told_system(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells of the system with the highest mean, of those that were measured on most probes."""
    systems = cells.groupby(["model", "way"], sort=False)["value"].agg(["size", "mean"])
    model, way = systems.sort_values(["size", "mean"], ascending=False, kind="stable").index[0]
    return cells[(cells["model"] == model) & (cells["way"] == way)].reset_index(drop=True)


def of_people(papers: pd.DataFrame) -> pd.DataFrame:
    """What papers print of people."""
    return papers[papers["who"] == "human"]


def verdict_of(row: dict) -> str | None:
    """How a row stands to its control (a key of VERDICTS); None where there is no control, or it is one."""
    if pd.isna(row["above"]):
        return None
    if pd.isna(row["above_low"]):
        return UNKNOWN
    return ABOVE if row["above_low"] > 0 else BELOW if row["above_high"] < 0 else LEVEL


def per_cents(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The values and those of the controls as whole per cents; with a decimal where a whole one would hide which is higher."""
    beside = rows["value"] - rows["above"]  # the control that the verdict is about
    hidden = (rows["value"] * 100).round() == (beside * 100).round()
    decimals = 1 if (hidden & rows["verdict"].isin([ABOVE, BELOW])).any() else 0
    return ([f"{value * 100:.{decimals}f}" for value in rows["value"]],
            [f"{value * 100:.{decimals}f}" for value in beside if pd.notna(value)])


def joined(words: list[str], link: str = " and ") -> str:
    """`a, b and c`."""
    return link.join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def clauses_of(rows: pd.DataFrame, study: dict, titles: dict) -> list[dict]:
    """What is said of each of the first corpora (and limits); rows: with title, corpus_title and verdict."""
    plain = rows[rows["option"] != UNITS_NORMALIZED]
    rows = plain if len(plain) else rows
    parts = [own for _, own in rows.groupby(["corpus", "limit"], sort=False, dropna=False)]
    clauses = [clause_of(own, study, titles) for own in parts[:CLAUSES]]
    for clause, before in zip(clauses[1:], clauses):  # what is the same is said once
        clause["of"] = "" if clause["of"] == before["of"] else clause["of"]
    return clauses if len(parts) > 1 else [clauses[0] | {"corpus": ""}]


def clause_of(rows: pd.DataFrame, study: dict, titles: dict) -> dict:
    """What is said of one corpus."""
    strided, alone = rows["study"].iloc[0] == "strided_sop", bool(rows["method"].isin(CONTROL_METHODS).all())
    values, beside = per_cents(rows)
    link = " → " if strided else ", "
    controls = joined([titles.get(name, name) for name in dict.fromkeys(rows["model"] if alone else rows["control"].dropna())], " or ")
    names = [title.rpartition(": ")[2] for title in rows["title"]]
    limits = [f", {at_most(limit)}" for limit in rows["limit"].dropna().unique()]
    return {"corpus": rows["corpus_title"].iloc[0] + "".join(limits), "said": f"{link.join(values)} %",
            "of": f"of {study.get('counted', 'the examples')}{where_told(names, strided)}",
            "control": f"by the best control alone ({controls})" if alone else f"best control {link.join(beside)} ({controls})" if controls else "",
            "alone": alone, "verdicts": [] if alone else verdicts_told(rows["verdict"].tolist(), names, "at" if strided else "in")}


def where_told(names: list[str], strided: bool) -> str:
    """Where values were measured: ` from stride 0 to 3`, ` (order, duration)`; nothing where there is one."""
    if strided:
        return f" at {names[0]}" if len(names) == 1 else f" from {names[0]} to {names[-1].removeprefix('stride ')}"
    return f" ({', '.join(names)})" if len(names) > 1 else ""


def verdicts_told(verdicts: list[str | None], names: list[str], where: str) -> list[tuple[str, str]]:
    """Each verdict once, best first, with the probes that it is of where they differ."""
    if not any(verdicts):
        return [(UNKNOWN, "no control ran beside it")]
    kinds = [kind for kind in VERDICTS if kind in verdicts]
    if len(kinds) == 1:
        return [(kinds[0], VERDICTS[kinds[0]])]
    of = {kind: [name for name, verdict in zip(names, verdicts) if verdict == kind] for kind in kinds}
    return [(kind, f"{(AFTER_ANOTHER if place else VERDICTS)[kind]} {where} {joined(of[kind])}") for place, kind in enumerate(kinds)]


def clause_text(clause: dict) -> str:
    """A clause as one text, as where no page marks its parts."""
    told = " ".join(filter(None, [clause["corpus"], clause["said"], clause["of"]]))
    told += f"{'' if clause['alone'] else ','} {clause['control']}" if clause["control"] else ""
    return told + (f": {', '.join(words for _, words in clause['verdicts'])}" if clause["verdicts"] else "")


def who_told(rows: pd.DataFrame, cells: pd.DataFrame, study: dict, titles: dict) -> str:
    """`tiny BERT, from scratch, fine-tuned (best of 5) · Sample captions · 140–357 pairs · 2 seeds`."""
    corpora = list(dict.fromkeys(rows["corpus_title"]))
    low, high = int(rows["n"].min()), int(rows["n"].max())
    unit = study.get("counted", "items").split(" ")[0]
    told = [corpora[0] if len(corpora) == 1 else f"{len(corpora)} corpora", f"{low:,}{f'–{high:,}' if high > low else ''} {unit}"]
    if cells.empty:
        return " · ".join(told)
    systems = len(cells.drop_duplicates(["model", "way"]))
    title, way = titles[rows["model"].iloc[0]], rows["way"].iloc[0]
    system = title + f", {way}" * (way not in title) + f" (best of {systems})" * (systems > 1)
    repeats = "wordings" if rows["wordings"].notna().any() else "seeds"
    count = int((rows["wordings"] if repeats == "wordings" else rows["seeds"]).max())
    return " · ".join([system, *told, *([f"{count} {repeats}"] if count > 1 else [])])


def caveats_of(rows: pd.DataFrame) -> list[str]:
    """What to know before a number is believed, the weightiest first."""
    told = [SAMPLE] * bool(rows["sample"].any())
    told += [f"Cut to {at_most(limit)} of each split, for a quick look: the intervals are wide." for limit in sorted(rows["limit"].dropna().unique())]
    if rows["method"].isin(CONTROL_METHODS).all():
        return [*told, NO_MODEL]
    verdicts, chance = set(rows["verdict"]), CHANCE.get(rows["study"].iloc[0])
    told += [NO_CONTROL] * (verdicts == {None})
    if chance and bool(((rows["ci_low"] <= chance) & (rows["ci_high"] >= chance)).all()):
        told.append(f"The model is at chance ({chance * 100:.0f} %).")
    told += [LEVEL_SAYS] * bool(verdicts & {LEVEL, BELOW, UNKNOWN})
    told += [ONE_SEED] * bool((rows["seeds"] == 1).any() and rows["wordings"].isna().all())
    told += [READ_BEFORE] * bool(rows["way"].isin([LIKELIHOOD, FILLED]).any() and not rows["sample"].any())
    return told + [ABOVE_SAYS] * (verdicts == {ABOVE})


def groups_of(rows: pd.DataFrame, cells: pd.DataFrame) -> list[dict]:
    """The rows of the small figure, by corpus and limit; cells: those of all systems, whose other values stand pale beside."""
    def per_cent(value: float) -> float | None:
        return None if pd.isna(value) else round(float(value) * 100, 1)

    groups: dict[tuple, list[dict]] = {}
    for row in rows.to_dict("records"):
        same = at(cells, row)
        others = same[(same["model"] != row["model"]) | (same["way"] != row.get("way"))]["value"] if len(same) else []
        marks = "".join(f", {at_most(row['limit'])}" for _ in range(int(pd.notna(row["limit"]))))
        alone = row["method"] in CONTROL_METHODS
        groups.setdefault((row["corpus_title"] + marks), []).append({
            "title": row["title"], "value": None if alone else per_cent(row["value"]), "low": per_cent(row["ci_low"]), "high": per_cent(row["ci_high"]),
            "others": sorted({per_cent(value) for value in others}), "human": per_cent(row["human"]), "verdict": row["verdict"],
            "control": per_cent(row["value"] if alone else row["value"] - row["above"])})
    return [{"title": title if len(groups) > 1 else "", "rows": of} for title, of in groups.items()]


def shared_caveats(found: list[Finding]) -> list[str]:
    """The caveats that all findings share, to be told once."""
    return [text for text in found[0].caveats if all(text in one.caveats for one in found)] if len(found) > 1 else []
