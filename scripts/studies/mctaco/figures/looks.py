"""How the systems of mctaco look in its figures.

Apart from their numbers, since tables draw nothing and need no matplotlib.
"""

import pandas as pd
from matplotlib.artist import Artist

from scripts.publish import style
from scripts.studies.mctaco.figures.metrics import BASELINES
from scripts.publish.panels import Look, legend_of, looks

OPEN = Look(marker="o", line="", face=style.PAPER)
LABELLED = 12  # systems: of more, the legend names unit normalization only once


def system_looks(points: pd.DataFrame, name: str = "system", line: object = "-") -> dict[str, Look]:
    """The look of each system but baselines: with unit normalization open and dashed, untrained as
    trained. name: `kind` for systems with and without unit normalization together.
    """
    systems = points[~points["model"].isin(BASELINES)]
    systems = systems.assign(method=systems["method"].replace("untrained", "train"))
    return looks(systems, name, "kind", "unit_normalization" if name == "system" else "", line)


def system_legend(points: pd.DataFrame, *others: Artist) -> list[tuple[str, list]]:
    """The groups of a legend: each system; of many, each kind and what an open mark means."""
    known = system_looks(points, line="")
    if len(known) <= LABELLED:
        return legend_of(known, *others, controls=style.BEST_CONTROL)
    is_open = [OPEN.handle("open: + unit normalization")] * bool(points["unit_normalization"].any())
    return legend_of(system_looks(points, "kind", ""), *is_open, *others,
                     controls=style.BEST_CONTROL)
