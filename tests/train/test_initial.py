"""Runs that start from another run's weights, and runs with a second objective, through the
training program.
"""

import shutil

import numpy as np
import pytest
from safetensors.torch import load_file

from scripts.data.tables import read_table
from tests.files import read_json
from tests.models import fetched
from tests.training import arguments, kill, started, write_pairs
from tests.train.test_keep import TRAINING

pytestmark = pytest.mark.models
BOTH = {"objectives": {"sop": 1.0, "mlm": 0.5}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data of two strides, a tiny encoder without weights, and one with weights that has lost
    the head that fills masks.
    """
    folder = tmp_path_factory.mktemp("initial")
    for stride in (0, 1):
        write_pairs(folder / f"stride-{stride}", {"train": 30, "val": 8}, seed=2 * stride)
    fetched("tiny_bert", folder / "encoder")
    return folder


def command(
    folder,
    output,
    name,
    *options,
    model="encoder",
    data="stride-0",
    made_by=None,
    hands_on=False,
    **training,
):
    paradigm = {"paradigm": "objectives"} if "objectives" in training else {}
    begun = {"made_by": made_by} if made_by else {}
    return [
        *arguments(
            output / name,
            folder / data,
            folder / model,
            training=TRAINING | training,
            method=paradigm,
            settings={"dataset": data, **begun},
            hands_on=hands_on,
            kept=output / "kept",
            checkpoint_seconds=0.01,
        ),
        *options,
    ]


@pytest.fixture
def train(folder, program, tmp_path):

    def call(name: str, *options, fails=False, **given):
        given = command(folder, tmp_path, name, *options, **given)
        done = program("scripts.train.runs", *given).checked(not fails)
        return done.stderr if fails else (done.stderr, read_json(tmp_path / name / "run.json"))

    return call


def bytes_of(run):
    return {name: (run / name).read_bytes() for name in ("predictions.parquet", "history.parquet")}


def test_a_run_hands_on_its_body_and_another_begins_with_it(train, folder, tmp_path):
    _, plain = train("plain")
    _, first = train("first", hands_on=True)
    assert first["digest"] != plain["digest"]  # the runs' names differ
    files = sorted(file.name for file in (tmp_path / "first/model").iterdir())
    assert files == "config.json model.safetensors tokenizer.json tokenizer_config.json".split()
    assert not (tmp_path / "first/work/weights").exists()
    assert not (tmp_path / "kept").exists(), "kept where nobody asked for it"
    weights = load_file(tmp_path / "first/model/model.safetensors")
    assert weights and all(name.startswith("bert.") for name in weights), "a head was handed on"
    assert (tmp_path / "first/model/tokenizer.json").read_bytes() == (
        folder / "encoder/tokenizer.json"
    ).read_bytes()
    shutil.copytree(tmp_path / "first/model", folder / "handed", dirs_exist_ok=True)
    _, alone = train("alone", data="stride-1")
    _, second = train("second", model="handed", data="stride-1", made_by="first")
    names = [
        read_table(tmp_path / name / "history.parquet").to_pandas()["loss"].tolist()
        for name in ("alone", "second")
    ]
    assert names[0] != names[1], "the weights of the first run were not taken"
    assert second["model_files"]["model.safetensors"] != alone["model_files"].get(
        "model.safetensors"
    )


def test_handing_on_changes_no_number(train, tmp_path):
    train("one")
    before, digest = (bytes_of(tmp_path / "one"), read_json(tmp_path / "one/run.json")["digest"])
    said, facts = train("one", hands_on=True)
    assert "learnt again" in said
    assert facts["digest"] == digest
    assert bytes_of(tmp_path / "one") == before
    said, _ = train("one", hands_on=True)
    assert "no step taken" in said and (tmp_path / "one/model/model.safetensors").exists()


def test_the_second_objective_is_learnt_beside_the_first(train, tmp_path):
    train("plain")
    said, facts = train("both", **BOTH)
    assert "fills masks is new" in said
    assert facts["training"]["objectives"] == {"sop": 1.0, "mlm": 0.5}
    history = {
        name: read_table(tmp_path / name / "history.parquet")
        .to_pandas()
        .set_index(["epoch", "split"])["loss"]
        for name in ("plain", "both")
    }
    # Half of ln(the vocabulary) is added to the first training loss, and nothing to the measured
    # losses.
    more = history["both"][1, "train"] - history["plain"][1, "train"]
    assert 0.5 < more / (0.5 * np.log(200)) < 2
    assert history["both"][1, "held_out"] < 2 * history["plain"][1, "held_out"]
    train("held", "--keep", "best", **BOTH)
    [place] = (tmp_path / "kept").iterdir()
    assert not [name for name in load_file(place / "model.safetensors") if "mask_head" in name]


def test_a_killed_run_goes_on_to_the_same_bytes(train, folder, program, tmp_path):
    given = BOTH | {"model": "handed_2"}
    train("first", hands_on=True)
    shutil.copytree(tmp_path / "first/model", folder / "handed_2", dirs_exist_ok=True)
    train("whole", hands_on=True, **given, epochs=4)
    given_again = command(folder, tmp_path / "killed", "whole", hands_on=True, **given, epochs=4)
    kill(started(tmp_path / "killed/whole", given_again))
    assert "resumes in epoch" in program("scripts.train.runs", *given_again).checked().stderr
    assert bytes_of(tmp_path / "killed/whole") == bytes_of(tmp_path / "whole")
    assert (tmp_path / "killed/whole/model/model.safetensors").read_bytes() == (
        tmp_path / "whole/model/model.safetensors"
    ).read_bytes()


def test_a_decoder_fills_no_masks(train, folder):
    fetched("tiny_gpt", folder / "decoder")
    assert "fills no masks" in train("one", fails=True, model="decoder", **BOTH)
