"""scripts.fetch.facts: the kind and size of a model from its configuration and the headers of its
weights, in any place.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import transformers
from huggingface_hub import constants
from safetensors.torch import load_file

from scripts.plan.model_facts import facts_reader, identity, cached_facts
from scripts.running.program import UserError
from scripts.fetch import facts
from tests.conftest import ROOT
from tests.files import read_json, write_json, write_yaml
from tests.rows import rows_of
from tests.fetch.test_fetch_hub import Hub, serving
from tests.fetch.test_fetch_model import here

SMALL = {
    "vocab_size": 50,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "intermediate_size": 8,
}


def saved(folder: Path, network, **options) -> Path:
    """Write a model into a folder, with a file in place of its tokenizer."""
    network.save_pretrained(folder, **options)
    (folder / "tokenizer.json").write_text("{}")
    return folder


def bert(**changed):
    return transformers.BertForMaskedLM(transformers.BertConfig(**SMALL | changed))


def read(tmp_path: Path, entry: dict, mirror: Path | str = "") -> dict:
    """Return the facts of an entry, as the program writes them."""
    write_yaml(tmp_path / "models.yaml", {"mine": entry})
    given = (
        f"--model mine --models {tmp_path}/models.yaml --mirror={mirror} --root {tmp_path} "
        f"--fetched {tmp_path}/fetched --output {tmp_path}/mine.json"
    ).split()
    place = ["--place", "`model:` of the configuration (mine)"]
    facts.main(facts.arguments().parse_args(given + place))
    return read_json(tmp_path / "mine.json")


def refused(tmp_path: Path, entry: dict, mirror: Path | str = "") -> str:
    with pytest.raises(UserError) as error:
        read(tmp_path, entry, mirror)
    assert "\n" not in str(error.value) and not (tmp_path / "mine.json").exists()
    return str(error.value)


@pytest.mark.parametrize(
    "network, config, kind, abilities",
    rows_of("""
        BertForMaskedLM  | {} | encoder | [encoder, mask_filler]
        BertLMHeadModel  | {is_decoder: true} | decoder | [decoder]
        MPNetModel       | {} | encoder | [encoder]
        XLNetModel       | {d_model: 8, n_layer: 1, n_head: 1, d_inner: 8} | encoder | [encoder]
        LlamaForCausalLM | {tie_word_embeddings: true} | decoder | [decoder]
        T5ForConditionalGeneration | {d_model: 8, num_layers: 1, num_heads: 1, d_ff: 8, d_kv: 8} | encoder_decoder | [encoder_decoder, span_writer]
    """),
)
def test_kinds_and_sizes(tmp_path, network, config, kind, abilities):
    """all-mpnet-base-v2 names MPNetForMaskedLM, but has lost that head: the weights decide. XLNet has
    a causal head in transformers, but sees whole texts.
    """
    network = getattr(transformers, network)
    sizes = {"vocab_size": 50} if "d_model" in config else SMALL
    whole = network(network.config_class(**sizes | config))
    folder = saved(tmp_path / "model", whole)
    config = read_json(folder / "config.json") | {"architectures": ["SomethingForMaskedLM"]}
    write_json(folder / "config.json", config)
    known = read(tmp_path, here(folder))
    tensors = load_file(folder / "model.safetensors")
    assert (known["kind"], known["abilities"]) == (kind, abilities)
    assert known["parameters"] == sum(tensor.numel() for tensor in tensors.values())
    assert known["bytes"] == 4 * known["parameters"]
    assert known["model_type"] == whole.config.model_type
    assert known["weights"] == ["model.safetensors"]


@pytest.mark.parametrize(
    "file, content, said",
    [
        ("config.json", None, "mine/config.json could not be fetched"),
        (
            "config.json",
            b'{"model_type": "dpr"}',
            (
                "a dpr model is neither an encoder that fills masks, an encoder-decoder nor a "
                "decoder of text"
            ),
        ),
        ("tokenizer.json", None, "has no tokenizer (tokenizer.json, or "),
        ("model.safetensors", None, "mine/model.safetensors could not be fetched"),
        ("model.safetensors", b"\xff" * 100, "is not a complete safetensors file (a header of"),
        *(
            (
                "model.safetensors",
                len(header).to_bytes(8, "little") + header,
                "an invalid shape or place",
            )
            for shape, end in (("[1.5]", 4), ("[1]", "[]"))
            for header in [f'{{"a": {{"shape": {shape}, "data_offsets": [0, {end}]}}}}'.encode()]
        ),
        ("config.json", b" " * 20_000_001, "has more than 20,000,000 bytes"),
        *(
            ("config.json", json.dumps({"model_type": "bert"} | SMALL | strange).encode(), said)
            for strange, said in rows_of("""
                {num_labels: 10000000} | has num_labels 10000000, more than 100,000
                {hidden_act: nope} | cannot build a network from config.json
            """)
        ),
    ],
)
def test_what_no_method_can_ask_is_refused_in_one_sentence(tmp_path, file, content, said):
    folder = saved(tmp_path / "model", bert())
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    assert said in refused(tmp_path, here(folder))


def test_a_pickle_and_folders_that_are_not_there(tmp_path):
    folder = saved(tmp_path / "model", bert())
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "as pytorch_model.bin only, a pickle" in refused(tmp_path, here(folder))
    (folder / "config.json").unlink()
    (folder / "pytorch_model.bin").rename(folder / "model-Q4_K_M.gguf")
    said = refused(tmp_path, here(folder))
    assert "GGUF files" in said and "docs/ask.md" in said and "docs/harness.md" in said
    for name in ("nowhere", "~nobody-here/model"):
        said = refused(tmp_path, here(name))
        assert f"{name} is not there; correct it in `model:` of the configuration (mine)" in said


# ---- from the hub

ENTRY = {"hub": "me/mine", "revision": "main", "licence": "MIT"}


@pytest.fixture
def server(tmp_path, monkeypatch):
    yield from serving(
        Hub(saved(tmp_path / "there", bert(vocab_size=40_000))), tmp_path, monkeypatch
    )


def test_of_the_hub_only_headers_are_read(tmp_path, server):
    known = read(tmp_path, ENTRY)
    assert known["abilities"] == ["encoder", "mask_filler"]
    assert known["bytes"] == 4 * known["parameters"] > 1_280_000
    assert 0 < server.given <= 100_001


def test_a_model_that_is_fetched_is_read_where_it_is(tmp_path, server):
    shutil.copytree(server.folder, tmp_path / "fetched/mine")
    (tmp_path / "fetched/mine/manifest.json").write_text("{}")
    assert read(tmp_path, ENTRY)["kind"] == "encoder" and server.asked == []


@pytest.mark.parametrize("kind", ["folder", "url"])
def test_of_a_mirror(tmp_path, server, kind):
    """The program does not ask the hub, although the mirror's server could also answer as
    the hub.
    """
    shutil.copytree(server.folder, tmp_path / "mirror/huggingface.co/me/mine/resolve/main")
    known = read(tmp_path, ENTRY, tmp_path / "mirror" if kind == "folder" else server.url)
    assert known["abilities"] == ["encoder", "mask_filler"]
    assert all(path.startswith("/huggingface.co/") for _, path, _ in server.asked)


def test_weights_that_come_too_slowly(tmp_path, server, monkeypatch):
    server.state.add("slow")
    monkeypatch.setattr(facts, "PATIENCE", 0.3)
    said = refused(tmp_path, ENTRY)
    assert "the hub does not give" in said and "no whole answer in 0.3 s" in said


def test_a_hub_that_must_not_be_asked(tmp_path, server, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "is not asked, since HF_HUB_OFFLINE is set" in refused(tmp_path, ENTRY)
    assert server.asked == []


# ---- kept facts


@pytest.mark.slow
def test_facts_are_read_once_and_anew_when_the_entry_or_the_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = saved(tmp_path / "model", bert())
    reader = facts_reader(tmp_path, "", lambda name: f"`model:` ({name})")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    entry = here(folder)
    assert reader("mine", entry, False) is None, "nobody asks where it is not needed"
    first = reader("mine", entry, True)
    assert first["abilities"] == ["encoder", "mask_filler"]
    monkeypatch.setattr(subprocess, "run", None)
    assert (
        reader("mine", entry | {"title": "Mine", "licence": "other"}, True)
        == reader("mine", entry, False)
        == first
    )
    saved(folder, transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL)))
    assert cached_facts("mine", entry, tmp_path) is None
    assert identity(entry, tmp_path) != first["identity"]
    assert cached_facts("mine", ENTRY, tmp_path) is None
    (tmp_path / "results/fetch/facts/mine.json").write_text("{")
    assert cached_facts("mine", entry, tmp_path) is None


def test_the_reader_says_what_the_program_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with pytest.raises(
        UserError,
        match="^mine: folder .* is not there; correct it in `model:` of the configuration",
    ):
        facts_reader(tmp_path, "", lambda name: "`model:` of the configuration")(
            "mine", here(tmp_path / "nowhere"), True
        )
