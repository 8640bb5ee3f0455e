"""Tokenizers of decoders: the padding token if none is named, and special tokens beyond the model's
table.
"""

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import GPT2Config

from scripts.running.program import UserError
from scripts.train.paradigms.paradigm import check_vocabulary, read_config, read_tokenizer
from tests.files import write_json

pytestmark = pytest.mark.models
WORDS = "a b man eats then sleeps <end> <unknown> <spare>".split()


def folder_of(
    place, config: dict, special: dict, unknown: bool = True, added: tuple[AddedToken, ...] = ()
):
    """Write a folder with a tokenizer of a few words and a configuration."""
    tokenizer = Tokenizer(
        models.WordLevel(
            {word: number for number, word in enumerate(WORDS)},
            unk_token="<unknown>" if unknown else None,
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_tokens([token for token in added if not token.special])
    tokenizer.add_special_tokens([token for token in added if token.special])
    tokenizer.save(str(place / "tokenizer.json"))
    write_json(
        place / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"} | special
    )
    write_json(place / "config.json", config)
    return place


GPT = GPT2Config(n_layer=1, n_embd=8, n_head=2, n_positions=16, vocab_size=len(WORDS)).to_dict() | {
    "model_type": "gpt2"
}
END, UNKNOWN = {"eos_token": "<end>"}, {"unk_token": "<unknown>"}


@pytest.mark.parametrize(
    "special, added, pads",
    [
        (END | UNKNOWN | {"pad_token": "<spare>"}, (), "<spare>"),
        (END | UNKNOWN, (), "<end>"),
        (UNKNOWN, (), "<unknown>"),
        ({}, (AddedToken("<spare>", special=True),), "<spare>"),
    ],
)
def test_a_decoder_pads_with_what_it_has(tmp_path, special, added, pads):
    tokenizer = read_tokenizer(folder_of(tmp_path, GPT, special, added=added))
    assert tokenizer.pad_token == pads and tokenizer.pad_token_id == WORDS.index(pads)
    assert read_config(tmp_path, tokenizer, {"max_length": 16}).pad_token_id == WORDS.index(pads)


@pytest.mark.parametrize(
    "config, special",
    [(GPT, {}), ({"model_type": "roberta"}, END | UNKNOWN), ({"model_type": "t5"}, END)],
)
def test_a_tokenizer_that_cannot_pad(tmp_path, config, special):
    """The cases are a decoder without any special token, an encoder (it counts positions by its
    padding), and an encoder-decoder.
    """
    with pytest.raises(UserError, match="no padding token"):
        read_tokenizer(folder_of(tmp_path, config, special))


@pytest.mark.parametrize(
    "config, added, beyond",
    [
        (GPT, AddedToken("<image>", special=True), False),
        (GPT, AddedToken("image", special=False), True),
        (
            {"model_type": "bert", "vocab_size": len(WORDS)},
            AddedToken("<image>", special=True),
            True,
        ),
    ],
)
def test_tokens_beyond_the_table(tmp_path, config, added, beyond):
    """A decoder may have special tokens beyond the table that no text here contains. A word must be
    in the table, and so must every token of an encoder.
    """
    tokenizer = read_tokenizer(
        folder_of(tmp_path, config, END | UNKNOWN | {"pad_token": "<spare>"}, added=(added,))
    )
    config = type("Config", (), config)
    if not beyond:
        return check_vocabulary(tmp_path, tokenizer, config)
    with pytest.raises(
        UserError, match=rf"makes token {len(WORDS)} \(<?image>?\), but the model has {len(WORDS)} "
    ):
        check_vocabulary(tmp_path, tokenizer, config)
