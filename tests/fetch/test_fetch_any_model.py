"""scripts.fetch.pretrained: the files of a model whose entry names none, and refusals before the
weights are downloaded.
"""
# ruff: noqa: F401 - fixtures are imported

import json
import shutil
from pathlib import Path

import numpy
import pytest
import sentencepiece
import yaml
from safetensors.numpy import load_file, save_file

from scripts.fetch import web
from tests.conftest import ROOT
from tests.files import read_json, write_json
from tests.fetch.fetch_models import mend, weights
from tests.fetch.test_fetch_hub import ENTRY, server_fixture
from tests.fetch.test_fetch_model import here
from tests.rows import rows_of

INDEX = "model.safetensors.index.json"


def shard(folder: Path, *parts: str) -> dict[str, str]:
    """Cut the weights into files. Each file has the tensors whose names contain a part, the last
    file the rest. Return {tensor: file}.
    """
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    table = {}
    for number, part in enumerate([*parts, ""], 1):
        file = f"model-{number:05}-of-{len(parts) + 1:05}.safetensors"
        taken = {name: tensors.pop(name) for name in list(tensors) if part in name}
        save_file(taken, folder / file)
        table |= dict.fromkeys(taken, file)
    write_json(folder / INDEX, {"metadata": {"total_size": 1}, "weight_map": table})
    return table


# ---- weights in shards


@pytest.mark.parametrize(
    "changed, said",
    [
        (
            {"more": "model-00001-of-00002.safetensors"},
            f"{INDEX} names more in model-00001-of-00002.safetensors, but this file has no such tensor",
        ),
        *rows_of("""
            {more: model-00003-of-00002.safetensors} | model-00003-of-00002.safetensors could not be fetched
            {more: ../model.safetensors} | does not name a .safetensors file beside it
            null | does not name a .safetensors file beside it
            '00001' | 21 weights that config.json names are missing, embeddings.
        """),
    ],
)
def test_shards_that_are_not_what_the_index_says(refused, folder, changed, said):
    table = shard(folder, "layer.0")
    if isinstance(changed, str):
        table = {name: file for name, file in table.items() if changed in file}
    mend(
        folder / INDEX,
        weight_map=table | changed if isinstance(changed, dict) else changed and table,
    )
    assert said in refused(here(folder))


# ---- free space


@pytest.mark.parametrize("place, copies", [("folder", 1), ("hub", 2)])
def test_a_disk_that_is_too_small(refused, server, folder, monkeypatch, place, copies):
    """The refusal comes before the weights are downloaded. Weights of the hub need space twice: in
    its cache and here.
    """
    needed = copies * (folder / "model.safetensors").stat().st_size
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(web.shutil, "disk_usage", lambda _: usage._replace(free=needed - 1))
    said = refused(here(folder) if place == "folder" else ENTRY)
    assert f"mine (its weights) needs {needed:,} bytes more, and {needed - 1:,} are free" in said
    assert not [
        path
        for command, path, _ in server.asked
        if command == "GET" and path.endswith(".safetensors")
    ]


# ---- tokenizers


def pieces(place: Path, **options) -> None:
    """Train a small SentencePiece model."""
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_prefix=str(place.with_suffix("")),
        vocab_size=300,
        minloglevel=2,
        hard_vocab_limit=False,
        **options,
    )


DEBERTA = yaml.safe_load("""
{pad_id: 0, bos_id: 1, eos_id: 2, unk_id: 3, pad_piece: '[PAD]', bos_piece: '[CLS]', eos_piece: '[SEP]',
  unk_piece: '[UNK]'}
""")


def older(folder: Path, model_type: str = "deberta-v2") -> None:
    """Change a folder's configuration to another model type, and remove its tokenizer."""
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text("{}")
    sizes = {"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 8, "vocab_size": 302, "type_vocab_size": 0}
    write_json(folder / "config.json", {"model_type": model_type} | sizes)


def test_a_tokenizer_of_sentence_pieces_is_written_as_json(fetch, refused, server, folder, caplog):
    """The JSON tokenizer cuts words like its SentencePiece model, and that model's file is not in
    the output.
    """
    from transformers import AutoModel, AutoTokenizer, DebertaV2Config

    older(folder)
    pieces(folder / "spm.model", **DEBERTA)
    content = read_json(folder / "config.json")
    AutoModel.from_config(DebertaV2Config(**content)).save_pretrained(folder)
    fetched = fetch(ENTRY)
    assert (
        sorted(file.name for file in fetched.iterdir())
        == "config.json model.safetensors tokenizer.json tokenizer_config.json".split()
    )
    assert "has no tokenizer.json: written from spm.model" in caplog.text
    tokenizer = AutoTokenizer.from_pretrained(fetched)
    text = "the model's own seed, and 20 runs"
    cut = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model")).encode(
        text, out_type=str
    )
    assert tokenizer.tokenize(text) == cut and len(cut) > 8 and tokenizer.pad_token == "[PAD]"


@pytest.mark.parametrize(
    "file, content, said",
    [
        ("spm.model", b"no sentence pieces", "its tokenizer (spm.model) cannot be read"),
        (
            "tokenizer.model",
            None,
            (
                "the one that transformers makes from tokenizer.model cuts words otherwise than "
                "SentencePiece:"
            ),
        ),
        ("vocab.txt", b"a\nb\n", "transformers reads"),
    ],
)
def test_a_tokenizer_that_cannot_be_written_as_json(refused, folder, file, content, said):
    older(
        folder, {"spm.model": "deberta-v2", "tokenizer.model": "llama", "vocab.txt": "bert"}[file]
    )
    if content is None:
        pieces(folder / file, model_type="bpe")
    else:
        (folder / file).write_bytes(content)
    assert said in refused(here(folder))


def test_a_model_without_a_configuration_of_its_tokenizer(fetch, server, folder, caplog):
    (folder / "tokenizer_config.json").unlink()
    fetched = fetch(ENTRY)
    assert sorted(file.name for file in fetched.iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert "mine: has no tokenizer_config.json" in caplog.text


def test_an_optional_file_is_not_taken_for_absent_where_nobody_can_be_asked(
    refused, server, folder, tmp_path, monkeypatch
):
    """The mirror lacks tokenizer_config.json, and there is no network: the file may be missing in
    the mirror only.
    """
    place = tmp_path / "mirror/huggingface.co/me/mine/resolve" / ENTRY["revision"]
    place.mkdir(parents=True)
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copyfile(folder / file, place / file)
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "mine/tokenizer_config.json: http://127.0.0.1:9 does not answer" in refused(
        ENTRY, tmp_path / "mirror"
    )


# ---- kinds of models and of weights


@pytest.mark.parametrize(
    "config, said",
    rows_of("""
        {quantization_config: {quant_method: mine}} | 'its weights are quantised ({''quant_method'': ''mine''}), in a form that transformers does not read'
        {model_type: whisper} | is a whisper, which reads input_features, not text  # it stands among the causal models
        {model_type: wav2vec2} | a wav2vec2 model is neither an encoder that fills masks, an encoder-decoder nor a decoder
        {model_type: mine, auto_map: {AutoModel: modeling_mine.Mine}} | the model needs code from its own repository
    """),
)
def test_what_is_refused_by_its_configuration_before_anything_else_comes(
    refused, server, folder, config, said
):
    mend(folder / "config.json", **config)
    assert said in refused(ENTRY)
    files = [path for _, path, _ in server.asked if "/resolve/" in path]
    assert {path.rsplit("/")[-1] for path in files} == {"config.json"}


def test_the_ends_of_answers_are_json(refused, server, folder):
    """A decoder brings generation_config.json, and an encoder does not."""
    (folder / "generation_config.json").write_text("[")
    mend(folder / "config.json", model_type="gpt2", n_embd=64, n_layer=2, n_head=2, n_positions=64)
    assert "generation_config.json is not JSON" in refused(ENTRY)
