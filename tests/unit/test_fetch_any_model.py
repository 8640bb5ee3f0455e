"""scripts.fetch.pretrained: what a model has where its entry names no files, and what is refused before its weights come."""
# ruff: noqa: F401 - fixtures are imported

import json
import shutil
from pathlib import Path

import numpy
import pytest
import sentencepiece
from safetensors.numpy import load_file, save_file

from scripts.fetch import room
from tests.conftest import ROOT
from tests.unit.fetch_models import fetch_fixture, folder_fixture, mend, no_pauses, refused_fixture, weights
from tests.unit.test_fetch_hub import ENTRY, server_fixture

INDEX = "model.safetensors.index.json"


def here(folder: Path) -> dict:
    return {"folder": str(folder), "licence": "MIT"}


def shard(folder: Path, *parts: str) -> dict[str, str]:
    """Cut the weights into files, those whose names hold a part in each and the rest in the last; returns {tensor: file}."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    table = {}
    for number, part in enumerate([*parts, ""], 1):
        file = f"model-{number:05}-of-{len(parts) + 1:05}.safetensors"
        taken = {name: tensors.pop(name) for name in list(tensors) if part in name}
        save_file(taken, folder / file)
        table |= dict.fromkeys(taken, file)
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": table}))
    return table


# ---- weights in shards


@pytest.mark.parametrize("place", ["folder", "hub", "named"])
def test_weights_in_shards(fetch, server, folder, tmp_path, place):
    table = shard(folder, "layer.0", "layer.1")
    files = {"files": dict.fromkeys(["config.json", INDEX, "tokenizer.json", "tokenizer_config.json"])}
    fetched = fetch({"folder": here(folder), "hub": ENTRY, "named": ENTRY | files}[place], manifest=tmp_path / "manifest.json")
    listed = json.loads((tmp_path / "manifest.json").read_text())["files"]
    assert set(listed) == {"config.json", "tokenizer.json", "tokenizer_config.json", INDEX, *table.values()} and len(set(table.values())) == 3
    assert {file.name for file in fetched.iterdir()} == set(listed)
    assert all((fetched / name).read_bytes() == (folder / name).read_bytes() for name in listed)


@pytest.mark.parametrize(("spoil", "said"), [
    (lambda folder, table: (folder / table["bert.embeddings.LayerNorm.bias"]).unlink(), "model-00002-of-00002.safetensors could not be had"),
    (lambda folder, table: mend(folder / INDEX, weight_map=table | {"more": "model-00001-of-00002.safetensors"}),
     f"{INDEX} names more in model-00001-of-00002.safetensors, but that has no such tensor"),
    (lambda folder, table: mend(folder / INDEX, weight_map={name: file for name, file in table.items() if "00001" in file}),
     "the weights lack 21 of those that config.json promises, embeddings."),
    (lambda folder, table: mend(folder / INDEX, weight_map=table | {"more": "../model.safetensors"}), "does not name a .safetensors file beside it"),
    (lambda folder, table: mend(folder / INDEX, weight_map=table | {"more": "model.bin"}), "does not name a .safetensors file beside it"),
    (lambda folder, table: mend(folder / INDEX, weight_map=None), "does not name a .safetensors file beside it"),
    (lambda folder, table: (folder / INDEX).write_text("[]"), f"{INDEX} is not a JSON object"),
], ids=["missing", "named but not there", "not all", "outside", "a pickle", "no table", "no object"])
def test_shards_that_are_not_what_the_index_says(refused, folder, spoil, said):
    spoil(folder, shard(folder, "layer.0"))
    assert said in refused(here(folder))


def test_pickled_shards(refused, folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin.index.json")
    assert "has its weights as pytorch_model.bin only" in refused(here(folder))


# ---- room


@pytest.mark.parametrize("place", ["folder", "hub"])
def test_a_disk_that_is_too_small_is_told_before_the_weights_come(refused, server, folder, monkeypatch, place):
    whole = (folder / "model.safetensors").stat().st_size
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: usage._replace(free=whole - 1 if place == "folder" else 2 * whole - 1))
    said = refused(here(folder) if place == "folder" else ENTRY)
    assert f"its weights need {room.in_units(whole if place == 'folder' else 2 * whole)} on the disk of" in said and "are free" in said
    assert not [path for command, path, _ in server.asked if command == "GET" and path.endswith(".safetensors")]


def test_sizes_are_told_in_the_units_of_disks():
    assert [room.in_units(number) for number in (1_500_000, 99_999_999, 536_223_056, 30_000_000_000)] == ["1.5 MB", "100.0 MB", "0.5 GB", "30.0 GB"]


# ---- tokenizers


def pieces(place: Path, **options) -> None:
    """Train a small SentencePiece model."""
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line]
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_prefix=str(place.with_suffix("")), vocab_size=300, minloglevel=2,
                                             hard_vocab_limit=False, **options)


DEBERTA = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "pad_piece": "[PAD]", "bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]"}


def older(folder: Path, model_type: str = "deberta-v2", vocab_size: int = 302) -> None:
    """Turn a folder's configuration into another one's, and take its tokenizer away."""
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "config.json").write_text(json.dumps({"model_type": model_type, "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2,
                                                    "intermediate_size": 8, "vocab_size": vocab_size, "type_vocab_size": 0}))


def test_a_tokenizer_of_sentence_pieces_is_written_as_json(fetch, refused, server, folder, caplog):
    """It cuts words as its SentencePiece model does; the file that it was written from is not handed out."""
    from transformers import AutoModel, AutoTokenizer, DebertaV2Config

    older(folder)
    pieces(folder / "spm.model", **DEBERTA)
    content = json.loads((folder / "config.json").read_text())
    AutoModel.from_config(DebertaV2Config(**content)).save_pretrained(folder)
    fetched = fetch(ENTRY)
    assert sorted(file.name for file in fetched.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    assert "has no tokenizer.json: written from spm.model" in caplog.text
    tokenizer = AutoTokenizer.from_pretrained(fetched)
    text = "the model's own seed, and 20 runs"
    cut = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model")).encode(text, out_type=str)
    assert tokenizer.tokenize(text) == cut and len(cut) > 8 and tokenizer.pad_token == "[PAD]"


@pytest.mark.parametrize(("file", "content", "said"), [
    ("spm.model", b"no sentence pieces", "its tokenizer (spm.model) cannot be read"),
    ("tokenizer.model", None, "what transformers makes of tokenizer.model cuts words otherwise than SentencePiece does"),
    ("vocab.txt", b"a\nb\n", "transformers reads"),
])
def test_a_tokenizer_that_cannot_be_written_as_json(refused, folder, file, content, said):
    older(folder, {"spm.model": "deberta-v2", "tokenizer.model": "llama", "vocab.txt": "bert"}[file])
    if content is None:
        pieces(folder / file, model_type="bpe")
    else:
        (folder / file).write_bytes(content)
    assert said in refused(here(folder))


@pytest.mark.parametrize("place", ["folder", "hub"])
@pytest.mark.parametrize(("config", "said"), [({}, "has no tokenizer (tokenizer.json, or spm.model, "),
                                              ({"chat_template": "{{ messages }}"}, "has a chat template but no tokenizer (")])
def test_a_model_without_a_tokenizer(refused, server, folder, place, config, said):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    told = refused(here(folder) if place == "folder" else ENTRY)
    assert said in told and "`folder: FOLDER`" in told and "take a model that has one" in told


def test_a_chat_template_beside_a_tokenizer_harms_nothing(fetch, folder):
    mend(folder / "tokenizer_config.json", chat_template="{{ messages }}")
    fetch(here(folder))


def test_a_model_without_a_configuration_of_its_tokenizer(fetch, server, folder, caplog):
    (folder / "tokenizer_config.json").unlink()
    fetched = fetch(ENTRY)
    assert sorted(file.name for file in fetched.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert "mine: has no tokenizer_config.json" in caplog.text


def test_an_optional_file_is_not_taken_for_absent_where_nobody_can_be_asked(refused, server, folder, tmp_path, monkeypatch):
    """A mirror without tokenizer_config.json, and no network: it may have been left out of the mirror."""
    place = tmp_path / "mirror/huggingface.co/me/mine/resolve" / ENTRY["revision"]
    place.mkdir(parents=True)
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copyfile(folder / file, place / file)
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "mine/tokenizer_config.json: http://127.0.0.1:9 does not answer" in refused(ENTRY, tmp_path / "mirror")


def test_a_model_in_shards_through_the_mirror(fetch, server, folder, tmp_path):
    table = shard(folder, "layer.0")
    place = tmp_path / "mirror/huggingface.co/me/mine/resolve" / ENTRY["revision"]
    shutil.copytree(folder, place)
    assert set(table.values()) < {file.name for file in fetch(ENTRY, tmp_path / "mirror").iterdir()}
    assert not [path for _, path, _ in server.asked if path.endswith("0001-of-00002.safetensors")]


# ---- kinds of models and of weights


@pytest.mark.parametrize(("config", "said"), [
    ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "its weights are quantised (gptq)"),
    ({"quantization_config": {"quant_method": "fp8"}, "_name_or_path": "me/whole"}, "take the model that they were made from, me/whole"),
    ({"quantization": {"group_size": 64, "bits": 4}}, "its weights are quantised"),
    ({"model_type": "gemma3", "text_config": {"vocab_size": 9}, "vision_config": {}},
     "has text_config, so it is a model of images or sounds beside text (gemma3)"),
    ({"model_type": "whisper"}, "is a whisper, which reads input_features, not text"),  # it stands among the causal models
    ({"model_type": "wav2vec2"}, "a wav2vec2 model is neither an encoder that fills masks, an encoder-decoder nor a decoder"),
    ({"model_type": "no_such_kind"}, "which is no configuration that transformers knows"),
    ({"auto_map": {"AutoModelForCausalLM": "modeling_mine.Mine"}}, "has auto_map, so the model needs code from its own repository"),
])
def test_what_is_refused_by_its_configuration_before_anything_else_comes(refused, server, folder, config, said):
    mend(folder / "config.json", **config)
    assert said in refused(ENTRY)
    assert {path.rsplit("/")[-1] for _, path, _ in server.asked} == {"config.json"}


def test_an_adapter_alone(refused, server, folder):
    (folder / "config.json").rename(folder / "adapter_config.json")
    assert "me/mine is an adapter" in refused(ENTRY) and "is an adapter" in refused(here(folder))


def test_a_gated_model_is_told_at_its_first_file(refused, server, folder):
    server.state.add("gated")
    assert "mine/config.json: me/mine is gated: ask for access" in refused(ENTRY)


# ---- the kind of a model, which is read before it is fetched


def told_kind(program, folder: Path, tmp_path: Path):
    """Call scripts.fetch.facts for a folder; it writes facts.json."""
    (tmp_path / "models.yaml").write_text(json.dumps({"mine": here(folder)}))
    return program("scripts.fetch.facts", "--model", "mine", "--models", tmp_path / "models.yaml", "--fetched", tmp_path,
                   "--output", tmp_path / "facts.json")


@pytest.mark.parametrize(("change", "said"), [
    (lambda folder: mend(folder / "config.json", quantization_config={"quant_method": "awq"}), "its weights are quantised (awq)"),
    (lambda folder: mend(folder / "config.json", vision_config={}), "has vision_config"),
    (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer.json"),
], ids=["quantised", "images", "no tokenizer"])
def test_what_cannot_be_used_is_told_with_the_kind(program, folder, tmp_path, change, said):
    change(folder)
    done = told_kind(program, folder, tmp_path)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr and not (tmp_path / "facts.json").exists()


def test_shards_and_an_older_tokenizer_have_a_kind(program, folder, tmp_path):
    shard(folder, "layer.0")
    (folder / "tokenizer.json").rename(folder / "vocab.txt")
    done = told_kind(program, folder, tmp_path)
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert done.returncode == 0 and facts["kind"] == "encoder" and len(facts["weights"]) == 2, done.stderr
    assert facts["parameters"] == sum(tensor.size for tensor in weights().values())
