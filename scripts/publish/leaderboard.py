"""Write the numbers of each model to its own files, in two forms: that of lm-evaluation-harness'
results, which leaderboards read, and that of every_eval_ever (scripts/publish/every_eval_ever.py).

A task is `<study>:<experiment>:<source>:<dataset>:<method>:<split>`. A metric is
`<metric>,<scoring>` (`none` if the study has one way to score). Its value is the mean over seeds or
wordings on all examples of the split, as a share from 0 to 1. `_stderr` is half the 95 % interval
divided by 1.96; it is `N/A` if there is only one group and so no interval. Readers take any other
number for a metric, so only the form of every_eval_ever has the ends of the interval. `n-shot`
counts the examples before each prompt. `higher_is_better` names the metrics that have a
direction. `date` is the date of the metrics file. The alias marks our own sample data, and splits
of which only a part was measured (limit).

Reads  metrics.parquet (schema metrics)
Writes <output>/<model>.json, <output>/every_eval_ever/<model>.json

    python -m scripts.publish.leaderboard --metrics results/evaluate/default/metrics.parquet \\
        --output results/publish/default/leaderboard \\
        --facts '{"models": {"bert": {"hub": "…", "revision": "…"}},
                 "metrics": {"mctaco": {"f1": {"title": "F1", "better": "higher"}}},
                 "shots": {"prompted:gpt:likelihood": 4}}'
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from scripts.data.files import whole
from scripts.data.declared import method_of_blind
from scripts.running.program import UserError, execute, json_object_with, log, parser
from scripts.data.tables import METRICS, read_metrics
from scripts.measure.experiment import EXTERNAL
from scripts.publish.every_eval_ever import aggregate
from scripts.publish.marks import note_of
from scripts.publish.names import OF_PEOPLE
from scripts.publish.selection import only

TASK = ["study", "experiment", "source", "dataset", "method", "split"]
NORMAL = 1.96  # standard errors in half a 95 % interval


def leaderboard_rows(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the rows over all seeds (or wordings) and examples, with their task and key. Leave out
    differences, blind models, and predictions made elsewhere. Raise UserError if two rows have the
    same model, task, metric and key.
    """
    rows = only(metrics, seed=None, wording=None, slice="all")
    is_difference = rows["metric"].str.endswith(OF_PEOPLE)
    is_other = rows["method"].map(method_of_blind).notna() | (rows["method"] == EXTERNAL)
    rows = rows[~(is_difference | is_other)].copy()
    rows["key"] = rows["scoring"].astype(object).fillna("none") if "scoring" in rows else "none"
    rows["task"] = rows[TASK].fillna("").astype(str).agg(":".join, axis=1)
    if (twice := rows[rows.duplicated(["model", "task", "metric", "key"])]).size:
        row = twice.iloc[0]
        raise UserError(
            f"metrics: {row['metric']} of {row['model']} has two rows for {row['task']}; evaluate "
            "the experiment again"
        )
    return rows


def results_of(task: pd.DataFrame) -> dict:
    """Return the alias of a task, and the value and standard error of each metric."""
    first = task.iloc[0]
    entry = {"alias": f"{first['study']} {first['source']} {first['split']}{note_of(task)}"}
    for row in task[["metric", "key", "value", "ci_low", "ci_high"]].to_dict("records"):
        error = (row["ci_high"] - row["ci_low"]) / (2 * NORMAL)
        entry[f"{row['metric']},{row['key']}"] = row["value"]
        entry[f"{row['metric']}_stderr,{row['key']}"] = "N/A" if pd.isna(error) else error
    return entry


def harness_file(rows: pd.DataFrame, name: str, facts: dict, date: int) -> dict:
    """Return the file of one model in the form of lm-evaluation-harness. date: Unix seconds."""
    model = facts["models"][name]
    tasks = {task: group for task, group in rows.groupby("task", sort=True)}
    first = {task: group.iloc[0] for task, group in tasks.items()}
    counts = {task: int(group["n"].max()) for task, group in tasks.items()}
    asked = {task: "{experiment}:{model}:{method}".format(**row) for task, row in first.items()}
    return {
        "results": {task: results_of(group) for task, group in tasks.items()},
        "versions": dict.fromkeys(tasks, 1),
        "n-shot": {task: facts["shots"].get(how, 0) for task, how in asked.items()},
        "higher_is_better": {
            task: {
                metric: entry["better"] == "higher"
                for metric, entry in facts["metrics"][row["study"]].items()
                if "better" in entry
            }
            for task, row in first.items()
        },
        "n-samples": {
            task: {"original": count, "effective": count} for task, count in counts.items()
        },
        "config": {"model": "timestride", "model_sha": model.get("revision", "")},
        "date": date,
        "model_source": "hf" if "hub" in model else "timestride",
        "model_name": model.get("hub", name),
    }


def main(given: argparse.Namespace) -> None:
    rows = leaderboard_rows(read_metrics(given.metrics, METRICS).to_pandas())
    date = int(given.metrics.stat().st_mtime)
    for name in given.facts["models"]:
        of_model = rows[rows["model"] == name]
        forms = {
            f"{name}.json": harness_file(of_model, name, given.facts, date),
            f"every_eval_ever/{name}.json": aggregate(of_model, name, given.facts, date),
        }
        for file, content in forms.items():
            text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
            with whole(given.output / file) as place:
                place.write_text(f"{text}\n", encoding="utf-8")
    for file in sorted(given.output.glob("**/*.json")):
        if file.stem not in given.facts["models"]:
            file.unlink()
            log.info("%s: removed, since this study no longer has the model", file)
    log.info("%s: %d models", given.output, len(given.facts["models"]))


def arguments() -> argparse.ArgumentParser:
    asked = parser(__doc__)
    asked.add_argument("--metrics", type=Path, required=True, help="metrics.parquet of the study")
    asked.add_argument(
        "--facts",
        type=json_object_with("models", "metrics", "shots"),
        required=True,
        help="JSON: models, metrics, shots",
    )
    asked.add_argument("--output", type=Path, required=True, help="the folder to write to")
    asked.set_defaults(reads=lambda given: [given.metrics])
    return asked


if __name__ == "__main__":
    execute(main, arguments().parse_args())
