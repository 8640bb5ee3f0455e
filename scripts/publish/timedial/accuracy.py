"""Draw 2-best accuracy of every system on TimeDial, with 95 % intervals, beside the published numbers and people.

A row for each system under its paradigm, with the most context it was measured with. Means over the seeds; 95 %
intervals over instances and seeds. Diamonds are table 5 of Qin et al. 2021, on the paper's challenge only; the line at the left is
chance (two right options of four: 1/6), the one at the right what people reach.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles, published.csv beside them
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.timedial.accuracy --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/timedial_accuracy
"""

import argparse

import pandas as pd

from scripts.common.program import UserError, execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, people_points, split_title
from scripts.publish.table import percent, write_points
from scripts.publish.timedial.metrics import (
    context_told, drawn, human, over_seeds, published_beside, same_system, systems_of, timedial_metrics, title_of,
    widest)
from scripts.publish.timedial.rows import Block, Column, figure_of, handles_of, marks_of, paper_marks


def accuracy_points(metrics: pd.DataFrame) -> pd.DataFrame:
    """2-best accuracy over all instances of every system, with the most context it was measured with."""
    rows = over_seeds(metrics)
    return widest(rows[(rows["slice"] == "all") & (rows["metric"] == "two_best_accuracy")])


def table_5(published: pd.DataFrame) -> pd.DataFrame:
    """The published numbers of table 5."""
    return published[published["table"] == "Table 5"]


def block_of(points: pd.DataFrame, published: pd.DataFrame, sources: dict, people: pd.DataFrame) -> Block:
    """The systems of one challenge; published: table 5 on it; people: of people_points(), on it."""
    first, systems = points.iloc[0], systems_of(points, published)
    chance = float(points.loc[points["model"] == "random", "value"].iloc[0]) * 100
    lines = {chance: ((0, (1, 1.5)), "chance")}
    if (reported := human(published, first["measured_on"])) is not None:
        lines[reported * 100] = ((0, (4, 1.6)), f"people {reported * 100:.1f}")
    for _, row in people.iterrows():
        lines[row["value"] * 100] = ((0, (4, 1.6)), f"people here {percent(row['value'])}")
    here = {mark["system"]: f"{mark['value']:.1f}" for mark in marks_of(points, systems)}
    paper = [same_system(published, one)["value"] for one in systems]
    texts = {"here": [here.get(number, "") for number in range(len(systems))]}
    if len(published):
        texts["paper"] = [percent(value.iloc[0]) if len(value) else "" for value in paper]
    bands = [(row["ci_low"] * 100, row["ci_high"] * 100) for _, row in people.iterrows() if pd.notna(row["ci_low"])]
    column = Column("2-best accuracy (% of instances)", marks_of(points, systems), paper_marks(published, systems), lines, bands)
    told = f"{split_title(first['split'])}, {first['n']:,} instances, {context_told(points)}"
    return Block(title_of(first["measured_on"], sources), told, systems, [column], face_of(points), texts)


def main(given: argparse.Namespace) -> None:
    sources = load(given.sources)
    points = accuracy_points(timedial_metrics(given.metrics, load(given.models), sources))
    if points.empty:
        raise UserError(f"{given.metrics}: no two_best_accuracy; measure timedial on a challenge with two right options")
    paper = table_5(published_beside(given.sources))
    people = people_points(given.metrics, "timedial", "two_best_accuracy")
    blocks = [block_of(challenge, paper[(paper["measured_on"] == name) & (not challenge["sample"].any())], sources,
                       people[people["source"].map(lambda source: sources[source].get("measured_on", source)) == name])
              for name, challenge in points.groupby("measured_on", sort=False)]
    style.save(lambda: figure_of(blocks, handles_of(blocks)), given)
    write_points(drawn(points, paper), given.output)
    log.info("%s: %d systems", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
