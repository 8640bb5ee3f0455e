"""Tabulate the accuracy of every system, for all items and by their category."""

from scripts.publish.compared import SYSTEM, cells_of, read_comparisons, with_comparisons
from scripts.publish.item import Given
from scripts.publish.marks import note_of, replicate_counts
from scripts.publish.names import source_title
from scripts.publish.selection import only
from scripts.publish.table import EXPERIMENT, by_metric, number_cells, publish_table
from scripts.studies.choices.figures.metrics import choices_metrics, title_of

WORDS = ["Corpus", "Dataset", "Split", "System", EXPERIMENT]


def main(given: Given) -> None:
    models, sources, rows = given.models, given.sources, []
    metrics = choices_metrics(given.metrics, models)
    metrics = with_comparisons(metrics, read_comparisons(given.metrics), SYSTEM)
    for (source, dataset, split, system), of_system in metrics.groupby(
        ["source", "dataset", "split", "system"], sort=False
    ):
        means = only(of_system, seed=None, wording=None)
        by = by_metric(only(means, metric="accuracy"), "slice")
        cells = {
            "Corpus": source_title(source, sources) + note_of(by["all"]),
            "Dataset": dataset.replace("_", " "),
            "Split": split,
            "System": system,
            **replicate_counts(of_system),
            "Items": f"{by['all']['n']:,}",
        }
        for name in ["all", *sorted(set(by) - {"all"})]:
            cells |= number_cells("Accuracy" if name == "all" else title_of(name), by[name])
        rows.append(cells | cells_of(by["all"], models) | {EXPERIMENT: by["all"]["experiment"]})
    publish_table(given, rows, WORDS)
