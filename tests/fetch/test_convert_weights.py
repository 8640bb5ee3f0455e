"""Pickled weights become safetensors: the tensors are the same, and no code of a hostile pickle
runs.
"""

import os
import sys

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM

from scripts.fetch import convert_weights
from scripts.running.program import UserError
from tests.conftest import call
from tests.files import write_json, write_yaml
from tests.models import fetched
from tests.rows import each_row


class Hostile:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, place):
        self.place = str(place)

    def __reduce__(self):
        return os.mkdir, (self.place,)


def convert(file, output):
    return call(sys.executable, "-m", "scripts.fetch.convert_weights", file, "--output", output)


@pytest.mark.models
@pytest.mark.parametrize("zipped", [True, False])
def test_weights_are_the_same_tensors(tmp_path, zipped):
    network = torch.nn.Linear(3, 2).half()
    tensors = network.state_dict() | {"tied": network.weight, "turned": network.weight.T}
    file = tmp_path / "pytorch_model.bin"
    torch.save(tensors, file, _use_new_zipfile_serialization=zipped)
    given = convert_weights.arguments().parse_args([str(file), "--output", str(tmp_path / "out")])
    convert_weights.main(given)
    found = load_file(tmp_path / "out/model.safetensors")
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], value) for name, value in tensors.items())
    assert all(found[name].dtype == torch.float16 for name in tensors)


@pytest.mark.models
def test_the_folder_that_is_written_can_be_fetched(tmp_path, program):
    """The other files of the model are copied, so the folder is a model."""
    fetched("tiny_bert", tmp_path / "m", AutoModelForMaskedLM)
    weights = load_file(tmp_path / "m/model.safetensors")
    (tmp_path / "m/model.safetensors").unlink()
    names = sorted(weights)
    parts = {f"pytorch_model-{number}.bin": names[number::2] for number in range(2)}
    for file, part in parts.items():
        torch.save({name: weights[name] for name in part}, tmp_path / "m" / file)
    table = {name: file for file, part in parts.items() for name in part}
    index = tmp_path / "m/pytorch_model.bin.index.json"
    write_json(index, {"weight_map": table})
    output = tmp_path / "converted"
    program("scripts.fetch.convert_weights", str(index), "--output", str(output)).checked()
    assert len(list(output.glob("*.safetensors"))) == 2
    write_yaml(tmp_path / "models.yaml", {"mine": {"folder": str(output), "licence": "none"}})
    program(
        f"scripts.fetch.model --model mine --models {tmp_path}/models.yaml "
        f"--output {tmp_path}/out --partial {tmp_path}/partial"
    ).checked()
    network = AutoModelForMaskedLM.from_pretrained(tmp_path / "out")
    assert all(torch.equal(network.state_dict()[name], weights[name]) for name in names)


@pytest.mark.models
def test_nothing_of_a_hostile_pickle_is_run(tmp_path):
    file, made = tmp_path / "pytorch_model.bin", tmp_path / "made"
    torch.save({"weight": torch.ones(2), "more": Hostile(made)}, file)
    torch.load(file, weights_only=False)
    made.rmdir()  # the pickle does make a folder if it runs
    ended = convert(file, tmp_path / "out")
    assert ended.returncode == 1 and not made.exists() and not (tmp_path / "out").exists()
    assert ended.stderr.startswith(f"error: {file}: holds more than tensors")
    assert ended.stderr.count("\n") == 1


@pytest.mark.models
@each_row(
    "content, said",
    [
        ([torch.ones(2)], "holds no dictionary of tensors"),
        ({"state_dict": {"weight": torch.ones(2)}}, "state_dict' is no named tensor, but dict"),
        ({1: torch.ones(2)}, "1 is no named tensor, but Tensor"),
        (b"no pickle", "holds more than tensors, or is damaged"),
    ],
)
def test_what_is_no_dictionary_of_tensors_is_refused(tmp_path_factory, content, said):
    file = tmp_path_factory.mktemp("pickled") / "pytorch_model.bin"
    file.write_bytes(content) if isinstance(content, bytes) else torch.save(content, file)
    with pytest.raises(UserError, match=said):
        convert_weights.read_tensors(file)
