"""What the figures of accuracy by challenge set show: which slice stands in which row, as which dot, with its baseline and best control."""

from dataclasses import dataclass

import pandas as pd

from scripts.publish.comparison import parts_of
from scripts.publish.panels import with_best_control
from scripts.studies.temporal_nli.figures.metrics import SCORINGS, VALUES, value_name

ALL = "all"


@dataclass(frozen=True)
class Section:
    """Some rows of a panel: the values of `rows`, each with a dot for every value of `dots` (one dot where None), or for those
    in `only`."""

    title: str
    rows: tuple[str, ...]
    dots: str | None = None
    only: tuple[str, ...] = ()


CLOSE = ("equal_gold", "equal_gold_plus_1", "less_than_gold")  # section 5.2: what is missed more where times are far apart
SECTIONS = {
    "temp_order": [Section("How the two times are chosen", ("choice",), "premise_type"),
                   Section("Distance of the two times", ("distance",), "premise_type"),
                   Section("Sentence", ("tense", "premise_position"))],
    "temp_duration": [Section("Claimed duration", ("hypothesis_type",)),
                      Section("How the two times are chosen", ("choice",), "next_cycle"),
                      Section("Distance of the two times", ("distance",), "hypothesis_type", CLOSE),
                      Section("Premise", ("premise_form",))],
    "cross_unit": [Section("Units, by premise", ("unit_pair",), "premise_type"),
                   Section("Units, by hypothesis", ("unit_pair",), "direction"),
                   Section("Difference of T1 and T2", ("distance",), "premise_type"),
                   Section("Size of T2, by its preposition", ("hypothesis_size",), "hypothesis_preposition"),
                   Section("Sentence", ("premise_position", "hypothesis_position"))],
}


def place(section: Section, parts: dict[str, str]) -> dict | None:
    """Where a slice with these parts stands in a section: its row, its dot, and their order; None where it does not."""
    row = [column for column in parts if column in section.rows]
    rest = [column for column in parts if column not in section.rows]
    if len(row) > 1 or rest != [section.dots] * (section.dots is not None):
        return None
    column = row[0] if row else None
    dot = parts[section.dots] if section.dots else ""
    if section.only and dot not in section.only:
        return None
    known = [(name, value) for name in section.rows for value in VALUES.get(name, {})]
    at = (column, parts[column]) if column else None
    dots = list(section.only or VALUES.get(section.dots, {"": ""}))
    return {"section": section.title, "row": value_name(*at) if at else ALL, "dot": dot,
            "series_name": value_name(section.dots, dot) if section.dots else ALL,
            "row_place": -1 if at is None else known.index(at) if at in known else len(known),
            "dot_place": dots.index(dot) if dot in dots else len(dots)}


def places(slices: list[str], sections: list[Section]) -> pd.DataFrame:
    """Where each slice stands, in the first section that has a row for it; a slice without one is left out."""
    found = []
    for name in slices:
        parts = {} if name == ALL else parts_of(name, "=")
        at = [{"slice": name, "section_place": number} | where for number, section in enumerate(sections)
              if (where := place(section, parts))]
        found += at[:1]
    return pd.DataFrame(found, columns=["slice", "section_place", "section", "row", "dot", "series_name", "row_place",
                                        "dot_place"])


def points_of(metrics: pd.DataFrame, challenge_set: str) -> pd.DataFrame:
    """The points to draw, from a table made by nli_metrics(): a row each, with `majority`, `control` (the control
    that is best over all pairs of the dataset) and its place (places)."""
    wanted = (metrics["challenge_set"] == challenge_set) & (metrics["metric"] == "accuracy") & metrics["seed"].isna()
    where = places(list(metrics.loc[wanted, "slice"].unique()), SECTIONS[challenge_set])
    points = metrics[wanted].drop(columns="control").merge(where, on="slice")  # there the name of a control, here its value
    same = ["source", "dataset", "split", "scoring", "slice", "section_place"]
    majority = points[points["model"] == "majority"].drop_duplicates(same).set_index(same)["value"].rename("majority")
    best = with_best_control(points, same[:4], ["model"], points["slice"] == ALL)
    control = best[best["method"] == "control"].drop_duplicates(same).set_index(same)["value"].rename("control")
    points = points[~points["method"].isin(["majority", "control"])]
    # One scoring for each system: the finest that it has.
    system = points.groupby(["source", "dataset", "split", "series", "method"])["scoring"]
    finest = system.transform(lambda scoring: min(scoring, key=SCORINGS.index))
    return points[points["scoring"] == finest].join(majority, on=same).join(control, on=same)
