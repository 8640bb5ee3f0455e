"""Likelihoods of prompts equal those of one text at a time, without batches, caches, or a head that
skips places.
"""

import shutil
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml
from accelerate import Accelerator
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    ViTConfig,
)

from scripts.running.program import UserError
from scripts.train.early_end import Stop
from scripts.train.paradigms import log_likelihoods, causal, likelihood, masking
from scripts.train.scoring import Scorer
from scripts.train.threshold import best_threshold
from tests.models import cloze_table, fetched, job_of, pair_table
from tests.models import scores_of as unfinished
from tests.rows import rows_of
from tests.train.decoders import DECODERS, tokenizer_of, write_decoder

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Write a tiny decoder of each architecture, a tiny T5 and a tiny BERT."""
    folder = tmp_path_factory.mktemp("models")
    for name in DECODERS:
        write_decoder(name, folder / name)
    fetched("tiny_bert", folder / "bert", AutoModelForMaskedLM)
    fetched("tiny_t5", folder / "t5", AutoModelForSeq2SeqLM)
    return folder


CLOZE = {
    "score": "sum",
    "threshold": None,
    "domain": None,
    "texts": {"candidate": "{left}|{candidate}{right}"},
}
WORDS_MASKED = {"masks": "word"}
LABELS = yaml.safe_load("""
score: sum
threshold: null
domain: null
texts: {swapped: '{text_a} then {text_b}? Answer:| no, naïve', in_order: '{text_a} then {text_b}? Answer:|
    yes'}
""")


def job(prompt: dict, *given, max_length: int = 120, **training) -> dict:
    known = {"precision": "auto"} | training
    return job_of(*given, max_length=max_length, **known) | {"prompt": prompt}


def cloze_job(prompt: dict = CLOZE, **training) -> dict:
    return job(prompt, ("context", "candidate"), ("wrong", "right"), **training)


def cloze() -> pa.Table:
    contexts = [
        "A: how long is it ?\nB: about <MASK> , i think .",
        "A: the cat sat on the mat . the cat sat on the mat . see you at <MASK>, then !",
        "<MASK> ago ; yes",
    ]
    options = [
        ["two hours", "ten days", "3 : 30 pm", "a year"],
        ["five o'clock", "two", "five", "3"],
        ["a year", "ten", "ten days ago", "two"],
    ]
    return cloze_table(list(zip(contexts, options)), right=2)


def pairs() -> pa.Table:
    texts = rows_of("""
        the cat sat on the mat .    | see you at five o'clock then !
        how long is it ?            | ten days ago .
        about two hours , i think . | how long is it ?
        how long is it ?            | naïve , a year .
    """)
    return pair_table(texts, [0, 1, 0, 1])


def scores_of(paradigm, table: pa.Table, at_once: int = 100) -> np.ndarray:
    """Return a run's predictions, from batches of `at_once` texts."""
    found = torch.from_numpy(unfinished(paradigm, paradigm.encode(table), at_once))
    return paradigm.finished({"test": found}, {"test": table})["test"][0].numpy()


def scored_from(tokenizer, context: str, scored: str) -> tuple[list[int], int]:
    """Return the tokens of a text, and the place of the first token with a character of the scored
    part or of the spaces before it.
    """
    written = len(context.rstrip(" "))
    encoded = tokenizer(context + scored, add_special_tokens=False, return_offsets_mapping=True)
    return encoded["input_ids"], next(
        place for place, (_, end) in enumerate(encoded["offset_mapping"]) if end > written
    )


@cache
def loaded(folder, kind):
    return AutoTokenizer.from_pretrained(folder), kind.from_pretrained(folder).eval()


def by_decoder(folder, context: str, scored: str) -> list[float]:
    """Return the log-likelihoods of the scored tokens from one text and all of its logits."""
    tokenizer, network = loaded(folder, AutoModelForCausalLM)
    ids, first = scored_from(tokenizer, context, scored)
    start = [
        token for token in (tokenizer.bos_token_id, tokenizer.eos_token_id) if token is not None
    ][:1]
    ids, first = start + ids, first + len(start)
    with torch.no_grad():
        found = network(input_ids=torch.tensor([ids]), use_cache=False).logits[0].log_softmax(-1)
    return [found[place - 1, ids[place]].item() for place in range(max(first, 1), len(ids))]


def by_t5(folder, context: str, scored: str) -> list[float]:
    tokenizer, network = loaded(folder, AutoModelForSeq2SeqLM)
    ids, first = scored_from(tokenizer, context, scored)
    sentinel = tokenizer.convert_tokens_to_ids("<extra_id_0>")
    with torch.no_grad():
        found = (
            network(
                input_ids=torch.tensor(
                    [[tokenizer.cls_token_id, *ids[:first], sentinel, tokenizer.sep_token_id]]
                ),
                labels=torch.tensor([[sentinel, *ids[first:]]]),
            )
            .logits[0]
            .log_softmax(-1)
        )
    return [found[1 + place, token].item() for place, token in enumerate(ids[first:])]


def by_bert(folder, context: str, scored: str, by_word: bool = False) -> list[float]:
    tokenizer, network = loaded(folder, AutoModelForMaskedLM)
    ids, first = scored_from(tokenizer, context, scored)
    ids = [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id]
    pieces = tokenizer.convert_ids_to_tokens(ids)
    found = []
    for place in range(first + 1, len(ids) - 1):
        masked = torch.tensor([ids])
        masked[0, place] = tokenizer.mask_token_id
        later = place + 1
        while by_word and pieces[later].startswith("##"):  # a later piece of the same word
            masked[0, later] = tokenizer.mask_token_id
            later += 1
        with torch.no_grad():
            found.append(network(masked).logits[0, place].log_softmax(-1)[ids[place]].item())
    return found


KINDS = {name: by_decoder for name in DECODERS} | {"t5": by_t5, "bert": by_bert}


# ---- against one text at a time


@pytest.mark.parametrize("name", KINDS)
def test_candidates_are_scored_as_one_at_a_time(models, name, monkeypatch):
    # the head reads a few places at a time
    monkeypatch.setitem(log_likelihoods.AT_ONCE, "cpu", 3000)
    monkeypatch.setattr(masking, "AT_ONCE", 200)
    monkeypatch.setitem(causal.AT_ONCE, "cpu", 50)  # so does the body
    monkeypatch.setattr(causal, "NODES", 60)  # several trees
    table = cloze()
    paradigm = likelihood.Paradigm(models / name, cloze_job(), {})
    together = scores_of(paradigm, table)
    assert np.allclose(together, scores_of(paradigm, table, at_once=1), atol=1e-3)
    # windows are shorter than max_length, and RoBERTa's positions do not begin with 0
    in_trees = name not in ("gemma3", "roberta", "modernbert")
    assert paradigm.in_trees == ({120: in_trees} if name in DECODERS else {})
    for row, (context, candidate) in enumerate(
        zip(table["context"].to_pylist(), table["candidate"].to_pylist())
    ):
        left, right = context.split("<MASK>")
        assert together[row, 0] == pytest.approx(
            sum(KINDS[name](models / name, left, candidate + right)), abs=1e-3
        )


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_a_wrong_reading_of_a_batch_is_found_and_made_again(models, name, caplog, monkeypatch):
    """The scores of some texts of a batch are wrong, as sometimes on a GPU."""
    caplog.set_level("WARNING")  # a test before this one may have left the level at INFO
    paradigm = likelihood.Paradigm(models / name, cloze_job(), {})
    examples = paradigm.encode(cloze())
    right, fast = unfinished(paradigm, examples), paradigm.scores
    scorer = Scorer(Accelerator(cpu=True), paradigm.network, paradigm, Stop(None))
    wrong = 0

    def scores(network, batch):
        return (
            fast(network, batch) - wrong * (torch.arange(len(batch["choices"])) % 4 == 0)[:, None]
        )

    monkeypatch.setattr(paradigm, "scores", scores)
    assert scorer.scores(examples).numpy() == pytest.approx(right, abs=1e-3)
    assert not caplog.text
    wrong = 2
    assert scorer.scores(examples).numpy() == pytest.approx(right, abs=1e-3)
    assert "all texts of such a batch are read alone" in caplog.text


def test_a_space_that_is_a_token_of_its_own_is_scored_with_the_digit_after_it(models, tmp_path):
    """In Gemma's and SmolLM2's tokenizers, " 5" is two tokens and " five" is one."""
    tokenizer = tokenizer_of("spaces")
    words = pre_tokenizers.Split("▁", "merged_with_next")
    digits = pre_tokenizers.Digits(individual_digits=True)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, digits])
    shutil.copytree(models / "llama", tmp_path / "digits")
    tokenizer.save_pretrained(tmp_path / "digits")
    assert "▁" not in tokenizer.tokenize("the two")
    assert tokenizer.tokenize("the 3")[-2:] == ["▁", "3"]
    table = cloze_table([("the <MASK>", ["two", "3"])])
    paradigm = likelihood.Paradigm(tmp_path / "digits", cloze_job(), {})
    for candidate, score in zip(("two", "3"), scores_of(paradigm, table)[:, 0]):
        whole, before = (
            sum(by_decoder(tmp_path / "digits", "", text)) for text in (f"the {candidate}", "the")
        )
        assert score == pytest.approx(whole - before, abs=1e-3)


def test_masks_of_later_pieces_of_a_word_are_those_set_by_hand(models, monkeypatch):
    monkeypatch.setattr(masking, "AT_ONCE", 200)
    options = ["two zwolfnights", "ten days", "an eightymonth, xyzzy", "five"]
    contexts = ["A: how long is it ?\nB: about <MASK> , i think .", "quuxly <MASK> ago"]
    table, folder = cloze_table([(context, options) for context in contexts]), models / "bert"
    paradigm = likelihood.Paradigm(folder, cloze_job(CLOZE | WORDS_MASKED), {})
    found = scores_of(paradigm, table)[:, 0]
    alone = scores_of(likelihood.Paradigm(folder, cloze_job(), {}), table)[:, 0]
    for row, (context, option) in enumerate((one, each) for one in contexts for each in options):
        left, right = context.split("<MASK>")
        each = by_bert(folder, left, option + right, by_word=True)
        assert found[row] == pytest.approx(sum(each), abs=1e-4)
    changed = [abs(found - alone) > 1e-2][0].tolist()
    assert changed == [True, False, True, False] * 2, "only words of several pieces"


# ---- the definition of a score


def test_scores_are_by_token_by_byte_and_less_a_domain(models):
    table, folder = cloze(), models / "gpt2"
    rows = [
        (context.split("<MASK>")[0], candidate)
        for context, candidate in zip(table["context"].to_pylist(), table["candidate"].to_pylist())
    ]
    alone = CLOZE | {"texts": {"candidate": "{left}|{candidate}"}}
    each = [by_decoder(folder, *row) for row in rows]
    expected = {
        "token": [np.mean(one) for one in each],
        "byte": [sum(one) / len(row[1].encode()) for one, row in zip(each, rows)],
    }
    for score, wanted in expected.items():
        found = scores_of(
            likelihood.Paradigm(folder, cloze_job(alone | {"score": score}), {}), table
        )
        assert found[:, 0] == pytest.approx(wanted, abs=1e-3)
    found = scores_of(
        likelihood.Paradigm(folder, cloze_job(alone | {"domain": "see you {right} "}), {}), table
    )
    rights = [context.split("<MASK>")[1] for context in table["context"].to_pylist()]
    wanted = [
        sum(one) - sum(by_decoder(folder, f"see you {right} ", row[1]))
        for one, row, right in zip(each, rows, rights)
    ]
    assert found[:, 0] == pytest.approx(wanted, abs=1e-3)


def test_what_is_too_long_is_cut_alike_for_all_candidates(models):
    whole = likelihood.Paradigm(models / "gpt2", cloze_job(), {}).encode(cloze())
    most = int(whole.lengths[:4].max())  # the second context is longer, so some of it is cut
    examples = likelihood.Paradigm(models / "gpt2", cloze_job(max_length=most), {}).encode(cloze())
    assert examples.lengths.max() == most < whole.lengths[4:8].min()
    assert examples.truncated == 4
    assert examples.truncated_choices == 1
    start, end = (one.fields["input_ids"].padded(200, -1)[4:8] for one in (examples, whole))
    assert len(set(examples.fields["scored_from"].flat[4:8])) == 1, "each context is cut as much"
    # Its end stays, with all text after it.
    for row, (short, long) in enumerate(zip(examples.lengths[4:8], whole.lengths[4:8])):
        assert start[row, 1:short].tolist() == end[row, long - short + 1 : long].tolist()
    table = cloze().slice(4, 4)
    with pytest.raises(
        UserError, match='"five o\'clock" leaves no room for its context; raise max_length'
    ):
        likelihood.Paradigm(models / "gpt2", cloze_job(max_length=7), {}).encode(table)


def test_a_score_by_byte_counts_the_bytes_that_a_cut_leaves(models):
    folder, room = models / "gpt2", 12
    left, right = "see you at ", ", then ! the cat sat on the mat . how long is it ?"
    options, prompt = ["five o'clock", "two"], CLOZE | {"score": "byte"}
    table = cloze_table([(f"{left}<MASK>{right}", options)])
    found = scores_of(
        likelihood.Paradigm(folder, cloze_job(prompt, max_length=room + 1), {}), table
    )
    tokenizer, network = loaded(folder, AutoModelForCausalLM)
    texts = [left + option + right for option in options]
    spans = [tokenizer(one, return_offsets_mapping=True)["offset_mapping"] for one in texts]
    firsts = [scored_from(tokenizer, left, text[len(left) :])[1] for text in texts]
    stays = [
        sum(start < len(left + option) for start, _ in span[first:])
        for option, span, first in zip(options, spans, firsts)
    ]
    for row, (text, span, first, stay) in enumerate(zip(texts, spans, firsts, stays)):
        kept = stay + room - max(stays)  # so no context is left beside the longest candidate
        assert first + kept < len(span)
        ids = tokenizer(text)["input_ids"][first : first + kept]
        with torch.no_grad():
            logits = network(torch.tensor([[tokenizer.eos_token_id, *ids]])).logits[0]
        each = logits[:-1].log_softmax(-1)[range(kept), ids]
        size = len(text[len(left) : span[first + kept - 1][1]].encode())
        assert found[row, 0] == pytest.approx(each.sum().item() / size, abs=1e-4)


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12))
def test_the_threshold_is_the_best_there_is(examples):
    scores, right = (
        np.array([score for score, _ in examples], float),
        np.array([label for _, label in examples]),
    )
    found = best_threshold(scores, right)
    shares = {threshold: ((scores > threshold) == right).mean() for threshold in np.arange(-4.5, 5)}
    assert ((scores > found) == right).mean() == max(shares.values()) and found not in scores
    neighbours = sorted({*scores, scores.min() - 2, scores.max() + 2})
    assert found in [(low + high) / 2 for low, high in zip(neighbours, neighbours[1:])]


# ---- examples in the prompt


def test_shots_are_the_same_for_all_examples_and_drawn_by_the_seed(models):
    learned, given = pa.concat_tables([pairs(), pairs()]), job(LABELS, shots=3, max_length=390)
    first, second = (
        likelihood.Paradigm(models / "gpt2", given, {"learned": learned}).shots for _ in range(2)
    )
    given["settings"]["seed"] = 4
    other = likelihood.Paradigm(models / "gpt2", given, {"learned": learned})
    assert first == second != other.shots and first.count("\n\n") == 3
    assert sorted((first.count("Answer: yes"), first.count("Answer: no, naïve"))) == [1, 2]
    written = {
        LABELS["texts"][("swapped", "in_order")[row["label"]]].replace("|", "").format(**row)
        for row in learned.to_pylist()
    }
    assert set(first.strip().split("\n\n")) <= written, "each with its right label"
    found = scores_of(other, pairs())
    for row, example in enumerate(pairs().to_pylist()):
        texts = [text.format(**example).split("|") for text in LABELS["texts"].values()]
        each = [
            sum(by_decoder(models / "gpt2", other.shots + context, scored))
            for context, scored in texts
        ]
        assert found[row] == pytest.approx(
            torch.log_softmax(torch.tensor(each), 0).tolist(), abs=1e-3
        )
    with pytest.raises(
        UserError,
        match="shots: 9 needs 9 training examples of the label right, but there are 6; lower shots",
    ):
        likelihood.Paradigm(models / "gpt2", cloze_job(shots=9), {"learned": cloze()})


# ---- refusals, and weights


def test_models_that_cannot_be_asked_are_refused(models, tmp_path):
    for name in ("bert", "gpt2", "t5"):
        shutil.copytree(models / name, tmp_path / name)
    shutil.copytree(models / "bert", tmp_path / "vit")
    AutoModel.from_pretrained(models / "bert").save_pretrained(tmp_path / "bert")
    (tmp_path / "gpt2/model.safetensors").unlink()
    ViTConfig(vocab_size=3000).save_pretrained(tmp_path / "vit")
    for file in (tmp_path / "t5").glob("tokenizer*.json"):
        file.write_text(file.read_text().replace("<extra_id_0>", "<extra_x>"))
    for name, message in rows_of("""
        bert | weights of the head that fills masks are missing
        gpt2 | has no trained weights
        vit  | a vit model .* cannot score a text
        t5   | has no <extra_id_0>
    """):
        with pytest.raises(UserError, match=message):
            likelihood.Paradigm(tmp_path / name, cloze_job(), {})
    folder = shutil.copytree(models / "bert", tmp_path / "wordless")
    tokenizer = tokenizer_of("spaces")
    tokenizer.add_special_tokens({"mask_token": "<mask>", "cls_token": "<bos>"})
    tokenizer.save_pretrained(folder)
    with pytest.raises(UserError, match="its tokenizer does not split a text into words"):
        likelihood.Paradigm(folder, cloze_job(CLOZE | WORDS_MASKED), {}).encode(cloze())


def test_weights_are_in_bf16_where_that_is_asked_for(models):
    table, kinds = cloze(), {}
    for precision in ("auto", "bf16"):
        paradigm = likelihood.Paradigm(models / "llama", cloze_job(precision=precision), {})
        kinds[precision] = next(paradigm.network.parameters()).dtype, scores_of(paradigm, table)
    assert kinds["auto"][0] == torch.float32 and kinds["bf16"][0] == torch.bfloat16
    assert np.allclose(kinds["auto"][1], kinds["bf16"][1], rtol=0.05)
    assert not np.allclose(kinds["auto"][1], kinds["bf16"][1], atol=1e-4)
