"""Draw how often wrong options outrank a right one on TimeDial, by the rule that made them (Qin et al. 2021, figure 2).

A row for each system, a column for each rule: phrase matching (a time that stands in the dialog), numeral matching (a
number that stands there), open-ended. The share of the wrong options of the rule that score as high as a right option of
their instance or higher, mean over the seeds, with 95 % intervals over instances and seeds; n is the wrong options that it
is a share of. Of the controls random and the one with the highest 2-best accuracy are drawn; all are in the CSV. Diamonds are the numbers behind the paper's figure, whose denominators are others (446, 1,225 and 1,379).

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles, published.csv beside them
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.timedial.errors_by_rule --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/timedial_errors_by_rule
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.common.program import UserError, execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.comparison import settings_of
from scripts.publish.marks import face_of
from scripts.publish.names import load
from scripts.publish.table import write_points
from scripts.publish.timedial.metrics import (
    RULES, context_told, drawn, over_seeds, published_beside, systems_of, timedial_metrics, title_of, widest, with_best_control)
from scripts.publish.timedial.rows import Block, Column, figure_of, handles_of, marks_of, paper_marks

SLICES = {f"rule={name}": title for name, title in RULES.items()}


def error_points(metrics: pd.DataFrame) -> pd.DataFrame:
    """wrong_above_right by rule of every system, with the most context it was measured with, on instances with two right."""
    rows = over_seeds(metrics)
    paper = rows.loc[rows["metric"] == "two_best_accuracy", ["measured_on", "split"]].drop_duplicates()
    rows = rows.merge(paper, on=["measured_on", "split"])
    return widest(rows[(rows["metric"] == "wrong_above_right") & rows["slice"].isin(SLICES)])


def denominators(file: Path) -> dict[tuple[str, str], int]:
    """By challenge and slice, how many wrong options the paper's shares are of; file: published.csv."""
    claims = pd.read_csv(file, dtype=str, keep_default_na=False)
    claims = claims[(claims["study"] == "timedial") & (claims["metric"] == "wrong_above_right.n")]
    settings = [settings_of(setting) for setting in claims["setting"]]
    return {(parts["measured_on"], parts["slice"]): int(value) for parts, value in zip(settings, claims["value"])}


def block_of(points: pd.DataFrame, published: pd.DataFrame, counts: dict, sources: dict) -> Block:
    """The systems of one challenge; published: figure 2 on it; counts: from denominators()."""
    first, systems, columns = points.iloc[0], systems_of(points, published), []
    for name, title in SLICES.items():
        of_slice = points[points["slice"] == name]
        told = f"{title}\n(% of n = {of_slice['n'].max():,})" if len(of_slice) else title
        if len(published) and (first["measured_on"], name) in counts:
            told += f"\npaper: n = {counts[first['measured_on'], name]:,}"
        columns.append(Column(told, marks_of(of_slice, systems), paper_marks(published[published["slice"] == name], systems)))
    return Block(title_of(first["measured_on"], sources),
                 f"wrong options that score as high as a right one, {context_told(points)}", systems, columns,
                 face_of(points))


def main(given: argparse.Namespace) -> None:
    sources = load(given.sources)
    metrics = timedial_metrics(given.metrics, load(given.models), sources)
    points = error_points(metrics)
    if points.empty:
        raise UserError(f"{given.metrics}: no wrong_above_right by rule; measure timedial where two options are right")
    published = published_beside(given.sources)
    figure_2, counts = published[published["table"] == "Figure 2"], denominators(given.sources.parent / "published.csv")
    blocks = [block_of(challenge, figure_2[(figure_2["measured_on"] == name) & (not challenge["sample"].any())], counts, sources)
              for name, challenge in with_best_control(points, metrics, ("random",)).groupby("measured_on", sort=False)]
    style.save(lambda: figure_of(blocks, handles_of(blocks)), given)
    write_points(drawn(points, figure_2), given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
