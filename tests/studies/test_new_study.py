"""A new folder becomes a study, and no other file of the project changes."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.data.csv_files import read_csv
from tests.conftest import ROOT
from tests.workflow.conftest import checkout

pytestmark = [pytest.mark.models, pytest.mark.slow]
HALVES = ROOT / "tests/fixtures/halves"
CONFIG = """
name: drill
run: [halves]
seeds: [1]
bootstrap_resamples: 100
models:
  search_opening: {title: "search: the opening", licence: none, control: {search: opening}}
experiments:
  halves:
    study: halves
    data: {source: sample_activitynet, words: [null, 3]}
    models: [tiny_bert, search_opening]
    methods: [train, opening_only]
    training: {epochs: 1, learning_rate: 1.0e-3}
"""


def lines_of(folder: Path) -> int:
    return sum(len(file.read_text().splitlines()) for file in folder.rglob("*.*"))


def check_limit_and_probe(study) -> None:
    """The option `limit` and a probe work for a study that says nothing of the one, and `probe` of
    the other. A kind of source is a line of a study.
    """
    study.run("evaluate", "--configfile", "drill.yaml", "--config", "name=few", "limit=20")
    metrics = pd.read_parquet(study / "results/evaluate/few/metrics.parquet")
    assert set(metrics["n"]) == {20} == set(metrics["limit"])
    built = study / "results/build/halves/sample_activitynet"
    few, whole = (
        pd.read_parquet(built / f"{name}/val_1.parquet") for name in ("limit-20", "default")
    )
    assert len(few) == 20 and set(few["example_id"]) < set(whole["example_id"])
    learnt = [pd.read_parquet(built / f"{name}/train.parquet") for name in ("limit-20", "default")]
    assert learnt[0].equals(learnt[1]), "what a model learns from is never cut"
    probe = ("--configfile", "presets/probe.yaml", "--config", "model=tiny_bert", "limit=20")
    jobs = study.jobs("evaluate", *probe, "study=halves")
    assert list(jobs["evaluate_experiment"]) == ["Evaluating probe_halves"]
    assert "Evaluating probe_halves" in study.jobs("evaluate", *probe)["evaluate_experiment"]
    study.edit("scripts/studies/halves/study.yaml", "reads: [captions]", KINDS)
    study.edit("drill.yaml", "name: drill", f"name: drill\n{CLIPS}")
    study.edit("drill.yaml", "source: sample_activitynet", "source: clips")
    assert study.jobs("--configfile", "drill.yaml")["clean_corpus"] == ["Cleaning clips"]


KINDS = "kinds: {clips: captions_table}\nreads: [captions, clips]"
CLIPS = """
sources:
  clips: {title: t, kind: clips, local: clips.csv, train: train, evaluate: [test], licence: MIT, citation: none}
"""


def test_a_folder_is_a_study(tmp_path):
    assert lines_of(HALVES) <= 150
    study = checkout(tmp_path / "project")
    shutil.copytree(HALVES, study / "scripts/studies/halves")
    texts = "".join(f"v{n // 3},{n % 3},{n % 3 + 1},We wait {n}.\n" for n in range(150))
    (study / "clips.csv").write_text("video_id,start,end,text\n" + texts)
    (study / "drill.yaml").write_text(CONFIG)
    study.run("--configfile", "drill.yaml")
    points = read_csv(study / "results/publish/drill/figures/halves_accuracy.csv")
    assert set(points["model"]) == {"tiny_bert", "bag_of_words", "search_opening"}
    assert len(points) == 16
    assert points["value"].astype(float).between(0, 1).all()
    page = (study / "results/publish/drill/index.html").read_text()
    assert "Does a caption stand in the first half of its video?" in page
    assert "halves_accuracy.pdf" in page
    assert "halves named right" in page
    metrics = pd.read_parquet(study / "results/evaluate/drill/metrics.parquet")
    asked = metrics[metrics["model"].eq("tiny_bert") & metrics["seed"].isna()]
    model, blind = (
        asked[asked["method"] == method].pivot_table("value", ["dataset", "split"], "metric")
        for method in ("train", "opening_only")
    )
    controls = metrics[metrics["model"].isin(["bag_of_words", "search_opening"])]
    controls = controls[controls["metric"] == "right_halves"].pivot_table(
        "value", ["dataset", "split"], "model"
    )
    compared = pd.read_parquet(study / "results/evaluate/drill/comparisons.parquet")
    compared = compared[compared["method"] == "train"].pivot_table(
        "difference", ["dataset", "split"], ["kind", "metric"]
    )
    for kind in ("like_for_like", "maximum"):
        ahead = compared[kind, "right_halves"]
        assert np.allclose(compared[kind, "wrong_halves"], ahead), "of a lower one"
        reached = model["right_halves"] - ahead
        assert np.isclose(controls, reached.to_frame()).any(axis=1).all(), "a control of the study"
    best = model["right_halves"] - compared["maximum", "right_halves"]
    assert np.allclose(best, controls.max(axis=1))
    ahead = model["right_halves"] - blind["right_halves"]
    assert np.allclose(compared["blind", "right_halves"], ahead)
    card = (study / "results/build/halves/README.md").read_text()
    assert "whether it stands in the first half" in card
    assert study.jobs("--configfile", "drill.yaml") == {}
    check_limit_and_probe(study)
    declared = "  wrong_halves: {title: halves named wrong, better: lower}\n"
    study.edit("scripts/studies/halves/study.yaml", declared, "")
    said = study.snakemake("--configfile", "drill.yaml")
    assert said.returncode and "`metrics` lacks wrong_halves" in said.stdout + said.stderr
    study.edit("scripts/studies/halves/study.yaml", "better: higher", "better: lower")
    said = study.snakemake("--configfile", "drill.yaml", "--dry-run")
    assert said.returncode and "right_halves is no share" in said.stdout + said.stderr
