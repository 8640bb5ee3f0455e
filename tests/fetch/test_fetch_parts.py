"""Folders that are more or less than a model of text: a model that also sees (its text half is
taken), and an adapter (it is merged into its base).
"""
# ruff: noqa: F401 - fixtures are imported

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import peft
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForSequenceClassification,
)

from tests.fetch.fetch_models import fetch_fixture, mend, no_pauses, refused_fixture
from tests.fetch.test_facts import read
from tests.fetch.test_fetch_model import here
from tests.files import read_json
from tests.models import fetched as fetched_entry
from tests.rows import each_row
from tests.train.decoders import write_decoder, write_tokenizer

pytestmark = pytest.mark.models
TEXT = yaml.safe_load("""
{hidden_size: 32, intermediate_size: 64, num_hidden_layers: 4, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 8,
  vocab_size: 300, max_position_embeddings: 128}
""")
SEEING = yaml.safe_load("""
gemma3:
  text_config: {sliding_window: 8, layer_types: [sliding_attention, full_attention, sliding_attention, full_attention]}
  vision_config: {hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1, num_attention_heads: 2, image_size: 28, patch_size: 14}
qwen2_5_vl:
  text_config: {rope_parameters: {rope_type: default, rope_theta: 1000000, mrope_section: [2, 1, 1]}}
  vision_config: {depth: 2, hidden_size: 32, intermediate_size: 32, num_heads: 2, out_hidden_size: 32}
qwen3_5:
  text_config: {layer_types: [linear_attention, full_attention, linear_attention, full_attention], linear_num_key_heads: 2,
    linear_num_value_heads: 4, linear_key_head_dim: 8, linear_value_head_dim: 8}
  vision_config: {depth: 2, hidden_size: 32, intermediate_size: 32, num_heads: 2, out_hidden_size: 32}
llama4:
  text_config: {num_local_experts: 2, intermediate_size_mlp: 64, attention_chunk_size: 32}
  vision_config: {hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1, num_attention_heads: 2, image_size: 28,
    patch_size: 14, vision_output_dim: 32}
""")


def seeing(folder, kind: str, **options):
    """Write a small model that also sees, with weights far from zero; return its network."""
    parts = SEEING[kind] | {"text_config": TEXT | SEEING[kind]["text_config"]}
    torch.manual_seed(0)
    network = AutoModelForImageTextToText.from_config(AutoConfig.for_model(kind, **parts)).eval()
    with torch.no_grad():
        for weights in network.parameters():
            weights += 0.05 * torch.randn_like(weights)
    network.save_pretrained(folder, **options)
    write_tokenizer("gemma3", folder)
    return network


def logits(network) -> torch.Tensor:
    ids = torch.arange(5, 5 + 120).reshape(3, 40)
    with torch.no_grad():
        return network.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).logits


@pytest.mark.parametrize("kind", SEEING)
def test_the_text_half_computes_what_the_whole_model_computes_for_text(fetch, tmp_path, kind):
    options = {"max_shard_size": "100KB"} if kind == "gemma3" else {}
    whole = seeing(tmp_path / kind, kind, **options)
    known = read(tmp_path, here(tmp_path / kind))
    fetched = fetch(here(tmp_path / kind))
    half = AutoModelForCausalLM.from_pretrained(fetched)
    assert torch.equal(logits(half), logits(whole))
    tensors = [load_file(file) for file in sorted(fetched.glob("*.safetensors"))]
    assert len(tensors) > 1 or kind != "gemma3"
    names = [name for file in tensors for name in file]
    assert names and not [name for name in names if "vision" in name or "visual" in name]
    assert known["kind"] == "decoder"
    assert known["parameters"] == sum(one.numel() for file in tensors for one in file.values())


def test_a_model_that_sees_without_a_class_for_its_text(refused, tmp_path):
    write_decoder("llama", tmp_path / "m")
    mend(tmp_path / "m/config.json", model_type="glm4v", text_config={}, vision_config={})
    said = refused(here(tmp_path / "m"))
    assert "is a glm4v model, of images or sounds beside text" in said and "docs/ask.md" in said


# ---- adapters


def adapter(folder, base, kind=AutoModelForCausalLM, more=0, **options) -> torch.Tensor:
    """Write an adapter with weights far from zero, which adds `more` tokens; return the logits of
    the adapted network.
    """
    torch.manual_seed(1)
    config = peft.LoraConfig(**{"r": 4, "target_modules": "all-linear"} | options)
    network = kind.from_pretrained(base)
    if more:
        network.resize_token_embeddings(network.config.vocab_size + more, mean_resizing=False)
    network = peft.get_peft_model(network, config)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if "lora_" in name or "modules_to_save" in name or "trainable_tokens" in name:
                weights.copy_(0.1 * torch.randn_like(weights))
    network.save_pretrained(folder)
    return logits(network)


@pytest.mark.parametrize("tokenizer", [True, False])
def test_an_adapter_is_merged_into_its_base(fetch, tmp_path, tokenizer):
    """Its base is named as peft writes it, or relative to the folder above. The tokenizer is the
    adapter's own or the base's.
    """
    base = write_decoder("llama", tmp_path / "base")
    wanted = adapter(tmp_path / "mine", base, task_type="CAUSAL_LM" if tokenizer else None)
    if tokenizer:
        write_tokenizer("llama", tmp_path / "mine")
    else:
        mend(tmp_path / "mine/adapter_config.json", base_model_name_or_path="base")
    known = read(tmp_path, here(tmp_path / "mine"))
    assert (known["kind"], known["weights"]) == ("decoder", ["model.safetensors"])
    fetched = fetch(here(tmp_path / "mine"))
    merged = AutoModelForCausalLM.from_pretrained(fetched)
    assert abs(logits(merged) - wanted).max() < 1e-4
    assert not torch.allclose(logits(AutoModelForCausalLM.from_pretrained(base)), wanted, atol=0.1)
    assert known["parameters"] == sum(
        one.numel() for one in load_file(fetched / "model.safetensors").values()
    )
    assert (fetched / "tokenizer.json").exists()
    assert not list(fetched.glob("adapter*"))


TABLES = ["embed_tokens", "lm_head"]


@each_row(
    "name, more, options",
    [
        ("llama", 2, {"target_modules": ["q_proj"], "modules_to_save": TABLES}),
        ("llama", 2, {"target_modules": ["q_proj", *TABLES]}),
        ("llama", 0, {"target_modules": ["q_proj"], "trainable_token_indices": [5, 6]}),
        ("gpt2", 2, {"target_modules": ["c_attn"], "modules_to_save": ["wte"]}),
        ("gpt2", 2, {"target_modules": ["c_attn", "wte"]}),
        ("gpt2", 0, {"target_modules": ["c_attn", "wte", "lm_head"]}),
    ],
)
def test_an_adapter_brings_embeddings_along(fetch, tmp_path, name, more, options):
    """Whole, beside what it learnt of them, or wider by added tokens."""
    folder = tmp_path / f"{len([*tmp_path.iterdir()])}"
    wanted = adapter(folder / "mine", write_decoder(name, folder / "base"), more=more, **options)
    write_tokenizer(name, folder / "mine")
    merged = AutoModelForCausalLM.from_pretrained(fetch(here(folder / "mine")))
    assert logits(merged).shape == wanted.shape
    assert abs(logits(merged) - wanted).max() < 1e-4


def test_an_adapter_that_classifies_keeps_its_head(fetch, tmp_path):
    base = fetched_entry("tiny_bert", tmp_path / "base", AutoModelForSequenceClassification)
    wanted = adapter(
        tmp_path / "mine", base, AutoModelForSequenceClassification, task_type="SEQ_CLS"
    )
    assert "mask_filler" not in read(tmp_path, here(tmp_path / "mine"))["abilities"]
    merged = AutoModelForSequenceClassification.from_pretrained(fetch(here(tmp_path / "mine")))
    assert torch.allclose(logits(merged), wanted, atol=1e-5)


def test_adapters_that_do_not_fit(refused, tmp_path, monkeypatch):
    base = write_decoder("llama", tmp_path / "base")
    mine, config = tmp_path / "mine", tmp_path / "mine/adapter_config.json"
    adapter(mine, base)
    mend(config, base_model_name_or_path="no such/place")
    assert "an adapter of the model no such/place, which is neither" in refused(here(mine))
    mend(config, base_model_name_or_path="models/base")  # looks like a model of the hub
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "mine: its base models/base/config.json: http://127.0.0.1:9 does" in refused(here(mine))
    mend(config, base_model_name_or_path=str(write_decoder("gpt2", tmp_path / "other")))
    assert "peft cannot put the adapter onto" in refused(here(mine))
    mend(config, base_model_name_or_path=".")
    assert "which is an adapter too" in refused(here(mine))
    mend(config, base_model_name_or_path="base")
    weights = load_file(mine / "adapter_model.safetensors")
    name = sorted(weights)[0]
    save_file(
        weights | {name.replace("layers.0", "layers.9"): weights[name].clone()},
        mine / "adapter_model.safetensors",
    )
    assert "the adapter's weights do not fit" in refused(here(mine))
    weights.pop(name)
    save_file(weights, mine / "adapter_model.safetensors")
    assert "the adapter's weights do not fit" in refused(here(mine))
    prompt = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    peft.get_peft_model(AutoModelForCausalLM.from_pretrained(base), prompt).save_pretrained(
        tmp_path / "prompt"
    )
    assert "learns a prompt and no weights" in refused(here(tmp_path / "prompt"))
    (mine / "adapter_model.safetensors").rename(mine / "adapter_model.bin")
    assert "adapter_model.bin, a pickle" in refused(here(mine))


@each_row(
    "kind, of, wrapped",
    [
        ("whole", "^", "_orig_mod."),
        ("shards", "^", "module._orig_mod."),
        ("adapter", r"model\.layers", "model._orig_mod.layers"),
        ("adapter", "(lora_.)", r"\1.default"),
    ],
)
def test_names_of_a_wrapped_network(fetch, refused, tmp_path, kind, of, wrapped):
    """The refusal has the line that removes them."""
    folder = tmp_path / f"{len([*tmp_path.iterdir()])}"
    place = write_decoder("llama", folder / "base")
    network = AutoModelForCausalLM.from_pretrained(place)
    wanted = logits(network)
    if kind == "shards":
        (place / "model.safetensors").unlink()
        network.save_pretrained(place, max_shard_size="60KB")
    if kind == "adapter":
        wanted = adapter(folder / "mine", place)
        place = folder / "mine"
        write_tokenizer("llama", place)
    for file in place.glob("*.safetensors"):
        weights = {re.sub(of, wrapped, name): one.clone() for name, one in load_file(file).items()}
        save_file(weights, file, {"format": "pt"})
    for file in place.glob("*.index.json"):
        table = read_json(file)["weight_map"]
        mend(file, weight_map={re.sub(of, wrapped, name): one for name, one in table.items()})
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    said = refused(here(place))
    prefix = wrapped.removeprefix("model.").removeprefix("\\1.").split(".")[0]
    assert f"`{prefix}.` in their names" in said
    line = f"python -c {said.partition('python -c ')[2]}"
    ours = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(line, shell=True, check=True, cwd=place, env=os.environ | {"PATH": ours})
    made = AutoModelForCausalLM.from_pretrained(fetch(here(place)))
    assert abs(logits(made) - wanted).max() < 1e-4


def test_weights_of_the_base_may_stand_beside_an_adapter(fetch, tmp_path):
    wanted = adapter(tmp_path / "mine", write_decoder("llama", tmp_path / "base"))
    write_tokenizer("llama", tmp_path / "mine")
    file = tmp_path / "mine/adapter_model.safetensors"
    beside = {
        f"base_model.model.{name.replace('.weight', '.base_layer.weight')}": weight
        for name, weight in load_file(tmp_path / "base/model.safetensors").items()
        if "_proj" in name
    }
    save_file(load_file(file) | beside, file)
    merged = AutoModelForCausalLM.from_pretrained(fetch(here(tmp_path / "mine")))
    assert abs(logits(merged) - wanted).max() < 1e-4


@each_row(
    "key, kernel, said",
    """
    attn_implementation   | flash_attention_2               | 1
    _attn_implementation  | sdpa                            | 0
    """,
)
def test_a_kernel_of_attention_that_is_not_here(fetch, tmp_path, caplog, key, kernel, said):
    caplog.clear()
    base = write_decoder("llama", tmp_path / "m")
    wanted = logits(AutoModelForCausalLM.from_pretrained(base))
    mend(base / "config.json", **{key: kernel})
    fetched = AutoModelForCausalLM.from_pretrained(fetch(here(base)))
    assert torch.equal(logits(fetched), wanted)
    assert caplog.text.count("config.json asks for") == said


# ---- quantised weights


def test_quantised_weights_are_fetched_as_they_are(fetch, refused, tmp_path):
    """Their packed tensors are not those of the network. Without a word in config.json they are
    refused.
    """
    base = write_decoder("llama", tmp_path / "m")
    weights = load_file(base / "model.safetensors")
    name = next(name for name in weights if "q_proj" in name)
    save_file(weights | {name: torch.zeros(16, 1, dtype=torch.uint8)}, base / "model.safetensors")
    assert "of type U8, so the weights are quantised, but config.json does not say how" in refused(
        here(base)
    )
    mend(base / "config.json", quantization_config={"quant_method": "bitsandbytes"})
    known = read(tmp_path, here(base))
    assert (known["quantised"], known["parameters"]) == ("bitsandbytes", None)
    assert read_json(fetch(here(base)) / "config.json")["quantization_config"]
