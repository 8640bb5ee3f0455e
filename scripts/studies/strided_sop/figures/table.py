"""Tabulate strided sentence order prediction: every corpus, split, model and stride."""

import pandas as pd

from scripts.publish.compared import SYSTEM, cells_of, read_comparisons, with_comparisons
from scripts.publish.item import Given
from scripts.publish.marks import note_of, replicate_counts
from scripts.publish.names import source_title, split_title
from scripts.studies.strided_sop.figures.metrics import strided_metrics
from scripts.publish.table import EXPERIMENT, by_metric, filled, number_cells, publish_table

WORDS = ["Corpus", "Split", "Model", EXPERIMENT]
SHORT = {"Accuracy sd": "SD", "Accuracy 95 % interval": "95 % interval", "Peak sd": "Peak SD"}
OF_PEOPLE = ["source", "dataset", "split", "stride"]
PLACE, RUN = ["source", "split", "stride"], ["source", "dataset", "model", "method"]


def main(given: Given) -> None:
    models, sources, table = given.models, given.sources, []
    metrics = strided_metrics(given.metrics, models, crossed=True)
    metrics = with_comparisons(metrics, read_comparisons(given.metrics), SYSTEM)
    facts = given.facts
    # a pair that is read in both orders counts twice
    pairs = {tuple(fact[name] for name in RUN): f"{fact['train_examples']:,}" for fact in facts}
    is_human = metrics["model"] == "human"
    human = {tuple(row[OF_PEOPLE]): row for _, row in metrics[is_human].iterrows()}
    for _, of_system in metrics[~is_human].groupby([*PLACE, "series"], sort=False):
        by = by_metric(of_system[of_system["seed"].isna()])
        honest, peak = by["accuracy"], by.get("peak_accuracy")
        people = human.get(tuple(honest[OF_PEOPLE]))
        table.append(
            {
                "Corpus": source_title(honest["source"], sources) + note_of(honest),
                "Split": split_title(honest["split"]),
                "Model": honest["series"],
                "Stride": str(honest["stride"]),
                "Training pairs": pairs.get(tuple(honest[RUN]), ""),
                "Pairs": f"{honest['n']:,}",
                "Videos": f"{honest['groups']:,}",
                **replicate_counts(of_system),
                **cells_of(honest, models),
                **number_cells("Accuracy", honest),
                **number_cells("Peak", peak),
                **number_cells("Human", people),
                EXPERIMENT: honest["experiment"],
            }
        )
    shown = pd.DataFrame(table).drop(columns="Human sd").rename(columns=SHORT)
    publish_table(given, filled(shown, WORDS), WORDS)
