"""The default study through a real Slurm, with a training job that is killed on the way.

One run of the workflow serves all tests here. It runs on a copy of the project, like a user's
command, with a smaller study (one corpus, two runs) that takes some minutes. During the run, the larger
model's job is killed as soon as it has a checkpoint.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml
from transformers import AutoModelForMaskedLM

from scripts.data.yaml_files import read_yaml
from tests.files import read_json, write_yaml
from tests.models import fetched
from tests.rows import each_row, texts_of
from tests.workflow.conftest import checkout

BIN = Path(sys.executable).parent
TYPED = "--cores all --profile slurm".split()

# Laid over config.yaml. There are enough epochs to kill a job between its first checkpoint and its
# end.
SMALLER = yaml.safe_load("""
run: [sample_sop, tiny_sop]
seeds: [1]
checkpoint_seconds: 1
models:
  mine: {folder: my/bert, licence: MIT, title: A small BERT}
bootstrap_resamples: 100
experiments:
  sample_sop:
    controls: false
    models: [mine]
    data:
      source: sample_activitynet
      stride: 0
    training: {epochs: 20, early_stopping_patience: 20}
  tiny_sop:
    study: strided_sop
    controls: false
    models: [tiny_bert]
    data:
      source: sample_activitynet
      stride: 0
    training: {epochs: 2}
""")
# Snakemake with the plugin, but it checks the jobs every other second. The plugin waits ten seconds
# longer after each check in which no job had ended, which is most of the time here.
LOOKING = """from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
RemoteExecutor.next_seconds_between_status_checks = property(
    lambda executor: 2, lambda executor, seconds: None
)
main()"""
# Two more runs that share a GPU.
SHARED = yaml.safe_load("""
{name: shared, run: [sample_sop], seeds: [2, 3], runs_per_gpu: 2, experiments: {sample_sop: {training: {epochs: 1}}}}
""")


def environment() -> dict[str, str]:
    """Return the environment of a user who did not activate ours, without a mirror."""
    path = [place for place in os.environ["PATH"].split(os.pathsep) if place and Path(place) != BIN]
    return {
        key: value
        for key, value in os.environ.items()
        if key not in ("TIMESTRIDE_MIRROR", "PYTHONPATH")
    } | {"PATH": os.pathsep.join(path)}


def call(copy: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run `snakemake --cores all --profile slurm …` in the copy."""
    return subprocess.run(
        [BIN / "snakemake", *TYPED, *arguments],
        cwd=copy,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """Copy the project like a fresh checkout, without results."""
    place = checkout(tmp_path_factory.mktemp("slurm") / "timestride").folder
    fetched("tiny_bert", place / "my/bert", AutoModelForMaskedLM)
    write_yaml(place / "smaller.yaml", SMALLER)
    write_yaml(place / "shared.yaml", SHARED)
    return place


def kill_one(cluster, copy: Path, workflow: subprocess.Popen, runs: int = 1) -> str:
    """Once `runs` runs of `mine` have a checkpoint, kill all processes of the first job of them at
    once; return the name of its run.
    """
    while workflow.poll() is None:
        saved = copy.glob("results/train/*/*-mine-*/work/checkpoint.pt")
        begun = [file.parents[1].name for file in saved]
        for job in cluster.jobs() if len(begun) >= runs else []:
            here = [run for run in begun if run in job["Comment"]]
            if job["JobState"] == "RUNNING" and job["WorkDir"] == str(copy) and here:
                subprocess.run(["scancel", "--signal=KILL", job["JobId"]], check=True)
                return here[0]
        time.sleep(0.2)
    return ""


def run_and_kill(cluster, copy: Path, *presets: str, options: tuple = (), runs: int = 1) -> dict:
    """Run presets to the end and kill a training job on the way; return Snakemake's output, Slurm's
    jobs of this command, and the killed run.
    """
    said, before = copy.parent / "said.txt", {job["JobId"] for job in cluster.jobs()}
    typed = [
        sys.executable,
        "-c",
        LOOKING,
        *TYPED,
        *options,
        "--configfile",
        "config.yaml",
        *presets,
    ]
    with said.open("w") as output:
        workflow = subprocess.Popen(
            typed, cwd=copy, env=environment(), stdout=output, stderr=output
        )
        try:
            killed = kill_one(cluster, copy, workflow, runs)
            workflow.wait(timeout=900)
        finally:
            if workflow.poll() is None:
                workflow.terminate()  # Snakemake cancels its jobs
                workflow.wait(timeout=60)
    assert workflow.returncode == 0, said.read_text()[-6000:]
    jobs = [
        job for job in cluster.jobs() if job["WorkDir"] == str(copy) and job["JobId"] not in before
    ]
    return {"copy": copy, "said": said.read_text(), "jobs": jobs, "killed": killed}


@pytest.fixture(scope="module")
def study(cluster, copy):
    """Return the finished study: its folder, Snakemake's output, Slurm's jobs, and the run whose
    job was killed.
    """
    return run_and_kill(cluster, copy, "smaller.yaml")


def megabytes(written: str) -> float:
    """Convert Slurm's 16000M or 15.62G to MB."""
    number, unit = re.fullmatch(r"([\d.]+)([MGT]?)", written).groups()
    return float(number) * {"": 1, "M": 1, "G": 1024, "T": 1024**2}[unit]


def minutes(written: str) -> int:
    """Convert Slurm's [days-]hours:minutes:seconds to minutes."""
    days, _, clock = written.rpartition("-")
    hours, minute, _ = map(int, clock.split(":"))
    return int(days or 0) * 1440 + hours * 60 + minute


def test_profile_as_typed_selects_the_paper_preset(copy):
    said = call(copy, "--dry-run")
    assert said.returncode == 0, said.stdout[-4000:]
    paper = read_yaml(copy / "presets" / "paper.yaml")
    model = paper["experiments"][paper["run"][0]]["models"][0]
    assert f"Fetching the model {model} " in said.stdout
    assert "Fetching the corpus activitynet " in said.stdout
    assert "sample_activitynet" not in said.stdout


def test_another_study_on_the_command_line_goes_before_the_profile(copy):
    said = call(copy, "--dry-run", "--configfile", "config.yaml")
    assert said.returncode == 0, said.stdout[-4000:]
    assert "Fetching the corpus sample_activitynet " in said.stdout
    assert "Fetching the corpus activitynet " not in said.stdout


def test_the_study_runs_through_slurm_to_the_page(study):
    assert (study["copy"] / "results/publish/default/index.html").stat().st_size > 1000
    rules = {job["Comment"] for job in study["jobs"]}
    for stage in (
        "rule_clean_corpus",
        "rule_build_dataset",
        "rule_train_run",
        "rule_evaluate_experiment",
    ):
        assert any(rule.startswith(stage) for rule in rules), (stage, rules)
    # Rules that need the network or take a second run on Snakemake's machine.
    assert not any(rule.startswith(("rule_fetch", "rule_publish")) for rule in rules), rules


def test_training_jobs_ask_for_their_gpu_and_cores(study):
    training = [job for job in study["jobs"] if "rule_train_run" in job["Comment"]]
    assert len(training) == 3  # one run twice, and the tiny one
    for job in training:
        assert "gpu:1" in job["TresPerJob"] and job["CPUs/Task"] == "4" and job["NumNodes"] == "1"
    assert not any("TresPerJob" in job for job in study["jobs"] if job not in training)


def test_a_job_that_dies_is_tried_again_with_more_and_resumes(study):
    assert study["killed"], "no training job was caught between its first checkpoint and its end"
    first, second = [job for job in study["jobs"] if study["killed"] in job["Comment"]]
    # scancel sent the KILL
    assert (first["JobState"], second["JobState"]) == ("CANCELLED", "COMPLETED")
    assert megabytes(second["MinMemoryNode"]) == 2 * megabytes(first["MinMemoryNode"])
    assert minutes(second["TimeLimit"]) == 2 * minutes(first["TimeLimit"])
    [log] = study["copy"].glob(f"results/logs/train/*/{study['killed']}.log")
    assert "resumes in epoch" in log.read_text()
    others = [job for job in study["jobs"] if study["killed"] not in job["Comment"]]
    assert {job["JobState"] for job in others} == {"COMPLETED"}


def test_a_second_call_submits_nothing(study, cluster):
    before = len(cluster.jobs())
    said = call(study["copy"], "--configfile", "config.yaml", "smaller.yaml")
    assert said.returncode == 0 and "Nothing to be done" in said.stdout, said.stdout[-4000:]
    assert len(cluster.jobs()) == before


def test_a_tiny_model_has_the_same_numbers_through_slurm_and_without(study):
    """Jobs have four cores there; a tiny model uses one wherever it runs."""
    [facts] = study["copy"].glob("results/train/*/*tiny_bert-seed-1-*/run.json")

    def scores() -> pd.DataFrame:
        assert read_json(facts)["hardware"]["threads"] == 1
        return pd.read_parquet(facts.with_name("predictions.parquet"))

    through_slurm = scores()
    forced = "--cores 2 train --forcerun train_run --config run=[tiny_sop]".split()
    done = subprocess.run(
        [BIN / "snakemake", *forced, "--configfile", "config.yaml", "smaller.yaml"],
        cwd=study["copy"],
        env=environment(),
        text=True,
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pd.testing.assert_frame_equal(scores(), through_slurm, check_exact=True)


def test_runs_share_a_gpu_in_one_job(copy, cluster):
    shared = run_and_kill(cluster, copy, "smaller.yaml", "shared.yaml", options=("train",), runs=9)
    [job] = [job for job in shared["jobs"] if "shared_gpu" in job["Comment"]]
    assert job["JobState"] == "COMPLETED" and job["TresPerNode"].endswith("gpu:1")
    assert "TresPerJob" not in job
    assert job["NumNodes"] == "1"
    assert job["CPUs/Task"] == "8"
    assert megabytes(job["MinMemoryNode"]) == 2 * 16000 and minutes(job["TimeLimit"]) == 240
    folders = [one for one in copy.glob("results/train/*/*seed-[23]-*") if one.is_dir()]
    assert len(folders) == 2
    for folder in folders:
        assert read_json(folder / "run.json")["hardware"]["threads"] == 4


@each_row(
    "asked, reason",
    texts_of("""
        slurm_partition=nowhere | invalid partition specified: nowhere
        gres=nothing:1          | Invalid generic resource (gres) specification
    """),
)
def test_a_job_that_slurm_refuses_is_sent_once_with_its_reason(cluster, copy, asked, reason):
    """No account is refused here: this Slurm has no accounting."""
    typed = (
        "--configfile config.yaml smaller.yaml --forcerun clean_corpus --default-resources".split()
    )
    said = call(copy, "results/clean/sample_activitynet/manifest.json", *typed, asked)
    assert said.returncode == 1 and said.stdout.count("Failed: ") == 1, said.stdout[-4000:]
    assert reason in said.stdout and "was not sent again" in said.stdout, said.stdout[-4000:]
    assert "Tried again" not in said.stdout and "    log: " not in said.stdout
