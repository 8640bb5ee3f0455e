"""Draw the accuracy on questions with options: a panel for each dataset and split, a row for each
system, a mark for each category of the items (for all items, if there are several sources or no
categories). Grey: controls.
"""

import pandas as pd

from scripts.publish.item import Given
from scripts.publish.names import details_of, source_title, split_title
from scripts.publish.panels import forest_of, publish, same_place
from scripts.publish.compared import SYSTEM as COMPARED, read_comparisons, with_comparisons
from scripts.publish.message import message
from scripts.publish.selection import only
from scripts.studies.choices.figures.metrics import CATEGORY, choices_metrics, title_of

MOST = 4  # categories in a panel; with more, the panel has all items alone
PLACE = ["source", "dataset", "split"]
COLUMNS = "system model method experiment slice value sd seeds ci_low ci_high n groups sample limit"


def chance_of(points: pd.DataFrame) -> float:
    """Return what the random control reaches; NaN without it, and if panels differ."""
    values = only(points, model="random")["value"]
    return float(values.mean()) if values.round(3).nunique() == 1 else float("nan")


def main(given: Given) -> None:
    metrics, sources = choices_metrics(given.metrics, given.models), given.sources
    metrics = with_comparisons(metrics, read_comparisons(given.metrics), COMPARED)
    points = only(metrics, seed=None, wording=None, metric="accuracy")
    of_category = points["slice"].str.startswith(CATEGORY)
    count = points["slice"].where(of_category).groupby([points[name] for name in PLACE])
    count = count.transform("nunique")
    shown = of_category.where(count.between(1, MOST), points["slice"] == "all")
    points = points[shown].assign(
        row=points["system"],
        series=points["slice"].map(title_of),
        is_control=points["method"] == "control",
    )
    panels, chance = [], chance_of(points)
    for (source, dataset, split), of_panel in points.groupby(PLACE, sort=False):
        counts = ", ".join(f"{n:,}" for n in of_panel.drop_duplicates("slice")["n"])
        detail = f"{split_title(split)}{details_of(dataset)}; n = {counts}"
        title, whole = source_title(source, sources), only(metrics, slice="all")
        says = message(same_place(whole, of_panel, PLACE), "accuracy", "system")
        panels.append((says or title, f"{title}, {detail}" if says else detail, of_panel))
    table = points[[*PLACE, *COLUMNS.split()]]
    publish(given, table, lambda: forest_of(panels, "accuracy (%)", chance, "chance"))
