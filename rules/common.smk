"""The checked configuration, and what the rules share. No rule stands here."""

import json
import os
import shlex
import sys
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)

# An unactivated environment and Slurm jobs find the same interpreter and the same programs.
sys.path.insert(0, str(ROOT))
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))

from scripts.common.configuration import as_json, check, resolve
from scripts.common.devices import visible_gpus
from scripts.common.files import sha256_of
from scripts.common.fingerprint import fingerprint
from scripts.common.folder_lock import lock_by_owner
from scripts.common.models import MADE_MODEL, check_model, model_files
from scripts.common.program import UserError

lock_by_owner()


def load(path):
    """A YAML resource of the project."""
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


SOURCES = load("resources/sources.yaml")
MODELS = load("resources/models.yaml")
STUDIES = load("resources/studies.yaml")
FIGURES = load("resources/figures.yaml")

try:
    check(config, load("resources/schemas/config.schema.yaml"))
    for name, entry in MODELS.items():
        check_model(name, entry)
    PLAN = resolve(config, SOURCES, MODELS, STUDIES)
    VISIBLE_GPUS = [] if config["device"] == "cpu" else visible_gpus()
except UserError as error:
    raise WorkflowError(str(error)) from None

MIRROR = config.get("mirror") or os.environ.get("TIMESTRIDE_MIRROR") or ""
MEASURED_ON = {name: entry.get("measured_on", name) for name, entry in SOURCES.items()}
USED_SOURCES = sorted({source for dataset in PLAN.datasets.values() for source in (dataset.source, MEASURED_ON[dataset.source])})
USED_MODELS = sorted({run.model for run in PLAN.runs.values()})
USED_STUDIES = sorted({run.study for run in PLAN.runs.values()})

# A machine with k GPUs trains k runs at a time, unless the command line or the profile says otherwise. Inside a Slurm
# job the number is what Slurm allotted.
if "gpu" not in workflow.global_resources:
    workflow.register_resource(
        "gpu", int(os.environ.get("SLURM_GPUS_ON_NODE", 0)) if workflow.remote_exec else len(VISIBLE_GPUS)
    )
HAS_GPUS = workflow.global_resources["gpu"].value > 0 and config["device"] != "cpu"
GPUS_PER_RUN = config["devices_per_run"] if HAS_GPUS else 0
# Without a GPU the runs share the cores.
THREADS_PER_RUN = max((workflow.cores or 1) // len(PLAN.runs), 1 if HAS_GPUS else config["devices_per_run"])


wildcard_constraints:
    study="|".join(STUDIES),
    run="|".join(PLAN.runs),
    experiment="|".join(PLAN.experiments),


def splits(source):
    """The split of a source to learn from, then those to measure on (of the source that it is measured on)."""
    return [SOURCES[source]["train"], *SOURCES[MEASURED_ON[source]]["evaluate"]]


def cleaned_splits(source):
    """Every split that a source's cleaner writes."""
    return SOURCES[source].get("splits") or splits(source)


def paradigm_of(run):
    """The module of scripts/train/ that a run learns and scores by."""
    paradigm = STUDIES[run.study]["methods"][run.method].get("paradigm", "classify")
    return "esim" if paradigm == "classify" and "esim" in MODELS[run.model] else paradigm


def method_of(run):
    """What the training loop must know of a run's study and method, as JSON."""
    study = STUDIES[run.study]
    known = {key: study.get(key) for key in ("columns", "labels", "merged_labels", "held_out", "peak")}
    return as_json(known | {"makes_model": False} | study["methods"][run.method] | {"paradigm": paradigm_of(run)})


def fetched_hashes(source):
    """What a source's files must hash to, as `{file: sha256}`; a sample's recipe for a sample."""
    entry = SOURCES[source]
    if "sample" in entry:
        return {"sample": entry["sample"]}
    if "local" in entry:
        return {Path(entry["local"]).name: sha256_of(ROOT / entry["local"])}
    return {
        file: fact["sha256"]
        for download in entry["downloads"]
        for file, fact in (download.get("members") or {download.get("file"): download}).items()
    }


def fetched_files(source):
    """The files of a source: under results/fetch/<source>/, or where a local one is."""
    if "local" in SOURCES[source]:
        return [SOURCES[source]["local"]]
    names = SOURCES[source]["files"] if "sample" in SOURCES[source] else fetched_hashes(source)
    return [f"results/fetch/{source}/{Path(name).name}" for name in names]


def cleaned_file(source, split):
    """The file that stands for one cleaned split: the table, or the manifest of its shards."""
    if SOURCES[source].get("sharded"):
        return f"results/clean/{source}/{split}/manifest.json"
    return f"results/clean/{source}/{split}.parquet"


def model_folder(model):
    """Where a model's files are: fetched, or in the run that made it."""
    if "mlm" in MODELS[model]:
        run = PLAN.runs[PLAN.made[model]]
        return f"results/train/{run.study}/{run.name}/model"
    return f"results/fetch/models/{model}"


def model_paths(model):
    """The files of a model."""
    return [f"{model_folder(model)}/{name}" for name in model_files(MODELS[model])]


def run_outputs(run):
    """What a finished run leaves under results/train/: predictions, or the model that it made."""
    folder = f"results/train/{PLAN.runs[run].study}/{run}"
    made = MADE_MODEL if run in PLAN.made.values() else ["predictions.parquet"]
    return [f"{folder}/{name}" for name in (*made, "history.parquet", "run.json")]


def dataset_splits(dataset):
    """The Parquet files of a dataset, one a split."""
    names = splits(dataset.source)  # the list is made anew by each call
    if held_out := STUDIES[dataset.study].get("held_out"):
        names.insert(1, held_out)
    return [f"{dataset.folder}/{split}.parquet" for split in names]


def read_by_evaluation(experiment):
    """The datasets that an experiment's evaluation reads beside its runs: none, unless its study says so."""
    runs = [PLAN.runs[run] for run in PLAN.experiments[experiment]]
    if "datasets" not in STUDIES[runs[0].study]["evaluation_reads"]:
        return []
    return sorted({file for run in runs for file in dataset_splits(run.dataset)})


def is_made(item):
    """Whether a figure or table of resources/figures.yaml is made: a run of its study has the options that it needs."""
    needs = item.get("needs", {}).items()
    return any(run.study == item["study"] and needs <= json.loads(run.dataset.options).items() for run in PLAN.runs.values())
