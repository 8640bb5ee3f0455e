"""The numbers of each model in a file of its own, in the form of lm-evaluation-harness' results,
which leaderboards read.

A task is `<study>:<experiment>:<source>:<dataset>:<method>:<split>`; a metric is
`<metric>,<scoring>` (`none` where the study has one way to score), of all examples of the split,
the mean over seeds or wordings, shares from 0 to 1. Of its 95 % interval the ends are given, and as
`_stderr` the half of it divided by 1.96, `N/A` where one group allows no interval.
`higher_is_better` names the metric that the study tells first. Data of our own samples, and splits
of which only a part was measured (limit), are marked in the alias.

Reads  metrics.parquet (schema metrics)
Writes <output>/<model>.json

    python -m scripts.publish.leaderboard --metrics results/evaluate/default/metrics.parquet \\
        --output results/publish/default/leaderboard \\
        --told '{"models": {"bert": {"hub": "…", "revision": "…"}},
                 "headlines": {"mctaco": "exact_match"}}'
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from scripts.data.files import whole
from scripts.plan.probe import method_of_blind
from scripts.running.program import UserError, execute, json_object_with, log, parser
from scripts.data.tables import METRICS, read_metrics
from scripts.measure.experiment import EXTERNAL
from scripts.publish.marks import note_of
from scripts.publish.names import OF_PEOPLE

TASK = ["study", "experiment", "source", "dataset", "method", "split"]
NORMAL = 1.96  # half a 95 % interval in standard errors


def told_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows over all seeds (or wordings) and examples that are no difference, of no model
    without what it should read, and not predicted elsewhere (under a name that may be a model's),
    with the task and the key of each.

    Raises UserError where two rows have the same model, task, metric and key.
    """
    rows = metrics[
        metrics["seed"].isna()
        & metrics["wording"].isna()
        & (metrics["slice"] == "all")
        & ~metrics["metric"].str.endswith(
            ("_above_control", "_above_same_view", "_above_blind", *OF_PEOPLE)
        )
        & metrics["method"].map(method_of_blind).isna()
        & (metrics["method"] != EXTERNAL)
    ].copy()
    rows["key"] = rows["scoring"].astype(object).fillna("none") if "scoring" in rows else "none"
    rows["task"] = (
        rows[[name for name in TASK if name in rows]].fillna("").astype(str).agg(":".join, axis=1)
    )
    if (twice := rows[rows.duplicated(["model", "task", "metric", "key"])]).size:
        row = twice.iloc[0]
        raise UserError(
            f"metrics: {row['metric']} of {row['model']} stands twice for {row['task']}; evaluate "
            "the experiment again"
        )
    return rows


def results_of(task: pd.DataFrame) -> dict:
    """The entry of one task: its alias, and of each metric the value,
    its standard error and interval.
    """
    first = task.iloc[0]
    entry = {"alias": f"{first['study']} {first['source']} {first['split']}{note_of(task)}"}
    for row in task.to_dict("records"):
        told = pd.notna(row["ci_low"]) and pd.notna(row["ci_high"])
        entry |= {
            f"{row['metric']},{row['key']}": row["value"],
            f"{row['metric']}_stderr,{row['key']}": (row["ci_high"] - row["ci_low"]) / (2 * NORMAL)
            if told
            else "N/A",
        }
        if told:
            entry |= {
                f"{row['metric']}_{end},{row['key']}": row[end] for end in ("ci_low", "ci_high")
            }
    return entry


def file_of(rows: pd.DataFrame, name: str, model: dict, headlines: dict[str, str]) -> dict:
    """The file of one model; rows: of told_rows(), of that model."""
    tasks = {task: group for task, group in rows.groupby("task", sort=True)}
    counts = {task: int(group["n"].max()) for task, group in tasks.items()}
    headline = {task: headlines.get(group["study"].iloc[0]) for task, group in tasks.items()}
    return {
        "results": {task: results_of(group) for task, group in tasks.items()},
        "versions": dict.fromkeys(tasks, 1),
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {task: {metric: True} for task, metric in headline.items() if metric},
        "n-samples": {
            task: {"original": count, "effective": count} for task, count in counts.items()
        },
        "config": {
            "model": "timestride",
            "model_name": model.get("hub", name),
            "model_sha": model.get("revision", ""),
        },
    }


def main(given: argparse.Namespace) -> None:
    rows = told_rows(read_metrics(given.metrics, METRICS).to_pandas())
    for name, model in given.told["models"].items():
        content = file_of(rows[rows["model"] == name], name, model, given.told["headlines"])
        with whole(given.output / f"{name}.json") as place:
            place.write_text(
                json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
                encoding="utf-8",
            )
    log.info("%s: %d models", given.output, len(given.told["models"]))


def arguments() -> argparse.ArgumentParser:
    asked = parser(__doc__)
    asked.add_argument("--metrics", type=Path, required=True, help="metrics.parquet")
    asked.add_argument(
        "--told",
        type=json_object_with("models", "headlines"),
        required=True,
        help="models and headlines, as JSON",
    )
    asked.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return asked


if __name__ == "__main__":
    execute(main, arguments().parse_args())
