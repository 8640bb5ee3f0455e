"""Training through the workflow's program: killed runs, several processes, wrong input."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

from scripts.common.tables import STRIDED_PAIRS, read_table, write_table
from tests.conftest import ROOT

STUDY = {"columns": {"example_id": "pair_id", "group_id": "video_id"}, "labels": ["swapped", "in_order"]}
TRAINING = {"epochs": 3, "learning_rate": 1e-3, "batch_size": 32, "weight_decay": 0.01, "warmup_ratio": 0.1,
            "gradient_clip": 1.0, "early_stopping_patience": 3, "held_out_fraction": 0.2, "max_length": 32,
            "dropout": None, "precision": "fp32"}


def pairs(videos: int, seed: int) -> pa.Table:
    """Pairs whose order can be learnt: `first` words come before `last` words, with noise."""
    draw = np.random.default_rng(seed)
    rows = []
    for video in range(videos):
        for position in range(8):
            label = int(draw.random() < 0.5)
            texts = [" ".join(draw.choice(words, 6)) for words in (["open", "take", "start", "man"], ["close", "eat", "end", "man"])]
            rows.append({"pair_id": f"v{seed}-{video}:0:{position}", "video_id": f"v{seed}-{video}", "stride": 0,
                         "first_position": position, "second_position": position + 1,
                         "text_a": texts[1 - label], "text_b": texts[label], "label": label})
    return pa.Table.from_pylist(rows, schema=STRIDED_PAIRS)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, program):
    """A dataset and a tiny model from scratch."""
    folder = tmp_path_factory.mktemp("training")
    for number, (split, videos) in enumerate({"train": 150, "val_1": 30}.items()):
        write_table(pairs(videos, number), folder / f"data/{split}.parquet", STRIDED_PAIRS, {})
    done = program("scripts.fetch.model", "--model", "tiny_bert", "--models", "resources/models.yaml", "--output", folder / "model")
    assert done.returncode == 0, done.stderr
    return folder


def arguments(prepared, output, training=(), **options):
    settings = {"study": "strided_sop", "source": "s", "dataset": "d", "data": {"stride": 0}, "model": "tiny_bert",
                "seed": 1, "training": TRAINING | dict(training)}
    given = {"run": "run-1", "settings": json.dumps(settings), "study": json.dumps(STUDY), "data": prepared / "data",
             "model": prepared / "model", "output": output, "device": "cpu", "log": output / "log", **options}
    return ["--splits", "train", "val_1", *(str(part) for key, value in given.items()
                                            for part in (f"--{key.replace('_', '-')}", value))]


@pytest.fixture
def train(prepared, program):
    def call(output, training=(), ok=True, **options):
        done = program("scripts.train.run", *arguments(prepared, output, training, **options))
        assert (done.returncode == 0) == ok, done.stderr
        return done

    return call


def results(output) -> tuple:
    """History and predictions of a run."""
    return read_table(output / "history.parquet").to_pandas(), read_table(output / "predictions.parquet").to_pandas()


@pytest.fixture(scope="module")
def undisturbed(prepared, program, tmp_path_factory):
    output = tmp_path_factory.mktemp("undisturbed")
    done = program("scripts.train.run", *arguments(prepared, output))
    assert done.returncode == 0, done.stderr
    return output


def test_it_learns_and_reports(undisturbed):
    history, predictions = results(undisturbed)
    facts = json.loads((undisturbed / "run.json").read_text())
    assert facts["train_examples"] + facts["held_out_examples"] == 150 * 8
    last = history[(history["split"] == "val_1") & (history["epoch"] == history["epoch"].max())]
    assert last["accuracy"].item() > 0.9
    for selection, part in predictions[predictions["split"] == "val_1"].groupby("selection"):
        scores = np.stack(part["score"])
        np.testing.assert_allclose(np.exp(scores).sum(1), 1, atol=1e-5)
        epoch = part["epoch"].iloc[0]
        recorded = history[(history["split"] == "val_1") & (history["epoch"] == epoch)]
        right = (scores.argmax(1) == part["label"]).mean()
        assert right == pytest.approx(recorded["accuracy"].item(), abs=1e-6)
        nll = -scores[np.arange(len(scores)), part["label"]].mean()
        assert nll == pytest.approx(recorded["loss"].item(), abs=1e-5)
    held = history[history["split"] == "held_out"]
    best = held.sort_values(["accuracy", "loss"], ascending=[False, True]).iloc[0]["epoch"]
    assert facts["best_epoch"] == best
    assert "checkpoint.pt" not in os.listdir(undisturbed / "work")


def test_the_same_seed_gives_the_same_run(undisturbed, train, tmp_path):
    train(tmp_path)
    for ours, theirs in zip(results(tmp_path), results(undisturbed)):
        assert ours.to_json() == theirs.to_json()


def test_finished_work_is_handed_out(train, undisturbed, tmp_path):
    train(tmp_path)
    (tmp_path / "run.json").unlink()
    begun = time.time()
    assert "no step taken" in train(tmp_path).stderr
    assert time.time() - begun < 10 and (tmp_path / "run.json").exists()
    assert "no step taken" not in train(tmp_path, {"learning_rate": 2e-3}).stderr


def test_a_killed_run_resumes_to_the_same_numbers(prepared, undisturbed, train, tmp_path):
    command = [sys.executable, "-m", "scripts.train.run", *arguments(prepared, tmp_path, checkpoint_seconds=0.05)]
    started = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)
    while not (tmp_path / "work/checkpoint.pt").exists():
        assert started.poll() is None, "the run ended before it could be killed"
        time.sleep(0.02)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    assert not (tmp_path / "predictions.parquet").exists()
    assert "resumes in epoch" in train(tmp_path).stderr
    for ours, theirs in zip(results(tmp_path), results(undisturbed)):
        assert ours.to_json() == theirs.to_json()


def test_a_second_process_waits_for_the_first(prepared, tmp_path):
    command = [sys.executable, "-m", "scripts.train.run", *arguments(prepared, tmp_path)]
    both = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate()[1] for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert sum("no step taken" in text for text in said) == 1


def test_two_processes_agree_with_one(train, tmp_path):
    """The gradient is that of the whole batch, so only rounding differs (no dropout: its masks depend on the shares)."""
    train(tmp_path / "one", {"dropout": 0.0})
    train(tmp_path / "two", {"dropout": 0.0}, devices=2)
    assert json.loads((tmp_path / "two/run.json").read_text())["hardware"]["processes"] == 2
    for ours, theirs in zip(results(tmp_path / "one"), results(tmp_path / "two")):
        assert len(ours) == len(theirs)
    one, two = results(tmp_path / "one")[0], results(tmp_path / "two")[0]
    np.testing.assert_allclose(one["loss"], two["loss"], atol=1e-4)
    np.testing.assert_allclose(one["accuracy"], two["accuracy"], atol=0.01)


@pytest.mark.parametrize(("training", "said"), [
    ({"max_length": 4096}, "max_length is 4096"),
    ({"held_out_fraction": 1e-9}, "too few to hold"),
    ({"learning_rate": 1e6, "gradient_clip": 1e9, "weight_decay": 1e3}, "the loss is not finite"),
])
def test_wrong_settings_are_refused(train, tmp_path, training, said):
    done = train(tmp_path, training, ok=False)
    assert said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "predictions.parquet").exists()


def test_a_gpu_that_is_not_there(train, tmp_path):
    done = train(tmp_path, ok=False, device="gpu", devices=999)
    assert "device: gpu asks for 999 GPU(s)" in done.stderr and "Traceback" not in done.stderr


def test_missing_weights_are_refused(train, prepared, tmp_path):
    from safetensors.torch import save_file
    import shutil
    import torch

    shutil.copytree(prepared / "model", tmp_path / "model")
    save_file({"bert.embeddings.LayerNorm.weight": torch.zeros(128)}, tmp_path / "model/model.safetensors")
    done = train(tmp_path / "out", ok=False, model=tmp_path / "model")
    assert "weights of the encoder are missing" in done.stderr and "Traceback" not in done.stderr
