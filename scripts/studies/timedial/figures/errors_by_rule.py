"""Draw how often wrong options outrank a right one on TimeDial, by the rule that made them (Qin et
al. 2021, figure 2): a row for each system, a column for each rule. The CSV has all controls.
"""

from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from scripts.data.declared import BLIND
from scripts.publish.item import Given
from scripts.publish.names import source_title
from scripts.publish.panels import Panel, Rows, figure_of, in_lines, publish
from scripts.publish.published import claims_beside
from scripts.publish.selection import only
from scripts.publish.table import percent
from scripts.studies.timedial.figures.metrics import (
    RULES,
    accuracies,
    bands_of,
    context_in_words,
    draw_systems,
    drawn,
    in_rows,
    legend_of,
    published_on,
    read,
    widest,
    with_best_control,
)

SLICES = {f"rule={name}": title for name, title in RULES.items()}


def error_points(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the errors by rule, without variants of the options: they have other counts."""
    metrics = metrics[metrics["variant"] == ""]
    places = accuracies(metrics)[["measured_on", "split"]].drop_duplicates()
    rows = only(metrics, seed=None, metric="wrong_above_right", slice=SLICES)
    return widest(rows.merge(places))


def denominators(resources: Path) -> pd.Series:
    claims = claims_beside(resources, "timedial", ["measured_on", "slice"])
    claims = claims[claims["metric"] == "wrong_above_right.n"]
    return claims.set_index(["measured_on", "slice"])["value"]


def hardest_rule(points: pd.DataFrame) -> str:
    """Return the rules that mislead the best model least and most: `MPNet: 40.1 % of wrong options
    by numeral matching score as high as a right one, 61.5 % by phrase matching`.
    """
    is_model = (points["origin"] == "here") & (points["paradigm"] != "control")
    models = points[is_model & ~points["paradigm"].str.endswith(BLIND)]
    errors = models.pivot_table("value", "row", "slice").dropna()
    if errors.empty:
        return ""
    best = errors.loc[errors.mean(axis=1).idxmin()].sort_values()
    name = models.loc[models["row"] == best.name, "title"].iloc[0]
    (easy, least), *_, (hard, most) = ((SLICES[rule], share) for rule, share in best.items())
    return (
        f"{name}: {percent(least)} % of wrong options by {easy} score as high as a right one, "
        f"{percent(most)} % by {hard}"
    )


def draw(points: pd.DataFrame, figure_2: pd.DataFrame, counts: pd.Series, sources: dict) -> Figure:
    def detail_of(of_rule: pd.DataFrame) -> str:
        detail = f"% of n = {of_rule['n'].max():,.0f}"
        if (of_rule["origin"] == "published").any():
            count = counts[tuple(of_rule[["measured_on", "slice"]].iloc[0])]
            detail += f"\npaper: n = {int(count):,}"
        return detail

    tables, lines = [], []
    for name, challenge in points.groupby("measured_on", sort=False):
        table = in_rows(challenge, published_on(challenge, figure_2))
        rows, by_rule = Rows(table), dict(list(table.groupby("slice")))
        draw_rule = partial(draw_systems, rows=rows)
        place = partial(Panel, height=rows.height, bands=bands_of(rows, table))
        panels = [
            place(by_rule[rule], draw_rule, title, detail_of(by_rule[rule]))
            for rule, title in SLICES.items()
            if rule in by_rule
        ]
        heading = f"{hardest_rule(table)}\n{source_title(name, sources)}"
        lines += in_lines(panels, len(panels), heading)
        tables.append(table)
    note = f"wrong options that score as high as a right one (%), {context_in_words(points)}"
    return figure_of(lines, legend_of(pd.concat(tables)), share_y="line", note=note)


def main(given: Given) -> None:
    metrics, figure_2, sources = read(given, "Figure 2")
    points = error_points(metrics)
    shown, counts = with_best_control(points, metrics), denominators(given.resources)
    publish(given, drawn(points, figure_2), lambda: draw(shown, figure_2, counts, sources))
