"""Draw 2-best accuracy on TimeDial by how much of the dialog is seen, beside the published one
(Qin et al. 2021, table 7).

A row for each system with a mark for each context: the target turn alone, the local turns (the one
before and the one after as well), the full dialog. At the right the accuracies, and how many points
they lie from that with the target turn; first ours, then the paper's. Systems measured with one
context only, and controls that never see it, are left out; of the other controls the best is drawn
(all are in the CSV).
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import source_title, split_title
from scripts.publish.panels import Look, Panel, Rows, draw_marks, figure_of, publish, write_beside
from scripts.publish.table import percent, signed
from scripts.studies.timedial.figures.metrics import (
    IN_PAPER,
    PAPER,
    SCOPES,
    SYSTEM,
    accuracies,
    drawn,
    in_rows,
    published_on,
    read,
    with_best_control,
)

TITLES = {"target": "target turn", "local": "local turns", "full": "full dialog"}
LOOKS = {
    "target": Look(style.COLOURS[4], "^", ""),
    "local": Look(style.COLOURS[0], "s", ""),
    "full": Look(style.INK, "o", ""),
}
LANE = 0.11  # inches of a mark, and of its numbers beside it
ONE = (
    "No model was measured with more than one context. "
    "Run an experiment of timedial with data: {context_scope: [target, local, full]}."
)


def changes(points: pd.DataFrame) -> list[str]:
    """How far each lies from its row's accuracy with the target turn, in points."""
    is_target = points["context_scope"] == "target"
    start = points["row"].map(points[is_target].set_index("row")["value"]).astype(float)
    return [
        "" if pd.isna(change) else signed(change)
        for change in (points["value"] - start).mask(is_target)
    ]


def draw_panel(axes: Axes, points: pd.DataFrame, rows: Rows) -> None:
    """Lanes of contexts; the numbers at the right."""
    rows.show(axes)
    for (origin, scope), part in points.groupby(["origin", "context_scope"]):
        look = LOOKS[scope] if origin == "here" else PAPER._replace(colour=LOOKS[scope].colour)
        draw_marks(axes, part, look, "y", flat=True, capsize=0, intervals=origin == "here")
    for right, head, origin in ((8, "here", "here"), (74, "paper", "published")):
        of_origin = points[points["origin"] == origin]
        shown = ("(%)", of_origin["value"].map(percent)), ("(points)", changes(of_origin))
        for more, (unit, texts) in enumerate(shown if len(of_origin) else ()):
            beside = dict(zip(of_origin["y"], texts))
            write_beside(axes, beside, f"{head}\n{unit}", right + 28 * more)
    axes.set_xlim(0, 100)
    axes.set_xlabel("2-best accuracy (% of instances)")


def draw(points: pd.DataFrame, table_7: pd.DataFrame, sources: dict) -> Figure:
    lines = []
    for name, challenge in points.groupby("measured_on", sort=False):
        if (challenge["paradigm"] == "control").all():
            continue
        table = in_rows(challenge, published_on(challenge, table_7)).assign(lanes="of all rows")
        rows = Rows(table, "lanes", LANE, "context_scope")
        detail = f"{split_title(challenge['split'].iloc[0])}, {challenge['n'].iloc[0]:,} instances"
        placed, title = rows.placed(table, SCOPES), source_title(name, sources)
        draw_one = partial(draw_panel, rows=rows)
        lines.append([Panel(placed, draw_one, title, detail, height=rows.height)])
    shown = pd.concat([panel.points for [panel] in lines]) if lines else points
    here = set(shown.loc[shown["origin"] == "here", "context_scope"])
    handles = [LOOKS[scope].handle(title) for scope, title in TITLES.items() if scope in here]
    handles += [PAPER.handle(IN_PAPER)] * bool((shown["origin"] == "published").any())
    return figure_of(lines, [("", handles)]) if lines else style.nothing(ONE)


def main(given: argparse.Namespace) -> None:
    metrics, table_7, sources = read(given, "Table 7")
    points = accuracies(metrics)
    points = points[~points["blind"]]
    points = points[points.groupby(SYSTEM)["context_scope"].transform("nunique") > 1]
    shown = with_best_control(points, points)
    publish(given, drawn(points, table_7), lambda: draw(shown, table_7, sources), ONE)


if __name__ == "__main__":
    run_program(main, __doc__)
