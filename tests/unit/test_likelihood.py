"""Likelihoods of prompts: against one text at a time, without batches, caches or a head that skips places."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import torch
from tokenizers import Tokenizer, decoders, models as pieces, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoTokenizer, Gemma3TextConfig, GPT2Config,
    GPTNeoXConfig, LlamaConfig, OPTConfig, PreTrainedTokenizerFast, Qwen3Config)

from scripts.train import asked, likelihood, masking
from scripts.train.batches import collate, sorted_batches
from tests.conftest import ROOT

pytestmark = pytest.mark.models
WORDS = ("the cat sat on the mat . how long is it ? about two hours , i think . see you at five o'clock then ! ten days ago ; yes , a year "
         "naïve “quoted” 3 : 30 pm").split()
SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24, "max_position_embeddings": 200}
DECODERS = {
    "gpt2": (GPT2Config(n_embd=16, n_layer=3, n_head=2, n_positions=200), "bytes"),
    "llama": (LlamaConfig(**SIZES, num_key_value_heads=1), "spaces"),
    "gemma3": (Gemma3TextConfig(**SIZES, head_dim=8, num_key_value_heads=1, sliding_window=7, final_logit_softcapping=3.0,
                                layer_types=["sliding_attention", "full_attention", "sliding_attention"]), "spaces"),
    "qwen3": (Qwen3Config(**SIZES, head_dim=8, num_key_value_heads=1), "startless"),
    "opt": (OPTConfig(hidden_size=16, word_embed_proj_dim=16, ffn_dim=24, num_hidden_layers=2, num_attention_heads=2,
                      max_position_embeddings=200), "bytes"),
    "gpt_neox": (GPTNeoXConfig(**SIZES), "bytes"),
}


def tokenizer_of(kind: str) -> PreTrainedTokenizerFast:
    """A small tokenizer: of bytes (as GPT-2's), of pieces that hold the space before them (as Gemma's), without any special token."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    corpus = [" ".join(WORDS[start:] + WORDS[:start]) for start in range(len(WORDS))]
    if kind == "spaces":
        tokenizer = Tokenizer(pieces.BPE(unk_token="<unk>"))
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.decoder = decoders.Replace("▁", " ")
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<pad>", "<eos>", "<bos>", "<unk>"], show_progress=False)
        named = {"pad_token": "<pad>", "eos_token": "<eos>", "bos_token": "<bos>", "unk_token": "<unk>"}
    else:
        tokenizer = Tokenizer(pieces.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
        special = ["<|endoftext|>"] if kind == "bytes" else []
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
        named = {"eos_token": "<|endoftext|>"} if special else {}  # no padding token, as GPT-2 has none
    tokenizer.train_from_iterator(corpus, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)


def save(network, tokenizer, folder) -> None:
    torch.manual_seed(0)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A tiny decoder of each architecture, a tiny T5 and a tiny BERT, none of which has learnt anything; their logits are far from even."""
    folder = tmp_path_factory.mktemp("models")
    for name, (config, kind) in DECODERS.items():
        tokenizer = tokenizer_of(kind)
        config.vocab_size = len(tokenizer)
        config.pad_token_id = config.bos_token_id = config.eos_token_id = None
        config.initializer_range = 0.4
        torch.manual_seed(0)
        save(AutoModelForCausalLM.from_config(config), tokenizer, folder / name)
    for name, entry, kind in (("bert", "tiny_bert", AutoModelForMaskedLM), ("t5", "tiny_t5", AutoModelForSeq2SeqLM)):
        subprocess.run([sys.executable, "-m", "scripts.fetch.model", "--model", entry, "--output", str(folder / name),
                        "--partial", str(folder / "partial")], cwd=ROOT, check=True, capture_output=True)
        torch.manual_seed(0)
        kind.from_config(AutoConfig.from_pretrained(folder / name)).save_pretrained(folder / name)
    return folder


CLOZE = {"score": "sum", "threshold": None, "domain": None, "texts": {"candidate": "{left}|{candidate}{right}"}}
ORDER = {"score": "sum", "threshold": None, "domain": None,
         "texts": {"swapped": "|{text_b} Then, {text_a}", "in_order": "|{text_a} Then, {text_b}"}}
LABELS = {"score": "sum", "threshold": None, "domain": None, "texts": {
    "swapped": "{text_a} then {text_b}? Answer:| no, naïve", "in_order": "{text_a} then {text_b}? Answer:| yes"}}


def job(prompt: dict, inputs=("text_a", "text_b"), labels=("swapped", "in_order"), max_length: int = 120, **training) -> dict:
    return {"prompt": prompt, "inputs": list(inputs), "labels": list(labels), "learns": False, "head": None,
            "settings": {"seed": 3, "training": {"max_length": max_length, "precision": "auto"} | training}}


def cloze_job(prompt: dict = CLOZE, **training) -> dict:
    return job(prompt, ("context", "candidate"), ("wrong", "right"), **training)


def cloze() -> pa.Table:
    contexts = ["A: how long is it ?\nB: about <MASK> , i think .", "A: the cat sat on the mat . the cat sat on the mat . see you at <MASK>, then !",
                "<MASK> ago ; yes"]
    options = [["two hours", "ten days", "3 : 30 pm", "a year"], ["five o'clock", "two", "five", "3"], ["a year", "ten", "ten days ago", "two"]]
    return pa.Table.from_pylist([
        {"example_id": f"{place}:{number}", "group_id": f"dialog {place}", "choice": place, "context": contexts[place], "candidate": option,
         "label": int(number < 2)} for place, candidates in enumerate(options) for number, option in enumerate(candidates)])


def pairs() -> pa.Table:
    texts = [("the cat sat on the mat .", "see you at five o'clock then !"), ("how long is it ?", "ten days ago ."),
             ("about two hours , i think .", "how long is it ?"), ("how long is it ?", "naïve , a year .")]
    return pa.Table.from_pylist([{"example_id": str(number), "group_id": str(number), "text_a": first, "text_b": second, "label": number % 2}
                                 for number, (first, second) in enumerate(texts)])


def scores_of(paradigm, table: pa.Table, at_once: int = 100) -> np.ndarray:
    """What a run would predict, from batches of `at_once` texts."""
    examples = paradigm.encode(table)
    found = torch.zeros(len(examples), 1)
    paradigm.network.eval()
    with torch.no_grad():
        for rows in sorted_batches(examples.lengths, examples.choices, at_once):
            found[rows] = paradigm.scores(paradigm.network, collate(examples, rows, paradigm.padding, "cpu"))
    return paradigm.finished({"test": found}, {"test": table})["test"][0].numpy()


def scored_from(tokenizer, context: str, scored: str) -> tuple[list[int], int]:
    """The tokens of a text, and the first that holds a character of the scored part."""
    encoded = tokenizer(context + scored, add_special_tokens=False, return_offsets_mapping=True)
    return encoded["input_ids"], next(place for place, (_, end) in enumerate(encoded["offset_mapping"]) if end > len(context))


def by_decoder(folder, context: str, scored: str) -> list[float]:
    """The log-likelihoods of the scored tokens: one text, its whole logits."""
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    ids, first = scored_from(tokenizer, context, scored)
    start = [token for token in (tokenizer.bos_token_id, tokenizer.eos_token_id) if token is not None][:1]
    ids, first = start + ids, first + len(start)
    with torch.no_grad():
        found = network(input_ids=torch.tensor([ids]), use_cache=False).logits[0].log_softmax(-1)
    return [found[place - 1, ids[place]].item() for place in range(max(first, 1), len(ids))]


def by_t5(folder, context: str, scored: str) -> list[float]:
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    ids, first = scored_from(tokenizer, context, scored)
    sentinel = tokenizer.convert_tokens_to_ids("<extra_id_0>")
    with torch.no_grad():
        found = network(input_ids=torch.tensor([[tokenizer.cls_token_id, *ids[:first], sentinel, tokenizer.sep_token_id]]),
                        labels=torch.tensor([[sentinel, *ids[first:]]])).logits[0].log_softmax(-1)
    return [found[1 + place, token].item() for place, token in enumerate(ids[first:])]


def by_bert(folder, context: str, scored: str) -> list[float]:
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(folder).eval()
    ids, first = scored_from(tokenizer, context, scored)
    ids = [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id]
    found = []
    for place in range(first + 1, len(ids) - 1):
        masked = torch.tensor([ids])
        masked[0, place] = tokenizer.mask_token_id
        with torch.no_grad():
            found.append(network(masked).logits[0, place].log_softmax(-1)[ids[place]].item())
    return found


KINDS = {name: by_decoder for name in DECODERS} | {"t5": by_t5, "bert": by_bert}


# ---- against one text at a time

@pytest.mark.parametrize("name", KINDS)
def test_candidates_are_scored_as_one_at_a_time(models, name, monkeypatch):
    monkeypatch.setitem(asked.AT_ONCE, "cpu", 3000)  # the head reads a few places at a time
    monkeypatch.setattr(masking, "AT_ONCE", 200)
    table = cloze()
    paradigm = likelihood.Paradigm(models / name, cloze_job(), {})
    together = scores_of(paradigm, table)
    assert np.allclose(together, scores_of(paradigm, table, at_once=1), atol=1e-3)
    for row, (context, candidate) in enumerate(zip(table["context"].to_pylist(), table["candidate"].to_pylist())):
        left, right = context.split("<MASK>")
        assert together[row, 0] == pytest.approx(sum(KINDS[name](models / name, left, candidate + right)), abs=1e-3)


@pytest.mark.parametrize("name", KINDS)
def test_labels_are_scored_as_one_at_a_time(models, name):
    table = pairs()
    for prompt in (ORDER, LABELS):
        found = scores_of(likelihood.Paradigm(models / name, job(prompt), {}), table)
        for row, example in enumerate(table.to_pylist()):
            each = []
            for text in prompt["texts"].values():
                context, scored = text.format(**example).split("|")
                each.append(sum(KINDS[name](models / name, context, scored)))
            assert found[row] == pytest.approx(torch.log_softmax(torch.tensor(each), 0).tolist(), abs=1e-3)


def test_contexts_that_texts_share_are_read_once(models):
    paradigm = likelihood.Paradigm(models / "gemma3", cloze_job(), {})
    examples = paradigm.encode(cloze())
    shared = examples.fields["shared"].flat.reshape(3, 4)
    assert (shared[:2] > 10).all() and (shared[2] == 0).all() and (shared == shared[:, :1]).all()
    read = []
    hook = paradigm.network.get_decoder().register_forward_pre_hook(lambda _, given, named: read.append(named["input_ids"].shape), with_kwargs=True)
    scores_of(paradigm, cloze())
    hook.remove()
    # One reading of each context (the candidates of the third have none, and nothing to share), then one of what differs.
    assert read[:2] == [(2 + 4, shared.max()), (12, (examples.lengths - shared.ravel()).max())] and set(read[2:]) == {(1, 1)}
