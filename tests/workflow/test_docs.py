"""docs/add_*.md and walkthrough.md, followed to the letter: their pieces of YAML go where the docs
say, and the study runs.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml

from scripts.data.yaml_files import read_yaml
from scripts.data.tables import read_table
from tests.conftest import ROOT
from tests.files import write_yaml


def blocks(page: str, kind: str) -> list[str]:
    """Return the blocks of code of a page, of one language."""
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


EXPERIMENT, WORDING = map(yaml.safe_load, blocks("docs/add_experiment.md", "yaml"))
MODEL, SOURCE, DOWNLOADS, DIALOGS, RELEASED, BENCHMARK, EVENTS = map(
    yaml.safe_load, blocks("docs/add_data.md", "yaml")
)

MINE = ("--configfile", "presets/mine.yaml")
METRICS = "results/evaluate/mine/metrics.parquet"  # a preset without a name has its file's


def download_of(file: Path) -> dict:
    """Return the entry of a download: its URL, size and hash."""
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


def test_a_benchmark(study):
    """The preset of the docs, with controls alone in place of a model."""
    [source], [experiment] = (BENCHMARK[key].values() for key in ("sources", "experiments"))
    columns = source["columns"]
    names = [columns[key] for key in ("context", "question", "answer", "category")]
    rows = [
        dict(zip(names, [f"Text {n}.", f"How long is {n}?", "ABC"[n % 3], "ab"[n % 2]]))
        | {name: f"{n + place} hours" for place, name in enumerate(columns["options"])}
        for n in range(40)
    ]
    pd.DataFrame(rows).to_csv(study / source["local"], index=False)
    experiment |= {"models": ["bag_of_words"], "controls": False}
    write_yaml(study / "presets/mine.yaml", BENCHMARK)
    study.run("evaluate", *MINE)
    assert set(read_table(study / METRICS, ["n"])["n"].to_pylist()) == {20, 40}


def test_the_walkthrough(study):
    """The preset has as many jobs as the docs say, and one more stride trains one more model."""
    [preset] = map(yaml.safe_load, blocks("docs/walkthrough.md", "yaml"))
    rows = [f"v{video},{start},{start + 1},step {start}" for video in range(60) for start in (1, 2)]
    (study / "captions.csv").write_text("\n".join(["video_id,start,end,text", *rows]))
    planned = []
    for strides in ([0, 1, 2, 3], [0, 1, 2, 3, 4]):
        preset["experiments"]["my_order"]["data"]["stride"] = strides
        write_yaml(study / "mine.yaml", preset)
        planned.append(study.jobs("--configfile", "mine.yaml"))
    assert sum(map(len, planned[0].values())) + 1 == 19, "with the rule all"
    assert [len(jobs["train_run"]) for jobs in planned] == [4, 5]


def test_a_list_of_event_templates(study):
    file = study / "templates.csv"
    file.write_text((study / "resources/templates.csv").read_text())
    [(name, entry)] = EVENTS["sources"].items()
    entry["downloads"][0] |= download_of(file)
    experiment = {
        "study": "temporal_nli",
        "data": {"source": name, "challenge_set": "temp_order"},
        "models": ["tiny_bert"],
    }
    write_yaml(
        study / "presets/mine.yaml",
        {"sources": {name: entry}, "run": ["mine"], "experiments": {"mine": experiment}},
    )
    study.run("build", *MINE)
    pairs = read_table(
        study / f"results/build/temporal_nli/{name}/temp_order/test.parquet", ["text_a", "text_b"]
    )
    assert len(pairs) == 6140


def test_a_wording(study):
    """A wording in a preset is one more run beside those of
    scripts/studies/<study>/prompts.yaml.
    """
    known = read_yaml(study / "scripts/studies/strided_sop/prompts.yaml")["likelihood"]["wordings"]
    asked = {"models": ["minilm"], "methods": ["likelihood"], "controls": False}
    write_yaml(
        study / "presets/mine.yaml",
        WORDING | {"run": ["other_sop"], "experiments": {"other_sop": asked}},
    )
    mine = WORDING["prompts"]["strided_sop"]["likelihood"]["wordings"]
    assert study.trained(study.jobs("train", *MINE)) == len({*known, *mine})


def test_instances_and_questions_of_ones_own(study):
    """A user's own instance (the test set of own dialogs) and own question with two answers are
    built.
    """
    talks = [
        {
            "dialog": [
                f"I stay for {number % 7 + 2} days, from May {number % 20 + 1}th.",
                f"At {number % 9 + 1} pm I have {number} minutes.",
                f"Talk {number} is {number * 3} hours long.",
            ]
        }
        for number in range(120)
    ]
    (study / "dialogs.jsonl").write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    instance = yaml.safe_load("""
        id: mine
        conversation: ['A: How long ?', 'B: <MASK> .']
        correct1: two hours
        correct2: 120 minutes
        incorrect1: two days
        incorrect1_rule: Rule 1
        incorrect2: a year
        incorrect2_rule: Rule 3
    """)
    (study / "test.json").write_text(json.dumps([instance]))
    (study / "questions").mkdir()
    for name, word in (("train", "no"), ("my_test", "yes")):
        answers = [f"She ran.\tHow long?\t{n} hours\t{word}\tEvent Duration\n" for n in (1, 2)]
        (study / f"questions/{name}.tsv").write_text("".join(answers))
    sources = RELEASED["sources"] | DIALOGS["sources"]
    sources["my_dialogs"] |= {"local": "dialogs.jsonl", "measured_on": "my_challenge"}
    sources["my_challenge"]["local"] = "test.json"
    sources["my_questions"]["local"] = "questions"
    experiments = yaml.safe_load("""
        dialogs: {study: timedial, data: {source: my_dialogs}, models: [tiny_bert], methods: [classify]}
        questions: {study: mctaco, data: {source: my_questions}, models: [tiny_bert]}
    """)
    write_yaml(
        study / "presets/mine.yaml",
        {"sources": sources, "run": [*experiments], "experiments": experiments},
    )
    study.run("build", *MINE)
    built = {
        path: read_table(study / f"results/build/{path}/test.parquet").to_pandas()
        for path in ("timedial/my_dialogs/default", "mctaco/my_questions/default")
    }
    dialogs, questions = built.values()
    assert dialogs["candidate"].tolist() == ["two hours", "120 minutes", "two days", "a year"]
    assert questions["label"].tolist() == [1, 1]


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
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=study.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    on_record, by_hand = map(float, done.stdout.split())
    assert 0 < by_hand < 1 and abs(on_record - by_hand) < 1e-9
