"""The rows of strided sentence order prediction in the metrics, and their names in figures and
tables.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from scripts.publish.marks import limit_if_several
from scripts.publish.names import (
    experiment_if_needed,
    in_order,
    method_note,
    model_title,
    of_most_pairs,
    study_metrics,
    titles_of,
    without_people,
)
from scripts.studies.strided_sop.evaluate import SCHEMA
from scripts.studies.strided_sop.options import Options
from scripts.studies.strided_sop.strides import UP_TO

# the options that part series of one model, with their notes; as in the record, same_videos first
NOTES = {"same_videos": ""} | Options.series()
VARIANT = [*NOTES, "objectives", "method"]  # the columns that part series of one model
NUMBERS = "value sd ci_low ci_high n groups sample".split()


def variant_title(facts: Mapping) -> str:
    """Return how a model was trained and measured, by the columns VARIANT: `, size-matched, learnt
    from strides 0 to 4`.
    """
    values = {name: facts.get(name) for name in [*NOTES, "objectives"]}
    values = {name: one for name, one in values.items() if pd.notna(one) and one is not False}
    numbers = {name: f"{one:g}" for name, one in values.items() if isinstance(one, float)}
    shown = values | numbers
    notes = [note.format(shown[name]) for name, note in NOTES.items() if name in shown]
    notes = [note.replace(f"stride {UP_TO}", "strides 0 to ").replace("_", " ") for note in notes]
    if "objectives" in values:
        notes.append(f"beside masked words (weight {str(shown['objectives']).rpartition(' ')[2]})")
    return method_note(facts["method"]) + "".join(f", {note}" for note in notes)


def sop_metrics(path: Path) -> pd.DataFrame:
    return of_most_pairs(study_metrics(path, "strided_sop", SCHEMA), ["source", "stride"])


def of_one_stride(metrics: pd.DataFrame, crossed: bool) -> pd.DataFrame:
    """Return the rows of one stride each. For a mixture, the slices `stride=k` give the rows of
    stride k. Rows of stride prediction and of spans are left out; so are models that learnt from
    another stride or corpus, unless crossed.
    """
    stride = metrics["slice"].str.extract(r"^stride=(\d+)$")[0].astype(float)
    mixed, learnt = metrics["stride"].isna(), metrics["train_stride"]
    same = learnt.isna() | mixed & learnt.str.startswith(UP_TO, na=False)
    is_plain = metrics["learn_from"].isna() & same | crossed
    is_plain &= metrics["predict"].isna() & metrics["span"].isna()
    metrics = metrics.assign(
        stride=metrics["stride"].where(~mixed, stride), slice=metrics["slice"].where(~mixed, "all")
    )
    return metrics[is_plain & metrics["stride"].notna()]


def system_titles(rows: pd.DataFrame, models: dict, **changed: object) -> list[str]:
    """Return the title of each row. changed: facts to replace, so that a title does not
    name them.
    """
    return [
        model_title(row["model"], models) + variant_title(row | changed)
        for row in rows.to_dict("records")
    ]


def strided_metrics(path: Path, models: dict, crossed: bool = False) -> pd.DataFrame:
    """Return the strided_sop rows of a metrics table, with a column `series`: the model, and how it
    was trained and measured.

    crossed: with models that learnt from another stride or corpus. If experiments measured one
    setting differently, the series includes the experiment.
    """
    metrics = of_one_stride(sop_metrics(path), crossed)
    metrics = metrics[metrics["slice"] == "all"]
    human = metrics[metrics["metric"] == "human_accuracy"]
    metrics = pd.concat([without_people(metrics), human])
    metrics["stride"] = metrics["stride"].astype(int)
    point = ["source", "split", "model", *VARIANT, "stride", "limit", "metric", "seed"]
    variants = metrics[VARIANT].drop_duplicates()
    titles = variants.assign(title=[variant_title(row) for row in variants.to_dict("records")])
    metrics["series"] = (
        titles_of(metrics, models)
        + metrics.merge(titles, on=VARIANT, how="left")["title"].to_numpy()
        + limit_if_several(metrics)
        + experiment_if_needed(metrics, point)
    )
    metrics["is_model"] = metrics["method"] != "control"  # controls first, as in every study
    return in_order(metrics, "source split is_model series metric stride seed".split())
