"""Kept weights: other programs can load them, they have a card, and a run is scored with them
without training.
"""

import json

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from scripts.data.tables import read_table
from tests.files import read_json
from tests.models import fetched
from tests.train.decoders import write_decoder
from tests.training import arguments, write_pairs

pytestmark = pytest.mark.models
TRAINING = {"epochs": 2, "batch_size": 16, "held_out_fraction": 0.3, "max_length": 48}
LORA = {"adapter": "lora", "rank": 4, "alpha": 8.0, "target": "all-linear"}
CARD = yaml.safe_load("""
title: Tiny
licence: MIT
sources:
  s: {title: A corpus, licence: CC0, citation: Me 2026}
""")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data, a tiny decoder with weights, and a tiny encoder without."""
    folder = tmp_path_factory.mktemp("keep")
    write_pairs(folder / "data", {"train": 30, "val": 8, "other": 6})
    write_decoder("gpt2", folder / "decoder")
    fetched("tiny_bert", folder / "encoder")
    return folder


@pytest.fixture
def train(folder, program, tmp_path):
    """Train a run, or score it with kept weights; return its output, run.json, history and
    predictions.
    """

    def call(
        name: str, *options, model="encoder", splits=("val",), data=folder / "data", **training
    ):
        done = program(
            "scripts.train.runs",
            *arguments(
                tmp_path / name,
                data,
                folder / model,
                ["train", *splits],
                TRAINING | training,
                settings={"dataset": name},
                kept=tmp_path / "kept",
                cards=json.dumps({name: CARD}),
            ),
            *options,
        ).checked()
        facts = read_json(tmp_path / name / "run.json")
        return (
            done.stderr,
            facts,
            *(
                read_table(tmp_path / name / f"{part}.parquet").to_pandas()
                for part in ("history", "predictions")
            ),
        )

    return call


def places(folder) -> list:
    return sorted((folder / "kept").iterdir()) if (folder / "kept").exists() else []


def scores_by(network, tokenizer, table: pa.Table) -> np.ndarray:
    """Return the scores that another program gets from kept weights, one pair at a time."""
    found = []
    for first, second in zip(table["text_a"].to_pylist(), table["text_b"].to_pylist()):
        with torch.no_grad():
            found.append(
                network.eval()(**tokenizer(first, second, return_tensors="pt"))
                .logits[0]
                .log_softmax(-1)
                .numpy()
            )
    return np.stack(found)


def of(predictions, split: str) -> np.ndarray:
    return np.stack(
        predictions[(predictions["split"] == split) & (predictions["selection"] == "held_out")][
            "score"
        ]
    )


def test_weights_are_kept_and_another_evaluation_is_scored_by_them(train, folder, tmp_path):
    said, facts, history, predictions = train("plain")
    assert places(tmp_path) == [] and facts["trained_parameters"] == facts["parameters"]
    said, facts, history, predictions = train("plain", "--keep", "best")
    [place] = places(tmp_path)
    assert "no step taken" not in said, "its weights were not kept, so it is trained again"
    assert {file.name for file in place.iterdir()} == set(
        (
            "model.safetensors config.json tokenizer.json tokenizer_config.json README.md kept.json"
        ).split()
    )
    network, tokenizer = (
        AutoModelForSequenceClassification.from_pretrained(place),
        AutoTokenizer.from_pretrained(place),
    )
    np.testing.assert_allclose(
        scores_by(network, tokenizer, read_table(folder / "data/val.parquet")),
        of(predictions, "val"),
        atol=1e-5,
    )
    assert network.config.id2label == {0: "swapped", 1: "in_order"}
    card = (place / "README.md").read_text()
    epoch = facts["best_epoch"]
    measured = history[(history["split"] == "val") & (history["epoch"] == epoch)].iloc[0]
    for wanted in (
        'license_name: "MIT"',
        f"| val | {measured['loss']:.4f} | {measured['accuracy']:.4f} | 32 |",
        "A corpus: CC0; Me 2026",
        "AutoModelForSequenceClassification",
    ):
        assert wanted in card, wanted
    assert "no step taken" in train("plain", "--keep", "best")[0]
    # Another run with one more split keeps the numbers of the first split and trains nothing.
    said, again, known, found = train("wider", "--keep", "best", splits=("val", "other"))
    assert "train loss" not in said
    assert "no peak over epochs" in said
    assert places(tmp_path) == [place]
    assert np.array_equal(of(found, "val"), of(predictions, "val"))
    assert np.array_equal(of(found, "held_out"), of(predictions, "held_out"))
    assert of(found, "other").shape == (24, 2)
    assert again["best_epoch"] == epoch
    assert again["seconds"] == facts["seconds"]
    learnt = [
        frame[frame["split"].isin(["train", "held_out"])].drop(columns="run").reset_index(drop=True)
        for frame in (history, known)
    ]
    assert learnt[0].equals(learnt[1])
    np.testing.assert_allclose(
        scores_by(network, tokenizer, read_table(folder / "data/other.parquet")),
        of(found, "other"),
        atol=1e-5,
    )
    # Other training data, or damaged weights: train again.
    with open(place / "model.safetensors", "r+b") as opened:
        opened.seek(-1, 2)
        opened.write(b"\x07")
    said, _, _, found = train("wider", "--keep", "best", splits=("val", "other"))
    assert "model.safetensors has changed since it was written" in said
    assert "epoch 1 of 2" in said
    assert set(found["selection"]) == {"held_out", "peak"} and places(tmp_path) == [place]


def test_an_adapter_is_kept_alone_or_merged(train, folder, tmp_path):
    from peft import PeftModel

    _, facts, _, predictions = train("lora", "--keep", "best", model="decoder", **LORA)
    [place] = places(tmp_path)
    assert (place / "adapter_model.safetensors").stat().st_size < (
        folder / "decoder/model.safetensors"
    ).stat().st_size / 2
    assert not (place / "model.safetensors").exists()
    assert "PeftModel.from_pretrained" in (place / "README.md").read_text()
    tokenizer = AutoTokenizer.from_pretrained(place)
    base = AutoModelForSequenceClassification.from_pretrained(folder / "decoder", num_labels=2)
    found = scores_by(
        PeftModel.from_pretrained(base, place), tokenizer, read_table(folder / "data/val.parquet")
    )
    np.testing.assert_allclose(found, of(predictions, "val"), atol=1e-5)
    said, _, _, again = train(
        "other", "--keep", "best", model="decoder", splits=("other", "val"), **LORA
    )
    assert "train loss" not in said and np.array_equal(of(again, "val"), of(predictions, "val"))
    said, _, _, _ = train("lora", "--keep", "best", "--merge-adapter", model="decoder", **LORA)
    assert "train loss" in said
    assert places(tmp_path) == [place], "what was kept is not what is asked for now"
    network = AutoModelForSequenceClassification.from_pretrained(place)
    found = scores_by(
        network, AutoTokenizer.from_pretrained(place), read_table(folder / "data/val.parquet")
    )
    np.testing.assert_allclose(found, of(predictions, "val"), atol=1e-5)
