"""Draw accuracy on HellaSwag: a panel for each dataset and split, a row for each system, a mark for
each origin of the items. Grey: controls.
"""

from scripts.publish.item import Given
from scripts.publish.names import details_of, source_title, split_title
from scripts.publish.panels import forest_of, publish, same_place
from scripts.publish.compared import SYSTEM as COMPARED, read_comparisons, with_comparisons
from scripts.publish.message import message
from scripts.publish.selection import only
from scripts.studies.hellaswag.figures.metrics import CHANCE, hellaswag_metrics

ORIGINS = {
    "domain=activitynet": "items of videos (ActivityNet)",
    "domain=wikihow": "items of articles (wikiHow)",
}
PLACE = ["source", "dataset", "split"]
COLUMNS = "system model method experiment slice value sd seeds ci_low ci_high n groups sample limit"


def main(given: Given) -> None:
    metrics, sources = hellaswag_metrics(given.metrics, given.models), given.sources
    metrics = with_comparisons(metrics, read_comparisons(given.metrics), COMPARED)
    points = only(metrics, seed=None, wording=None, metric="accuracy", slice=ORIGINS)
    points = points.assign(
        row=points["system"],
        series=points["slice"].map(ORIGINS),
        is_control=points["method"] == "control",
    )
    panels = []
    for (source, dataset, split), of_panel in points.groupby(PLACE, sort=False):
        counts = ", ".join(f"{n:,}" for n in of_panel.drop_duplicates("slice")["n"])
        detail = f"{split_title(split)}{details_of(dataset, ['limit'])}; n = {counts}"
        title, whole = source_title(source, sources), only(metrics, slice="all")
        says = message(same_place(whole, of_panel, PLACE), "accuracy", "system")
        panels.append((says or title, f"{title}, {detail}" if says else detail, of_panel))
    shown = points[[*PLACE, *COLUMNS.split()]]
    publish(given, shown, lambda: forest_of(panels, "accuracy (%)", CHANCE, "chance, 25 %"))
