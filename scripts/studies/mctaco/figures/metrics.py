"""Read what the figures and tables of mctaco share: the metrics by system, the paper's table 2, and
each system's look.

A system is one of these: a model of resources/models.yaml, with or without unit normalization;
judgements that the authors released (method `released`); a baseline. A published number is shown
only for the corpus that its `setting` names.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.publish.compared import SYSTEM as COMPARED, read_comparisons, with_comparisons
from scripts.publish.item import Given
from scripts.publish.marks import limit_if_several
from scripts.publish.names import (
    experiment_if_needed,
    in_order,
    method_note,
    source_title,
    split_title,
    study_metrics,
    titles_of,
    without_people,
)
from scripts.publish.panels import Look, among, looks, with_best_control
from scripts.publish.published import claims_beside, with_shares
from scripts.publish.selection import EQUAL, only
from scripts.studies.mctaco.evaluate import SCHEMA

CATEGORIES = "duration", "ordering", "typical_time", "frequency", "stationarity"
SLICES = {f"category={name}": name.replace("_", " ") for name in CATEGORIES}
PLACE = ["source", "split"]
SYSTEM = [*PLACE, "system"]
KEY = ["paper_model", "unit_normalization"]  # these name a system's row in table 2
BASELINES = {
    "random": "random",
    "always_yes": "always yes",
    "always_no": "always no",
    "gold": "the data's own labels",
}
NORMALIZED = " + unit normalization"
# methods of systems that differ only by their training sets
LEARNT = ["train", "untrained"]
# methods that are not written beside the model's name
PLAIN = [*LEARNT, "control", "baseline", "released"]
POINTS = (
    "origin source split system model unit_normalization experiment train_questions train_pairs "
    "draw seed wording slice metric value sd ci_low ci_high n sample limit"
).split()


def mctaco_metrics(path: Path, models: dict, draws: bool = False) -> pd.DataFrame:
    """Return the mctaco rows of a metrics table, with a column `system`; without contrast pairs.

    kind: the system's name without unit normalization. paper_model: the model whose published
    numbers belong beside this system. `train_questions` is missing if the model learnt from all
    questions.

    Rows that two experiments share appear once. If they measured one setting differently, the
    system's name includes the experiment. Baselines and released judgements appear once.
    """
    metrics = without_people(study_metrics(path, "mctaco", SCHEMA, draws))
    metrics = metrics[metrics["contrast"].isna()]
    # As float: an empty column can then be joined with a column of numbers.
    numbers = ["train_questions", "train_pairs", "draw", "limit", "seed", "sd"]
    metrics = metrics.astype({"unit_normalization": bool} | dict.fromkeys(numbers, float))
    how = metrics["method"].map(lambda name: method_note(name, PLAIN))
    metrics["kind"] = titles_of(metrics, models, BASELINES) + limit_if_several(metrics) + how
    baseline, released = metrics["model"].isin(BASELINES), metrics["method"] == "released"
    fixed = metrics[baseline].assign(
        unit_normalization=False, train_questions=np.nan, train_pairs=np.nan, draw=0.0
    )
    alike = [*PLACE, "limit", "model", "slice", "metric", "seed"]
    theirs = metrics[released].drop_duplicates(alike)
    trained = pd.concat([metrics[~baseline & ~released], theirs])
    of_system = "unit_normalization train_questions draw slice metric seed".split()
    point = [*PLACE, "kind", "model", *of_system]
    trained["kind"] += experiment_if_needed(trained, point)
    rows = pd.concat([fixed.drop_duplicates(alike), trained], ignore_index=True)
    rows["system"] = rows["kind"] + rows["unit_normalization"].map({True: NORMALIZED, False: ""})
    of = rows["model"].map(lambda name: models.get(name, {}).get("of", name))
    rows["paper_model"] = of.where(rows["method"].isin(PLAIN), "")
    return in_order(rows, [*PLACE, "model", "kind", *of_system], model=[*BASELINES, *models])


def trained_most(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each system's largest training set, for its first draw."""
    size = metrics["train_questions"].fillna(np.inf)
    most = metrics[size == size.groupby([metrics[name] for name in SYSTEM]).transform("max")]
    return most[most["draw"] == most.groupby(SYSTEM)["draw"].transform("min")]


def system_means(metrics: pd.DataFrame) -> pd.DataFrame:
    return trained_most(metrics[metrics["seed"].isna()])


def beside_controls(rows: pd.DataFrame, metrics: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return rows of metrics with their comparisons. Released judgements have the smallest distance
    to a control with the same units, because an experiment may have few controls.

    metrics: from mctaco_metrics(), with all controls; path: the file that they were read from.
    """
    comparisons = read_comparisons(path)
    released = comparisons["method"] == "released"
    place = [name for name in [*COMPARED, "n", "metric"] if name not in ("experiment", "scoring")]
    of_rows = rows[[*place, "experiment", "unit_normalization"]]
    theirs = comparisons[released].drop(columns="experiment").merge(of_rows, on=place)
    reached = only(metrics, method="control", seed=None).rename(columns={"model": "control"})
    on = [*PLACE, "slice", "metric", "n", "control"]
    both = theirs.reset_index().merge(reached[[*on, "unit_normalization", "value"]], on=on)
    same_value = (both["value_y"] - both["control_value"]).abs() < EQUAL
    same_units = both["unit_normalization_x"] == both["unit_normalization_y"]
    has_units = theirs.index.isin(both["index"])
    is_like = theirs.index.isin(both.loc[same_value & same_units, "index"])
    theirs = theirs[is_like | ~has_units].sort_values("difference", kind="stable")
    return with_comparisons(rows, pd.concat([theirs, comparisons[~released]]), COMPARED)


def published_beside(resources: Path) -> pd.DataFrame:
    """Return the paper's scores of systems, as shares: table 2 and the released predictions by
    category.
    """
    claims = claims_beside(resources, "mctaco", ["source", "slice", "unit_normalization"])
    tables = claims["table"].str.startswith(("Table 2", "Released predictions"))
    claims = with_shares(claims[tables & claims["metric"].isin(["f1", "exact_match"])])
    is_normalized = claims["unit_normalization"] == "True"
    claims = claims.assign(unit_normalization=is_normalized, slice=claims["slice"].fillna("all"))
    return claims.reset_index(drop=True)


def table_2(published: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the systems of table 2: row, f1, exact_match, by model and unit_normalization."""
    rows = published[published["table"].str.startswith("Table 2") & (published["source"] == source)]
    key = ["row", "model", "unit_normalization"]
    wide = rows.pivot_table(index=key, columns="metric", values="value", sort=False)
    return wide.reindex(columns=["f1", "exact_match"]).reset_index("row")


# ---- what figures draw


def metrics_to_draw(
    given: Given, place: Sequence[str] = PLACE, draws: bool = False
) -> pd.DataFrame:
    """Return mctaco_metrics() with `drawn`; the only control that is drawn at each place (columns)
    has the highest exact match.
    """
    metrics = mctaco_metrics(given.metrics, given.models, draws)
    exact = only(system_means(metrics), slice="all", metric="exact_match")
    is_best = among(metrics, with_best_control(exact, place), SYSTEM)
    return metrics.assign(drawn=is_best | (metrics["method"] != "control"))


def by_place(points: pd.DataFrame, sources: dict) -> Iterator[tuple[pd.DataFrame, str, str]]:
    for (source, split), of_split in points.groupby(PLACE, sort=False):
        yield of_split, source_title(source, sources), split_title(split)


def system_looks(points: pd.DataFrame, line: object = "-") -> dict[str, Look]:
    """Return the look of each system except baselines. Marks are open and lines are dashed with
    unit normalization.
    """
    systems = points[~points["model"].isin(BASELINES)]
    systems = systems.assign(method=systems["method"].replace("untrained", "train"))
    return looks(systems, "system", "kind", "unit_normalization", line)
