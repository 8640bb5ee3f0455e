"""Each paradigm of the train stage in strict mode: some steps and scores, twice, which must be the same bit by bit."""

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from accelerate import Accelerator
from transformers import AutoConfig, AutoModelForMaskedLM

from benchmarks.gpu_jobs import ROOT, words
from benchmarks.peers import Model, Ours
from scripts.train.step import seed_everything

PARADIGMS = ["classify", "esim", "fill", "mlm", "generate", "pseudo_log_likelihood"]
SIZE = Model("", {}, 8, 48)


def model_folder(name: str, folder: Path) -> Path:
    """The model that a paradigm takes: a tiny BERT with weights, a tiny T5, or an ESIM with word vectors."""
    kind = {"generate": "tiny_t5", "esim": "esim"}.get(name, "tiny_bert")
    place = folder / "paradigms" / kind
    if place.exists():
        return place
    if kind == "esim":
        place.mkdir(parents=True)
        draw = np.random.default_rng(0)
        (place / "vectors.txt").write_text("".join(f"{word} {' '.join(f'{number:.4f}' for number in draw.normal(size=16))}\n"
                                                   for word in dict.fromkeys(word.lower() for word in words()[:500])))
        (place / "config.json").write_text('{"model_type": "esim", "hidden_size": 16, "vectors": "vectors.txt"}')
        return place
    command = [sys.executable, "-m", "scripts.fetch.model", "--model", kind, "--output", place, "--partial", folder / "partial"]
    fetched = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if fetched.returncode:
        shutil.rmtree(place, ignore_errors=True)
        raise RuntimeError(fetched.stderr.strip()[-300:])
    if kind == "tiny_bert":  # with weights, for what does not learn
        torch.manual_seed(0)
        AutoModelForMaskedLM.from_config(AutoConfig.from_pretrained(place)).save_pretrained(place)
    return place


def cloze(places: int) -> pa.Table:
    """So many places with four candidates each, the first of them right."""
    draw, known = np.random.default_rng(0), words()
    rows = []
    for place in range(places):
        context = " ".join([*draw.choice(known, draw.integers(5, 20)), "<MASK>", *draw.choice(known, draw.integers(5, 20))])
        rows += [{"example_id": f"{place}:{number}", "group_id": str(place), "choice": place, "context": context,
                  "candidate": " ".join(draw.choice(known, draw.integers(1, 4))), "label": int(number == 0)} for number in range(4)]
    table = pa.Table.from_pylist(rows)
    return table.append_column("text_a", table["context"]).append_column("text_b", table["candidate"])  # as ESIM reads them


def job_of(name: str) -> dict:
    """What a paradigm reads of a job."""
    inputs = ["text_a", "text_b"] if name == "esim" else ["context", "candidate"]
    return {"learns": True, "inputs": inputs, "head": {"labels": ["wrong", "right"], "columns": [0, 1], "order": None},
            "settings": {"training": {"max_length": SIZE.max_length, "dropout": None}}}


def outcome(name: str, model: Path, accelerator: Accelerator, precision: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores after three steps, and all weights."""
    seed_everything(1)
    table = cloze(12)
    paradigm = importlib.import_module(f"scripts.train.{name}").Paradigm(model, job_of(name), {"learned": table})
    learns = name != "pseudo_log_likelihood"
    examples = paradigm.encode(paradigm.learnable(table) if learns else table)
    loop = Ours(SIZE, examples, precision, accelerator, paradigm=paradigm)
    for _ in range(3 if learns else 0):
        loop()
    loop.examples = paradigm.encode(table)
    return loop.score(), torch.cat([weight.detach().flatten().cpu() for weight in paradigm.network.parameters()])


def same_twice(name: str, folder: Path, accelerator: Accelerator, precision: str) -> str:
    """Raises RuntimeError where two runs differ; torch raises one for an operation that has no deterministic form."""
    model = model_folder(name, folder)
    (scores, weights), (others, other_weights) = (outcome(name, model, accelerator, precision) for _ in range(2))
    if not scores.isfinite().all():
        raise RuntimeError("scores are not finite")
    if not scores.equal(others) or not weights.equal(other_weights):
        apart = [f"{(one - other).abs().max():.1e}" for one, other in ((scores, others), (weights, other_weights))]
        raise RuntimeError(f"two runs differ: scores by {apart[0]}, weights by {apart[1]}")
    return f"equal, every bit ({len(scores)} scores, {len(weights):,} weights)"
