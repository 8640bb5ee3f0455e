"""A disk fills up during training, a build and an evaluation. The program gives one sentence and
leaves nothing half-written. The same command continues when there is space again. A small tmpfs is
the disk, which takes root and mount.
"""

import os
import subprocess

import pytest

from tests.fuzz import TARGETS, filled, place, stdin_of
import numpy as np
from scripts.data.tables import read_table

pytestmark = pytest.mark.slow


@pytest.fixture
def disk(tmp_path):
    """Return a folder on its own disk; resize() changes its size."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        os.geteuid()
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], capture_output=True
        ).returncode
    ):
        pytest.skip("a full disk is simulated by a small tmpfs, which needs root and mount")
    yield folder
    subprocess.run(["umount", folder], check=True)


def resize(folder, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True)


@pytest.fixture
def call(program):

    def call(name: str, given, output, *more) -> subprocess.CompletedProcess:
        target = TARGETS[name]
        arguments, stdin = filled(target.arguments, given, output), stdin_of(target, given).decode()
        return program(target.module, *arguments, *more, *(["<<<", stdin] if stdin else []))

    return call


def refused(done: subprocess.CompletedProcess, folder) -> None:
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("error: ")
    assert "no space left on the device" in last, done.stderr
    assert "free some, then give the same command again" in last and "Traceback" not in done.stderr
    assert not [path for path in folder.rglob(".*") if path.is_file()]


@pytest.mark.parametrize(
    "name", ["build mctaco", "evaluate runs (mctaco)", "mctaco", "temporal_spans (dialogs)"]
)
def test_a_program_leaves_nothing(name, call, disk, tmp_path):
    place(TARGETS[name].files, tmp_path / "in")
    (disk / "filler").write_bytes(bytes(196 * 1024))
    for space in (196, 200):  # KiB: no page is free, one page is free
        resize(disk, f"{space}k")
        done = call(name, tmp_path / "in", disk / "out")
        if space > 196 and done.returncode == 0:  # one page was enough
            break
        refused(done, disk)
        assert [path.name for path in disk.rglob("*") if path.is_file()] == ["filler"]
    resize(disk, "8m")
    assert call(name, tmp_path / "in", disk / "out").returncode == 0
    assert all((disk / "out" / output).is_file() for output in TARGETS[name].outputs)


@pytest.mark.models
@pytest.mark.slow
def test_training_goes_on_where_it_stopped(call, disk, tmp_path):
    """With any amount of space, the run succeeds or ends with the sentence: the disk is full at the
    tokens, the checkpoint, the result or the log.
    """
    place(TARGETS["train"].files, tmp_path / "in")
    undisturbed, said = tmp_path / "undisturbed/out", set()
    assert call("train", tmp_path / "in", undisturbed).returncode == 0
    wanted = read_table(undisturbed / "predictions.parquet").to_pandas()
    output = disk / "out"
    for space in (4, 36, 60, 124):  # KiB
        subprocess.run(["rm", "-rf", output], check=True)
        resize(disk, f"{space}k")
        given = "train", tmp_path / "in", output, f"--tokens={disk}/tokens", f"--log={output}/log"
        done = call(*given, "--checkpoint-seconds=0")
        if done.returncode:
            refused(done, disk)
            said.add(done.stderr.splitlines()[-1])
            assert (
                not list(output.glob("*.parquet"))
                and not (output / "run.json").exists()
                or "/out/" in done.stderr
            )
        resize(disk, "8m")
        call(*given).checked()
        found = read_table(output / "predictions.parquet").to_pandas()
        assert found["example_id"].equals(wanted["example_id"])
        assert np.array_equal(np.stack(found["score"]), np.stack(wanted["score"]))
        subprocess.run(["rm", "-rf", disk / "tokens"], check=True)
    assert len(said) >= 2, "the disk filled up at one place only"
