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
from scripts.train.paradigms import classify, fill, generate, masking, mlm, pseudo_log_likelihood
from scripts.train.batches import collate
from tests.models import cloze_table, fetched, scores_of
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


def texts_of(table: pa.Table) -> list[tuple[str, str]]:
    """Return pairs of context and candidate."""
    return list(zip(table["context"].to_pylist(), table["candidate"].to_pylist()))


def job(learns: bool, max_length: int = 64) -> dict:
    return {
        "learns": learns,
        "inputs": ["context", "candidate"],
        "head": {"labels": ["wrong", "right"], "columns": [0, 1], "order": None},
        "settings": {"training": {"max_length": max_length, "dropout": None}},
    }


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


# ---- lists and batches


# ---- the input


@pytest.mark.parametrize("max_length", [64, 24])
def test_the_mask_stays_inside_and_all_candidates_of_a_place_have_one_context(models, max_length):
    table = cloze()
    for module, name in ((classify, "bert"), (fill, "bert"), (generate, "t5")):
        paradigm = module.Paradigm(models / name, job(True, max_length), {})
        tokenizer, examples = paradigm.tokenizer, paradigm.encode(table)
        mark = (
            tokenizer.convert_tokens_to_ids("<extra_id_0>")
            if name == "t5"
            else tokenizer.mask_token_id
        )
        assert examples.lengths.max() <= max_length
        assert examples.truncated in ([3] if max_length == 64 else [3, 6])
        assert examples.truncated_choices == examples.truncated // 3
        words = [
            len(tokenizer(text, add_special_tokens=False)["input_ids"])
            for text in table["candidate"].to_pylist()
        ]
        marks = (examples.fields["input_ids"].padded(max_length, -1) == mark).sum(1)
        assert marks.tolist() == (words if module is fill else [1] * len(words))
        contexts = set()
        for row, (choice, count) in enumerate(zip(table["choice"].to_pylist(), words)):
            ids = examples.fields["input_ids"].take(np.array([row])).padded(max_length, -1)[0]
            ids = ids[: examples.lengths[row] - (count + 1 if module is classify else 0)]
            contexts.add((choice, *ids[ids != mark]))
        assert len(contexts) == 3


# ---- scores, against a loop over candidates and tokens


@pytest.mark.parametrize("max_length", [128, 24])
def test_fill_scores_the_mean_log_likelihood_of_the_candidate(models, max_length):
    table = cloze()
    paradigm = fill.Paradigm(models / "bert", job(False, max_length), {})
    found = scores_of(paradigm, paradigm.encode(table))
    tokenizer = AutoTokenizer.from_pretrained(models / "bert")
    network = AutoModelForMaskedLM.from_pretrained(models / "bert").eval()
    of_place = dict(zip(CONTEXTS, CANDIDATES))
    for row, (context, candidate) in enumerate(texts_of(table)):
        every = [tokenizer(one, add_special_tokens=False)["input_ids"] for one in of_place[context]]
        words = every[of_place[context].index(candidate)]
        left, right = sides(context, tokenizer, max_length - 2 - max(map(len, every)))
        ids = [
            tokenizer.cls_token_id,
            *left,
            *[tokenizer.mask_token_id] * len(words),
            *right,
            tokenizer.sep_token_id,
        ]
        with torch.no_grad():
            logits = network(torch.tensor([ids])).logits[0].log_softmax(-1)
        expected = np.mean(
            [logits[1 + len(left) + place, word].item() for place, word in enumerate(words)]
        )
        assert found[row, 0] == pytest.approx(expected, abs=1e-4)


def test_generate_scores_the_mean_log_likelihood_of_the_candidate(models):
    table = cloze()
    paradigm = generate.Paradigm(models / "t5", job(False), {})
    found = scores_of(paradigm, paradigm.encode(table))
    tokenizer = AutoTokenizer.from_pretrained(models / "t5")
    network = AutoModelForSeq2SeqLM.from_pretrained(models / "t5").eval()
    sentinel = tokenizer.convert_tokens_to_ids("<extra_id_0>")
    for row, (context, candidate) in enumerate(texts_of(table)):
        words = tokenizer(candidate, add_special_tokens=False)["input_ids"]
        left, right = sides(context, tokenizer, 64 - 3)
        ids = [tokenizer.cls_token_id, *left, sentinel, *right, tokenizer.sep_token_id]
        with torch.no_grad():
            logits = (
                network(input_ids=torch.tensor([ids]), labels=torch.tensor([[sentinel, *words]]))
                .logits[0]
                .log_softmax(-1)
            )
        expected = np.mean([logits[1 + place, word].item() for place, word in enumerate(words)])
        assert found[row, 0] == pytest.approx(expected, abs=1e-4)


def test_pseudo_log_likelihood_masks_each_token_alone(models, monkeypatch, max_length=28):
    """All candidates of a place have the same tokens of a dialog that is cut."""
    table = cloze()
    # several readings, with a few copies in each
    monkeypatch.setattr(masking, "AT_ONCE", 100)
    paradigm = pseudo_log_likelihood.Paradigm(models / "bert", job(False, max_length), {})
    found = scores_of(paradigm, paradigm.encode(table))
    tokenizer = AutoTokenizer.from_pretrained(models / "bert")
    network = AutoModelForMaskedLM.from_pretrained(models / "bert").eval()
    words = dict(zip(CONTEXTS, CANDIDATES))
    for row, (context, candidate) in enumerate(texts_of(table)):
        of_place = [tokenizer(one, add_special_tokens=False)["input_ids"] for one in words[context]]
        left, right = sides(context, tokenizer, max_length - 2 - max(map(len, of_place)))
        middle = of_place[words[context].index(candidate)]
        ids = [tokenizer.cls_token_id, *left, *middle, *right, tokenizer.sep_token_id]
        ids, expected = torch.tensor([ids]), 0.0
        for place in range(1, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, place] = tokenizer.mask_token_id
            with torch.no_grad():
                expected += network(masked).logits[0, place].log_softmax(-1)[ids[0, place]].item()
        assert found[row, 0] == pytest.approx(expected, abs=1e-3)


def test_an_mlm_stage_reads_each_dialog_once_and_measures_the_same_masks(models):
    paradigm = mlm.Paradigm(models / "untrained", job(True), {})
    examples = paradigm.encode(cloze())
    batch = collate(examples, np.arange(len(examples)), paradigm.padding, "cpu")
    text = paradigm.tokenizer.decode(batch["input_ids"][0], skip_special_tokens=True)
    assert len(examples) == 3 and "about two hours, i think" in text
    paradigm.network.eval()
    with torch.no_grad():
        first, second = (paradigm.scores(paradigm.network, batch) for _ in range(2))
    assert first.equal(second) and ((0 <= first[:, 1]) & (first[:, 1] <= 1)).all()


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


def test_the_loss_is_that_of_the_right_candidates(models):
    paradigm = fill.Paradigm(models / "bert", job(True), {})
    learnable = paradigm.learnable(cloze())
    assert learnable["candidate"].to_pylist() == ["two hours", "five o'clock", "a year"]
    paradigm.network.eval()
    examples = paradigm.encode(learnable)
    with torch.no_grad():
        loss, written = paradigm.loss(
            paradigm.network, collate(examples, np.arange(3), paradigm.padding, "cpu")
        )
    scores = scores_of(paradigm, examples)
    assert loss.item() == pytest.approx(-scores.sum(), abs=1e-4) and written == 0
    assert paradigm.measure(torch.from_numpy(scores), examples)[0] == pytest.approx(-scores.mean())
