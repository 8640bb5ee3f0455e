"""The paradigms of training: their input and their scores, against slow references."""

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml
from transformers import (
    AlbertConfig,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    BertConfig,
    DebertaV2Config,
    DistilBertConfig,
    ElectraConfig,
    ModernBertConfig,
    MPNetConfig,
    RobertaConfig,
)

from scripts.running.program import UserError
from scripts.train.paradigms import classify, fill, generate, masking, pseudo_log_likelihood
from tests.models import cloze_table, fetched, job_of, scores_of
from tests.rows import each_row, rows_of

pytestmark = pytest.mark.models
LONG = "A: " + "the cat sat on the mat . " * 12
CONTEXTS = [
    "A: how long is it ?\nB: about <MASK> , i think .",
    f"{LONG}\nB: see you at <MASK> , then .\n{LONG}",
    "A: <MASK> ago\nB: yes",
]
CANDIDATES = [
    ["two hours", "ten days", "3 : 30 pm"],
    ["five o'clock", "noon", "half past two"],
    ["a year", "two weeks"],
]


def cloze() -> pa.Table:
    return cloze_table(list(zip(CONTEXTS, CANDIDATES)))


def job(learns: bool, max_length: int = 64) -> dict:
    return job_of(["context", "candidate"], ["wrong", "right"], max_length) | {"learns": learns}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Write a tiny BERT that fills masks and a tiny T5, both with weights, and a BERT without."""
    folder = tmp_path_factory.mktemp("models")
    fetched("tiny_bert", folder / "untrained")
    fetched("tiny_bert", folder / "bert", AutoModelForMaskedLM)
    fetched("tiny_t5", folder / "t5", AutoModelForSeq2SeqLM)
    return folder


def sides(context: str, tokenizer, room: int) -> tuple[list[int], list[int]]:
    """Return the tokens kept left and right of the mask. A loop takes one from each side in turn,
    from the mask outwards.
    """
    left, right = (
        tokenizer(text, add_special_tokens=False)["input_ids"] for text in context.split("<MASK>")
    )
    kept = [0, 0]
    while sum(kept) < room and (kept[0] < len(left) or kept[1] < len(right)):
        # The right side goes first if room is odd.
        side = 1 if kept[1] < len(right) and (kept[1] <= kept[0] or kept[0] == len(left)) else 0
        kept[side] += 1
    return left[len(left) - kept[0] :], right[: kept[1]]


# ---- the input


@pytest.mark.parametrize("max_length", [64, 24])
def test_the_mask_stays_inside_and_all_candidates_of_a_place_have_one_context(models, max_length):
    table = cloze()
    paradigm = classify.Paradigm(models / "bert", job(True, max_length), {})
    tokenizer, examples = paradigm.tokenizer, paradigm.encode(table)
    ids = examples.fields["input_ids"].padded(max_length, -1)
    assert examples.lengths.max() <= max_length and examples.truncated in (3, 6)
    assert examples.truncated_choices == examples.truncated // 3
    assert ((ids == tokenizer.mask_token_id).sum(1) == 1).all()
    contexts = set()
    for row, (choice, candidate) in enumerate(
        zip(table["choice"].to_pylist(), table["candidate"].to_pylist())
    ):
        words = tokenizer(candidate, add_special_tokens=False)["input_ids"]
        contexts.add((choice, *ids[row, : examples.lengths[row] - len(words) - 1]))
    assert len(contexts) == 3


# ---- scores, against a loop over candidates and tokens


def places(tokenizer, room: int, longest: bool = True):
    """Return for each candidate the tokens left of it, its own, and those right of it. The longest
    candidate of a place decides how much of the context is kept, or none does.
    """
    for context, candidates in zip(CONTEXTS, CANDIDATES):
        tokens = [tokenizer(one, add_special_tokens=False)["input_ids"] for one in candidates]
        left, right = sides(context, tokenizer, room - max(map(len, tokens)) * longest)
        yield from ((left, words, right) for words in tokens)


def log_probabilities(network, ids: list[int], **labels) -> torch.Tensor:
    with torch.no_grad():
        return network.eval()(torch.tensor([ids]), **labels).logits[0].log_softmax(-1)


@pytest.mark.parametrize("max_length", [128, 24])
def test_fill_scores_the_mean_log_likelihood_of_the_candidate(models, max_length):
    paradigm = fill.Paradigm(models / "bert", job(False, max_length), {})
    found = scores_of(paradigm, paradigm.encode(cloze()))
    tokenizer = AutoTokenizer.from_pretrained(models / "bert")
    network = AutoModelForMaskedLM.from_pretrained(models / "bert")
    cls, sep, mask = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.mask_token_id
    for row, (left, words, right) in enumerate(places(tokenizer, max_length - 2)):
        logits = log_probabilities(network, [cls, *left, *[mask] * len(words), *right, sep])
        each = [logits[1 + len(left) + place, word] for place, word in enumerate(words)]
        assert found[row, 0] == pytest.approx(np.mean(each), abs=1e-4)


def test_generate_scores_the_mean_log_likelihood_of_the_candidate(models):
    paradigm = generate.Paradigm(models / "t5", job(False), {})
    found = scores_of(paradigm, paradigm.encode(cloze()))
    tokenizer = AutoTokenizer.from_pretrained(models / "t5")
    network = AutoModelForSeq2SeqLM.from_pretrained(models / "t5")
    gap = tokenizer.convert_tokens_to_ids("<extra_id_0>")
    for row, (left, words, right) in enumerate(places(tokenizer, 64 - 3, longest=False)):
        ids = [tokenizer.cls_token_id, *left, gap, *right, tokenizer.sep_token_id]
        logits = log_probabilities(network, ids, labels=torch.tensor([[gap, *words]]))
        each = [logits[1 + place, word] for place, word in enumerate(words)]
        assert found[row, 0] == pytest.approx(np.mean(each), abs=1e-4)


def test_pseudo_log_likelihood_masks_each_token_alone(models, monkeypatch, max_length=28):
    """All candidates of a place have the same tokens of a dialog that is cut."""
    # several readings, with a few copies in each
    monkeypatch.setattr(masking, "AT_ONCE", 100)
    paradigm = pseudo_log_likelihood.Paradigm(models / "bert", job(False, max_length), {})
    found = scores_of(paradigm, paradigm.encode(cloze()))
    tokenizer = AutoTokenizer.from_pretrained(models / "bert")
    network = AutoModelForMaskedLM.from_pretrained(models / "bert")
    for row, (left, words, right) in enumerate(places(tokenizer, max_length - 2)):
        ids = [tokenizer.cls_token_id, *left, *words, *right, tokenizer.sep_token_id]
        each = []
        for place in range(1, len(ids) - 1):
            masked = [*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]
            each.append(log_probabilities(network, masked)[place, ids[place]])
        assert found[row, 0] == pytest.approx(sum(each).item(), abs=1e-3)


# ---- refusals


def test_refusals_say_why(models, tmp_path):
    with pytest.raises(
        UserError, match="has no trained weights, and a zero-shot method needs them"
    ):
        fill.Paradigm(models / "untrained", job(False), {})
    with pytest.raises(UserError, match="no <extra_id_0>"):
        generate.Paradigm(models / "bert", job(True), {})
    paradigm = fill.Paradigm(models / "bert", job(True), {})
    broken = cloze().to_pylist()
    for change, message in rows_of("""
        {context: 'A: no mask'}     | has 0 <MASK>, not one
        {context: <MASK> or <MASK>} | has 2 <MASK>
        {candidate: 時間}             | cannot represent the candidate '時間'
        {candidate: ''}             | cannot represent
    """):
        with pytest.raises(UserError, match=message):
            paradigm.encode(pa.Table.from_pylist([broken[0] | change, *broken[1:]]))
    with pytest.raises(UserError, match="leaves no room"):
        fill.Paradigm(models / "bert", job(True, 8), {}).encode(
            pa.Table.from_pylist(
                [broken[0] | {"candidate": "ten days and ten nights and then some more"}]
            )
        )


SMALL = yaml.safe_load("""
{vocab_size: 50, hidden_size: 16, num_hidden_layers: 2, num_attention_heads: 2, intermediate_size: 24,
  max_position_embeddings: 40, pad_token_id: 0}
""")


@each_row(
    "config",
    [
        BertConfig(**SMALL),
        RobertaConfig(**SMALL),
        AlbertConfig(**SMALL, embedding_size=8),
        ElectraConfig(**SMALL, embedding_size=8),
        DebertaV2Config(**SMALL),
        DistilBertConfig(vocab_size=50, dim=16, n_layers=2, n_heads=2, hidden_dim=24),
        ModernBertConfig(**SMALL),
        MPNetConfig(**SMALL),
    ],
)
def test_the_head_that_gets_some_places_says_what_it_says_of_all(config):
    torch.manual_seed(1)
    network = AutoModelForMaskedLM.from_config(config).eval()
    batch = {
        "input_ids": torch.randint(5, 50, (3, 9)),
        "attention_mask": torch.ones(3, 9, dtype=torch.long),
    }
    batch["attention_mask"][1, 6:] = 0
    places = torch.rand(3, 9) < 0.4
    everywhere = network(**batch).logits
    assert torch.allclose(fill.logits_at(network, places, batch), everywhere[places], atol=1e-6)
    assert torch.equal(network(**batch).logits, everywhere)  # no hook stays behind
