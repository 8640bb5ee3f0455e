"""Runs that are one system for a table, and how systems of one model are told apart."""

import yaml

from scripts.data.runs import Facts
from scripts.data.tables import HISTORY, write_table
from scripts.measure.experiment import Run
from scripts.publish.systems import runs_by_title

MODELS = {"m": {"title": "M"}}


def made(
    folder, name: str, method: str = "train", seed: int = 1, made_by: str | None = None, **training
) -> Run:
    settings = {"training": {"learning_rate": 1e-4, "epochs": 3} | training} | (
        {"made_by": made_by} if made_by else {}
    )
    write_table(
        HISTORY.empty_table(), folder / name / "history.parquet", HISTORY, {"settings": settings}
    )
    return Run(
        folder / name,
        Facts({"model": "m", "method": method, "seed": seed}, folder / name / "run.json"),
    )


def test_seeds_are_one_system_and_ways_of_training_are_told_apart(tmp_path):
    runs = [
        made(tmp_path, "a"),
        made(tmp_path, "b", seed=2),
        made(tmp_path, "c", learning_rate=2e-5),
        made(tmp_path, "d", made_by="sop-run"),
        made(tmp_path, "e", method="train_blind"),
        made(tmp_path, "f", objectives={"sop": 1.0, "mlm": 0.5}),
    ]
    found = {
        title: [run.folder.name for run in of]
        for title, of in runs_by_title(runs, ["train"], MODELS).items()
    }
    assert found == yaml.safe_load("""
        M, learning rate 0.0001: [a, b]
        M, learning rate 2e-05: [c]
        M, begins with sop-run, learning rate 0.0001: [d]
        M, fine-tuned, blind: [e]
        M, learning rate 0.0001, objectives mlm 0.5, sop 1: [f]
    """)
    assert list(runs_by_title(runs[:2], ["train"], MODELS)) == ["M"], (
        "trained in one way, it is named by itself"
    )
