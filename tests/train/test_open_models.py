"""Small models of the families in resources/models.yaml, in their released types and shards: they
are fetched and loaded.
"""
# ruff: noqa: F401 - fixtures are imported

import json

import pytest
import torch
import yaml
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

from scripts.fetch.model import word_pieces
from scripts.train.paradigms import classify, fill, likelihood
from scripts.train.labels import Head, head_of
from scripts.train.paradigms.paradigm import read_config, read_network, read_tokenizer
from scripts.train.run import files_of
from scripts.train.work import model_view
from tests.files import write_json
from tests.train.test_odd_models import SPECIAL
from tests.rows import each_row
from tests.fetch.fetch_models import MODELS, WORDS, fetch_fixture, no_pauses

pytestmark = pytest.mark.models
SMALL = yaml.safe_load("""
{pad_token_id: 0, bos_token_id: 2, eos_token_id: 3, hidden_size: 32, num_hidden_layers: 2, num_attention_heads: 4,
  intermediate_size: 48, max_position_embeddings: 64}
""")
LLAMA = SMALL | {
    "model_type": "llama",
    "num_key_value_heads": 2,
    "rope_theta": 100000,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}
DECODERS = {
    "smollm2_135m": LLAMA,
    "llama_3_2_1b": LLAMA
    | yaml.safe_load("""
        head_dim: 8
        rope_theta: 500000.0
        rope_scaling: {factor: 32.0, high_freq_factor: 4.0, low_freq_factor: 1.0, original_max_position_embeddings: 8192,
          rope_type: llama3}
    """),
    "qwen3_600m_base": SMALL
    | {
        "model_type": "qwen3",
        "num_key_value_heads": 2,
        "head_dim": 16,
        "tie_word_embeddings": True,
        "rope_theta": 1000000,
        "torch_dtype": "bfloat16",
    },
    "gemma_3_270m": SMALL
    | yaml.safe_load("""
        model_type: gemma3_text
        num_key_value_heads: 1
        head_dim: 16
        layer_types: [sliding_attention, full_attention]
        sliding_window: 8
        query_pre_attn_scalar: 16
        rope_local_base_freq: 10000.0
        rope_theta: 1000000.0
        torch_dtype: bfloat16
    """),
}
ENCODERS = {
    "modernbert_base": SMALL
    | yaml.safe_load("""
        {model_type: modernbert, classifier_pooling: mean, global_attn_every_n_layers: 3, local_attention: 16,
          global_rope_theta: 160000.0, local_rope_theta: 10000.0, torch_dtype: float32}
    """),
    "deberta_v3_base": SMALL
    | yaml.safe_load("""
        {model_type: deberta-v2, relative_attention: true, position_buckets: 16, norm_rel_ebd: layer_norm, share_att_key: true,
          pos_att_type: p2c|c2p, position_biased_input: false, type_vocab_size: 0, max_relative_positions: -1,
          torch_dtype: float16}
    """),
    "mpnet_base": SMALL
    | {"model_type": "mpnet", "relative_attention_num_buckets": 32, "torch_dtype": "float32"},
}


def released(place, content: dict, special: dict, kind, shard_size: str = "1GB"):
    """Write a folder like a released model: tokenizer, configuration, and weights in their type,
    tied weights once.

    Return the folder and the network.
    """
    tokenizer = word_pieces(WORDS, sentinel=False)
    place.mkdir(exist_ok=True)
    tokenizer.save(str(place / "tokenizer.json"))
    torch.manual_seed(0)
    network = kind.from_config(
        AutoConfig.for_model(**content, vocab_size=tokenizer.get_vocab_size() + 7)
    )
    network = network.to(getattr(torch, content["torch_dtype"]))
    network.save_pretrained(place, max_shard_size=shard_size)
    write_json(place / "config.json", content | {"vocab_size": tokenizer.get_vocab_size() + 7})
    write_json(
        place / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"} | special
    )
    return place, network


def fresh_head() -> Head:
    return Head(["no", "yes"], [0, 1], None)


@each_row("name", DECODERS)
def test_a_decoder(fetch, tmp_path, name):
    """With shards, half precision and no tied head, every weight is there, as fp32; no padding
    token is needed.
    """
    assert MODELS[name]["hub"]
    folder, network = released(
        tmp_path / name,
        DECODERS[name],
        {"eos_token": "[SEP]"},
        AutoModelForCausalLM,
        shard_size="40KB",
    )
    fetch({"folder": str(folder), "licence": "none"}, manifest=tmp_path / "out/mine/manifest.json")
    # like a run
    fetched = model_view(tmp_path / "out/mine", files_of(tmp_path / "out/mine"), tmp_path)
    assert len(list(fetched.glob("model-*.safetensors"))) > 1
    assert not (fetched / "model.safetensors").exists()
    said = (folder / "generation_config.json").read_bytes()
    assert (fetched / "generation_config.json").read_bytes() == said
    tokenizer = read_tokenizer(fetched)
    loaded, missing = read_network(
        AutoModelForCausalLM, fetched, read_config(fetched, tokenizer, {"max_length": 64})
    )
    assert missing == [] and tokenizer.pad_token == "[SEP]"
    for key, value in network.state_dict().items():
        assert loaded.state_dict()[key].dtype == torch.float32
        assert torch.equal(loaded.state_dict()[key], value.float()), key
    assert loaded.get_output_embeddings().weight is loaded.get_input_embeddings().weight
    assert likelihood.load(fetched, {"max_length": 64, "precision": "fp32"})[2] == "decoder"
    tokenizer, classifier = classify.load(fetched, fresh_head(), {"max_length": 64})
    scores = classifier(
        **tokenizer(["a man", "a man washes a pan"], padding=True, return_tensors="pt").to("cpu")
    ).logits
    assert scores.shape == (2, 2) and torch.isfinite(scores).all()


@each_row("name", ENCODERS)
def test_an_encoder(fetch, tmp_path, name):
    """An encoder is fetched and loaded with a fresh head."""
    folder, network = released(tmp_path / name, ENCODERS[name], SPECIAL, AutoModelForMaskedLM)
    write_json(folder / "generation_config.json", {"eos_token_id": 1})
    fetched = fetch({"folder": str(folder), "licence": "none"})
    assert not (fetched / "generation_config.json").exists()  # only where a model writes
    assert head_of(fetched, ["no", "yes"], None, learns=True).order is None
    _, classifier = classify.load(fetched, fresh_head(), {"max_length": 62})
    base = {
        key: value for key, value in network.base_model.state_dict().items() if "pooler" not in key
    }
    assert base
    assert all(
        torch.equal(classifier.base_model.state_dict()[key], value.float())
        for key, value in base.items()
    )
