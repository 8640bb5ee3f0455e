"""What the figures and tables of mctaco share: its metrics by system, and the paper's table 2.

A system is a model of resources/models.yaml, with unit normalization or without, judgements that the authors released
(method `released`), or one of the baselines. The published
numbers are read from published.csv beside sources.yaml; one stands only beside the corpus that its `setting` names.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.common.program import UserError
from scripts.common.tables import read_metrics
from scripts.evaluate.mctaco import SCHEMA
from scripts.publish.comparison import settings_of
from scripts.publish.marks import limit_if_several
from scripts.publish.names import method_title, model_title, without_people

CATEGORIES = {"duration": "duration", "ordering": "ordering", "typical_time": "typical time", "frequency": "frequency",
              "stationarity": "stationarity"}
BASELINES = {"random": "random", "always_yes": "always yes", "always_no": "always no", "gold": "the data's own labels"}
NORMALIZED = " + unit normalization"
LEARNT = ["train", "untrained"]  # what the paper's systems do, and are told apart by their training sets
PLAIN = [*LEARNT, "control", "baseline", "released"]  # methods that need not be told beside the model
POINTS = ["origin", "source", "split", "system", "model", "unit_normalization", "experiment", "train_questions",
          "train_pairs", "draw", "seed", "wording", "slice", "metric", "value", "sd", "ci_low", "ci_high", "n", "sample", "limit"]


def mctaco_metrics(path: Path, models: dict, draws: bool = False) -> pd.DataFrame:
    """The mctaco rows of a metrics table, with a column `system`, baselines first, then models as in load_systems().

    paper_model is the model as whose system the paper prints numbers: of released judgements the one that made them.

    What two experiments share stands once; where they measured the same setting differently (other training settings,
    other seeds), the system carries the experiment's name. Baselines stand once, since no training set changes them, and so do released
    judgements, with the least of their distances to a control: an experiment may have few controls, or none.
    `seed` is missing in rows over all seeds, `train_questions` where all questions were learnt from. draws: whether the rows
    keep their draws over questions.
    """
    metrics = read_metrics(path, SCHEMA, draws).to_pandas()
    metrics = without_people(metrics[metrics["study"] == "mctaco"]).copy()
    if metrics.empty:
        raise UserError(f"{path}: no rows of study mctaco; run an experiment of it before drawing its figures")
    metrics["unit_normalization"] = metrics["unit_normalization"].astype(bool)
    baseline = metrics["model"].isin(BASELINES)
    metrics["told"] = limit_if_several(metrics) + metrics["method"].map(
        lambda name: "" if name in PLAIN else f", {method_title(name)}")
    fixed = metrics[baseline].drop_duplicates(["source", "split", "limit", "model", "slice", "metric"])
    fixed = fixed.assign(unit_normalization=False, train_questions=np.nan, train_pairs=np.nan, draw=0)
    released = metrics["method"] == "released"
    once = metrics[released].sort_values("value", kind="stable").drop_duplicates(["source", "split", "limit", "model", "slice", "metric", "seed"])
    trained = metrics[~baseline & ~released].drop_duplicates([name for name in metrics if name not in ("experiment", "draws")])
    trained = pd.concat([trained, once])
    point = ["source", "split", "model", "told", "unit_normalization", "train_questions", "draw", "slice", "metric", "seed"]
    twice = trained[trained["seed"].isna()].groupby(point, dropna=False)["experiment"].transform("size") > 1
    ambiguous = set(trained.loc[twice[twice].index, "model"])
    told = trained["told"] + trained["experiment"].where(trained["model"].isin(ambiguous), "").map(lambda name: name and f" ({name})")
    trained = trained.assign(kind=trained["model"].map(lambda name: model_title(name, models)) + told)
    trained["system"] = trained["kind"] + trained["unit_normalization"].map({True: NORMALIZED, False: ""})
    fixed = fixed.assign(kind=fixed["model"].map(BASELINES) + fixed["told"], system=fixed["model"].map(BASELINES) + fixed["told"])
    # As float, so that a column with nothing in it can be joined with one that has numbers.
    numbers = ["train_questions", "train_pairs", "draw", "limit", "seed", "sd"]
    rows = pd.concat([part.astype({name: float for name in numbers}) for part in (fixed, trained)], ignore_index=True)
    place = {name: number for number, name in enumerate([*BASELINES, *models])}
    rows["paper_model"] = rows["model"].map(lambda name: models.get(name, {}).get("of", name)).where(rows["method"].isin(PLAIN), "")
    rows["place"] = rows["model"].map(lambda name: place.get(name, len(place)))
    order = ["source", "split", "place", "kind", "unit_normalization", "train_questions", "draw", "slice", "metric",
             "seed"]
    return rows.sort_values(order, ignore_index=True).drop(columns=["place", "told"])


def trained_most(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows of each system's largest training set; of its first draw, where there are several."""
    size = metrics["train_questions"].fillna(np.inf)
    system = [metrics[name] for name in ("source", "split", "system")]
    most = metrics[size == size.groupby(system).transform("max")]
    return most[most["draw"] == most.groupby(["source", "split", "system"])["draw"].transform("min")]


def over_seeds(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows that are means over the seeds."""
    return metrics[metrics["seed"].isna()]


def with_best_control(points: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """The points of a figure without those of controls, but for the one with the highest exact match on each corpus and split."""
    place = ["source", "split", "system"]
    rows = trained_most(over_seeds(metrics))
    rows = rows[(rows["method"] == "control") & (rows["metric"] == "exact_match") & (rows["slice"] == "all")]
    best = rows.loc[rows.groupby(place[:2])["value"].idxmax(), place]
    is_best = pd.MultiIndex.from_frame(points[place]).isin(pd.MultiIndex.from_frame(best))
    return points[(points["method"] != "control") | is_best]


def claims_of(file: Path) -> pd.DataFrame:
    """The rows of a published.csv about mctaco, all text."""
    try:
        claims = pd.read_csv(file, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; the published numbers belong there, beside sources.yaml") from None
    return claims[claims["study"] == "mctaco"]


def published_beside(sources: Path) -> pd.DataFrame:
    """What the paper prints of systems, from published.csv beside sources.yaml; values as shares from 0 to 1.

    Columns: source, row (the paper's name of the system), model, unit_normalization, slice, metric, value; rows of
    table 2 (slice all; of people as well, although they answered 100 questions) and of the released predictions (slices
    by category).
    """
    file = sources.parent / "published.csv"
    claims = claims_of(file)
    claims = claims[claims["metric"].isin(["f1", "exact_match"])
                    & claims["table"].str.startswith(("Table 2", "Released predictions"))]
    settings = claims["setting"].map(settings_of)
    value = pd.to_numeric(claims["value"], errors="coerce")
    if value.isna().any():
        raise UserError(f"{file}: row {value.index[value.isna()][0] + 2}: value is not a number; write 66.1 for 66.1 %")
    table = pd.DataFrame({
        "source": settings.map(lambda parts: parts.get("source", "")), "table": claims["table"], "row": claims["row"],
        "model": claims["model"],
        "unit_normalization": settings.map(lambda parts: parts.get("unit_normalization") == "True").astype(bool),
        "slice": settings.map(lambda parts: parts.get("slice", "all")), "metric": claims["metric"], "value": value / 100,
    })
    return table.reset_index(drop=True)


def table_2(published: pd.DataFrame, source: str) -> pd.DataFrame:
    """The systems of table 2 on a corpus: row, model, unit_normalization, f1, exact_match."""
    rows = published[published["table"].str.startswith("Table 2") & (published["source"] == source)]
    wide = rows.pivot_table(index=["row", "model", "unit_normalization"], columns="metric", values="value", sort=False)
    return wide.reindex(columns=["f1", "exact_match"]).reset_index()


def published_points(published: pd.DataFrame) -> pd.DataFrame:
    """Published numbers as rows of the points beside a figure."""
    return published.assign(origin="published", system=published["row"], sample=False).reindex(columns=POINTS)


def title_of(source: str, sources: dict) -> str:
    """The title of a corpus."""
    return sources.get(source, {}).get("title", source)
