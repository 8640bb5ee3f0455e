"""Draw 2-best accuracy on TimeDial by how much of the dialog is seen, beside the published one (Qin et al. 2021, table 7).

A row for each system with a mark for each context: the target turn alone, the local turns (the one before and the one
after as well), the full dialog. Means over the seeds with 95 % intervals over instances and seeds. At the
right the accuracies, and how many points they lie from that with the target turn (what table 7 prints); first ours, then the
paper's. Systems measured with one context only, and controls that never see it, are left out; of the other controls
the best is drawn (all are in the CSV). The paper's systems that were not run stand in grey.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles, published.csv beside them
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.timedial.context --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/timedial_context
"""

import argparse

import pandas as pd
from matplotlib.lines import Line2D

from scripts.common.probe import BLIND as METHOD_BLIND
from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, split_title
from scripts.publish.table import percent, signed, write_points
from scripts.publish.timedial.metrics import (
    BLIND, SCOPES, SYSTEM, drawn, over_seeds, published_beside, same_system, systems_of, timedial_metrics,
    title_of, with_best_control)
from scripts.publish.timedial.rows import Block, Column, figure_of, marks_of, paper_handle, paper_marks

SCOPE_TITLES = {"target": "target turn", "local": "local turns", "full": "full dialog"}
LOOKS = {"target": {"colour": style.COLOURS[4], "marker": "^"}, "local": {"colour": style.COLOURS[0], "marker": "s"},
         "full": {"colour": style.INK, "marker": "o"}}
SHIFT = 0.29  # of a row, between two contexts
ROW = 0.36  # inches


def context_points(metrics: pd.DataFrame) -> pd.DataFrame:
    """2-best accuracy over all instances of the systems that were measured with two contexts or three."""
    rows = over_seeds(metrics)
    rows = rows[(rows["slice"] == "all") & (rows["metric"] == "two_best_accuracy") & ~rows["model"].isin(BLIND)
                & ~rows["method"].str.endswith(METHOD_BLIND)]
    return rows[rows.groupby(SYSTEM)["context_scope"].transform("nunique") > 1]


def numbers(by_scope: pd.Series, scopes: list[str]) -> tuple[str, str]:
    """A line for each of these contexts: `50.5`, the accuracies in per cent, and `+3.4`, their distance to the target turn's in points.

    What was not measured, and the distance of the target turn itself, leaves its line empty.
    """
    values = [by_scope.get(scope) for scope in scopes]
    start = by_scope.get("target")
    changes = ["" if value is None or start is None or scope == "target" else signed(value - start)
               for scope, value in zip(scopes, values)]
    return "\n".join("" if value is None else percent(value) for value in values), "\n".join(changes)


def scopes_of(points: pd.DataFrame, published: pd.DataFrame) -> list[str]:
    """The contexts that anything is shown with, from little to much."""
    return [scope for scope in SCOPES if scope in set(points["context_scope"]) | set(published["context_scope"])]


def block_of(points: pd.DataFrame, published: pd.DataFrame, sources: dict) -> Block:
    """The systems of one challenge; published: table 7 on it."""
    first, systems = points.iloc[0], systems_of(points, published)
    marks, paper, scopes = [], [], scopes_of(points, published)
    for number, scope in enumerate(scopes):
        more = {"shift": SHIFT * (number - (len(scopes) - 1) / 2)}
        marks += [mark | more | LOOKS[scope] for mark in marks_of(points[points["context_scope"] == scope], systems)]
        paper += [mark | more | {"colour": LOOKS[scope]["colour"]}
                  for mark in paper_marks(published[published["context_scope"] == scope], systems)]
    own = {key: of_system.set_index("context_scope")["value"] for key, of_system in points.groupby(["paradigm", "title", "domain"])}
    nothing = pd.Series(dtype=float)
    told = {"here": [numbers(own.get((one["paradigm"], one["title"], one["domain"]), nothing), scopes) for one in systems]}
    if len(published):
        told["paper"] = [numbers(same_system(published, one).set_index("context_scope")["value"], scopes) for one in systems]
    texts = {f"{who}{unit}": [pair[place] for pair in pairs] for who, pairs in told.items() for place, unit in enumerate(("\n(%)", "\n(points)"))}
    return Block(title_of(first["measured_on"], sources), f"{split_title(first['split'])}, {first['n']:,} instances", systems,
                 [Column("2-best accuracy (% of instances)", marks, paper)], face_of(points), texts, row=ROW)


def main(given: argparse.Namespace) -> None:
    sources = load(given.sources)
    points = context_points(timedial_metrics(given.metrics, load(given.models), sources))
    published = published_beside(given.sources)
    paper = published[published["table"] == "Table 7"]
    shown = with_best_control(points, points)
    blocks = [block_of(challenge, paper[(paper["measured_on"] == name) & (not challenge["sample"].any())], sources)
              for name, challenge in shown.groupby("measured_on", sort=False)
              if (challenge["paradigm"] != "control").any()]
    handles = [Line2D([], [], color=LOOKS[scope]["colour"], marker=LOOKS[scope]["marker"], markersize=4.6, linestyle="", label=SCOPE_TITLES[scope])
               for scope in scopes_of(shown, shown)]
    one = "No model was measured with more than one context: run an experiment with context_scope: [target, local, full]."
    style.save(lambda: figure_of(blocks, handles + paper_handle(blocks)) if blocks else style.nothing(one), given)
    write_points(drawn(points, paper), given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
