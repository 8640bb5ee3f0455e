"""What a finished study has taken: of its runs by run.json (cost), of the other jobs by what Snakemake measured (results/benchmarks/)."""

import json
from pathlib import Path

from scripts.common.plan import CONTROL, Plan, control_sets

HEAD = ["stage", "jobs", "minutes", "CPU hours", "GPU hours", "most memory, GB"]


def benchmark_of(file: Path) -> dict | None:
    """What Snakemake measured of a job's last run; None where there is none."""
    try:
        line = json.loads(file.read_text(encoding="utf-8").strip().splitlines()[-1])
        return {"seconds": float(line["s"]), "cpu": float(line["cpu_time"]), "gpu": 0.0, "memory": float(line["max_rss"] or 0) * 2**20}
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        return None


def run_of(facts: Path, benchmark: Path) -> dict | None:
    """What a run took in all, its killed attempts too; None for one that is not finished. Its memory by its own word, else by Snakemake's."""
    try:
        told = json.loads(facts.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    cost, measured = told.get("cost", {}), benchmark_of(benchmark) or {"memory": 0.0, "cpu": 0.0}
    return {"seconds": told["seconds"], "cpu": cost.get("cpu_seconds", measured["cpu"]), "gpu": cost.get("gpu_seconds", 0.0),
            "memory": max(cost.get("peak_bytes", 0), measured["memory"])}


def jobs_of(plan: Plan, name: str, results: Path, sources: dict, models: dict) -> dict[str, list[dict | None]]:
    """By stage, what each job of a plan took; None for one that is not there."""
    places, runs = results / "benchmarks", [run for run in plan.runs.values() if run.method != CONTROL]
    used = {source for dataset in plan.datasets.values() for source in (dataset.source, sources[dataset.source].get("measured_on", dataset.source))}
    brought = sorted(source for source in used if "local" not in sources[source])
    brought += [f"models/{model}" for model in sorted({run.model for run in runs}) if not {"mlm", "clm"} & set(models[model])]
    return {
        "fetch": [benchmark_of(places / f"fetch/{one}.jsonl") for one in brought],
        "clean": [benchmark_of(places / f"clean/{source}.jsonl") for source in sorted(used)],
        "build": [benchmark_of(places / f"{Path(dataset.folder).relative_to('results')}.jsonl") for dataset in plan.datasets.values()],
        "train": [run_of(results / f"train/{run.study}/{run.name}/run.json", places / f"train/{run.study}/{run.name}.jsonl") for run in runs],
        "controls": [benchmark_of(places / f"train/{controls}.jsonl") for controls in control_sets(plan.runs.values())],
        "evaluate": [benchmark_of(file) for file in sorted((places / f"evaluate/{name}").rglob("*.jsonl"))],
        "publish": [benchmark_of(file) for file in sorted((places / f"publish/{name}").rglob("*.jsonl"))]}


def of_stage(name: str, jobs: list[dict]) -> list[str]:
    """A row of the table."""
    total = {key: sum(job[key] for job in jobs) for key in ("seconds", "cpu", "gpu")}
    memory = max((job["memory"] for job in jobs), default=0) / 1e9
    return [name, f"{len(jobs):,}", f"{total['seconds'] / 60:,.1f}", f"{total['cpu'] / 3600:,.2f}", f"{total['gpu'] / 3600:,.2f}", f"{memory:.2f}"]


def measured(plan: Plan, name: str, results: Path, sources: dict, models: dict) -> tuple[list[str], list[list[str]], str]:
    """The head and the rows of the table of what was measured, and what there is to say of it."""
    jobs = jobs_of(plan, name, results, sources, models)
    there = {stage: [job for job in found if job] for stage, found in jobs.items()}
    every = [job for found in there.values() for job in found]
    rows = [of_stage(stage, found) for stage, found in there.items() if found] + [of_stage("**all**", every)]
    missing = [f"{len(found) - len(there[stage])} of {len(found)} of {stage}" for stage, found in jobs.items() if len(there[stage]) < len(found)]
    notes = "Minutes are the jobs' own, one after the other, on whatever else the machine did; what was finished before counts as it was measured then."
    return HEAD, rows, notes + (f" Not measured, for it is not there: {', '.join(missing)}." if missing else "")
