"""docs/add.md, walkthrough.md and label.md, followed to the letter: their pieces of YAML are put
where they say, and the study runs.
"""

import hashlib
import json
import re
import shutil

import pandas as pd
import yaml

from scripts.data.yaml_files import read_yaml
from scripts.data.tables import read_table
from tests.conftest import ROOT
from tests.files import read_json, read_texts, write_yaml

EXPERIMENT, MODEL, WORDING, SOURCE, DOWNLOADS, DIALOGS, EVENTS = map(
    yaml.safe_load, re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/add.md").read_text(), re.S)
)
LABELLED, ANSWERED = (
    yaml.safe_load(text)
    for text in re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/label.md").read_text(), re.S)
)


def test_an_experiment(study):
    """As it stands, then smaller for real: every run is size-matched,
    and the page has its pairs to read all the same.
    """
    write_yaml(study / "presets/mine.yaml", EXPERIMENT)
    jobs = study.jobs("--configfile", "presets/mine.yaml")
    assert study.trained("--configfile", "presets/mine.yaml") == 6
    assert {name.split("_")[0] for name in jobs} == set(
        "fetch clean build train evaluate publish".split()
    )
    smaller = {
        "experiments": {
            "my_sop": {"seeds": [1], "training": {"epochs": 1}, "controls": ["bag_of_words"]}
        }
    }
    write_yaml(study / "presets/smaller.yaml", smaller)
    study.run("--configfile", "presets/mine.yaml", "presets/smaller.yaml")
    name = EXPERIMENT["name"]
    examples = (study / f"results/publish/{name}/tables/strided_sop_examples.csv").read_text()
    assert "same videos, size-matched" in examples
    assert (study / f"results/publish/{name}/index.html").exists()
    assert study.jobs() == {}, "the default study is as it was"


def test_a_model(study, tmp_path):
    """The entry as it stands, its files from a mirror:
    a tiny model under the name of the real one.
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
    jobs = study.jobs("--configfile", "presets/mine.yaml")
    assert jobs["fetch_model"] == [f"Fetching the model {name}"] and len(jobs["train_run"]) == 1
    typed = ("evaluate", "--configfile", "presets/mine.yaml")
    study.run(*typed, TIMESTRIDE_MIRROR=str(tmp_path / "mirror"))
    assert name in read_table(study / study.metrics, ["model"])["model"].to_pylist()
    assert study.jobs(*typed) == {}


def test_a_corpus(study):
    """Eighty videos of six lines, some without text; the study is measured on them."""
    [(name, local)] = SOURCE["sources"].items()
    lines = [
        (f"v{video:03}", place, place + 1, "" if place == 3 else f" step {place}  of {video} ")
        for video in range(80)
        for place in (2, 1, 0, 3, 4, 5)
    ]
    file = study / local["local"]
    pd.DataFrame(lines, columns=["video_id", "start", "end", "text"]).to_csv(file, index=False)
    # The other form of the entry, with the file of this one.
    [download] = DOWNLOADS["downloads"]
    download |= {
        "urls": [file.as_uri()],
        "bytes": file.stat().st_size,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    fetched = {key: value for key, value in local.items() if key != "local"} | DOWNLOADS
    write_yaml(study / "presets/mine.yaml", {"sources": {name: local}})
    typed = ("--configfile", "presets/mine.yaml")
    assert study.jobs(*typed) == {}, "a corpus that no experiment uses changes nothing"
    run = {
        "run": ["other_sop"],
        "experiments": {"other_sop": {"data": {"source": name, "stride": 0}}},
    }
    cleaned = []
    for target, entry in (("build", fetched), ("evaluate", local)):
        write_yaml(study / "presets/mine.yaml", run | {"sources": {name: entry}})
        study.run(target, *typed)
        cleaned.append(read_table(study / f"results/clean/{name}/test.parquet"))
    assert cleaned[0].equals(cleaned[1]) and len(cleaned[0])
    assert name in read_table(study / study.metrics, ["source"])["source"].to_pylist()
    counts = (study / f"results/clean/{name}/cleaning.csv").read_text()
    assert f"{name},train,sentences,dropped,text is empty," in counts
    assert study.jobs("evaluate", *typed) == {}


def test_the_walkthrough(study):
    """Its preset is planned as it says, and one more stride trains one more model."""
    text = (ROOT / "docs/walkthrough.md").read_text()
    [preset] = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", text, re.S))
    (study / "captions.csv").write_text("video_id,start,end,text\n")
    planned = []
    for strides in ([0, 1, 2, 3], [0, 1, 2, 3, 4]):
        preset["experiments"]["my_order"]["data"]["stride"] = strides
        write_yaml(study / "mine.yaml", preset)
        planned.append(study.jobs("--configfile", "mine.yaml"))
    assert sum(map(len, planned[0].values())) + 1 == 18, "with the rule all"
    assert [len(jobs["train_run"]) for jobs in planned] == [4, 5]


def test_a_list_of_event_templates(study):
    file = study / "templates.csv"
    file.write_text((study / "resources/templates.csv").read_text())
    [(name, entry)] = EVENTS["sources"].items()
    entry["downloads"][0] |= {
        "urls": [file.as_uri()],
        "bytes": file.stat().st_size,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    experiment = {
        "study": "temporal_nli",
        "data": {"source": name, "challenge_set": "temp_order"},
        "models": ["tiny_bert"],
    }
    write_yaml(
        study / "presets/mine.yaml",
        {"sources": {name: entry}, "run": ["mine"], "experiments": {"mine": experiment}},
    )
    study.run("build", "--configfile", "presets/mine.yaml")
    pairs = read_table(
        study / f"results/build/temporal_nli/{name}/temp_order/test.parquet", ["text_a", "text_b"]
    )
    assert len(pairs) == 6140


def test_a_wording(study):
    """A wording of a preset is a run beside those of scripts/studies/<study>/prompts.yaml."""
    known = read_yaml(study / "scripts/studies/strided_sop/prompts.yaml")["likelihood"]["wordings"]
    asked = {"models": ["minilm"], "methods": ["likelihood"], "controls": False}
    write_yaml(
        study / "presets/mine.yaml",
        WORDING | {"run": ["other_sop"], "experiments": {"other_sop": asked}},
    )
    mine = WORDING["prompts"]["strided_sop"]["likelihood"]["wordings"]
    assert study.trained("train", "--configfile", "presets/mine.yaml") == len({*known, *mine})


def labelled(program, study, name, output, *arguments):
    """The items that a program of docs/label.md makes, labelled by one person,
    as data in the layout of the release.
    """

    def run(module, *given):
        program(f"scripts.studies.{name}.{module}", *given, cwd=study.folder).checked()

    run("to_label", *arguments, "--output", "new")
    rows = read_texts(study / "new/labels.csv")
    usual, second = {"timedial": ("wrong", "right"), "mctaco": ("likely", "unlikely")}[name]
    is_second = rows.groupby("instance_id" if name == "timedial" else "sentence").cumcount() == 1
    rows["label"] = rows["label"].where(
        rows["label"] != "", is_second.map({True: second, False: usual})
    )
    rows.to_csv(study / "sheet.csv", index=False)
    run("labelled", "--sheets", "sheet.csv", "--output", output)


def test_instances_of_ones_own(study, program):
    """Sample dialogs, cleaned as one's own, become instances; those are labelled, and what
    learns from the dialogs is measured on them.
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
    LABELLED["sources"]["my_dialogs"]["local"] = "dialogs.jsonl"
    LABELLED["sources"]["my_challenge"]["local"] = "test.json"
    experiment = yaml.safe_load("""
        study: timedial
        data: {source: my_dialogs, context_scope: local}
        models: [tiny_bert]
        methods: [classify]
    """)
    preset = LABELLED | {"run": ["mine"], "experiments": {"mine": experiment}}
    mine = yaml.safe_load(yaml.safe_dump(preset))
    mine["sources"]["my_dialogs"]["measured_on"] = "sample_challenge"
    write_yaml(study / "presets/mine.yaml", mine)
    study.run("build", "--configfile", "presets/mine.yaml")
    labelled(
        program,
        study,
        "timedial",
        "test.json",
        "--cleaned",
        "results/clean/my_dialogs",
        "--spans",
        "results/build/temporal_spans/my_dialogs",
        "--splits",
        "train",
        "--instances",
        30,
    )
    write_yaml(study / "presets/mine.yaml", preset)
    study.run("build", "--configfile", "presets/mine.yaml")
    built = study / "results/build/timedial/my_dialogs/local"
    measured = {
        name
        for split in ("test", "extras")
        for name in read_table(built / f"{split}.parquet")["instance_id"].to_pylist()
    }
    assert measured == {instance["id"] for instance in read_json(study / "test.json")}
    assert len(measured) > 20
    left = pd.read_csv(built / "leakage.csv").set_index(["split", "reason"])["dialogs_dropped"]
    dialogs = {":".join(name.split(":")[:2]) for name in measured}
    assert left["train", "exact source of the challenge"] >= len(dialogs), (
        "what was asked is not learnt from"
    )


def test_questions_of_ones_own(study, program):
    """What learns from MC-TACO's layout is measured on labelled answers to three questions."""
    rows = ["sentence\tquestion\tanswer\tcategory"] + [
        f"She ran {number} miles.\tHow long did it take?\tfour hours\tduration"
        for number in range(3)
    ]
    (study / "questions.tsv").write_text("\n".join(rows) + "\n")
    labelled(
        program, study, "mctaco", "test_9442.tsv", "--questions", "questions.tsv", "--candidates", 8
    )
    (study / "dev_3783.tsv").write_text(
        (study / "test_9442.tsv").read_text().replace("miles", "rounds")
    )
    [(name, entry)] = ANSWERED["sources"].items()
    for download in entry["downloads"]:
        file = study / download["file"]
        download |= {
            "urls": [file.as_uri()],
            "bytes": file.stat().st_size,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        }
    experiment = {"study": "mctaco", "data": {"source": name}, "models": ["tiny_bert"]}
    write_yaml(
        study / "presets/mine.yaml",
        {"sources": {name: entry}, "run": ["mine"], "experiments": {"mine": experiment}},
    )
    study.run("build", "--configfile", "presets/mine.yaml")
    answers = read_table(
        study / f"results/build/mctaco/{name}/default/test.parquet", ["group_id", "label"]
    ).to_pandas()
    assert answers.groupby("group_id").size().tolist() == [8, 8, 8] and answers["label"].sum() == 21
