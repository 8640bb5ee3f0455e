"""Draw accuracy on HellaSwag, a row for each system and a panel for each dataset and split; a mark
for each origin of the items.

Means over the seeds with 95 % intervals over videos, articles and seeds. Grey: controls, which see
the ending alone, or words, or lengths.
"""

import argparse

from scripts.publish.arguments import run_program
from scripts.studies.hellaswag.figures.metrics import CHANCE, hellaswag_metrics
from scripts.publish.names import details_of, load, source_title, split_title
from scripts.publish.panels import forest_of, publish

ORIGINS = {
    "domain=activitynet": "items of videos (ActivityNet)",
    "domain=wikihow": "items of articles (wikiHow)",
}
COLUMNS = [
    "source",
    "dataset",
    "split",
    "system",
    "model",
    "method",
    "experiment",
    "slice",
    "value",
    "sd",
    "seeds",
    "ci_low",
    "ci_high",
    "n",
    "groups",
    "sample",
    "limit",
]


def main(given: argparse.Namespace) -> None:
    metrics, sources = hellaswag_metrics(given.metrics, load(given.models)), load(given.sources)
    points = metrics[
        (metrics["metric"] == "accuracy")
        & metrics["seed"].isna()
        & metrics["wording"].isna()
        & metrics["slice"].isin(ORIGINS)
    ]
    points = points.assign(
        row=points["system"],
        series=points["slice"].map(ORIGINS),
        is_control=points["method"] == "control",
    )
    panels = []
    for (source, dataset, split), of_panel in points.groupby(
        ["source", "dataset", "split"], sort=False
    ):
        detail = (
            f"{split_title(split)}{details_of(dataset, ['limit'])}; n = "
            f"{', '.join(f'{n:,}' for n in of_panel.drop_duplicates('slice')['n'])}"
        )
        panels.append((source_title(source, sources), detail, of_panel))
    publish(
        given, points[COLUMNS], lambda: forest_of(panels, "accuracy (%)", CHANCE, "chance, 25 %")
    )


if __name__ == "__main__":
    run_program(main, __doc__)
