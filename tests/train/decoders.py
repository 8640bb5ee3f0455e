"""Tiny decoders with random weights, and their byte-level tokenizers with the special tokens
of the real ones.
"""

from pathlib import Path

import torch
import yaml
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    PreTrainedTokenizerFast,
    Qwen3Config,
)

SIZES = yaml.safe_load("""
{hidden_size: 32, intermediate_size: 48, num_hidden_layers: 2, num_attention_heads: 2, num_key_value_heads: 1,
  head_dim: 16, max_position_embeddings: 256}
""")
CONFIGS = {
    "gpt2": (GPT2Config, {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 256}),
    "llama": (LlamaConfig, SIZES),
    "qwen3": (Qwen3Config, SIZES),
    "gemma3": (Gemma3TextConfig, SIZES | {"sliding_window": 16, "sliding_window_pattern": 2}),
}
# As in the real tokenizers: GPT-2 has one special token and writes none; Llama and Gemma write a
# start token before each text.
SPECIAL = yaml.safe_load("""
gpt2: {bos_token: <|endoftext|>, eos_token: <|endoftext|>, unk_token: <|endoftext|>}
llama: {bos_token: <|begin_of_text|>, eos_token: <|end_of_text|>}
qwen3: {eos_token: <|endoftext|>, pad_token: <|endoftext|>}
gemma3: {bos_token: <bos>, eos_token: <eos>, pad_token: <pad>, unk_token: <unk>, mask_token: <mask>}
""")
STARTS = ("llama", "gemma3")
DECODERS = list(CONFIGS)


def write_tokenizer(kind: str, folder: Path) -> PreTrainedTokenizerFast:
    """Write a tokenizer of bytes that adds the same special tokens as the real one."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = list(dict.fromkeys(SPECIAL[kind].values()))
    pieces = {piece: number for number, piece in enumerate([*special, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=pieces, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    if kind in STARTS:
        start = SPECIAL[kind]["bos_token"]
        tokenizer.post_processor = TemplateProcessing(
            single=f"{start} $A",
            pair=f"{start} $A {start}:1 $B:1",
            special_tokens=[(start, pieces[start])],
        )
    whole = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=256, **SPECIAL[kind]
    )
    whole.save_pretrained(folder)
    return whole


def write_decoder(kind: str, folder: Path, seed: int = 0) -> Path:
    """Write a decoder of an architecture, with weights that are far from zero."""
    tokenizer = write_tokenizer(kind, folder)
    torch.manual_seed(seed)
    config, sizes = CONFIGS[kind]
    ids = {
        f"{name}_id": tokenizer.convert_tokens_to_ids(token)
        for name, token in SPECIAL[kind].items()
        if name in ("bos_token", "eos_token")
    }
    network = AutoModelForCausalLM.from_config(
        config(
            vocab_size=len(tokenizer), pad_token_id=None, **{"bos_token_id": None} | ids, **sizes
        )
    )
    with torch.no_grad():
        for weights in network.parameters():
            weights += 0.1 * torch.randn_like(weights)
    network.save_pretrained(folder)
    return folder
