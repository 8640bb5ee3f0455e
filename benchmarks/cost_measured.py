"""The cost of a finished study. For its runs it comes from run.json (cost), for other jobs from
Snakemake's measurements (results/benchmarks/).
"""

import json
from pathlib import Path

from scripts.plan.plan import CONTROL, Plan, batches

HEAD = ["stage", "jobs", "minutes", "CPU hours", "GPU hours", "most memory, GB"]


def benchmark_of(file: Path) -> dict | None:
    """Return Snakemake's measurements of a job's last run; None if there are none."""
    try:
        line = json.loads(file.read_text(encoding="utf-8").strip().splitlines()[-1])
        return {
            "seconds": float(line["s"]),
            "cpu": float(line["cpu_time"]),
            "gpu": 0.0,
            "memory": float(line["max_rss"] or 0) * 2**20,
        }
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        return None


def run_of(facts: Path) -> dict | None:
    """Return the whole cost of a run, with its killed attempts; None for an unfinished run."""
    try:
        run = json.loads(facts.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    cost = run.get("cost", {})
    return {
        "seconds": run["seconds"],
        "cpu": cost.get("cpu_seconds", 0.0),
        "gpu": cost.get("gpu_seconds", 0.0),
        "memory": cost.get("peak_bytes", 0),
    }


def jobs_of(
    plan: Plan, name: str, results: Path, sources: dict, models: dict
) -> dict[str, list[dict | None]]:
    """Return, by stage, the cost of each job of a plan; None for an unfinished job."""
    places, runs = (
        results / "benchmarks",
        [run for run in plan.runs.values() if run.method != CONTROL],
    )
    used = {
        source
        for dataset in plan.datasets.values()
        for source in (dataset.source, sources[dataset.source].get("measured_on", dataset.source))
    }
    brought = sorted(source for source in used if "local" not in sources[source])
    brought += [
        f"models/{model}"
        for model in sorted({run.model for run in runs})
        if not {"mlm", "clm"} & set(models[model])
    ]
    return {
        "fetch": [benchmark_of(places / f"fetch/{one}.jsonl") for one in brought],
        "clean": [benchmark_of(places / f"clean/{source}.jsonl") for source in sorted(used)],
        "build": [
            benchmark_of(places / f"{Path(dataset.folder).relative_to('results')}.jsonl")
            for dataset in plan.datasets.values()
        ],
        "train": [run_of(results / f"train/{run.study}/{run.name}/run.json") for run in runs],
        "controls": [
            benchmark_of(places / f"train/{controls}.jsonl")
            for controls in batches(run for run in plan.runs.values() if run.method == CONTROL)
        ],
        "evaluate": [
            benchmark_of(file) for file in sorted((places / f"evaluate/{name}").rglob("*.jsonl"))
        ],
        "publish": [
            benchmark_of(file) for file in sorted((places / f"publish/{name}").rglob("*.jsonl"))
        ],
    }


def of_stage(name: str, jobs: list[dict]) -> list[str]:
    """Return a row of the table for one stage."""
    seconds, cpu, gpu = (sum(job[key] for job in jobs) for key in ("seconds", "cpu", "gpu"))
    memory = max((job["memory"] for job in jobs), default=0) / 1e9
    return [
        name,
        f"{len(jobs):,}",
        f"{seconds / 60:,.1f}",
        f"{cpu / 3600:,.2f}",
        f"{gpu / 3600:,.2f}",
        f"{memory:.2f}",
    ]


def measured(
    plan: Plan, name: str, results: Path, sources: dict, models: dict
) -> tuple[list[list[str]], str]:
    """Return the rows of the table of measured costs, and a sentence about them."""
    rows, every, missing = [], [], []
    for stage, found in jobs_of(plan, name, results, sources, models).items():
        there = [job for job in found if job]
        every += there
        rows += [of_stage(stage, there)] if there else []
        if len(there) < len(found):
            missing.append(f"{len(found) - len(there)} of {len(found)} of {stage}")
    notes = (
        "Minutes are the jobs' own, one after the other, on whatever else the machine did; what "
        "was finished before counts as it was measured then."
    )
    if missing:
        notes += f" Not measured (unfinished): {', '.join(missing)}."
    return [*rows, of_stage("**all**", every)], notes
