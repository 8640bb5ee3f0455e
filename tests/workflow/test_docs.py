"""docs/add_*.md and walkthrough.md, followed to the letter: their pieces of YAML go where the docs
say, and the study runs.
"""

import hashlib
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from scripts.data.tables import read_table
from scripts.plan.workplan import Workplan
from tests.conftest import ROOT, python_code
from tests.files import write_yaml


def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


EXPERIMENT, WORDING = map(yaml.safe_load, blocks("docs/add_experiment.md", "yaml"))
MODEL, SOURCE, DOWNLOADS, DIALOGS, RELEASED, BENCHMARK, EVENTS = map(
    yaml.safe_load, blocks("docs/add_data.md", "yaml")
)

MINE = ("--configfile", "presets/mine.yaml")
METRICS = "results/evaluate/mine/metrics.parquet"  # a preset without a name has its file's


def download_of(file: Path) -> dict:
    content = file.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return {"urls": [file.as_uri()], "bytes": len(content), "sha256": sha256}


def test_an_experiment(study):
    """The experiment is planned as the docs show it. A smaller form runs: every run is
    size-matched, and the page still shows pairs to read.
    """
    write_yaml(study / "presets/mine.yaml", EXPERIMENT)
    jobs = study.jobs(*MINE)
    assert study.trained(jobs) == 6
    assert {name.split("_")[0] for name in jobs} == set(
        "fetch clean build train evaluate publish".split()
    )
    smaller = {
        "experiments": {
            "my_sop": {"seeds": [1], "training": {"epochs": 1}, "controls": ["bag_of_words"]}
        }
    }
    write_yaml(study / "presets/smaller.yaml", smaller)
    study.run(*MINE, "presets/smaller.yaml")
    name = EXPERIMENT["name"]
    examples = (study / f"results/publish/{name}/tables/strided_sop_examples.csv").read_text()
    assert "same videos, size-matched" in examples
    assert (study / f"results/publish/{name}/index.html").exists()
    assert study.jobs() == {}, "the default study is as it was"


def test_a_model(study, tmp_path):
    """The entry works as the docs show it, with files from a mirror: a tiny model has the name of
    the real one.
    """
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    [(name, entry)] = MODEL["models"].items()
    place = tmp_path / f"mirror/huggingface.co/{entry['hub']}/resolve/{entry['revision']}"
    shutil.copytree(study / "results/fetch/models/tiny_bert", place)
    torch.manual_seed(1)
    AutoModelForSequenceClassification.from_config(
        AutoConfig.from_pretrained(place)
    ).save_pretrained(place)
    preset = MODEL | {"experiments": {"other_sop": {"models": ["tiny_bert", name]}}}
    write_yaml(study / "presets/mine.yaml", preset)
    jobs = study.jobs(*MINE)
    assert jobs["fetch_model"] == [f"Fetching the model {name}"] and len(jobs["train_run"]) == 1
    typed = ("evaluate", *MINE)
    study.run(*typed, TIMESTRIDE_MIRROR=str(tmp_path / "mirror"))
    assert name in read_table(study / METRICS, ["model"])["model"].to_pylist()
    assert study.jobs(*typed) == {}


def test_a_corpus(study):
    """Eighty videos of six lines, some without text, are cleaned, and the study is measured on
    them.
    """
    [(name, local)] = SOURCE["sources"].items()
    lines = [
        (f"v{video:03}", place, place + 1, "" if place == 3 else f" step {place}  of {video} ")
        for video in range(80)
        for place in (2, 1, 0, 3, 4, 5)
    ]
    file = study / local["local"]
    pd.DataFrame(lines, columns=["video_id", "start", "end", "text"]).to_csv(file, index=False)
    # The other form of the entry (downloads), with the same file.
    [download] = DOWNLOADS["downloads"]
    download |= download_of(file)
    fetched = {key: value for key, value in local.items() if key != "local"} | DOWNLOADS
    write_yaml(study / "presets/mine.yaml", {"name": "default", "sources": {name: local}})
    assert study.jobs(*MINE) == {}, "a corpus that no experiment uses changes nothing"
    run = {
        "run": ["other_sop"],
        "experiments": {"other_sop": {"data": {"source": name, "stride": 0}}},
    }
    cleaned = []
    for target, entry in (("build", fetched), ("evaluate", local)):
        write_yaml(study / "presets/mine.yaml", run | {"sources": {name: entry}})
        study.run(target, *MINE)
        cleaned.append(read_table(study / f"results/clean/{name}/test.parquet"))
    assert cleaned[0].equals(cleaned[1]) and len(cleaned[0])
    assert name in read_table(study / METRICS, ["source"])["source"].to_pylist()
    counts = (study / f"results/clean/{name}/cleaning.csv").read_text()
    assert f"{name},train,sentences,dropped,text is empty," in counts
    assert study.jobs("evaluate", *MINE) == {}


[WALKTHROUGH] = map(yaml.safe_load, blocks("docs/walkthrough.md", "yaml"))
[(OF_EVENTS, LISTED)] = EVENTS["sources"].items()
LISTED["downloads"][0] |= {"bytes": 10, "sha256": "0" * 64}
ASKED = {"models": ["minilm"], "methods": ["likelihood"], "data": {"stride": 0}}
RELEASED["sources"]["my_challenge"]["local"] = "test.json"
RELEASED["sources"]["my_questions"]["local"] = "questions"
DIALOGS["sources"]["my_dialogs"] |= {"local": "dialogs.jsonl", "measured_on": "my_challenge"}
OWN = {"sources": RELEASED["sources"] | DIALOGS["sources"]}


def trained_on(study: str, source: str, **data) -> dict:
    """Return an experiment of a tiny model on a source."""
    experiment = {"study": study, "data": {"source": source} | data, "models": ["tiny_bert"]}
    return {"run": ["x"], "seeds": [1], "experiments": {"x": experiment}}


@pytest.mark.parametrize(
    "preset, model, runs",
    [
        (WALKTHROUGH, "minilm", 4),  # strides
        (WORDING | {"run": ["sample_sop"], "experiments": {"sample_sop": ASKED}}, "minilm", 4),
        (BENCHMARK, "tiny_gpt", 2),  # and its blind control
        (
            EVENTS | trained_on("temporal_nli", OF_EVENTS, challenge_set="temp_order"),
            "tiny_bert",
            1,
        ),
        (OWN | trained_on("timedial", "my_dialogs"), "tiny_bert", 1),
        (OWN | trained_on("mctaco", "my_questions"), "tiny_bert", 1),
    ],
    ids=["walkthrough", "wording", "benchmark", "event templates", "dialogs", "questions"],
)
def test_a_preset_of_the_docs_is_planned(tmp_path, monkeypatch, preset, model, runs):
    """A wording of one's own is a run beside those of the study's three."""
    monkeypatch.chdir(tmp_path)
    for file in ("captions.csv", "mine.csv", "test.json", "dialogs.jsonl"):
        (tmp_path / file).touch()
    (tmp_path / "questions").mkdir()
    found = Workplan(preset, ROOT).runs.values()
    assert [run.model for run in found if run.method not in ("control", "mlm")] == [model] * runs


def test_each_experiment_on_the_page_leads_to_its_runs_and_each_run_to_its_files(study):
    page = study / study.page
    html = page.read_text()
    runs = html[html.index('<section id="runs">') :]
    experiments = set(re.findall(r'href="#runs-(\w+)"', html))
    assert experiments and experiments <= set(re.findall(r'tbody id="runs-(\w+)"', runs))
    files = re.findall(r'<tr><td><a href="([^"]+)">', runs)
    files += re.findall(r'<a href="([^"]+)">(?:data|log)</a>', runs)
    assert len(files) >= 3 and all((page.parent / file).exists() for file in files)
    assert "predictions.parquet" in {file.name for file in (page.parent / files[0]).iterdir()}


def test_the_accuracy_of_a_run_by_hand(study):
    [snippet] = [one for one in blocks("docs/data.md", "python") if "right.mean" in one]
    done = python_code(snippet, cwd=study.folder, check=True)
    on_record, by_hand = map(float, done.stdout.split())
    assert 0 < by_hand < 1 and abs(on_record - by_hand) < 1e-9
