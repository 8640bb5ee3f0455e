"""The parts of training, each alone: checkpoint, choice of the epoch, kept tokens, finished work,
launch.
"""

import hashlib
import random
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from scripts.data.plain_json import as_json
from scripts.train import work
from scripts.train.epochs import held_out_losses, is_last
from tests.files import write_json
from tests.rows import rows_of

JOB = {"digest": "d1", "makes_model": False}


# ---- choice of the epoch


@pytest.mark.parametrize(
    "losses, patience, last",
    rows_of("""
        [3, 2, 1]             | 1 | 10  # falls: all epochs
        [3, 2, 2.5, 2.6, 2.7] | 3 | 5  # three without a fall
        [3, 2, 2, 2]          | 2 | 4  # as low is not lower
        [.nan, 3, 2, 2.5]     | 1 | 4  # no number is not the lowest
        []                    | 1 | 10  # nothing held out: all epochs
    """),
)
def test_learning_ends_when_the_held_out_loss_falls_no_more(losses, patience, last):
    history = [{"split": "held_out", "loss": loss} for loss in losses] + [
        {"split": "val_1", "loss": 0.0}
    ]
    for epoch in range(1, (len(losses) or 10) + 1):
        ended = is_last(epoch, held_out_losses(history)[:epoch], 10, patience)
        assert ended == (epoch == last), epoch


# ---- finished work


@pytest.fixture
def finished(tmp_path):
    (tmp_path / "work/result").mkdir(parents=True)
    for name in work.outputs_of(JOB):
        (tmp_path / "work/result" / name).write_text(f"this is {name}")
    write_json(tmp_path / "work/result/run.json", {"seconds": 1.0, "hardware": {"processes": 1}})
    work.finish(tmp_path / "work", JOB, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "file, content",
    [
        ("finished.json", b"[]"),
        ("finished.json", b""),
        ("result/predictions.parquet", b"this is predictions.parqueT"),
    ],
)
def test_a_damaged_result_is_not_handed_out(finished, file, content):
    (finished / "work" / file).write_bytes(content)
    assert not work.finished(finished / "work", JOB)


def test_a_run_that_finished_before_the_lock_stays_finished(finished, monkeypatch):
    """The lock keeps the hashes that earlier releases gave the same code (`was`)."""
    job = {"run": "a", "makes_model": False, "code": work.code_of("classify")}
    known = [job["code"], "0123456789ab"]
    monkeypatch.setattr(work, "known_as", lambda program: known)
    for code in (*known, "a123456789ab"):
        digest = hashlib.sha256(as_json(job | {"code": code}).encode()).hexdigest()
        work.mark_finished(finished / "work", job | {"digest": digest})
        assert work.finished(finished / "work", work.with_digest(job)) == (code in known)


# ---- tests that need torch


@pytest.fixture
def saved(tmp_path):
    import torch
    from scripts.train import checkpoint

    torch.manual_seed(1)
    state = {
        "epoch": 1,
        "history": [{"loss": 0.5, "split": "train"}],
        "kept": {"last": {"val_1": {"scores": torch.randn(5, 2)}}},
        "network": {"weight": torch.randn(100, 30)},
    }
    maker = {"device": "a processor", "precision": "fp32", "torch": "2"}
    checkpoint.save(tmp_path / "checkpoint.pt", "d1", maker, state)
    return checkpoint, tmp_path / "checkpoint.pt", maker, state


@pytest.mark.models
def test_a_checkpoint_that_is_damaged_foreign_or_of_other_hardware_starts_the_run_anew(
    saved, caplog
):
    import torch

    checkpoint, file, maker, state = saved
    whole = file.read_bytes()
    draw = random.Random(1)
    for _ in range(60):  # a flipped bit at a random place
        place = draw.randrange(len(whole))
        file.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :]
        )
        assert checkpoint.load(file, "d1", maker) is None
    for damaged in (b"", b"x", whole[:31], whole[: len(whole) // 2], whole[:-1], whole + b"x"):
        file.write_bytes(damaged)
        assert checkpoint.load(file, "d1", maker) is None
    torch.save({"another": "program's"}, file)
    assert checkpoint.load(file, "d1", maker) is None
    assert "is damaged, or not a checkpoint; the run starts anew" in caplog.text
    file.write_bytes(whole)
    assert checkpoint.load(file, "d1", maker)["history"] == state["history"]
    assert checkpoint.load(file, "d2", maker) is None
    assert "was made with other data, settings, code or another model" in caplog.text
    assert checkpoint.load(file, "d1", maker | {"precision": "bf16"}) is None
    assert "precision 'fp32', here 'bf16'" in caplog.text


class Words:
    """A paradigm that splits texts into words and counts how often it does so."""

    def __init__(self):
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel

        self.asked, self.network = 0, None
        self.tokenizer = SimpleNamespace(
            model_input_names=["input_ids"],
            special_tokens_map={},
            backend_tokenizer=Tokenizer(WordLevel({"a": 0}, unk_token="a")),
        )

    def encode(self, table):
        from scripts.train.batches import Examples, Ragged

        self.asked += 1
        lengths = np.array([len(text.split()) for text in table["text_a"].to_pylist()])
        ids = Ragged.of(np.arange(lengths.sum()), lengths)
        labels = table["label"].to_numpy().astype(np.int64)
        return Examples({"input_ids": ids}, labels, np.arange(len(table)), 2)


@pytest.mark.models
def test_a_split_is_tokenized_once_and_anew_where_anything_differs(tmp_path):
    from scripts.train import tokens

    table = pa.table({"text_a": ["one two", "three", "four five six"], "label": [0, 1, 1]})
    job = {
        "head": None,
        "inputs": ["text_a"],
        "paradigm": "classify",
        "settings": {"training": {"max_length": 8}},
    }
    paradigm, ids = Words(), [[0, 1, -1], [2, -1, -1], [3, 4, 5]]

    def padded() -> list:
        examples = tokens.encoded(paradigm, job, table, tmp_path)
        assert examples.labels.tolist() == [0, 1, 1] and examples.truncated == 2
        return examples.fields["input_ids"].padded(3, -1).tolist()

    assert padded() == padded() == ids
    assert paradigm.asked == 1
    tokens.encoded(paradigm, job | {"settings": {"training": {"max_length": 9}}}, table, tmp_path)
    tokens.encoded(paradigm, job | {"inputs": ["text_b"]}, table, tmp_path)
    tokens.encoded(paradigm, job, table.slice(1), tmp_path)
    assert paradigm.asked == 4
    file = tmp_path / tokens.key_of(paradigm, job, table)[:32] / "input_ids.flat.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"\x07")
    assert padded() == ids
    assert paradigm.asked == 5, "damaged tokens are made anew"
    paradigm.network = "a network of another kind"
    tokens.encoded(paradigm, job, table, tmp_path)
    assert paradigm.asked == 6
