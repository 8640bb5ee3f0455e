"""What a machine, a shell or a working folder may do to a command: each ends well, or with one line."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import call
from tests.workflow.conftest import Study, checkout

TARGET = "results/clean/sample_activitynet/manifest.json"
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Study:
    return checkout(tmp_path_factory.mktemp("project") / "study")


@pytest.mark.slow
def test_working_folders_and_streams(project, tmp_path):
    """Modules of a working folder are not taken; a closed standard output and ASCII are no fault."""
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/__init__", "yaml", "random"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    clean = f"{BIN}/snakemake -s {project.folder}/Snakefile --cores 1 {TARGET}"
    for command in (
        clean,
        f"{clean} >&-",
        f"PYTHONIOENCODING=ascii {clean}",
        f"PATH={BIN}:$PATH {project.folder}/timestride run {TARGET}",
    ):
        done = call("bash", "-c", command, cwd=tmp_path)
        assert done.returncode == 0 and (tmp_path / TARGET).exists(), done.stdout + done.stderr
        shutil.rmtree(tmp_path / "results")


def test_a_path_that_snakemake_would_read_as_a_variable(project, tmp_path):
    (tmp_path / "a {x}").mkdir()
    typed = (BIN / "snakemake", "-s", project / "Snakefile", "-n", TARGET)
    done = call(*typed, cwd=tmp_path / "a {x}")
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "reads { and } in the name of a folder" in said, said


def test_the_command_with_a_python_that_lacks_the_packages(project, tmp_path):
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 2\n")
    (tmp_path / "python3").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "VIRTUAL_ENV": "x"}
    done = call(project / "timestride", "run", env=environment)
    assert done.returncode == 1 and done.stderr.startswith("error: python3 is older than 3.11, or ")


def test_a_file_that_is_missing_is_said_by_a_dry_run_if_an_experiment_uses_it(project):
    local = {"local": "no-such.csv", "cleaner": "event_templates"}
    project.change(
        "resources/sources.yaml",
        lambda sources: sources.update(mine=sources["event_templates"] | local),
    )
    mine = {"folder": "models/mine", "licence": "MIT"}
    project.change("resources/models.yaml", lambda models: models.update(mine=mine))
    project.snakemake("-n").checked()
    gone = {"vocabulary": "resources/gone.txt"}
    project.change("resources/models.yaml", lambda models: models["tiny_bert"].update(gone))
    project.snakemake("-n").refused("resources/gone.txt was not found")
