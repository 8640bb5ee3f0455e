"""What the page says of the runs: their experiment, their folders, what they learnt from, and the
machines that made them.
"""

import os
from functools import cache
from pathlib import Path

import pandas as pd

from scripts.data.manifest import files_in
from scripts.data.runs import facts_of
from scripts.publish.provenance import machine_of, provenance_of


@cache
def jobs_in(study: Path) -> dict[str, Path]:
    """Return the manifest of the job that made each run of a study's folder, by run."""
    manifests = sorted(study.glob("*.manifest.json"))
    return {name.split("/")[0]: manifest for manifest in manifests for name in files_in(manifest)}


def located(file: Path, page: Path) -> dict:
    """Return the facts of a run with the places of its files beside the page: folder, data_folder,
    log, manifest (of the job that made it, in results/). file: its run.json.
    """
    facts, study = facts_of(file), file.parents[1]
    results, job = study.parents[1], jobs_in(study).get(file.parent.name)
    stem = job.name.removesuffix(".manifest.json") if job else ""
    places = {
        "folder": file.parent,
        "data_folder": results / "build" / study.name / facts["source"] / facts["dataset"],
        "log": results / "logs/train" / study.name / f"{stem}.log" if job else None,
    }
    beside = {
        of: os.path.relpath(at, page.parent) if at and at.exists() else ""
        for of, at in places.items()
    }
    return facts | beside | {"manifest": str(job or "")}


def runs_by_experiment(metrics: pd.DataFrame, runs: list[dict]) -> dict[str, list[dict]]:
    """Return the runs of each experiment in the metrics. Runs that no number names come last."""
    named = metrics.reindex(columns=["experiment", "runs"]).dropna().drop_duplicates()
    named = named.assign(runs=named["runs"].str.split(" ")).explode("runs").drop_duplicates()
    known = {run["run"]: run for run in runs}
    found = {
        name: [known[run] for run in of if run in known]
        for name, of in named.groupby("experiment", sort=False)["runs"]
    }
    others = [run for name, run in known.items() if name not in set(named["runs"])]
    return {name: of for name, of in (found | {"others": others}).items() if of}


def runs_shown(metrics: pd.DataFrame, runs: list[dict]) -> dict:
    """Return what the page says of the runs, and of the data that they learnt from."""
    datasets = {
        (fact["source"], fact["dataset"], split): digest
        for fact in runs
        for split, digest in fact["data"].items()
    }
    return {
        "runs": runs,
        "by_experiment": runs_by_experiment(metrics, runs),
        "quantised": {fact["model"]: fact["quantised"] for fact in runs if "quantised" in fact},
        "machine_of": machine_of,
        "datasets": sorted(datasets.items()),
        "made_by": provenance_of(runs),
    }
