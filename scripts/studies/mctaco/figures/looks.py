"""Which systems of mctaco its figures draw, and how they look.

Apart from their numbers, since tables draw nothing and need no matplotlib.
"""

import argparse
from collections.abc import Iterator

import pandas as pd
from matplotlib.artist import Artist

from scripts.publish import style
from scripts.publish.names import load_systems, source_title, split_title
from scripts.publish.panels import Look, among, legend_of, looks, with_best_control
from scripts.studies.mctaco.figures.metrics import (
    BASELINES,
    PLACE,
    SYSTEM,
    mctaco_metrics,
    system_means,
)

OPEN = Look(marker="o", line="", face=style.PAPER)
LABELLED = 12  # systems: of more, the legend names unit normalization only once


def metrics_to_draw(given: argparse.Namespace, draws: bool = False) -> pd.DataFrame:
    """mctaco_metrics() with `drawn`: of controls only the one with the highest exact match."""
    metrics = mctaco_metrics(given.metrics, load_systems(given.models, given.sources), draws)
    means = system_means(metrics)
    exact = means[(means["slice"] == "all") & (means["metric"] == "exact_match")]
    is_best = among(metrics, with_best_control(exact, PLACE), SYSTEM)
    return metrics.assign(drawn=is_best | (metrics["method"] != "control"))


def by_place(points: pd.DataFrame, sources: dict) -> Iterator[tuple[pd.DataFrame, str, str]]:
    for (source, split), of_split in points.groupby(PLACE, sort=False):
        yield of_split, source_title(source, sources), split_title(split)


def system_looks(points: pd.DataFrame, name: str = "system", line: object = "-") -> dict[str, Look]:
    """The look of each system but baselines: with unit normalization open and dashed. name: `kind`
    for systems with and without unit normalization together.
    """
    systems = points[~points["model"].isin(BASELINES)]
    systems = systems.assign(method=systems["method"].replace("untrained", "train"))
    return looks(systems, name, "kind", "unit_normalization" if name == "system" else "", line)


def system_legend(points: pd.DataFrame, *others: Artist) -> list[tuple[str, list]]:
    """Each system; of many, each kind and what an open mark means."""
    known = system_looks(points, line="")
    if len(known) > LABELLED:
        known = system_looks(points, "kind", "")
        if points["unit_normalization"].any():
            others = OPEN.handle("open: + unit normalization"), *others
    return legend_of(known, *others, controls=style.BEST_CONTROL)
