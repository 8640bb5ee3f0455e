"""ESIM: its network against the formulas, and its words."""

from statistics import NormalDist

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from scripts.data.keyed import keyed_uniform
from scripts.running.program import UserError
from scripts.train.paradigms.esim import Esim, Paradigm, load, words_of
from scripts.train.paradigms.esim_words import WordVectors, build_tokenizer
from scripts.train.labels import Head
from tests.files import read_json, write_json
from tests.rows import rows_of

pytestmark = pytest.mark.models

HEAD = Head(["no", "yes"], [0, 1], None)
TRAINING = {"max_length": 32, "dropout": None}
TEXTS = [
    ["the game lasted two hours", "she did n't say", "go"],
    ["two hours", "at noon", "never ever"],
]
WORDS = {word for texts in TEXTS for text in texts for word in text.split()}


def network(words=30, dimension=6, hidden=5, labels=2, dropout=0.5, seed=0):
    torch.manual_seed(seed)
    vectors = np.random.default_rng(seed).normal(0, 0.5, (words, dimension)).astype(np.float32)
    return Esim(WordVectors(vectors), labels, hidden, dropout)


def batch(pairs, width=None, junk=0):
    """Return pairs of lists of numbers as the loop's tensors, padded with `junk` to `width`."""
    width = max([len(a) + len(b) for a, b in pairs] if width is None else [width])
    ids, types, mask = (torch.full((len(pairs), width), value) for value in (junk, 0, 0))
    for row, (a, b) in enumerate(pairs):
        ids[row, : len(a) + len(b)] = torch.tensor([*a, *b], dtype=torch.long)
        types[row, len(a) : len(a) + len(b)] = 1
        mask[row, : len(a) + len(b)] = 1
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory):
    """Write an ESIM model over a tiny BERT with dropout; its tokenizer writes [CLS] a [SEP] b
    [SEP].
    """
    model = tmp_path_factory.mktemp("over_bert")
    write_json(model / "config.json", {"model_type": "esim", "hidden_size": 7, "encoder": True})
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", *sorted(WORDS)]
    tokenizer = Tokenizer(
        models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=40,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(model / "encoder")
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=40,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(model / "encoder")
    return model


@pytest.fixture
def vectors_folder(tmp_path):
    write_json(
        tmp_path / "config.json", {"model_type": "esim", "hidden_size": 7, "vectors": "v.txt"}
    )
    draw = np.random.default_rng(2)
    lines = [
        " ".join([word, *(f"{value:.4f}" for value in draw.normal(0.1, 0.4, 5))])
        for word in sorted(WORDS - {"noon"})
    ]
    (tmp_path / "v.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


# ---- the network


def by_formulas(net, a, b) -> np.ndarray:
    """Return the logits of one pair from the paper's formulas, without batches and masks."""

    def read(lstm, rows):
        return lstm(torch.tensor(rows)[None])[0][0].numpy()

    def linear(layer, rows):
        return rows @ layer.weight.numpy().T + layer.bias.numpy()

    first, second = (read(net.input, net.words.table.weight[numbers].numpy()) for numbers in (a, b))
    pooled = []
    for one, other in ((first, second), (second, first)):
        powers = np.exp(one @ other.T)
        aligned = powers / powers.sum(1, keepdims=True) @ other
        enhanced = np.hstack([one, aligned, one - aligned, one * aligned])
        rows = read(net.inference, np.maximum(0, linear(net.projection, enhanced)))
        pooled += [rows.mean(0), rows.max(0)]
    return linear(net.output, np.maximum(0, linear(net.hidden, np.concatenate(pooled))))


def test_one_pair_is_as_by_the_formulas():
    net = network().double().eval()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            for a, b in rows_of("""
                [3, 9, 4, 4, 12] | [7, 5]
                [2]              | [2]
                [8, 8, 8]        | [1, 2, 3, 4]
            """):
                found = net(**batch([(a, b)], width=11)).logits[0]
                assert np.allclose(found, by_formulas(net, a, b), atol=1e-9)
    finally:
        torch.set_default_dtype(torch.float32)


numbers = st.lists(st.integers(1, 29), min_size=0, max_size=7)
pairs = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5)


@given(pairs=pairs, more=st.integers(0, 9), junk=st.integers(0, 29))
@settings(max_examples=20)
def test_neither_padding_nor_the_rest_of_a_batch_changes_a_result(pairs, more, junk):
    net, longest = network().eval(), max(len(a) + len(b) for a, b in pairs)
    with torch.inference_mode():
        plain = net(**batch(pairs)).logits
        assert torch.isfinite(plain).all()
        assert torch.allclose(
            net(**batch(pairs[::-1], longest + more, junk)).logits.flip(0), plain, atol=1e-6
        )
        alone = torch.cat([net(**batch([pair])).logits for pair in pairs])
        assert torch.allclose(alone, plain, atol=1e-6)


# ---- words


def test_tokens_are_those_of_glove():
    assert build_tokenizer([]).tokenize("a") == ["[UNK]"]
    text = (
        "They don't leave at 5:30PM (or 10 a.m.); it's 2.5\u2002years, 1990s in the\u00ad U.S. "
        "mid-day, John's 'small' 1,000"
    )
    tokens = (
        "they do n't leave at 5:30 pm ( or 10 a.m. ) ; it 's 2.5 years , 1990s in the u.s. "
        "mid - day , john 's ' small ' 1,000"
    ).split()
    assert build_tokenizer(tokens).tokenize(text) == tokens


@pytest.mark.parametrize("measured", ["noon go", "noon she said two hours"])
def test_the_vector_of_an_unknown_word_follows_from_words_of_the_training_split_alone(
    vectors_folder, measured
):
    job = {"head": vars(HEAD), "inputs": ["text"], "settings": {"training": TRAINING}}
    tables = {"learned": pa.table({"text": ["go at noon"]}), "test": pa.table({"text": [measured]})}
    paradigm = Paradigm(vectors_folder, job, tables)
    lines = dict(line.split(" ", 1) for line in (vectors_folder / "v.txt").open())
    known = [float(number) for word in ("go", "at") for number in lines[word].split()]
    shares = keyed_uniform(pd.Series(["noon"] * 5), np.arange(5))
    expected = [np.mean(known) + np.std(known) * NormalDist().inv_cdf(share) for share in shares]
    vector = paradigm.network.words.table.weight[paradigm.tokenizer.convert_tokens_to_ids("noon")]
    assert vector.tolist() == pytest.approx(expected, abs=1e-6)


# ---- models from files


@pytest.mark.parametrize(
    "change, said",
    rows_of("""
        {hidden_size: 0}     | hidden_size is 0
        {hiden: 3}           | unknown key hiden
        {encoder: true}      | either vectors .* or
        {vectors: gone.txt}  | 'gone.txt: no such file'
        {}                   | 'v.txt: has none of the 1 words of the texts to learn from'
    """),
)
def test_a_wrong_model_is_refused(vectors_folder, change, said):
    config = read_json(vectors_folder / "config.json")
    write_json(vectors_folder / "config.json", config | change)
    with pytest.raises(UserError, match=said):
        load(vectors_folder, HEAD, TRAINING, {"Wort", *WORDS}, {"Wort"})


def test_an_encoder_reads_the_texts_apart_and_stays_as_it_is(encoder_folder):
    assert words_of(encoder_folder, ["a"]) is None
    torch.manual_seed(0)
    tokenizer, net = load(encoder_folder, HEAD, TRAINING, None, None)
    encoded = tokenizer(
        *TEXTS, truncation="longest_first", max_length=32, return_attention_mask=False
    )
    assert (
        tokenizer.decode(encoded["input_ids"][1])
        == "[CLS] she did n't say [SEP] [CLS] at noon [SEP]"
    )
    assert encoded["token_type_ids"][1] == [0] * 6 + [1] * 4
    frozen = net.words
    assert not any(weight.requires_grad for weight in frozen.parameters())
    assert not any(module.training for module in net.train().words.encoder.modules())

    # The hypothesis "at noon" goes through the encoder alone; [CLS] and [SEP] are cut off.
    ids = torch.tensor([encoded["input_ids"][1][6:]])
    alone = frozen.encoder(input_ids=ids).last_hidden_state[:, 1:-1]
    states, lengths = frozen(torch.nn.functional.pad(ids, (0, 3), value=5), torch.tensor([4]))
    assert lengths.tolist() == [2] and torch.allclose(states, alone, atol=1e-6)


def test_an_encoder_without_weights_or_too_short_is_refused(encoder_folder, tmp_path):
    with pytest.raises(UserError, match="takes 40 tokens at most, but max_length is 128"):
        load(encoder_folder, HEAD, {"max_length": 128}, None, None)
    (tmp_path / "config.json").write_text((encoder_folder / "config.json").read_text())
    with pytest.raises(UserError, match="encoder: has no model.safetensors"):
        load(tmp_path, HEAD, TRAINING, None, None)
