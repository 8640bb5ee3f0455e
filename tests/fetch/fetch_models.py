"""Code that tests of fetched models share: a call of the program, and a small model with weights,
made without torch.
"""

from pathlib import Path

import numpy
import pytest
import yaml
from safetensors.numpy import save_file

from scripts.data.manifest import replaced_folder
from scripts.running.program import UserError
from scripts.fetch import model, web
from tests.conftest import ROOT
from tests.files import read_json, write_json, write_yaml
from tests.tiny_weights import bert_weights

MODELS = yaml.safe_load((ROOT / "resources/models.yaml").read_text())
TINY = MODELS["tiny_bert"]
WORDS = ROOT / TINY["vocabulary"]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(web, "BACKOFF", 0)


@pytest.fixture(name="fetch")
def fetch_fixture(tmp_path, caplog):
    """Return a function that fetches a model with the given entry, like the program, and returns
    its folder.
    """
    caplog.set_level("INFO")

    def call(entry: dict, mirror: Path | str = "", manifest: Path | None = None) -> Path:
        write_yaml(tmp_path / "models.yaml", {"mine": entry})
        output = tmp_path / "out/mine"
        given = (
            f"--model mine --models {tmp_path}/models.yaml --output {output} --mirror={mirror} "
            f"--partial {tmp_path}/partial"
        )
        with replaced_folder(manifest):
            model.main(model.arguments().parse_args(given.split()))
        return output

    return call


def refusing(fetch, tmp_path):
    """Return a function that fetches, checks for one sentence of refusal and no output, and returns
    the sentence.
    """

    def call(*given, **named) -> str:
        with pytest.raises(UserError) as caught:
            fetch(*given, **named)
        assert not list(tmp_path.glob("out/*/*")) and "\n" not in str(caught.value)
        return str(caught.value)

    return call


@pytest.fixture(name="refused")
def refused_fixture(fetch, tmp_path):
    return refusing(fetch, tmp_path)


@pytest.fixture(name="folder")
def folder_fixture(tmp_path) -> Path:
    """Write a small whole model with weights, made without torch."""
    model_dir = tmp_path / "my_model"
    model_dir.mkdir()
    for name, place in model.write_scratch("mine", TINY, "", model_dir, None).items():
        assert place == model_dir / name
    save_file(weights(), model_dir / "model.safetensors")
    return model_dir


def weights(rows: int = len(model.vocabulary(WORDS)), layers: int = 2) -> dict[str, numpy.ndarray]:
    """Return the tensors of the small model."""
    return bert_weights(rows, layers, width=64, inner=128, positions=128)


@pytest.fixture(name="hub")
def hub_fixture(folder, tmp_path) -> tuple[dict, Path, Path]:
    """Return an entry of a hub model, a mirror that has the model, and its folder in the mirror."""
    place = tmp_path / "mirror/huggingface.co/me/mine/resolve/main"
    place.parent.mkdir(parents=True)
    folder.rename(place)
    return {"hub": "me/mine", "revision": "main", "licence": "MIT"}, tmp_path / "mirror", place


def mend(file: Path, **changes) -> None:
    """Change keys of a JSON file; None removes a key."""
    value = read_json(file) | changes
    write_json(file, {key: kept for key, kept in value.items() if kept is not None})
