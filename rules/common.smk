"""The checked configuration, and what all rules share. These files go on:

paths.smk              which files stand where
inputs.smk             which of them a rule reads, where that depends on what the study asks for
published.smk          which figures and tables the study has
arguments/<stage>.smk  what the programs of a stage are told beside their files
start.smk              what is said before anything runs

What decides a result is a parameter that is a text, so that a change shows in `snakemake -n`. What goes to a program by file
(scripts/running/job_files.py) is named by functions that also take `output`: Snakemake compares no such parameter, so a path of
this machine reruns nothing.
"""

import json
import os
import re
import shlex
import shutil
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import update_config

# The project's own folder, wherever the study is made: results go to the working directory.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve().parent
IS_MODULE = Path(workflow.basedir).resolve() != ROOT

# An unactivated environment and Slurm jobs find the same interpreter and the same programs.
sys.path.insert(0, str(ROOT))
os.environ.update({
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
})

from scripts.plan.comparable import altered, objectives, transfers
from scripts.plan.configuration import resolve
from scripts.running.devices import visible_gpus
from scripts.data.files import Hashes, sha256_of
from scripts.running.folder_lock import lock_by_owner
from scripts.running.identity import identity, remember_in, write_memory
from scripts.running.job_files import PLACE, argument_file, csv_rows, fields_of, hand_over, has_options, presence_of, rows_of, write_waiting
from scripts.data.manifest import lost_files
from scripts.plan.model_facts import facts_reader, kept_facts
from scripts.plan.models import MADE_MODEL, STAGES, stage_of
from scripts.plan.user_entries import from_command_line, own_entries, probed_models
from scripts.data.plain_json import as_json
from scripts.plan.plan import control_sets
from scripts.running.program import UserError
from scripts.plan.prompts import prompts_of
from scripts.plan.schemas import check, schema, sound, sound_figures
from scripts.plan.sources import local_hashes
from scripts.studies.strided_sop.strides import labels_of
from scripts.running.summary import summary
from scripts.running.terminal import use_terminal
from scripts.data.yaml_files import read_yaml

lock_by_owner()
remember_in(PLACE / "identities")

# What `--configfile`, `--config` or the `config:` of a module gives is laid over config.yaml of the project's folder, wherever
# the study is made (`configfile:` would look in the working directory, and not at all in a module).
DEFAULTS = json.loads(json.dumps(read_yaml(ROOT / "config.yaml")))  # a copy: anchors of YAML are one object in several places
update_config(DEFAULTS, config)
config.update(DEFAULTS)


def learnt_elsewhere(dataset):
    """The corpus that a dataset is learnt from instead of its own source, in a list; none where there is none."""
    return list(filter(None, [json.loads(dataset.options).get("learn_from")]))


def sources_of(dataset):
    """The sources that a dataset needs: its own, what that is measured on, another one that is learnt from, and the one of its videos."""
    videos = SOURCES[dataset.source].get("videos_of")
    return [dataset.source, MEASURED_ON[dataset.source], *learnt_elsewhere(dataset), *([videos] if videos else [])]


def place_of(kind, name):
    """Where an entry (kind: models, sources) stands, for messages."""
    if name in config[kind]:
        return f"`{kind}:` of the configuration ({name})"
    return f"`model:` of the configuration ({name})" if name in OWN[kind] else f"{ROOT}/resources/{kind}.yaml ({name})"


try:
    for file in [ROOT / "config.yaml", *(ROOT / "resources").glob("*.yaml"), *map(Path, workflow.config_settings.configfiles or [])]:
        read_yaml(file)  # refuses a key that stands twice
    SOURCES, MODELS, STUDIES, FIGURES = (read_yaml(ROOT / f"resources/{name}.yaml") for name in ("sources", "models", "studies", "figures"))
    config.update(check(from_command_line(config), schema("config")))
    # Entries of the configuration are laid over those of resources/; OWN names them, and those that stand for a model that is probed.
    MIRROR = config["mirror"] or os.environ.get("TIMESTRIDE_MIRROR") or ""
    OWN = {kind: set(config[kind]) for kind in ("sources", "models")}
    SOURCES, NOTES = own_entries("sources", config, SOURCES, ROOT, Path.cwd())
    MODELS, notes = own_entries("models", config, MODELS, ROOT, Path.cwd())
    PROBED, probed, found = probed_models(config["model"], MODELS, ROOT, Path.cwd())
    OWN["models"] |= set(probed) - set(MODELS)
    MODELS, NOTES = probed, [*NOTES, *notes, *found]
    PLAN = resolve(config, SOURCES, MODELS, STUDIES, PROBED, facts_reader(ROOT, MIRROR, lambda name: place_of("models", name)))
    # What the study does not use may be broken: it is left out.
    SOURCES, MODELS, STUDIES = (sound(kind, entries) for kind, entries in
                                (("sources", SOURCES), ("models", MODELS), ("studies", STUDIES)))
    FIGURES = sound_figures(FIGURES, {run.study for run in PLAN.runs.values()})
    MEASURED_ON = {name: entry.get("measured_on", name) for name, entry in SOURCES.items()}
    USED_SOURCES = sorted({source for dataset in PLAN.datasets.values() for source in sources_of(dataset)})
    HASHES = Hashes(Path("results/fetch/.hashes.json"))
    LOCAL_HASHES = local_hashes(SOURCES, USED_SOURCES, ROOT, HASHES, OWN["sources"])
    VISIBLE_GPUS = [] if config["device"] == "cpu" else visible_gpus()
except UserError as error:
    raise WorkflowError(str(error)) from None

NAME = config["name"]
USED_MODELS = sorted({run.model for run in PLAN.runs.values()})
CONTROL_SETS = control_sets(PLAN.runs.values())
CONTROLS = {name for names in CONTROL_SETS.values() for name in names}
# Runs whose weights others begin with: those of stages, which make a model and measure nothing, and those that are measured as well.
MAKERS = {run.name for run in PLAN.runs.values() if run.method in STAGES}
STARTS = {run.begins_with for run in PLAN.runs.values() if run.begins_with} - MAKERS
TRANSFERS, OBJECTIVES, ALTERED = transfers(PLAN), objectives(PLAN), altered(PLAN, config["experiments"])
MEASURED = {run for runs in PLAN.experiments.values() for run in runs}
USED_STUDIES = sorted({run.study for run in PLAN.runs.values()})

for name in [*USED_SOURCES, *USED_MODELS]:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise WorkflowError(f"resources/: {name!r} is no name for a source or model; use letters, digits, _, - and .")

# A machine with k GPUs trains k runs at a time (times runs_per_gpu), unless the command line or the profile says otherwise.
# Inside a Slurm job the number is what Slurm allotted.
if "gpu" not in workflow.global_resources:
    workflow.register_resource(
        "gpu", int(os.environ.get("SLURM_GPUS_ON_NODE", 0)) if workflow.remote_exec else len(VISIBLE_GPUS) * config["runs_per_gpu"]
    )
HAS_GPUS = workflow.global_resources["gpu"].value > 0 and config["device"] != "cpu"
GPUS_PER_RUN = config["devices_per_run"] if HAS_GPUS else 0
# On a cluster, runs that share a GPU are one job: a group of Snakemake's (without a cluster there are none). It adds up what its
# runs ask for, which is right for memory and cores and wrong for a GPU and for the node, so the GPU is asked for by a text (gres),
# which is the same for all and stays as it is. How many GPUs there may be at once is counted by a resource of its own then.
SHARED_GPU = "shared_gpu" if GPUS_PER_RUN and config["runs_per_gpu"] > 1 else None
if SHARED_GPU and not workflow.remote_exec:
    workflow.register_resource("gpu_runs", workflow.global_resources["gpu"].value * config["runs_per_gpu"])


def gpu_group(wildcards):
    """The group of a run that shares a GPU. How many are in one is said here, as often as a job is made: what stands in the
    Snakefile is replaced when it has been read, and the plugin does not hand --group-components on to the job on the node."""
    workflow.group_settings.group_components = {SHARED_GPU: config["runs_per_gpu"]}
    return SHARED_GPU


def gpus_alone(wildcards):
    """How many GPUs a run asks for by itself: none where its group does. (Which executor sends it is known only when it is asked.)"""
    return 0 if SHARED_GPU and (workflow.remote_exec or not workflow.local_exec) else GPUS_PER_RUN


GPU_REQUEST = {"gpu": gpus_alone, **({"gres": f"gpu:{GPUS_PER_RUN}", "gpu_runs": GPUS_PER_RUN} if SHARED_GPU else {"nodes": 1})}
# Without a GPU the runs share the cores.
THREADS_PER_RUN = max((workflow.cores or 1) // (len(PLAN.runs) - len(CONTROLS) or 1), 1 if HAS_GPUS else config["devices_per_run"])


def one_of(names):
    """A wildcard's constraint: one of these names, or nothing where there is none."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


wildcard_constraints:
    source=one_of(SOURCES),
    model=one_of(MODELS),
    study=one_of(STUDIES),
    run=one_of(PLAN.runs),
    experiment=one_of(PLAN.experiments),


def made_by(*entries):
    """The parameters of a rule's program, the first of these entries (a name, or a function of wildcards): the identity of the code,
    which decides, and the names of modules, which do not. A shell line holds no such name, so a moved module reruns nothing."""
    named = [entry if callable(entry) else lambda wildcards, entry=entry: entry for entry in entries]
    return {"code": lambda wildcards: identity(*(entry(wildcards) for entry in named)),
            "program": lambda wildcards, output: named[0](wildcards),
            "manifest": lambda wildcards, output: "scripts.data.manifest"}


def is_main_process():
    """Whether this is the process that was called, not one that Slurm or it started for a job."""
    return workflow.is_main_process and not workflow.remote_exec


def keep_records_with_results():
    """Let Snakemake's records stand in results/, so that results taken elsewhere are known there (README).

    Snakemake looks for them in .snakemake/metadata, which becomes a link: when jobs start, and wherever there are records.
    """
    records, place = Path("results/.records"), Path(".snakemake/metadata")
    Path(".snakemake/incomplete").mkdir(parents=True, exist_ok=True)  # without it Snakemake rewrites the records
    records.mkdir(parents=True, exist_ok=True)
    if place.is_dir() and not place.is_symlink() and not any(records.iterdir()):
        place.rename(records)
    if not place.exists():
        place.symlink_to("../results/.records")


def begin():
    """What is written on the disk when jobs start. A dry run writes nothing."""
    write_waiting()
    write_memory(PLACE / "identities")
    HASHES.write()
    if not IS_MODULE:
        keep_records_with_results()


if IS_MODULE or not is_main_process():
    begin()  # the workflow that starts jobs is another one
elif Path("results/.records").is_dir():
    keep_records_with_results()
if is_main_process() and not IS_MODULE and use_terminal(logger, workflow.output_settings):
    os.environ.update(TIMESTRIDE_LOG_ONLY="1")  # the programs say on the terminal what Snakemake does not: warnings
if is_main_process():
    for note in NOTES:
        logger.info(note)
BEGUN = time.time()
