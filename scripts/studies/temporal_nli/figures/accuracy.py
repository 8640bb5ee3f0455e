"""Draw accuracy on one challenge set by the factors that vary in it (Thukral et al. 2021, figure 1
and section 5).

The figure has a panel for each source, model and method. Scoring is ternary, and binary for models
of two labels. The last part of --output names the set: temporal_nli_temp_order, …_temp_duration or
…_cross_unit.
"""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.comparison import parts_of
from scripts.publish.compared import SYSTEM as COMPARED, read_comparisons, with_comparisons
from scripts.publish.message import message
from scripts.publish.names import people_points
from scripts.publish.selection import only
from scripts.publish.panels import (
    PEOPLE,
    Look,
    Panel,
    Rows,
    among,
    draw_marks,
    figure_of,
    highest,
    in_lines,
    publish,
    same_place,
    with_best_control,
    write_beside,
)
from scripts.studies.temporal_nli.figures.metrics import (
    ABOUT,
    PLACE,
    SETS,
    STUDY,
    SYSTEM,
    VALUES,
    data_title,
    detail_of,
    finest,
    nli_metrics,
    value_name,
)

COLUMNS = [*ABOUT, *"section row series_name slice metric value sd ci_low ci_high n groups".split()]
COLUMNS += ["majority", "control", "sample", "limit"]
PLACED = "slice section_place section row dot series_name row_place dot_place".split()
ALL = "all"
# How each dot looks, by the value that it shows; in the order of the dots of a row.
LOOKS = {
    dot: Look(colour, marker, "", size=3.9)
    for dot, colour, marker in (
        ("", style.INK, "D"),
        ("fixed", style.COLOURS[0], "o"),
        ("interval", style.COLOURS[1], "s"),
        ("false", style.COLOURS[2], "o"),
        ("true", style.COLOURS[3], "s"),
        ("equal_gold", style.COLOURS[0], "o"),
        ("equal_gold_plus_1", style.COLOURS[1], "s"),
        ("less_than_gold", style.COLOURS[4], "^"),
        ("before", style.COLOURS[0], "<"),
        ("after", style.COLOURS[1], ">"),
        ("lower", style.COLOURS[5], "v"),
        ("higher", style.COLOURS[4], "^"),
    )
}
MAJORITY, CONTROL = Look(style.CONTROL, "|", "", size=7.4), Look(style.GREY, "x", "", size=5)
HEADING = 72  # letters of a line of a heading
LANE = 0.075  # inches, between the dots of a row


@dataclass(frozen=True)
class Section:
    """Some rows of a panel. Each row has a dot for every value of `dots` (or of `only`)."""

    title: str
    rows: tuple[str, ...]
    dots: str | None = None
    only: tuple[str, ...] = ()


# section 5.2: hypotheses with more errors when the times are far apart
CLOSE = ("equal_gold", "equal_gold_plus_1", "less_than_gold")
SECTIONS = {
    "temp_order": [
        Section("How the two times are chosen", ("choice",), "premise_type"),
        Section("Distance of the two times", ("distance",), "premise_type"),
        Section("Sentence", ("tense", "premise_position")),
    ],
    "temp_duration": [
        Section("Claimed duration", ("hypothesis_type",)),
        Section("How the two times are chosen", ("choice",), "next_cycle"),
        Section("Distance of the two times", ("distance",), "hypothesis_type", CLOSE),
        Section("Premise", ("premise_form",)),
    ],
    "cross_unit": [
        Section("Units, by premise", ("unit_pair",), "premise_type"),
        Section("Units, by hypothesis", ("unit_pair",), "direction"),
        Section("Difference of T1 and T2", ("distance",), "premise_type"),
        Section("Size of T2, by its preposition", ("hypothesis_size",), "hypothesis_preposition"),
        Section("Sentence", ("premise_position", "hypothesis_position")),
    ],
}


def places(slices: Iterable[str], sections: list[Section]) -> pd.DataFrame:
    """Return the row and the dot of each slice that a section shows, and their order."""
    known: dict[frozenset, dict] = {}
    for section_place, section in enumerate(sections):
        rows = [(name, value) for name in section.rows for value in VALUES[name]]
        dots = section.only or VALUES[section.dots] if section.dots else [""]
        for row_place, row in enumerate([None, *rows]):
            for dot_place, dot in enumerate(dots):
                parts = [row, (section.dots, dot) if dot else None]
                where = {
                    "section": section.title,
                    "section_place": section_place,
                    "row": value_name(*row) if row else ALL,
                    "row_place": row_place,
                    "dot": dot,
                    "dot_place": dot_place,
                    "series_name": value_name(section.dots, dot) if section.dots else ALL,
                }
                known.setdefault(frozenset(filter(None, parts)), where)
    named = {name: frozenset(parts_of(name, "=").items()) for name in slices}
    shown = [{"slice": name} | known[of] for name, of in named.items() if of in known]
    return pd.DataFrame(shown, columns=PLACED)


def points_of(metrics: pd.DataFrame, challenge_set: str) -> pd.DataFrame:
    """Return the points to draw, with the value of the majority and of the control like for like
    over all pairs.
    """
    wanted = only(metrics, metric="accuracy", seed=None, challenge_set=challenge_set)
    where = places(wanted["slice"].unique(), SECTIONS[challenge_set])
    points = wanted.merge(where, on="slice")
    same = [*PLACE, "scoring", "slice", "section_place"]
    shown = with_best_control(points, same[:4], ["model"], points["slice"] == ALL)
    drawn = finest(points[~points["method"].isin(["majority", "control", "baseline"])])
    for name in ("majority", "control"):
        beside = only(shown, method=name).drop_duplicates(same).set_index(same)["value"]
        drawn = drawn.join(beside.rename(name), on=same)
    return drawn


def counts_of(points: pd.DataFrame, rows: Rows) -> dict[float, str]:
    """Return the numbers of pairs behind the dots of a row, by the row's place: `2 × 170`, `800 +
    1,600`.
    """
    dots = points.drop_duplicates(["row", "dot"]).sort_values("dot_place")
    found = {}
    for row, of in dots.groupby("row")["n"].agg(list).items():
        is_same = len(of) > 1 and len(set(of)) == 1
        words = f"{len(of)} × {of[0]:,}" if is_same else " + ".join(f"{n:,}" for n in of)
        found[rows.places[row]] = words
    return found


def legend(points: pd.DataFrame, known: dict[str, Look], people: pd.DataFrame) -> list:
    dots = points.sort_values(["section_place", "dot_place"]).drop_duplicates("dot")
    handles = [
        known[dot].handle(name if dot else "all pairs of the row")
        for dot, name in zip(dots["dot"], dots["series_name"])
    ]
    handles.append(MAJORITY.handle("majority baseline on the same pairs"))
    if points["control"].notna().any():
        handles.append(CONTROL.handle(style.BEST_CONTROL))
    if len(people):
        ends = dict.fromkeys(f"{count:,}" for count in (people["n"].min(), people["n"].max()))
        counts = " to ".join(ends)
        handles.append(PEOPLE.handle(f"people, on {counts} of all pairs"))
    return [("", handles)]


def blocks_of(points: pd.DataFrame) -> list[tuple[pd.DataFrame, list[list]]]:
    """Return the points of each dataset, and its panels in lines. The panels of one model are next
    to each other.
    """
    found = []
    for _, of_dataset in points.groupby(PLACE, sort=False):
        models: dict[str, list] = {name: [] for name in of_dataset["series"].unique()}
        for panel in of_dataset.groupby(SYSTEM, sort=False):
            models[panel[0][0]].append(panel)
        found.append((of_dataset, list(models.values())))
    most = max(len(panels) for _, models in found for panels in models)
    across = min(3, most if most > 1 else max(len(models) for _, models in found))
    return [(of_dataset, style.lines_of(models, across)) for of_dataset, models in found]


def draw(
    points: pd.DataFrame, metrics: pd.DataFrame, sources: dict, people: pd.DataFrame
) -> Figure:
    """Draw the figure. metrics: from nli_metrics(), for the message how far models lie above
    controls.
    """
    points, note = highest(points, points["slice"] == ALL)
    row = points["section_place"].astype(str) + points["row"]
    points = points.assign(head=points["section"], name=points["row"], row=row)
    in_order = points.sort_values(["section_place", "row_place", "name"])
    rows = Rows(in_order, "section_place", LANE, "dot")
    known = LOOKS | {dot: LOOKS[""] for dot in points["dot"].unique() if dot not in LOOKS}
    place = partial(Panel, height=rows.height, bands=[*rows.heads])
    lines: list[list[Panel]] = []

    def draw_panel(axes: Axes, points: pd.DataFrame, counts: Mapping[float, str] = {}) -> None:
        rows.draw(axes, points, known)
        placed = rows.placed(points, known)
        for look, column in ((MAJORITY, "majority"), (CONTROL, "control")):
            axes.plot(placed[column] * 100, placed["y"], **look.settings(), zorder=3)
        here = same_place(people, points, [*PLACE, "scoring"])
        for y in placed.loc[placed["slice"] == ALL, "y"] if len(here) else ():
            draw_marks(axes, here.assign(y=y), PEOPLE, "y", flat=True, capsize=0, zorder=5)
        axes.set_xlim(0, 100)
        axes.set_xticks([0, 25, 50, 75, 100], ["0", "", "50", "", "100"])
        axes.set_xlabel("accuracy (%)")
        if counts:
            write_beside(axes, counts, "pairs")

    for block, panels_of in blocks_of(points):
        first, counts = block.iloc[0], counts_of(block, rows)
        title = data_title(first["source"], first["dataset"], sources)
        of_block = only(metrics[among(metrics, block, [*PLACE, *SYSTEM])], slice=ALL)
        says = textwrap.wrap(message(of_block, "accuracy", "series"), HEADING)
        heading = "\n".join([*says, f"{SETS[first['challenge_set']]} · {title}"])
        for line in panels_of:
            panels = [
                place(panel, draw_panel, series, detail_of(*how)) for (series, *how), panel in line
            ]
            panels[-1] = panels[-1]._replace(draw=partial(draw_panel, counts=counts))
            lines += in_lines(panels, len(panels), heading)
            heading = ""
    handles = legend(points, known, people)
    return figure_of(lines, handles, share_x=True, share_y="figure", note=note)


def main(given: Given) -> None:
    challenge_set = given.output.name.removeprefix(f"{STUDY}_")
    metrics = nli_metrics(given.metrics, given.models)
    points = points_of(metrics, challenge_set)
    metrics = with_comparisons(metrics, read_comparisons(given.metrics), COMPARED)
    sources = given.sources
    people = people_points(given.metrics, STUDY, "accuracy")
    people = only(people, dataset=points["dataset"], split=points["split"])
    publish(given, points[COLUMNS], lambda: draw(points, metrics, sources, people))
