"""What this study found, beside what a paper prints (resources/published.csv).

A row of published.csv is one number or one claim:
  study, table, row   where it stands: the study, the paper's table or section, and its row there
  model               a model of resources/models.yaml, several (`; ` between them), majority, human, or empty
  setting             which rows of metrics.parquet (or which source) it is about, `; ` between the parts:
                        column=value    rows with this value; * in a value stands for any text
                        column~value    the paper had this value: rows with another one carry a warning
                        slice=a=b; c=d  a slice may have several parts: those that are no column of the metrics
  metric              a metric of metrics.parquet; or another fact:
                        <metric>.n      how many examples it was measured on
                        <metric>.sum    its sum over the rows, as of the cells of a confusion matrix
                        training.<setting>, cleaning.<unit>   a setting of the runs (with model=esim* or model=[!e]* of those
                                        models only); what cleaning kept
                        statistics.<number>   what a corpus holds: told by its own table
  value, unit         a number (± its sd), and its unit: ours is told in per cent where that is %, as a share where
                      there is none. Or the unit of a comparison:
                        with <column>   the value is increases or decreases
                        <metric>        the value is above or below that other metric
                        points over <column>=<value>; …   the difference to the same with those values
  note                the paper's words, or what it leaves open
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

from scripts.common.program import UserError
from scripts.publish.marks import marks_of
from scripts.publish.names import details_of, method_title, model_title
from scripts.publish.verdicts import COMPARED, beside, share, trend

# Where a paper reports the best of what it measured on, the honest number stands beside it.
HONEST = {"peak_accuracy": "accuracy"}
# What sets two lines of one plot apart; a study has some of these columns.
SERIES = ["source", "split", "model", "method", "challenge_set", "scoring", "size_matched", "same_videos", "hard", "limit", "experiment"]
# The columns that are measured or tell of an example's part; all others are settings.
MEASURED = ["metric", *COMPARED, "n", "groups", "sample", "seed", "wording", "slice"]
DIFFERENCE = "points over "


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


def published_claims(file: Path) -> pd.DataFrame:
    """published.csv, all columns as text."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def parts_of(setting: str, sign: str) -> dict[str, str]:
    """The parts of a setting with this sign (= or ~) behind the column, as a mapping."""
    parts = re.findall(r"([^=~;\s]+)\s*([=~])\s*([^;]*)", setting)
    return {column: value.strip() for column, of, value in parts if of == sign}


def settings_of(setting: str) -> dict[str, str]:
    """`source=a; split~b; slice=tense=past` as {source: a, slice: tense=past}; a slice's further parts stand alone."""
    return parts_of(setting, "=")


def paper_of(claim: pd.Series) -> dict[str, list[str]]:
    """By column what the paper had, where another value is worth a warning: its models, and the parts with ~."""
    had = {"model": claim["model"]} | parts_of(claim["setting"], "~")
    return {column: value.split("; ") for column, value in had.items() if value}


def selected(table: pd.DataFrame, settings: dict[str, str]) -> pd.DataFrame:
    """The rows whose columns have these values, compared as text; * stands for any text.

    Beside a slice, what is no column is a further part of the slice.
    """
    further = [column for column in settings if column not in table]
    if further and "slice" not in settings:
        raise UserError(f"resources/published.csv: a setting names {further[0]}, which is no column; write one of "
                        f"{', '.join(table)}")
    if further:
        parts = [settings["slice"], *(f"{column}={settings[column]}" for column in further)]
        settings = {column: settings[column] for column in settings if column in table} | {"slice": "; ".join(parts)}
    for column, value in settings.items():
        cells = table[column].astype(str).fillna("")
        wanted = {cell for cell in cells.unique() if cell == value or "*" in value and fnmatchcase(cell, value)}
        table = table[cells.isin(wanted)]
    return table


def title_of(source: str, facts: Facts) -> str:
    """The title of a corpus."""
    return facts.sources.get(source, {}).get("title", source)


def warnings(row: pd.Series, paper: dict[str, list[str]], facts: Facts) -> list[str]:
    """Where a row is not what the paper had, as short texts."""
    titles = {"model": lambda name: model_title(name, facts.models), "source": lambda name: title_of(name, facts)}
    called = {"source": "data"}
    told = {column: " or ".join(titles.get(column, str)(value) for value in had) for column, had in paper.items()}
    return [f"not the paper's {called.get(column, column)} ({told[column]})"
            for column, had in paper.items() if column in row and row[column] not in had]


def who(row: pd.Series, facts: Facts, paper: dict[str, list[str]]) -> tuple[str, list[str]]:
    """The corpus, split, model and method of a row of metrics, and what a reader must be warned of."""
    matched = (", same videos" * pd.notna(row.get("same_videos")) + ", size-matched" * pd.notna(row.get("size_matched"))
               + ", hard pairs" * bool(pd.notna(row.get("hard")) and row["hard"]))
    method = row.get("method")
    method = "" if pd.isna(method) or method == row["model"] else f", {method_title(method)}"
    data = title_of(row["source"], facts) + details_of(row["dataset"], list(row.index))
    tags = marks_of(row)
    return (f"{data}, {row['split']}, {model_title(row['model'], facts.models)}{method}{matched}",
            tags + warnings(row, paper, facts))


def lines(metrics: pd.DataFrame, but: tuple[str, ...] = ()) -> list[str]:
    """The columns by which rows belong to one line."""
    return [column for column in SERIES if column in metrics and column not in but]


def settings_columns(metrics: pd.DataFrame, but: list[str]) -> list[str]:
    """The columns that are settings, whatever the study; experiments that share a run share its rows."""
    return [column for column in metrics if column not in [*MEASURED, "experiment", *but]]


def trends(metrics: pd.DataFrame, metric: str, over: str, facts: Facts, paper: dict[str, list[str]]) -> list[Found]:
    """The trend of every corpus, split and model; of the honest metric as well."""
    found = []
    wanted = [metric, HONEST[metric]] if metric in HONEST else [metric]
    measured = metrics[metrics["metric"].isin(wanted)]
    for _, series in measured.groupby(lines(measured), dropna=False, sort=False):
        name, tags = who(series.iloc[0], facts, paper)
        for each in wanted:
            points = series[series["metric"] == each]
            if len(points):
                found.append(Found(f"{name}; {each.replace('_', ' ')}", trend(points, over), tags))
    return found


def pairs_of(rows: pd.DataFrame, others: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The rows that have a like among the others by these columns, with its columns COMPARED in a mapping, `other`."""
    likes = others[keys].assign(other=others[COMPARED].to_dict("records"))
    return rows.merge(likes, on=keys)


def against(metrics: pd.DataFrame, metric: str, other: str, facts: Facts, paper: dict[str, list[str]]) -> list[Found]:
    """A metric beside another one that was measured on the same datasets, as a model beside people."""
    found, keys = [], ["source", "split", "dataset"]
    others = metrics[metrics["metric"] == other].drop_duplicates(keys)
    joined = pairs_of(metrics[metrics["metric"] == metric], others, keys)
    for _, rows in joined.groupby(lines(joined), dropna=False, sort=False):
        name, tags = who(rows.iloc[0], facts, paper)
        verdicts = [beside(row, row["other"]) for _, row in rows.iterrows()]
        told = "; ".join(f"{row['value'] * 100:.1f} beside {row['other']['value'] * 100:.1f} %: {words}"
                         for (_, row), (_, words) in zip(rows.iterrows(), verdicts))
        above, below = (sum(side == sign for side, _ in verdicts) for sign in (1, -1))
        found.append(Found(f"{name}; {', '.join(rows['dataset'])}",
                           f"{told}; clearly above in {above} of {len(rows)}, clearly below in {below}", tags))
    return found


def over_slices(rows: pd.DataFrame, unit: str) -> str:
    """One number as it is; of several slices their mean (each example counts once), the lowest and the highest."""
    if len(rows) == 1:
        return share(rows.iloc[0], unit)
    mean = (rows["value"] * rows["n"]).sum() / rows["n"].sum()
    low, high = rows.loc[rows["value"].idxmin()], rows.loc[rows["value"].idxmax()]
    return (f"{mean * 100:.1f} % over {len(rows)} slices, from {low['value'] * 100:.1f} ({low['slice']}) "
            f"to {high['value'] * 100:.1f} ({high['slice']})")


def values(metrics: pd.DataFrame, metric: str, unit: str, facts: Facts, paper: dict[str, list[str]]) -> list[Found]:
    """A metric as it was measured, for every model."""
    measured = metrics[metrics["metric"] == metric]
    measured = measured.drop_duplicates([column for column in measured if column not in ("experiment", "draws")])
    found = []
    for _, rows in measured.groupby([*settings_columns(measured, []), "experiment"], dropna=False, sort=False):
        name, tags = who(rows.iloc[0], facts, paper)
        found.append(Found(name, over_slices(rows, unit), tags))
    return found


def sums(metrics: pd.DataFrame, metric: str, facts: Facts, paper: dict[str, list[str]]) -> list[Found]:
    """A metric summed up over the rows, for every model; where the paper names no model, once for each dataset."""
    measured = metrics[metrics["metric"] == metric]
    measured = measured.drop_duplicates([column for column in measured if column not in ("experiment", "draws")])
    found = {}
    for _, rows in measured.groupby([*settings_columns(measured, []), "experiment"], dropna=False, sort=False):
        row = rows.iloc[0]
        name, tags = who(row, facts, paper)
        if "model" not in paper:
            name = f"{title_of(row['source'], facts)}{details_of(row['dataset'], list(row.index))}, {row['split']}"
        found.setdefault(name, Found(name, f"{rows['value'].sum() * 100:.1f} %", tags))
    return list(found.values())


def differences(metrics: pd.DataFrame, settings: dict[str, str], metric: str, over: dict[str, str], facts: Facts,
                paper: dict[str, list[str]]) -> list[Found]:
    """How far a metric lies above the same with other values of some columns, in points; metrics: not yet selected."""
    rows = selected(metrics[metrics["metric"] == metric], settings)
    others = selected(metrics[metrics["metric"] == metric], settings | over)
    keys = settings_columns(rows, list(over))
    others = others.drop_duplicates(keys)
    rows = rows[~rows.index.isin(selected(rows, over).index)].drop_duplicates([*keys, *over])
    found = []
    for _, row in pairs_of(rows, others, keys).iterrows():
        name, tags = who(row, facts, paper)
        mine, other = row["value"] * 100, row["other"]["value"] * 100
        found.append(Found(name, f"{mine:.1f} beside {other:.1f} %: {beside(row, row['other'])[1]}", tags))
    return found


def settings_used(runs: list[dict], name: str, unit: str, models: str, facts: Facts) -> list[Found]:
    """A setting of training, for every model that has it and whose name fits `models`."""
    fitting = [run for run in runs if name in run["training"] and fnmatchcase(run["model"], models)]
    used = sorted({(run["model"], run["training"][name]) for run in fitting})
    return [Found(model_title(model, facts.models), f"{value:g} {unit}".strip(), []) for model, value in used]


def cleaned(counts: pd.DataFrame, unit: str, facts: Facts, paper: dict[str, list[str]]) -> list[Found]:
    """How many of a unit cleaning kept, by source and split; where it kept nothing by that name, what it noted."""
    found = []
    for source, of_source in counts[counts["unit"] == unit].groupby("source", sort=False):
        action = "kept" if (of_source["action"] == "kept").any() else "noted"
        of_source = of_source[of_source["action"] == action]
        told = [f"{count:,} in {split}{f' ({why})' if why else ''}"
                for (split, why), count in of_source.groupby(["split", "reason"], sort=False)["count"].sum().items()]
        if told:
            found.append(Found(title_of(source, facts), ", ".join(told), warnings(of_source.iloc[0], paper, facts)))
    return found


def findings(claim: pd.Series, facts: Facts) -> list[Found]:
    """What this study found of one row of published.csv; empty where it has nothing on it."""
    settings, paper, metric, unit = settings_of(claim["setting"]), paper_of(claim), claim["metric"], claim["unit"]
    if metric.startswith("training."):
        return settings_used(facts.runs, metric.removeprefix("training."), unit, settings.get("model", "*"), facts)
    if metric.startswith("cleaning."):
        return cleaned(selected(facts.cleaning, settings), metric.removeprefix("cleaning."), facts, paper)
    if unit.startswith(DIFFERENCE):
        over = settings_of(unit.removeprefix(DIFFERENCE))
        return differences(facts.metrics, settings, metric, over, facts, paper)
    metrics = selected(facts.metrics, settings)
    if metric.endswith(".n"):
        asked = metrics[metrics["metric"] == metric.removesuffix(".n")]
        asked = asked.drop_duplicates(["source", "dataset", "split"])
        return [Found(f"{title_of(source, facts)}, {split}", f"{n:,} {unit} in each of {times} datasets", [])
                for (source, split, n), times in asked.groupby(["source", "split", "n"], sort=False).size().items()]
    if metric.endswith(".sum"):
        return sums(metrics, metric.removesuffix(".sum"), facts, paper)
    if unit.startswith("with "):
        return trends(metrics, metric, unit.removeprefix("with "), facts, paper)
    if claim["value"] in ("above", "below"):
        return against(metrics, metric, unit, facts, paper)
    return values(metrics, metric, unit, facts, paper)
