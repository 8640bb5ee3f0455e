"""Tiny models of the project's entries, what the loop gives to a paradigm, and its scores."""

import contextlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from transformers import AutoConfig

from scripts.fetch import model
from scripts.train.batches import Examples, collate, sorted_batches
from scripts.train.plain import alike
from tests.conftest import ROOT


def fetched(entry: str, folder: Path, kind=None) -> Path:
    """Fetch the model of an entry into a folder; kind: the transformers class that gives the random
    weights.
    """
    partial = folder.parent / "partial"
    given = f"--model {entry} --output {folder} --partial {partial}"
    with contextlib.chdir(ROOT):
        model.main(model.arguments().parse_args(given.split()))
    if kind:
        torch.manual_seed(0)
        kind.from_config(AutoConfig.from_pretrained(folder)).save_pretrained(folder)
    return folder


def cloze_table(rows: list[tuple[str, list[str]]], right: int = 1) -> pa.Table:
    """Return contexts with their candidates, as the loop gives them to a paradigm. The first
    `right` candidates are right.
    """
    return pa.Table.from_pylist(
        [
            {
                "example_id": f"{place}:{number}",
                "group_id": f"dialog {place}",
                "choice": place,
                "context": context,
                "candidate": candidate,
                "label": int(number < right),
            }
            for place, (context, candidates) in enumerate(rows)
            for number, candidate in enumerate(candidates)
        ]
    )


def pair_table(texts: list[tuple[str, str]], labels: list[int]) -> pa.Table:
    """Return pairs of texts, each its own group, as the loop gives them to a paradigm."""
    first, second = zip(*texts)
    ids = [str(number) for number in range(len(texts))]
    columns = {"example_id": ids, "group_id": ids, "text_a": first, "text_b": second}
    return pa.table(columns | {"label": labels})


def job_of(
    inputs=("text_a", "text_b"), labels=("swapped", "in_order"), max_length: int = 64, **training
) -> dict:
    """Return a job, as the loop gives it to a paradigm. training: further settings of training."""
    known = {"max_length": max_length, "dropout": None}
    return {
        **{"inputs": [*inputs], "labels": [*labels], "learns": True},
        "head": {"labels": [*labels], "columns": [*range(len(labels))], "order": None},
        "settings": {"method": "train", "seed": 3, "training": known | training},
    }


def scores_of(paradigm, examples: Examples, at_once: int = 100) -> np.ndarray:
    """Return the network's scores, from batches of `at_once` texts (or those of one place). The
    plain scores of each text must be the same.
    """
    paradigm.network.eval()
    batches = sorted_batches(examples.lengths, examples.choices, at_once)
    with torch.no_grad():
        scores = torch.cat(
            [
                paradigm.scores(paradigm.network, collate(examples, rows, paradigm.padding, "cpu"))
                for rows in batches
            ]
        )
        scores = scores[np.argsort(np.concatenate(batches))]
        alone = [
            collate(examples, row, paradigm.padding, "cpu")
            for row in np.split(np.arange(len(examples)), len(examples))
        ]
        plain = torch.cat([paradigm.plain_scores(paradigm.network, batch) for batch in alone])
    assert alike(scores, plain, next(paradigm.network.parameters()).dtype)
    return scores.numpy()
