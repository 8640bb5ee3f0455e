"""What a stage takes from another is as its rule left it, or the program that reads it refuses it.

Each program is given again as Snakemake gave it, after one file that it reads was damaged. The file
keeps its time, and one that is flipped its size, so nothing else could notice.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.models]
BUILT = "results/build/strided_sop/mini/stride-0"
RUN = "results/train/strided_sop/mini-stride-0-tiny_bert-*"
CONTROL = "results/train/strided_sop/mini-stride-0-bag_of_words*"
# By kind of file: one of it, one of the same kind, and a program that reads the first.
FILES = {
    "fetched": ("results/fetch/mini/val_1.json", "results/fetch/mini/train.json", "clean"),
    "cleaned": ("results/clean/mini/val_1.parquet", "results/clean/mini/train.parquet", "studies"),
    "built": (f"{BUILT}/val_1.parquet", f"{BUILT}/train.parquet", "running.several"),
    "model": (
        "results/fetch/models/tiny_bert/tokenizer.json",
        "results/fetch/models/tiny_bert/config.json",
        "running.several",
    ),
    **{
        f"{name} of {whose}": (f"{run}/{name}", f"{run.replace('0', '1')}/{name}", "studies")
        for whose, run in {"a run": RUN, "a control": CONTROL}.items()
        for name in ("predictions.parquet", "run.json")
    },
    "history": (f"{RUN}/history.parquet", f"{RUN.replace('0', '1')}/history.parquet", "studies"),
}


def flip(file: Path, other: Path) -> None:
    """One bit in the middle."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def swap(file: Path, other: Path) -> None:
    """For one of the same kind."""
    assert file.read_bytes() != other.read_bytes()
    shutil.copyfile(other, file)


def cut(file: Path, other: Path) -> None:
    file.write_bytes(file.read_bytes()[:-7])


def remove(file: Path, other: Path) -> None:
    file.unlink()


@pytest.fixture(scope="module")
def commands(finished) -> list[tuple[str, str]]:
    """The programs of all jobs, each with its file of arguments."""
    said = finished.snakemake("--dry-run", "--forceall", "--printshellcmds").checked().stdout
    return re.findall(r"python -m scripts\.(\S+) @(\S+)", said)


@pytest.mark.parametrize("kind", FILES)
def test_a_damaged_file_is_refused(study, commands, kind):
    pattern, like, program = FILES[kind]
    file, other = (sorted(study.folder.glob(one))[0] for one in (pattern, like))
    place, manifest = file.relative_to(study.folder), r"(\S*manifest\.json)"
    made = rf"--verify=({re.escape(str(place))}|{re.escape(str(place.parent))}/{manifest})"
    if place.parts[1] == "train":
        batch = "controls" if "control" in kind else "tiny_bert"
        made = rf"--verify=results/train/strided_sop/{batch}\S*manifest\.json"
    called, arguments = next(
        (name, file)
        for name, file in commands
        if name.startswith(program) and re.search(made, (study / file).read_text())
    )
    whole, times = file.read_bytes(), file.stat()
    for damage in (flip, swap, cut, remove):
        damage(file, other)
        if file.exists():
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        done = subprocess.run(
            [sys.executable, "-m", f"scripts.{called}", f"@{arguments}"],
            cwd=study.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1, (damage.__name__, done.stderr)
        assert re.fullmatch(
            rf"error: {re.escape(str(place))}: is not as its rule left it .*; remove .*\n",
            done.stderr,
        ), (damage.__name__, done.stderr)
        file.write_bytes(whole)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_a_damaged_file_of_arguments_is_written_anew(study):
    """A line taken out would leave numbers out."""
    for file in study.folder.glob(".snakemake/timestride/*/arguments"):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:-1]))
    before = (study / study.metrics).read_bytes()
    said = study.run("--forcerun", "evaluate_experiment", "--until", "evaluate_metrics")
    assert "Evaluating sample_sop" in said
    assert (study / study.metrics).read_bytes() == before


def test_predictions_of_another_run_are_refused(study, commands):
    """Also where nothing says how a run was left."""
    one, other = sorted(study.folder.glob("results/train/strided_sop/mini-*-tiny_bert-*"))[:2]
    shutil.copyfile(other / "predictions.parquet", one / "predictions.parquet")
    evaluations = [file for called, file in commands if called == "studies.strided_sop.evaluate"]
    [given] = [file for file in evaluations if one.name in (study / file).read_text()][:1]
    arguments = [
        line
        for line in (study / given).read_text().splitlines()
        if not line.startswith("--verify=")
    ]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.studies.strided_sop.evaluate", *arguments],
        cwd=study.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert f"holds the predictions of {other.name}" in done.stderr
