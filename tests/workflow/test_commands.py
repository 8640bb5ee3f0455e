"""The command that `snakemake -p` prints is the job: pasted into a shell it makes the same content,
and nothing runs again afterwards. Values of a configuration reach the program as they are.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.data.manifest import files_in
from tests.conftest import call
from tests.content_digests import digest_of
from tests.forking import interpreter, snakemake
from tests.files import write_yaml
from tests.workflow.conftest import Study, checkout

JOB = re.compile(r"^(?P<message>.+?)   \((?P<rule>\w+); .*\)$")
HOSTILE = [
    'it\'s "quoted"',
    "$(touch HERE) `touch HERE` ; touch HERE & # > HERE",
    "two\nlines, and a tab\t",
    "-leading dash",
    "{wildcards.name} {{braces}} %s \\n",
    "ä 漢 \u2028",
    "x" * 10_000,
    "",
]
WORKFLOW = """
import json, sys
sys.path.insert(0, {root!r})
from scripts.running.start import option, uncompared
VALUES = json.load(open("values.json"))

rule all:
    default_target: True
    output: "given.json"
    params:
        text=lambda w: "\\n".join(VALUES),
        listed=lambda w: VALUES,
        one=lambda w: option("--one", VALUES[3]),
        mapping=lambda w: option("--mapping", {{"key": VALUES[0]}}),
        nothing=lambda w: option("--nothing", None),
        place=uncompared(lambda w: VALUES[1]),
    shell:
        "python given.py {{params.one:q}} {{params.mapping:q}} {{params.nothing:q}} --place={{params.place:q}}"
        " {{params.listed:q}} <<< {{params.text:q}}"
"""
GIVEN = """
import json, sys
json.dump([sys.argv[1:], sys.stdin.read()], open("given.json", "w"))
"""


def commands(study: Study, *arguments) -> list[tuple[str, str]]:
    """Return the rule and the shell command of each job of a dry run of all jobs, in order."""
    said = study.snakemake("-n", "-p", "--forceall", *arguments).checked().stdout
    found: list[tuple[str, list[str]]] = []
    for line in said.splitlines():
        if job := JOB.match(line):
            found.append((job["rule"], []))
        elif found:
            found[-1][1].append(line)
    return [(rule, "\n".join(lines).partition("\nJob stats:")[0]) for rule, lines in found]


def paste(command: str, folder: Path) -> subprocess.CompletedProcess:
    """Give a command to a shell, as one does who copies it from the terminal."""
    path = f"{Path(interpreter()).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(folder)}
    return call("bash", input=command, cwd=folder, env=environment)


def outputs_of(study: Study, command: str) -> list[Path]:
    """Return the files that a command makes: those of its manifest, of its metrics or page."""
    for option in ("--manifest", "--output"):
        if named := re.search(rf"{option} ('[^']+'|\S+)", command):
            output = study / named[1].strip("'")
            if output.name.endswith("manifest.json"):
                return [output, *(output.parent / name for name in files_in(output))]
            return [output] if output.is_file() else [file for file in output.rglob("*.*")]
    raise AssertionError(command[:200])


def content(files: list[Path]) -> dict[str, str]:
    """Return the content of files. Left out are times, hashes of files that hold times, and the
    files that hold only such facts.
    """
    told = re.compile(r"(manifest|run|findings)\.json$")
    found = {}
    for file in files:
        if file.suffix == ".html":
            found[str(file)] = re.sub(r"[0-9a-f]{12,}|[\d.,]+", "", file.read_text())
        elif file.suffix == ".json" and not told.search(file.name):
            found[str(file)] = re.sub(r"\d{10,}", "", file.read_text())
        elif not told.search(file.name):
            found[str(file)] = digest_of(file)
    return found


def trained_elsewhere(study: Study, command: str, before: dict[str, str]) -> None:
    """Paste a training job with another folder: it trains from the beginning, to the same
    numbers.
    """
    named = re.sub(r"--(folder|output) results/train/", r"--\1 elsewhere/", command)
    done = paste(named, study.folder)
    assert done.returncode == 0, done.stderr[-2000:]
    after = content(list((study / "elsewhere").rglob("*/*.parquet")))
    trained = {name.replace("/elsewhere/", "/results/train/"): one for name, one in after.items()}
    assert trained.items() >= before.items() and before


def check_command(study: Study, rule: str, command: str) -> None:
    """Remove the outputs of a job, and paste its command: it makes the same content."""
    files = outputs_of(study, command)
    before = content(files)
    assert before or rule == "train_run", rule
    if rule == "train_run":
        trained_elsewhere(study, command, before)
    for file in files:
        file.unlink()
    # a dry run of all jobs forces them, and a run that is trained again has other times
    done = paste(command.replace(" --again ", " "), study.folder)
    assert done.returncode == 0, f"{rule}: {done.stderr[-2000:]}"
    assert content(files) == before, rule


def check_pasted(study: Study, *arguments, only: set[str] | None = None) -> set[str]:
    """Paste the command of one job of each rule, or of the rules `only`, after its outputs were
    removed. Return the rules.
    """
    # the last job of a rule: a figure, a model of a stage, a whole table
    jobs = dict(commands(study, *arguments))
    jobs = {rule: job for rule, job in jobs.items() if rule in (only or jobs)}
    for rule, command in jobs.items():
        check_command(study, rule, command)
    said = study.snakemake("-n", *arguments).checked()
    assert "Nothing to be done" in said.stdout + said.stderr, said.stdout + said.stderr
    return set(jobs)


@pytest.mark.slow
@pytest.mark.models
def test_a_printed_command_makes_what_the_job_made(study):
    rules = check_pasted(study)
    assert rules >= set(
        "fetch_source fetch_model clean_corpus build_dataset train_run train_no_model "
        "evaluate_experiment evaluate_study evaluate_metrics publish_strided_sop "
        "publish_leaderboard publish_page".split()
    )


def test_hostile_values_reach_the_program_as_they_are(tmp_path):
    root = str(Path(__file__).parents[2])
    (tmp_path / "Snakefile").write_text(WORKFLOW.format(root=root))
    (tmp_path / "given.py").write_text(GIVEN)
    (tmp_path / "values.json").write_text(json.dumps(HOSTILE))
    snakemake("--cores", "1", cwd=tmp_path).checked()
    arguments, text = json.loads((tmp_path / "given.json").read_text())
    # `:q` leaves out an empty value: a rule writes --option={params.x:q} where one is possible
    assert arguments == [
        f"--one={HOSTILE[3]}",
        "--mapping=" + json.dumps({"key": HOSTILE[0]}, separators=(",", ":")),
        f"--place={HOSTILE[1]}",
        *HOSTILE[:-1],
    ]
    assert text == "\n".join(HOSTILE) + "\n"
    assert not list(tmp_path.rglob("HERE*"))
    again = snakemake("-n", cwd=tmp_path).checked()
    assert "Nothing to be done" in again.stdout + again.stderr


def test_hundreds_of_runs_pass_through_the_shell(tmp_path):
    """The list of a job's runs is no argument: the system allows 128 KiB for one argument."""
    study = checkout(tmp_path / "study")
    large = {
        "run": ["sample_sop"],
        "seeds": list(range(75)),
        "experiments": {
            "sample_sop": {
                "controls": False,
                "data": {"source": "sample_activitynet", "stride": [0, 1, 2, 3]},
            }
        },
    }
    write_yaml(study / "large.yaml", large)
    found = dict(commands(study, "--configfile", "large.yaml"))
    assert len(found["train_run"]) > 128 * 1024
    stub = tmp_path / "bin/python"
    stub.parent.mkdir()
    stub.write_text("#!/bin/bash\nwc -l > lines; printf '%s\\n' \"$@\" > arguments\n")
    stub.chmod(0o755)
    for rule in ("train_run", "evaluate_experiment"):
        environment = os.environ | {"PATH": f"{stub.parent}:{os.environ['PATH']}"}
        subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=found[rule],
            cwd=tmp_path,
            env=environment,
            text=True,
            check=True,
        )
        assert int((tmp_path / "lines").read_text()) == 300
        assert len((tmp_path / "arguments").read_text()) < 10_000
    shutil.rmtree(study.folder)
