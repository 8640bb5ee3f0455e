"""scripts.fetch.source on full devices."""

import os
import subprocess

import pytest

from tests.files import write_yaml
from tests.fetch.fetch_sources import BODY, OTHER, sized, zipped


def corpus(item: dict, tmp_path) -> tuple:
    """Return the command that fetches a corpus of one download."""
    write_yaml(tmp_path / "sources.yaml", {"corpus": {"downloads": [item]}})
    return (
        "scripts.fetch.source",
        "--source",
        "corpus",
        "--sources",
        tmp_path / "sources.yaml",
        "--output",
        tmp_path / "out/corpus",
        "--partial",
        tmp_path / "partial",
    )


@pytest.fixture(name="small_device")
def small_device_fixture(tmp_path, full, size):
    """Mount a small file system on the folder `full`; return a function that gives it more room."""
    (tmp_path / full).mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", tmp_path / full]
    if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a full device is simulated by a small tmpfs, which needs root and mount")
    yield lambda: subprocess.run(["mount", "-o", "remount,size=8m", tmp_path / full], check=True)
    subprocess.run(["umount", tmp_path / full], check=True)


@pytest.mark.parametrize("full, size", [("partial", "800k"), ("out", "800k"), ("partial", "400k")])
def test_no_space_on_the_device(program, archive, server, small_device, tmp_path, full, size):
    """The device of the downloads or of the results is full, or becomes full; with more room, the
    command works.
    """
    if size == "800k":
        command = corpus(
            archive(zipped(train=BODY, val=OTHER).getvalue(), train=BODY, val=OTHER), tmp_path
        )
    else:
        server.files["/captions.json"], server.script = BODY, ["no length", "no length"]
        command = corpus(sized(f"{server.url}/captions.json"), tmp_path)
    program(*command).refused("no space left on the device", str(tmp_path / full))
    assert not list(tmp_path.glob("out/corpus/*"))
    small_device()
    assert program(*command).returncode == 0
    sizes = [file.stat().st_size for file in (tmp_path / "out/corpus").iterdir()]
    assert sum(sizes) == len(BODY) * (2 if size == "800k" else 1)
    assert size == "800k" or int(server.asked[1][1][6:-1]) > 100_000, "what has come is kept"


def test_a_file_where_a_folder_must_be(program, archive, tmp_path):
    (tmp_path / "partial").write_text("")
    program(*corpus(archive(zipped(train=BODY).getvalue(), train=BODY), tmp_path)).refused(
        str(tmp_path / "partial")
    )
