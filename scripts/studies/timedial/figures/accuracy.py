"""Draw 2-best accuracy of every system on TimeDial, beside people and the published numbers (table
5 of Qin et al. 2021, on the paper's challenge only). One panel shows the challenge, one more each
variant of its options. The CSV has all controls.
"""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.compared import SYSTEM as COMPARED, read_comparisons, with_comparisons
from scripts.publish.message import message, titled
from scripts.publish.names import people_points, source_title, split_title
from scripts.publish.selection import only
from scripts.publish.panels import (
    CHANCE,
    DASHED,
    Look,
    Panel,
    Rows,
    draw_line,
    figure_of,
    publish,
    write_beside,
)
from scripts.publish.table import percent
from scripts.studies.timedial.figures.metrics import (
    accuracies,
    bands_of,
    context_in_words,
    draw_systems,
    drawn,
    in_rows,
    legend_of,
    name_of,
    published_on,
    read,
    widest,
)

PEOPLE = Look(line=DASHED, width=0.9)


def of_each_kind(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points with only these controls: random, and the chosen one of each kind."""
    others = (points["paradigm"] == "control") & (points["model"] != "random")
    return points[~others | points["chosen"].eq(True)]


def draw_panel(axes: Axes, points: pd.DataFrame, rows: Rows, people: pd.DataFrame) -> None:
    draw_systems(axes, points, rows)
    for value in points.loc[points["model"] == "random", "value"].head(1):
        draw_line(axes, value * 100, upright=True)
    for value, low, high in (people[["value", "ci_low", "ci_high"]] * 100).to_numpy():
        draw_line(axes, value, upright=True, look=PEOPLE)
        axes.axvspan(low, high, color=style.GREY, alpha=0.12, linewidth=0, zorder=0.4)
    for right, head, origin in ((8, "here", "here"), (38, "paper", "published")):
        of_origin = points[points["origin"] == origin]
        texts = zip(of_origin["row"].map(rows.places), of_origin["value"].map(percent))
        write_beside(axes, dict(texts), head if len(of_origin) else "", right)
    axes.set_xlabel("2-best accuracy (% of instances)")


def says(rows: pd.DataFrame) -> str:
    """Return the message of a challenge's rows, without systems that have read the challenge."""
    rows = only(rows[rows["domain"] != "contaminated"], slice="all")
    return message(rows.assign(name=rows.apply(name_of, axis=1)), "two_best_accuracy", "name")


def draw(
    points: pd.DataFrame,
    metrics: pd.DataFrame,
    published: pd.DataFrame,
    sources: dict,
    people: pd.DataFrame,
) -> Figure:
    """Draw the figure. metrics: rows with the most context, for the message how far models lie
    above controls.
    """
    tables, lines, reached = [], [], [CHANCE.handle("chance")]
    for (name, variant), challenge in points.groupby(["measured_on", "variant"], sort=False):
        of_paper = variant == ""  # people and the paper saw all options as released
        challenge = challenge.assign(title=challenge["title"].str.replace(variant, "", regex=False))
        paper = published_on(challenge, published.iloc[: len(published) * of_paper])
        answered = people[(people["measured_on"] == name) & of_paper].assign(by="people here")
        printed = paper[paper["model"] == "human"].assign(by="people in the paper")
        if len(printed):
            answered = pd.concat([answered, printed[["value", "by"]].head(1)])
        reached += [
            PEOPLE.handle(f"{by}: {percent(value)}")
            for by, value in zip(answered["by"], answered["value"])
        ]
        table, first = in_rows(challenge, paper), challenge.iloc[0]
        context = context_in_words(challenge)
        detail = f"{split_title(first['split'])}, {first['n']:,} instances, {context}"
        rows = Rows(table)
        draw_one = partial(draw_panel, rows=rows, people=answered)
        tables.append(table)
        title = source_title(name, sources) + variant
        bands, of_panel = bands_of(rows, table), only(metrics, measured_on=name, variant=variant)
        panel = Panel(table, draw_one, title, detail, height=rows.height, bands=bands)
        lines.append([titled(panel, says(of_panel))])
    return figure_of(lines, [*legend_of(pd.concat(tables)), ("", reached)])


def main(given: Given) -> None:
    metrics, table_5, sources = read(given, "Table 5")
    metrics = widest(with_comparisons(metrics, read_comparisons(given.metrics), COMPARED))
    points = accuracies(metrics)
    people = people_points(given.metrics, "timedial", "two_best_accuracy")
    people["measured_on"] = [
        sources[source].get("measured_on", source) for source in people["source"]
    ]
    shown = of_each_kind(points)
    publish(given, drawn(points, table_5), lambda: draw(shown, metrics, table_5, sources, people))
