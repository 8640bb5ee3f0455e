"""Tiny decoders of several architectures with random weights, and small trained tokenizers with the
special tokens of the real ones.
"""

from pathlib import Path

import torch
import yaml
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

WORDS = (
    "the cat sat on the mat . how long is it ? about two hours , i think . see you at five o'clock "
    "then ! ten days ago ; yes , a year naïve “quoted” 3 : 30 pm"
).split()
SIZES = """
sizes: &sizes {hidden_size: 16, num_hidden_layers: 3, num_attention_heads: 2, intermediate_size: 24,
  max_position_embeddings: 400}
"""


def architectures(text: str) -> dict[str, tuple]:
    """Return each architecture's configuration and the kind of its tokenizer."""
    entries = yaml.safe_load(SIZES + text)
    del entries["sizes"]
    return {name: (AutoConfig.for_model(**entry), kind) for name, (kind, entry) in entries.items()}


DECODERS = architectures("""
gpt2: [bytes, {model_type: gpt2, n_embd: 16, n_layer: 3, n_head: 2, n_positions: 400}]
llama: [spaces, {model_type: llama, <<: *sizes, num_key_value_heads: 1}]
gemma3: [spaces, {model_type: gemma3_text, <<: *sizes, head_dim: 8, num_key_value_heads: 1, sliding_window: 7,
  final_logit_softcapping: 3.0, layer_types: [sliding_attention, full_attention, sliding_attention]}]
qwen3: [startless, {model_type: qwen3, <<: *sizes, head_dim: 8, num_key_value_heads: 1}]
opt: [bytes, {model_type: opt, hidden_size: 16, word_embed_proj_dim: 16, ffn_dim: 24, num_hidden_layers: 2,
  num_attention_heads: 2, max_position_embeddings: 400}]
# counts positions from the padding's number on
roberta: [spaces, {model_type: roberta, <<: *sizes, is_decoder: true}]
# its get_decoder() is the last part of its head
modernbert: [spaces, {model_type: modernbert-decoder, <<: *sizes, local_attention: 6}]
""")
# Answers of these depend on the padding of their batch: it is text to one, and counts as places
# to the other.
READ_PADDING = architectures("""
rwkv: [spaces, {model_type: rwkv, hidden_size: 16, attention_hidden_size: 16, num_hidden_layers: 2, context_length: 400}]
bart: [spaces, {model_type: bart, d_model: 16, decoder_layers: 2, decoder_attention_heads: 2, decoder_ffn_dim: 24,
  max_position_embeddings: 400, init_std: 0.4}]
""")
# The decoders that are trained, and the token that each writes before a text.
TRAINED = {"gpt2": "", "llama": "<bos>", "qwen3": "", "gemma3": "<bos>"}


def tokenizer_of(kind: str, **special: str) -> PreTrainedTokenizerFast:
    """Make a small tokenizer: of bytes (like GPT-2), of pieces with the space before them and a
    start token (like Gemma), or without a start token. special: further special tokens by name.
    """
    corpus = [" ".join(WORDS[start:] + WORDS[:start]) for start in range(len(WORDS))]
    if kind == "spaces":
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.decoder = decoders.Replace("▁", " ")
        names = ("pad", "eos", "bos", "unk")
        special = {f"{name}_token": f"<{name}>" for name in names} | special
        alphabet = ["_", "\n", "A", "B"]
    else:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
        # GPT-2 has no padding token
        special = {"eos_token": "<|endoftext|>"} if kind == "bytes" else {"pad_token": "<pad>"}
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=[*special.values()],
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    if kind == "spaces":
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<bos> $A", pair="<bos> $A <bos>:1 $B:1", special_tokens=[("<bos>", 2)]
        )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=400, **special)


def write_tokenizer(name: str, folder: Path) -> PreTrainedTokenizerFast:
    """Write the tokenizer of an architecture; that of Gemma knows a token for a gap."""
    special = {"mask_token": "<mask>"} if name == "gemma3" else {}
    tokenizer = tokenizer_of((DECODERS | READ_PADDING)[name][1], **special)
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_decoder(name: str, folder: Path) -> Path:
    """Write a tiny untrained decoder of an architecture; its logits are far from equal."""
    config, tokenizer = (DECODERS | READ_PADDING)[name][0], write_tokenizer(name, folder)
    config.vocab_size = len(tokenizer)
    has_ids = name in ("roberta", "modernbert")
    for token in ("pad_token_id", "bos_token_id", "eos_token_id"):
        setattr(config, token, getattr(tokenizer, token) if has_ids else None)
    config.initializer_range = 0.4
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder
