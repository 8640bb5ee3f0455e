"""Runs as training leaves them, with scores from a test."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.tables import HISTORY, PREDICTIONS, write_table
from tests.files import write_json, write_rows


def write_run(
    trained: Path, name: str, parts: list[tuple[str, str, pd.DataFrame, np.ndarray]], **facts
) -> str:
    """Write predictions.parquet and run.json of a run, with shuffled rows. A control stands on the
    rung `words`.

    parts: a split, a selection, its examples (example_id, group_id, label) and their scores, (n,)
    or (n, labels).
    """
    tables = [
        examples[["example_id", "group_id", "label"]].assign(
            run=name,
            split=split,
            selection=selection,
            epoch=1,
            score=list(np.reshape(scores, (len(examples), -1)).astype(np.float32)),
        )
        for split, selection, examples, scores in parts
    ]
    rows = pd.concat(tables).sample(frac=1, random_state=0)
    table = pa.Table.from_pandas(rows, schema=PREDICTIONS, preserve_index=False)
    write_table(table, trained / name / "predictions.parquet", PREDICTIONS, {})
    if facts.get("method") == "control":
        facts = {"rung": "words", "sees_all": False, "training_value": None} | facts
    write_json(trained / name / "run.json", {"run": name, "training": {}} | facts)
    return name


def write_history(folder: Path, losses: list[float]) -> None:
    """Write history.parquet of a run: its held-out loss by epoch."""
    rows = [
        {"run": folder.name, "epoch": epoch, "split": "held_out", "loss": loss}
        for epoch, loss in enumerate(losses, 1)
    ]
    write_rows(rows, folder / "history.parquet", HISTORY)
