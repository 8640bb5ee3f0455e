"""There is one set of pins: the conda environments, the lock file and the image agree with
envs/requirements.txt.
"""

import re

import pytest

from scripts.data.yaml_files import read_yaml
from tests.conftest import ROOT

PINS = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "envs/requirements.txt").read_text(), re.M))
LOCK = (ROOT / "envs/requirements.lock").read_text()


@pytest.mark.parametrize("name", ["data", "train"])
def test_conda_environments_agree_with_the_pins(name):
    dependencies = read_yaml(ROOT / f"envs/{name}.yaml")["dependencies"]
    pins = dict(pin.split("==") for pin in dependencies[-1]["pip"])
    assert pins and pins.items() <= PINS.items()
    assert ("torch" in pins) == (name == "train")


def test_every_pin_is_installed():
    from importlib.metadata import version

    found = {name: version(name).split("+")[0] for name in PINS}
    assert found == PINS


def test_the_lock_file_holds_every_pin_and_the_hashes_of_its_files():
    entries = re.findall(
        r"^([\w.-]+)(?:\[[\w,-]+\])?==([\w.+]+)( ;[^\\]*)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$",
        LOCK,
        re.M,
    )
    assert len(entries) == len(re.findall(r"^\S+==", LOCK, re.M)) > 2 * len(PINS)
    locked = {name: version for name, version, *_ in entries}
    assert {
        name.lower().replace("_", "-"): version for name, version in PINS.items()
    }.items() <= locked.items()
    assert "://" not in LOCK and "--index" not in LOCK, "it names no index"
