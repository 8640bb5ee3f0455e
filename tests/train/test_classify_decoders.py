"""Classification heads on decoders and encoder-decoders:
padding, pairs, blanks, and which lost weights matter.
"""

import numpy as np
import pytest
import torch

from scripts.train.paradigms import classify
from tests.models import cloze_table, job_of, pair_table, scores_of
from tests.train.decoders import TRAINED, write_decoder

pytestmark = pytest.mark.models
TEXTS = [
    ("A man opens a door.", "He goes in."),
    ("Stop!", "She washes the pan, then she dries it with a towel and puts it away."),
    ("é", "→"),
    ("The cat sat on the mat " * 8, "It sleeps."),
]
PAIRS = pair_table(TEXTS, [0, 1, 1, 0])
CLOZE = cloze_table([("A: how long ?\nB: about <MASK> , i think .", ["two hours", "ten days"])])


@pytest.fixture(scope="module")
def decoders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoders")
    return {kind: write_decoder(kind, folder / kind) for kind in TRAINED}


def alone(paradigm, ids: list[int]) -> torch.Tensor:
    """Return the log-probabilities of one text from transformers, without padding and without a
    padding token.
    """
    config = paradigm.network.config
    pad, config.pad_token_id = config.pad_token_id, None
    with torch.no_grad():
        logits = paradigm.network.eval()(input_ids=torch.tensor([ids])).logits[0]
    config.pad_token_id = pad
    return logits.log_softmax(-1).numpy()


@pytest.mark.parametrize("kind", TRAINED)
@pytest.mark.parametrize("inputs", [("text_a", "text_b"), ("text_b",)])
def test_a_padded_batch_scores_as_one_text_at_a_time(decoders, kind, inputs):
    paradigm = classify.Paradigm(decoders[kind], job_of(inputs, max_length=128), {})
    tokenizer = paradigm.tokenizer
    start = tokenizer.convert_tokens_to_ids([TRAINED[kind]]) if TRAINED[kind] else []
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


@pytest.mark.parametrize("kind", TRAINED)
def test_a_context_without_a_mask_has_a_blank(decoders, kind):
    paradigm = classify.Paradigm(
        decoders[kind], job_of(("context", "candidate"), max_length=128), {}
    )
    ids = paradigm.encode(CLOZE).fields["input_ids"]
    hole = "<mask>" if kind == "gemma3" else " ___"
    for row, words in enumerate(["two hours", "ten days"]):
        text = paradigm.tokenizer.decode(
            ids.take(np.array([row])).padded(int(ids.lengths[row]), 0)[0]
        )
        assert text == f"{TRAINED[kind]}A: how long ?\nB: about{hole} , i think .\n {words}"
