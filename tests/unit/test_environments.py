"""One set of pins: the conda environments agree with envs/requirements.txt."""

import re

import pytest
import yaml

from tests.conftest import ROOT

PINS = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "envs/requirements.txt").read_text(), re.M))


@pytest.mark.parametrize("name", ["data", "train"])
def test_conda_environments_agree_with_the_pins(name):
    dependencies = yaml.safe_load((ROOT / f"envs/{name}.yaml").read_text())["dependencies"]
    pins = dict(pin.split("==") for pin in dependencies[-1]["pip"])
    assert pins and pins.items() <= PINS.items()
    assert ("torch" in pins) == (name == "train")


def test_every_pin_is_installed():
    from importlib.metadata import version

    found = {name: version(name).split("+")[0] for name in PINS}
    assert found == PINS
