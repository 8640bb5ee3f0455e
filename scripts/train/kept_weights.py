"""Trained weights that stay (`keep: best` or `last`): where they lie, and whether they can score
a run without training.

<folder>/<model>-<method>-seed-<n>-<digest>/ holds
  the weights    in the form that others load: model.safetensors and config.json; of LoRA alone
                 adapter_model.safetensors and adapter_config.json
  the tokenizer
  README.md      a model card
  kept.json      what the weights are, and the sha256 of each file

The digest covers all that decides the weights, and nothing about evaluation. So a run with
another evaluation finds the same weights. No rule declares them, so Snakemake never deletes them.
Standard library only: this code runs before torch is imported.
"""

import hashlib
import json
from pathlib import Path

from scripts.data.files import sha256_of
from scripts.data.plain_json import as_json
from scripts.running.code_lock import known_as
from scripts.running.program import log

FACTS = "kept.json"
ADAPTER_FILE = "adapter_model.safetensors"
# keys of a run's settings; the data counts by content, below
LEARNT_BY = ("model", "method", "training", "seed", "made_by")
# keys of a job
READ_BY = ("head", "columns", "labels", "held_out", "paradigm", "inputs", "model_files", "code")


def learnt_digests(job: dict) -> list[str]:
    """The digest of what a job learns: its settings, data, model and code, without its evaluation.
    After it stand those that earlier releases gave the same job.
    """
    learnt = [job["splits"][0], *([job["held_out"]] if job["held_out"] else [])]
    described = {
        "settings": {key: job["settings"].get(key) for key in LEARNT_BY},
        **{key: job[key] for key in READ_BY},
        "data": [job["data"][split] for split in learnt],
    }
    return [
        hashlib.sha256(as_json(described | {"code": code}).encode()).hexdigest()
        for code in known_as(job["code"].partition("@")[0])
    ]


def place_of(folder: Path, job: dict) -> Path:
    """Where the weights of a job are kept."""
    settings = job["settings"]
    name = f"{settings['model']}-{settings['method']}-seed-{settings['seed']}"
    places = [folder / f"{name}-{digest[:12]}" for digest in learnt_digests(job)]
    return next((place for place in places if place.exists()), places[0])


def kept_facts(place: Path, job: dict) -> dict | None:
    """The kept.json of the weights that a job would learn; None if there are none, or if they
    are damaged (which is logged).
    """
    try:
        facts = json.loads((place / FACTS).read_text(encoding="utf-8"))
        if facts["learnt"] not in learnt_digests(job):
            return None
        changed = [
            name for name, digest in facts["sha256"].items() if sha256_of(place / name) != digest
        ]
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, OSError):
        changed = [FACTS]
    if changed:
        log.warning(
            "warning: %s has changed since it was written; the weights are learnt anew",
            place / changed[0],
        )
        return None
    return facts


def are_asked_for(facts: dict | None, job: dict, keep: str, merge: bool) -> bool:
    """Whether kept weights are those that `keep` and `merge_adapter` ask for."""
    if facts is None or (job["settings"]["training"].get("adapter") and facts["merged"] != merge):
        return False
    return facts["epoch"] == facts["run"]["best_epoch" if keep == "best" else "epochs"]


def can_score(facts: dict) -> bool:
    """Whether kept weights are of the epoch whose scores a run reports."""
    return facts["epoch"] == facts["run"]["best_epoch"]
