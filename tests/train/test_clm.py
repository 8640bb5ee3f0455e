"""The CLM stage: its input and its scores, against one text at a time; and the tokenizer of the
tiny decoder.
"""

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from scripts.running.program import UserError
from scripts.train.paradigms import clm
from scripts.train.batches import collate
from tests.models import cloze_table, fetched, job_of, scores_of
from tests.train.decoders import TRAINED, write_decoder

pytestmark = pytest.mark.models
ROWS = [
    ("A: how long is it ?\nB: about <MASK> , i think .", ["two hours", "ten days"]),
    ("A: <MASK> ago\nB: yes", ["a year", "two weeks"]),
    ("A: " + "the cat sat on the mat . " * 14 + "\nB: see you at <MASK>", ["noon", "ten"]),
]
# the tokens before a text
START = {"gpt2": ["<|endoftext|>"], "llama": ["<bos>"], "qwen3": [], "gemma3": ["<bos>"]}
CLOZE = cloze_table(ROWS)


@pytest.mark.parametrize("kind", TRAINED)
def test_each_dialog_is_scored_as_alone(kind, tmp_path):
    paradigm = clm.Paradigm(write_decoder(kind, tmp_path), job_of(), {})
    examples = paradigm.encode(CLOZE)
    assert len(examples) == 3 and examples.truncated == 1
    found = scores_of(paradigm, examples)
    np.testing.assert_allclose(found, scores_of(paradigm, examples, 1), atol=1e-5)
    network, tokenizer = (
        AutoModelForCausalLM.from_pretrained(tmp_path).eval(),
        AutoTokenizer.from_pretrained(tmp_path),
    )
    for row, (context, candidates) in enumerate(ROWS):
        ids = tokenizer(context.replace("<MASK>", candidates[0]), add_special_tokens=False)[
            "input_ids"
        ]
        ids = torch.tensor([tokenizer.convert_tokens_to_ids(START[kind]) + ids])[:, :64]
        with torch.no_grad():
            logits = network(ids).logits[0, :-1].log_softmax(-1)
        assert found[row, 0] == pytest.approx(
            logits.gather(1, ids[0, 1:, None]).mean().item(), abs=1e-4
        )
        assert found[row, 1] == pytest.approx(
            (logits.argmax(-1) == ids[0, 1:]).float().mean().item(), abs=1e-6
        )
    batch = collate(examples, np.arange(3), paradigm.padding, "cpu")
    loss, right = paradigm.loss(paradigm.network, batch)
    assert loss.item() == pytest.approx(-found[:, 0].sum(), abs=1e-3)
    assert right.item() == pytest.approx(found[:, 1].sum(), abs=1e-4)


def test_a_model_that_does_not_write_is_refused(tmp_path):
    with pytest.raises(
        UserError, match="a t5 model does not write from left to right; a CLM stage needs a decoder"
    ):
        clm.Paradigm(fetched("tiny_t5", tmp_path / "t5"), job_of(), {})
