"""Tokenized splits, kept under a digest of their origin. So a dataset is tokenized once for all
runs with the same tokenizer.

<folder>/<digest>/ holds one .npy a field and facts.json. You may delete these files at any time.
"""

import fcntl
import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.data.files import sha256_of, whole
from scripts.running.code_lock import identity
from scripts.running.locks import flock
from scripts.running.program import log
from scripts.data.tables import digest_of
from scripts.train.batches import Examples, Ragged, joined


def key_of(paradigm, job: dict, table: pa.Table) -> str:
    """Digest of all that decides the tokens of a table: its content, the tokenizer, the kind of
    network (one tokenizer may serve an encoder and a decoder), the settings, the code.
    """
    tokenizer = paradigm.tokenizer
    special = {name: str(value) for name, value in tokenizer.special_tokens_map.items()}
    start = getattr(getattr(paradigm.network, "config", None), "decoder_start_token_id", None)
    head = job["head"] and job["head"]["columns"]
    described = json.dumps(
        [
            digest_of(table, table.schema.names),
            tokenizer.model_input_names,
            type(paradigm.network).__name__,
            special,
            start,
            head,
            job["inputs"],
            job["settings"]["training"]["max_length"],
            identity(f"train/{job['paradigm']}"),
            *([job["prompt"], paradigm.shots] if "prompt" in job else []),
        ]
    )
    # The tokenizer also stores the truncation and padding of its last call. They are no property of
    # the tokenizer.
    written = json.loads(tokenizer.backend_tokenizer.to_str()) | {
        "truncation": None,
        "padding": None,
    }
    return hashlib.sha256((described + json.dumps(written, sort_keys=True)).encode()).hexdigest()


def encoded(paradigm, job: dict, table: pa.Table, folder: Path | None) -> Examples:
    """The examples of a table, from `folder` where they were tokenized before.

    With None it tokenizes without keeping. So it does where the file system has no locks, since two
    runs would write to one place at once.
    """
    if folder is None:
        return paradigm.encode(table)
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / key_of(paradigm, job, table)[:32]
    with open(place.with_suffix(".lock"), "a") as opened:
        if not flock(opened, fcntl.LOCK_EX):
            return paradigm.encode(table)
        examples = read(place)
        if examples is None:
            write(paradigm.encode(table), place)
            examples = read(place)
    return paradigm.encode(table) if examples is None else examples


def read_examples(
    job: dict, tables: dict[str, pa.Table], paradigm, folder: Path | None
) -> dict[str, Examples]:
    """The splits as tokenized examples. folder: see encoded()."""
    examples = {}
    for split, table in tables.items():
        examples[split] = encoded(paradigm, job, table, folder)
        log.info(
            "%s: %d examples, %.1f tokens on average, %d cut to %d",
            split,
            len(examples[split]),
            examples[split].lengths.mean(),
            examples[split].truncated,
            job["settings"]["training"]["max_length"],
        )
    return examples


def write(examples: Examples, place: Path) -> None:
    """Write examples to a folder, whole."""
    with whole(place) as beside:
        beside.mkdir()
        arrays = {"labels": examples.labels, "choices": examples.choices}
        for name, field in examples.fields.items():
            packed = joined(field)
            arrays |= {f"{name}.flat": packed.flat, f"{name}.lengths": packed.lengths}
        for name, values in arrays.items():
            np.save(beside / f"{name}.npy", values, allow_pickle=False)
        facts = {
            "truncated": examples.truncated,
            "truncated_choices": examples.truncated_choices,
            "fields": list(examples.fields),
            "sha256": {name: sha256_of(beside / f"{name}.npy") for name in arrays},
        }
        (beside / "facts.json").write_text(json.dumps(facts))


def read(place: Path) -> Examples | None:
    """The examples of a folder, mapped into memory, which runs share; None if there are none, or
    where they are damaged.
    """
    try:
        facts = json.loads((place / "facts.json").read_text())
        if any(
            sha256_of(place / f"{name}.npy") != wanted for name, wanted in facts["sha256"].items()
        ):
            raise ValueError("a file has changed")
        arrays = {
            name: np.load(place / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in facts["sha256"]
        }
        fields = {
            name: Ragged.of(arrays[f"{name}.flat"], np.array(arrays[f"{name}.lengths"]))
            for name in facts["fields"]
        }
        return Examples(
            fields,
            np.array(arrays["labels"]),
            np.array(arrays["choices"]),
            facts["truncated"],
            facts["truncated_choices"],
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        log.warning("%s: damaged tokens (%s); tokenizes anew", place, error)
        for file in sorted(place.glob("*")):
            file.unlink()
        place.rmdir()
        return None
