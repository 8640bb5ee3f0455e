"""Classification heads on decoders and encoder-decoders:
padding, pairs, blanks, and which lost weights matter.
"""

import numpy as np
import pyarrow as pa
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM

from scripts.running.program import UserError
from scripts.train.paradigms import classify, symmetric
from tests.models import cloze_table, fetched, scores_of
from tests.train.decoders import DECODERS, STARTS, write_decoder

pytestmark = pytest.mark.models
TEXTS = [
    ("A man opens a door.", "He goes in."),
    ("Stop!", "She washes the pan, then she dries it with a towel and puts it away."),
    ("é", "→"),
    ("The cat sat on the mat " * 8, "It sleeps."),
]
PAIRS = pa.table(
    {
        "example_id": list("abcd"),
        "group_id": list("abcd"),
        "text_a": [first for first, _ in TEXTS],
        "text_b": [second for _, second in TEXTS],
        "label": [0, 1, 1, 0],
    }
)
CLOZE = cloze_table([("A: how long ?\nB: about <MASK> , i think .", ["two hours", "ten days"])])


def job(inputs=("text_a", "text_b"), max_length: int = 128, **training) -> dict:
    return {
        "learns": True,
        "inputs": list(inputs),
        "labels": ["swapped", "in_order"],
        "head": {"labels": ["swapped", "in_order"], "columns": [0, 1], "order": None},
        "settings": {
            "method": "train",
            "training": {"max_length": max_length, "dropout": None} | training,
        },
    }


@pytest.fixture(scope="module")
def decoders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoders")
    return {kind: write_decoder(kind, folder / kind) for kind in DECODERS}


def alone(paradigm, ids: list[int]) -> torch.Tensor:
    """The log-probabilities of one text by transformers alone,
    without padding and without a padding token.
    """
    config = paradigm.network.config
    pad, config.pad_token_id = config.pad_token_id, None
    with torch.no_grad():
        logits = paradigm.network.eval()(input_ids=torch.tensor([ids])).logits[0]
    config.pad_token_id = pad
    return logits.log_softmax(-1).numpy()


@pytest.mark.parametrize("kind", DECODERS)
@pytest.mark.parametrize("inputs", [("text_a", "text_b"), ("text_b",)])
def test_a_padded_batch_scores_as_one_text_at_a_time(decoders, kind, inputs):
    paradigm = classify.Paradigm(decoders[kind], job(inputs), {})
    paradigm.network.score.weight.data *= 30  # a head as drawn hardly tells one text from another
    tokenizer = paradigm.tokenizer
    start = [tokenizer.bos_token_id] if kind in STARTS else []
    found = scores_of(paradigm, paradigm.encode(PAIRS))
    for row, texts in enumerate(zip(*(PAIRS[name].to_pylist() for name in inputs))):
        ids = tokenizer("\n".join(texts), add_special_tokens=False)["input_ids"][: 128 - len(start)]
        if row == 3 and len(inputs) == 2:  # too long: the longer text is cut
            ends = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts]
            ids = [
                *tokenizer(texts[0], add_special_tokens=False)["input_ids"][
                    : 128 - len(start) - 1 - ends[1]
                ],
                *tokenizer("\n" + texts[1], add_special_tokens=False)["input_ids"],
            ]
        np.testing.assert_allclose(found[row], alone(paradigm, [*start, *ids]), atol=1e-5)
    np.testing.assert_allclose(found, scores_of(paradigm, paradigm.encode(PAIRS), 1), atol=1e-5)
    assert np.abs(found[0] - found[1]).max() > 1e-3, "the test must see a difference between texts"


@pytest.mark.parametrize("kind", DECODERS)
def test_a_context_without_a_mask_has_a_blank(decoders, kind):
    paradigm = classify.Paradigm(decoders[kind], job(("context", "candidate")), {})
    ids = paradigm.encode(CLOZE).fields["input_ids"]
    start = {"llama": "<|begin_of_text|>", "gemma3": "<bos>"}.get(kind, "")
    hole = "<mask>" if kind == "gemma3" else " ___"
    for row, words in enumerate(["two hours", "ten days"]):
        text = paradigm.tokenizer.decode(
            ids.take(np.array([row])).padded(int(ids.lengths[row]), 0)[0]
        )
        assert text == f"{start}A: how long ?\nB: about{hole} , i think .\n {words}"


@pytest.mark.parametrize("kind", ["gpt2", "gemma3"])
def test_both_orders_of_a_pair_on_a_decoder(decoders, kind):
    paradigm = symmetric.Paradigm(decoders[kind], job(), {})
    turned = PAIRS.set_column(2, "text_a", PAIRS["text_b"]).set_column(3, "text_b", PAIRS["text_a"])
    there, back = (scores_of(paradigm, paradigm.encode(table)) for table in (PAIRS, turned))
    np.testing.assert_allclose(there, back[:, ::-1], atol=1e-5)


@pytest.mark.parametrize("kind", DECODERS)
def test_a_fresh_head_is_no_loss_and_a_lost_layer_is(decoders, kind, tmp_path):
    weights = load_file(decoders[kind] / "model.safetensors")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((decoders[kind] / name).read_bytes())
    layer = next(name for name in weights if ".1." in name)
    for other in ({}, {layer: torch.zeros(1)}):  # lost, or of another shape
        save_file(
            {name: values for name, values in weights.items() if name != layer} | other,
            tmp_path / "model.safetensors",
            {"format": "pt"},
        )
        with pytest.raises(
            UserError, match="1 weights of the model are missing or of another shape"
        ):
            classify.Paradigm(tmp_path, job(), {})


def test_dropout_reaches_decoders(decoders):
    network = classify.Paradigm(decoders["gpt2"], job(dropout=0.25), {}).network
    assert {module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)} == {
        0.25
    }
    assert (
        classify.Paradigm(decoders["llama"], job(dropout=0.25), {}).network.config.attention_dropout
        == 0.25
    )


def test_an_encoder_decoder_has_a_head_of_its_own(tmp_path):
    paradigm = classify.Paradigm(
        fetched("tiny_t5", tmp_path / "t5", AutoModelForSeq2SeqLM), job(), {}
    )
    found = scores_of(paradigm, paradigm.encode(PAIRS))
    np.testing.assert_allclose(found, scores_of(paradigm, paradigm.encode(PAIRS), 1), atol=1e-5)
    ids = paradigm.tokenizer(*TEXTS[1])["input_ids"]
    with torch.no_grad():
        expected = paradigm.network(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    np.testing.assert_allclose(found[1], expected.numpy(), atol=1e-5)
