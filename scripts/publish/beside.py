"""What this study found, beside what a paper prints (resources/published.csv).

A row of published.csv is one number or one claim:
  study, table, row   where it stands: the study, the paper's table or section, and its row there
  model               a model of resources/models.yaml, or human, or empty
  setting             `column=value; column=value`: which rows of metrics.parquet (or which source) it is about
  metric              a metric of metrics.parquet; training.<setting>, cleaning.<unit>, <metric>.n for other facts
  value, unit         a number and its unit; or a claim in words: increases or decreases, `with <column>`; above or
                      below, another metric
  note                the paper's words, or what it leaves open
"""

from dataclasses import dataclass

import pandas as pd

from scripts.publish.names import model_title

# Where a paper reports the best of what it measured on, the honest number stands beside it.
HONEST = {"peak_accuracy": "accuracy"}
SERIES = ["source", "split", "model", "size_matched", "experiment"]


@dataclass
class Found:
    """One finding: whose it is, what it says, and warnings to be shown with it."""

    who: str
    what: str
    tags: list[str]


@dataclass
class Facts:
    """What a study left: metrics (rows over all seeds), run.json of its runs, cleaning counts, titles."""

    metrics: pd.DataFrame
    runs: list[dict]
    cleaning: pd.DataFrame
    sources: dict
    models: dict


def share(row: pd.Series) -> str:
    """`55.1 % (52.4 to 57.9)`."""
    return f"{row['value'] * 100:.1f} % ({row['ci_low'] * 100:.1f} to {row['ci_high'] * 100:.1f})"


def settings_of(text: str) -> dict[str, str]:
    """`source=a; split=b` as a mapping."""
    parts = [part.split("=", 1) for part in text.split(";") if part.strip()]
    return {key.strip(): value.strip() for key, value in parts}


def selected(metrics: pd.DataFrame, settings: dict[str, str]) -> pd.DataFrame:
    """The rows of metrics whose columns have these values, compared as text."""
    for column, value in settings.items():
        metrics = metrics[metrics[column].astype(str) == value]
    return metrics


def title_of(source: str, facts: Facts) -> str:
    """The title of a corpus."""
    return facts.sources.get(source, {}).get("title", source)


def who(row: pd.Series, facts: Facts, published_model: str) -> tuple[str, list[str]]:
    """The corpus, split and model of a row of metrics, and what a reader must be warned of."""
    matched = ", size-matched" if pd.notna(row.get("size_matched")) else ""
    tags = ["sample data"] if row["sample"] else []
    if published_model and row["model"] != published_model:
        tags.append(f"not the paper's model ({model_title(published_model, facts.models)})")
    model = model_title(row["model"], facts.models)
    return f"{title_of(row['source'], facts)}, {row['split']}, {model}{matched}", tags


def trend(points: pd.DataFrame, over: str) -> str:
    """How a metric changes from the lowest to the highest `over`, in words; clear only when the intervals part."""
    points = points.sort_values(over)
    low, high = points.iloc[0], points.iloc[-1]
    if low[over] == high[over]:
        return f"{share(low)} at {over} {low[over]:g}; one {over} shows no change"
    if high["ci_low"] > low["ci_high"]:
        word = "increases"
    elif high["ci_high"] < low["ci_low"]:
        word = "decreases"
    else:
        word = "no clear change, the intervals overlap"
    return f"{share(low)} at {over} {low[over]:g}, {share(high)} at {over} {high[over]:g}: {word}"


def trends(metrics: pd.DataFrame, metric: str, over: str, facts: Facts, published_model: str) -> list[Found]:
    """The trend of every corpus, split and model; of the honest metric as well."""
    found = []
    wanted = [metric, HONEST[metric]] if metric in HONEST else [metric]
    some = metrics[metrics["metric"].isin(wanted)]
    for _, series in some.groupby(SERIES, dropna=False, sort=False):
        name, tags = who(series.iloc[0], facts, published_model)
        for each in wanted:
            points = series[series["metric"] == each]
            if len(points):
                found.append(Found(f"{name}; {each.replace('_', ' ')}", trend(points, over), tags))
    return found


def against(metrics: pd.DataFrame, metric: str, other: str, facts: Facts, published_model: str) -> list[Found]:
    """A metric beside another one that was measured on the same datasets, as a model beside people."""
    found = []
    others = metrics[metrics["metric"] == other].drop_duplicates(["source", "split", "dataset"])
    some = metrics[metrics["metric"] == metric].merge(
        others[["source", "split", "dataset", "value", "ci_low", "ci_high"]], on=["source", "split", "dataset"],
        suffixes=("", "_other"))
    for _, rows in some.groupby(SERIES, dropna=False, sort=False):
        name, tags = who(rows.iloc[0], facts, published_model)
        above = (rows["ci_low"] > rows["ci_high_other"]).sum()
        below = (rows["ci_high"] < rows["ci_low_other"]).sum()
        pairs = ", ".join(f"{value * 100:.1f} beside {beside * 100:.1f} %"
                          for value, beside in zip(rows["value"], rows["value_other"]))
        found.append(Found(f"{name}; {', '.join(rows['dataset'])}",
                           f"{pairs}: clearly above in {above} of {len(rows)}, clearly below in {below}", tags))
    return found


def values(metrics: pd.DataFrame, metric: str, facts: Facts, published_model: str) -> list[Found]:
    """A metric as it was measured, for every model."""
    found = []
    for _, row in metrics[metrics["metric"] == metric].iterrows():
        name, tags = who(row, facts, published_model)
        found.append(Found(name, share(row), tags))
    return found


def beside(claim: pd.Series, facts: Facts) -> list[Found]:
    """What this study found of one row of published.csv; empty where it has nothing on it."""
    settings, metric, unit = settings_of(claim["setting"]), claim["metric"], claim["unit"]
    if metric.startswith("training."):
        name = metric.removeprefix("training.")
        used = sorted({(run["model"], run["training"][name]) for run in facts.runs})
        return [Found(model_title(model, facts.models), f"{value:g} {unit}".strip(), []) for model, value in used]
    if metric.startswith("cleaning."):
        about = selected(facts.cleaning, settings | {"unit": metric.removeprefix("cleaning."), "action": "kept"})
        counts = about.groupby("split", sort=False)["count"].sum()
        told = ", ".join(f"{count:,} in {split}" for split, count in counts.items())
        return [Found(title_of(settings["source"], facts), told, [])] if told else []
    metrics = selected(facts.metrics, settings)
    if metric.endswith(".n"):
        asked = metrics[metrics["metric"] == metric.removesuffix(".n")]
        asked = asked.drop_duplicates(["source", "dataset", "split"])
        return [Found(f"{title_of(source, facts)}, {split}", f"{n:,} {unit} in each of {times} datasets", [])
                for (source, split, n), times in asked.groupby(["source", "split", "n"], sort=False).size().items()]
    if unit.startswith("with "):
        return trends(metrics, metric, unit.removeprefix("with "), facts, claim["model"])
    if claim["value"] in ("above", "below"):
        return against(metrics, metric, unit, facts, claim["model"])
    return values(metrics, metric, facts, claim["model"])
