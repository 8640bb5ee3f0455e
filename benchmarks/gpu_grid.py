"""Figure 3's grid: two corpora, four strides, three seeds, as the paper preset trains it."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.kills import checkout

SEEDS, EPOCHS, HELD_OUT = 3, 10, 0.1
# Pairs to learn from and to measure on, by stride: counted in ActivityNet Captions; for HowTo100M 20,000 videos of each split.
PAIRS = {"ActivityNet": [(27_412, 24_734), (17_403, 14_932), (9_330, 6_148), (5_382, 3_055)], "HowTo100M": [(2_000_000, 2_000_000)] * 4}
BASE = {"model_type": "bert", "num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
        "max_position_embeddings": 128}


def extrapolated(model: str, rates: dict) -> str:
    """Minutes of one GPU for each corpus, from examples a second; ten epochs, none of them left out. Start-up does not count.

    Raises RuntimeError where the rates were not measured.
    """
    if (model, "learning") not in rates or (model, "scoring") not in rates:
        raise RuntimeError("needs the sections learning and scoring")
    minutes = {corpus: SEEDS * EPOCHS / 60 * sum(
        (1 - HELD_OUT) * learned / rates[model, "learning"] + (HELD_OUT * learned + scored) / rates[model, "scoring"]
        for learned, scored in strides) for corpus, strides in PAIRS.items()}
    told = ", ".join(f"{corpus} {spent:,.0f} min" for corpus, spent in minutes.items())
    return f"{told}, together {sum(minutes.values()):,.0f} min of one GPU ({model}, {EPOCHS} epochs)"


def run_grid(folder: Path, videos: int, device: str) -> str:
    """Run it in a checkout of its own, over sample corpora of so many videos, with a BERT-base from scratch; raises RuntimeError with Snakemake's last words where it fails."""
    checkout(folder, short=True)
    models, sources = folder / "resources/models.yaml", folder / "resources/sources.yaml"
    entry = {"title": "BERT-base from scratch", "licence": "none", "init": BASE, "vocabulary": "resources/sample_vocabulary.txt"}
    models.write_text(f"{models.read_text(encoding='utf-8')}\ngrid_bert: {json.dumps(entry)}\n", encoding="utf-8")
    sources.write_text(re.sub(r"(sample_(?:activitynet|howto100m):\n(?:  .*\n)*?  sample: \{videos: )\d+", rf"\g<1>{videos}",
                              sources.read_text(encoding="utf-8")), encoding="utf-8")
    overlay = {
        "name": "grid", "run": ["grid"], "device": device,
        "experiments": {"grid": {"title": "figure 3", "study": "strided_sop", "models": ["grid_bert"], "seeds": [1, 2, 3],
                                 "data": {"source": ["sample_activitynet", "sample_howto100m"], "stride": [0, 1, 2, 3]},
                                 "training": {"epochs": EPOCHS, "batch_size": 64, "learning_rate": 2e-5}}}}
    (folder / "grid.json").write_text(json.dumps(overlay))
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "snakemake", "--cores", "all", "--configfile", "grid.json", "--", "train"],
                          cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(" ".join((done.stdout + done.stderr).strip().splitlines()[-5:]))
    facts = [json.loads(file.read_text()) for file in folder.glob("results/train/*/*/run.json")]
    examples = sum(fact["train_examples"] * fact["epochs"] for fact in facts)
    return f"{len(facts)} runs, {(time.monotonic() - begun) / 60:.1f} min, {examples:,} examples learnt from"
