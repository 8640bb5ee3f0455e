"""Architectures that differ from all others are scored, or trained, through the program."""

import json
import logging

import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM

from scripts.train.run import train
from tests.rows import each_row
from tests.train.decoders import tokenizer_of
from tests.training import arguments, done_here, write_pairs

pytestmark = pytest.mark.models
PROMPT = {
    "score": "sum",
    "threshold": None,
    "domain": None,
    "texts": {"swapped": "|{text_b} Then, {text_a}", "in_order": "|{text_a} Then, {text_b}"},
}
SCORED = {"paradigm": "likelihood", "learns": False, "peak": False, "prompt": PROMPT}
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 80,
}
OF_T5 = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2}
OF_T5 |= {"num_experts": 2, "decoder_start_token_id": 0}
BLOCKS = {
    "num_local_experts": 2,
    "head_dim": 8,
    "num_key_value_heads": 1,
    "intermediate_size_mlp": 24,
}


@each_row(
    "model_type, sizes, network, method",
    [
        # the body of its network is not where it says; experts read each token
        ("llama4_text", SIZES | BLOCKS, AutoModelForCausalLM, SCORED),
        # a table of token types is as wide as its longest text, and a tree is wider
        ("big_bird", SIZES | {"is_decoder": True}, AutoModelForCausalLM, SCORED),
        # takes a mask of two dimensions alone
        ("openai-gpt", {"n_embd": 16, "n_layer": 2, "n_head": 2}, AutoModelForCausalLM, SCORED),
        # its head wants the routers' logits of the encoder
        ("switch_transformers", OF_T5, AutoModelForSeq2SeqLM, SCORED),
        # has no longest text, and sees a whole text: an encoder
        ("xlnet", {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24}, AutoModel, {}),
    ],
)
def test_each_is_scored_or_trained(tmp_path, caplog, model_type, sizes, network, method):
    folder, out = tmp_path / model_type, tmp_path / f"{model_type}-out"
    tokenizer = tokenizer_of("spaces", mask_token="<extra_id_0>")
    tokens = {
        f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")
    }
    torch.manual_seed(0)
    config = AutoConfig.for_model(model_type, vocab_size=len(tokenizer), **sizes, **tokens)
    network.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_pairs(tmp_path / "data", {"train": 20, "val": 20})
    caplog.clear()
    caplog.set_level(logging.WARNING)
    given = {"method": method, "training": {"epochs": 1}}
    given |= {"settings": {"wording": "plain"}} if method else {}
    done_here(train, arguments(out, tmp_path / "data", folder, **given))
    assert "read alone" not in caplog.text
    facts = json.loads((out / "run.json").read_text())
    assert facts["parameters"] > 1000
