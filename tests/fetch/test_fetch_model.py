"""scripts.fetch.model: models from the hub, from folders and from scratch, and all refusals."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from scripts.data.manifest import write_manifest
from scripts.plan.models import DEFAULT_FILES
from scripts.plan.schemas import check_entries
from scripts.fetch import model
from tests.files import read_json
from tests.rows import each_row, rows_of, texts_of
from tests.fetch.fetch_models import MODELS, TINY, WORDS, mend, weights

SCRATCH_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json"]

# ---- entries


@each_row("name", MODELS)
def test_every_model_of_the_project(name):
    check_entries("models", {name: MODELS[name]}, "resources/models.yaml")
    for place in (MODELS[name], MODELS[name].get("tokenizer", {})):
        assert "hub" not in place or re.fullmatch("[0-9a-f]{40}", place["revision"]), "a commit"


ROWS = len(model.vocabulary(WORDS))
HUB = {"hub": "me/mine", "revision": "main", "licence": "MIT"}


@pytest.mark.parametrize(
    "entry, said",
    [
        (
            HUB | {"folder": "there"},
            "exactly one of hub, folder, init, without_pretraining, esim, mlm, clm, control",
        ),
        (TINY | {"tokenizer": {}}, "has one of vocabulary and tokenizer"),
        *rows_of("""
            {esim: {hidden_size: 3}, encoder: nowhere, licence: MIT} | fetch the model nowhere first
            {mlm: {model: minilm, experiment: mine}, licence: MIT} | made by an MLM stage, not fetched
            {hub: me/mine, licence: MIT} | revision is missing
            {init: {model_type: bert}, vocabulary: no/words.txt, licence: MIT} | 'no/words.txt: no such file'
        """),
        (
            TINY | {"init": TINY["init"] | {"num_hiden_layers": 2}},
            "did you mean num_hidden_layers?",
        ),
        (
            HUB | {"files": dict.fromkeys(["config.json", "model.safetensors", "merges.txt"])},
            "no tokenizer is named: add tokenizer.json, or",
        ),
        (HUB | {"files": dict.fromkeys([*SCRATCH_FILES, "pytorch_model.bin"])}, "safetensors only"),
        (
            HUB | {"files": dict.fromkeys(SCRATCH_FILES)},
            "key model.safetensors is missing (weights come as safetensors only)",
        ),
        (
            HUB | {"files": dict.fromkeys([*DEFAULT_FILES, "../vocab.txt"])},
            "this name contains a folder",
        ),
    ],
)
def test_entries_that_are_refused(refused, entry, said):
    assert said in refused(entry)


def test_a_vocabulary_that_is_no_text(refused, tmp_path):
    (tmp_path / "words.txt").write_bytes(b"open\xffclose")
    said = refused(TINY | {"vocabulary": str(tmp_path / "words.txt")})
    assert "words.txt: is not UTF-8 at byte 4" in said


# ---- from the hub and from folders


def with_part(file: Path, part: dict) -> bytes:
    """Return a JSON file's bytes with other values."""
    return json.dumps(read_json(file) | part).encode()


def here(folder: Path) -> dict:
    return {"folder": str(folder), "licence": "MIT"}


def test_a_folder(fetch, refused, folder):
    """A refused folder leaves no file: with the right files the same command works, and copies
    them.
    """
    for time, name in enumerate(("checkpoint-500", "checkpoint-1000")):
        inner = folder / name  # as a trainer leaves its models
        inner.mkdir()
        shutil.copy(folder / "config.json", inner)
        (inner / "model.safetensors").touch()
        os.utime(inner, (time, time))
    (folder / "config.json").rename(folder / "away")
    assert "no such file; its folder checkpoint-1000 has one: name that" in refused(here(folder))
    (folder / "config.json").write_text("{")
    assert "config.json is not JSON" in refused(here(folder))
    (folder / "away").rename(folder / "config.json")
    fetched = fetch(here(folder))
    for file in DEFAULT_FILES:
        assert (fetched / file).read_bytes() == (folder / file).read_bytes()


@pytest.mark.parametrize(
    "file, spoil, said",
    [
        *(
            (file, content.encode(), said)
            for file, content, said in texts_of("""
                config.json | [] | not a JSON object
                config.json | {} | lacks model_type
                config.json | {"model_type": "bert", "model_type": "t5"} | a key is repeated
                config.json | {"model_type": "brt"} | model_type brt, which transformers does not know; did you mean bert?
                config.json | {"model_type": "bert", "num_hidden_layers": 0} | has num_hidden_layers 0
                config.json | {"model_type": "clip"} | so it is not a model of text
                config.json | {"model_type": "mine", "auto_map": {}} | transformers knows no model_type mine, and config.json has auto_map
                model.safetensors | not tensors at all | not a complete safetensors file
            """)
        ),
        ("config.json", b"[" * 100_000, "config.json is nested deeper"),
        (
            "tokenizer_config.json",
            lambda file: file.read_bytes().replace(b"pad_token", b"no_token"),
            "has no padding token with a row",
        ),
        *(
            (file, lambda file, part=part: with_part(file, part), said)
            # the library, written in Rust, panics at the first two
            for file, part, said in rows_of("""
                tokenizer.json | {normalizer: {type: Precompiled, precompiled_charsmap: AAAA}} | tokenizer.json is not a tokenizer
                tokenizer.json | {pre_tokenizer: {type: FixedLength, length: 0}} | cannot read every text
                tokenizer_config.json | {model_input_names: [input_ids, foo]} | its tokenizer makes no foo (model_input_names in tokenizer_config.json)
            """)
        ),
        (
            "model.safetensors",
            lambda file: file.rename(file.with_name("pytorch_model.bin")),
            "pytorch_model.bin only, a pickle, which can run code",
        ),
        ("model.safetensors", Path.unlink, "mine/model.safetensors could not be fetched"),
        ("config.json", lambda file: shutil.rmtree(file.parent), "is not there; correct it in"),
    ],
)
def test_files_that_are_not_what_they_say(refused, folder, file, spoil, said):
    content = spoil if isinstance(spoil, bytes) else spoil(folder / file)
    if isinstance(content, bytes):
        (folder / file).write_bytes(content)
    assert said in refused(here(folder))


def test_a_tokenizer_that_ends_its_process_is_refused(refused, folder, monkeypatch):
    """Rust aborts where its memory ends or its stack overflows; no error can be caught then."""
    monkeypatch.setattr(
        "tokenizers.Tokenizer.from_file", lambda _: signal.raise_signal(signal.SIGKILL)
    )
    said = "tokenizer.json is not a tokenizer (SIGKILL ended the process that read it)"
    assert said in refused(here(folder))


@pytest.mark.parametrize(
    "tensors, said",
    [
        (
            weights(rows=1000),
            "embeddings.word_embeddings.weight has the shape [1000, 64] in the weights, but "
            f"[{ROWS}, 64] by config.json",
        ),
        (
            {
                name: tensor
                for name, tensor in weights().items()
                if "layer.0.output.dense.weight" not in name
            },
            "1 weights that config.json names are missing, encoder.layer.0.output.dense.weight",
        ),
        (
            weights()
            | {"bert.encoder.layer.0.output.dense.weight": numpy.zeros((128, 64), "uint8")},
            "is of type U8, so the weights are quantised",
        ),
    ],
)
def test_weights_that_lack_what_the_configuration_promises(refused, folder, tensors, said):
    save_file(tensors, folder / "model.safetensors")
    assert said in refused(here(folder))


def test_a_tokenizer_with_tokens_beyond_the_model(refused, folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    size = tokenizer.get_vocab_size()
    tokenizer.add_tokens(["beyond"])
    tokenizer.save(str(folder / "tokenizer.json"))
    assert f"makes token {size:,} (beyond), but the model has {size:,}" in refused(here(folder))


def test_a_model_with_code_of_its_own_that_transformers_knows(fetch, folder):
    """The code is neither fetched nor run: transformers has a class of this model_type."""
    for file in ("config.json", "tokenizer_config.json"):
        classes = {"AutoModel": "mine.Mine", "AutoTokenizer": ["mine.Mine", None]}
        mend(folder / file, auto_map=classes)
    (folder / "mine.py").write_text("raise SystemExit('run')")
    fetched = fetch(here(folder))
    assert sorted(file.name for file in fetched.iterdir()) == sorted(DEFAULT_FILES)


@pytest.mark.models
def test_a_decoder_whose_padding_token_has_no_row(fetch, tmp_path):
    """A padding token was added to the tokenizer, and the model has no row for it. The decoder pads
    with its end of text.
    """
    from transformers import AutoTokenizer
    from tests.train.decoders import write_decoder

    write_decoder("llama", tmp_path / "llama")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "llama")
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    tokenizer.save_pretrained(tmp_path / "llama")
    fetched = AutoTokenizer.from_pretrained(fetch(here(tmp_path / "llama")))
    assert fetched.pad_token == fetched.eos_token == "<eos>"
    assert fetched("a man")["input_ids"] == tokenizer("a man")["input_ids"]


# ---- loaded as in training


LOAD = """
import sys
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
folder = sys.argv[1]
tokenizer, config = AutoTokenizer.from_pretrained(folder), AutoConfig.from_pretrained(folder)
network = AutoModelForSequenceClassification.from_pretrained(folder, use_safetensors=True)
pair = tokenizer("The Man WASHES a pan.", "quixotic; then he dries it", return_tensors="pt")
pieces = pair["input_ids"][0].tolist()
assert tokenizer.unk_token_id not in pieces and pieces.count(tokenizer.sep_token_id) == 2
assert tokenizer.decode(pieces).startswith("[CLS] the man washes a pan")
assert len(tokenizer) == config.vocab_size and tokenizer.pad_token_id == config.pad_token_id
assert tokenizer.model_max_length == config.max_position_embeddings
assert network(**pair).logits.shape == (1, 2)
"""


def test_the_real_encoder_loads_with_the_hub_off(fetch, mirror, tmp_path):
    fetched = fetch(MODELS["minilm"], mirror)
    environment = {"PATH": "/usr/bin:/bin", "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", LOAD, fetched], env=environment, check=True)


# ---- models that decode, and ESIM


def test_the_released_tokenizer_of_t5(fetch, mirror):
    fetched = fetch(MODELS["small_t5_scratch"], mirror)
    tokenizer = Tokenizer.from_file(str(fetched / "tokenizer.json"))
    assert tokenizer.get_vocab_size() == read_json(fetched / "config.json")["vocab_size"] == 32_100
    assert (
        tokenizer.encode("<extra_id_0> forty-eight hours").tokens
        == "<extra_id_0> ▁forty - e ight ▁hours </s>".split()
    )


def test_a_tokenizer_of_t5_that_is_none(refused, tmp_path):
    place = tmp_path / "mirror/huggingface.co/me/t5/resolve/main/spiece.model"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"no sentence pieces")
    entry = MODELS["small_t5_scratch"] | {
        "tokenizer": {"hub": "me/t5", "revision": "main", "file": "spiece.model", "sha256": None}
    }
    assert "not a SentencePiece model of T5" in refused(entry, tmp_path / "mirror")


def test_esim_over_an_encoder(fetch, folder, tmp_path):
    """Over vectors: the pinned study has one."""
    shutil.copytree(folder, tmp_path / "out/encoder")
    fetched = fetch({"esim": {"hidden_size": 3}, "encoder": "encoder", "licence": "MIT"})
    wanted = {"model_type": "esim", "hidden_size": 3, "encoder": True}
    assert read_json(fetched / "config.json") == wanted
    assert {file.name for file in (fetched / "encoder").iterdir()} == set(DEFAULT_FILES)


@pytest.mark.models
def test_weights_without_pretraining_are_drawn_by_seed(fetch, folder, tmp_path):
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification as Classifier

    from scripts.train.paradigms.paradigm import read_network

    def weights(model: Path, seed: int) -> dict:
        torch.manual_seed(seed)
        network, _ = read_network(Classifier, model, AutoConfig.from_pretrained(model))
        return dict(network.named_parameters())

    pretrained = tmp_path / "out/pretrained"
    shutil.copytree(folder, pretrained)
    write_manifest(pretrained, DEFAULT_FILES, pretrained / "manifest.json")
    fetched = fetch({"without_pretraining": "pretrained", "licence": "MIT"})
    for file in SCRATCH_FILES:
        assert (fetched / file).read_bytes() == (pretrained / file).read_bytes()
    assert {file.name for file in fetched.iterdir()} == set(SCRATCH_FILES)
    given, first, again, other = (
        weights(*how) for how in ((pretrained, 1), (fetched, 1), (fetched, 1), (fetched, 2))
    )
    assert {name: one.shape for name, one in first.items()} == {
        name: one.shape for name, one in given.items()
    }
    drawn = [name for name, one in first.items() if one.dim() > 1]
    assert drawn and all(first[name].equal(again[name]) for name in drawn)
    assert not any(first[name].equal(other[name]) for name in drawn)
    base = [name for name in drawn if not name.startswith("classifier")]
    assert base and not any(first[name].equal(given[name]) for name in base)
