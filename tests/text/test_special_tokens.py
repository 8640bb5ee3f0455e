"""Tokenizers of decoders: the padding token if none is named, and special tokens beyond the model's
table.
"""

from contextlib import nullcontext

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig

from scripts.running.program import UserError
from scripts.train.paradigms.paradigm import check_vocabulary, read_config, read_tokenizer
from tests.files import write_json
from tests.rows import each_row

pytestmark = pytest.mark.models
WORDS = "a b man eats then sleeps <end> <unknown> <spare>".split()
SIZES = {"n_layer": 1, "n_embd": 8, "n_head": 2, "n_positions": 16, "vocab_size": len(WORDS)}


def folder_of(place, kind: str, special: dict, added: str, is_special: bool = True):
    """Write a folder with a tokenizer of a few words and a configuration."""
    words = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unknown>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    (tokenizer.add_special_tokens if is_special else tokenizer.add_tokens)([added] if added else [])
    tokenizer.save(str(place / "tokenizer.json"))
    named = {"tokenizer_class": "PreTrainedTokenizerFast"} | special
    write_json(place / "tokenizer_config.json", named)
    write_json(place / "config.json", {"model_type": kind} | SIZES)
    return place


@each_row(
    "special, added, pads",
    """
        {eos_token: <end>, unk_token: <unknown>, pad_token: <spare>} | '' | <spare>
        {eos_token: <end>, unk_token: <unknown>}                     | '' | <end>
        {unk_token: <unknown>}                                       | '' | <unknown>
        {}                                                           | <spare> | <spare>
    """,
)
def test_a_decoder_pads_with_what_it_has(tmp_path, special, added, pads):
    tokenizer = read_tokenizer(folder_of(tmp_path, "gpt2", special, added))
    assert tokenizer.pad_token == pads and tokenizer.pad_token_id == WORDS.index(pads)
    assert read_config(tmp_path, tokenizer, {"max_length": 16}).pad_token_id == WORDS.index(pads)


@each_row("kind", ["gpt2", "roberta"])
def test_a_tokenizer_that_cannot_pad(tmp_path, kind):
    """A decoder has no special token, and an encoder counts positions by its padding."""
    special = {"eos_token": "<end>"} if kind == "roberta" else {}
    with pytest.raises(UserError, match="no padding token"):
        read_tokenizer(folder_of(tmp_path, kind, special, ""))


@each_row(
    "kind, added, is_special, fits",
    """
        gpt2 | <image> | true  | true
        gpt2 | <image> | false | false
        bert | <image> | true  | false
    """,
)
def test_tokens_beyond_the_table(tmp_path, kind, added, is_special, fits):
    """A decoder may have special tokens beyond the table that no text here contains. A word must be
    in the table, and so must every token of an encoder.
    """
    folder_of(tmp_path, kind, {"pad_token": "<spare>"}, added, is_special)
    tokenizer, config = read_tokenizer(tmp_path), AutoConfig.from_pretrained(tmp_path)
    said = rf"makes token {len(WORDS)} \({added}\), but the model has {len(WORDS)} "
    with nullcontext() if fits else pytest.raises(UserError, match=said):
        check_vocabulary(tmp_path, tokenizer, config)
