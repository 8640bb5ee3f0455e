"""HellaSwag: cleaned from its text and its release, split by the videos of its items, measured and
published.
"""

import bz2
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.data.tables import CAPTIONS, read_table
from scripts.studies.choices.evaluate import SCHEMA
from tests.clean.cleaned_dialogs import call as clean_files
from tests.files import write_json, write_rows
from tests.runs import write_run
from tests.studies.programs import build as build_set, evaluate, metrics_in, splits_in
from tests.publish.publish_inputs import Inputs, points_of, table_of

VIDEOS = {"train": ["t1", "t2"], "val_1": ["v1", "v2"], "val_2": ["v1", "v2"]}
WRONG = ["flies away.", "sings a song.", "is a rubik's cube."]
SAME = "A man waits. The man waits on."


def captions_of(video: str) -> list[str]:
    return [
        f"A man opens the box of {video}.",
        f"He takes a {video} out.",
        f"The man shows it, {video} style, to the camera.",
        f"He closes box {video}.",
    ]


def items() -> list[dict]:
    """Make two items for each video (one begins with two captions), one item that fits two videos,
    one that fits none, and six articles.
    """
    found = []
    for video in ("t1", "t2", "v1", "v2"):
        first, second, third, _ = captions_of(video)
        same = {"activity": "Opening boxes", "video": video}
        found.append(same | {"context": f"{first} he", "right": second.removeprefix("He ")})
        context, right = f"{first} {second} the man", third.removeprefix("The man ")
        found.append(same | {"context": context, "right": right})
    found += yaml.safe_load("""
        - {activity: Waiting, context: A man waits. the man, right: waits on., video: t1}
        - {activity: Waiting, context: Nobody is there. nobody, right: was ever there., video: x9}
    """)
    for number in range(6):
        context = f"How to rest {number} hours. Lie down."
        rest = {"activity": "Health", "right": "Close your eyes.", "video": None}
        found.append(rest | {"context": context})
    return [item | {"label": number % 4} for number, item in enumerate(found)]


def endings_of(item: dict) -> list[str]:
    return [*WRONG[: item["label"]], item["right"], *WRONG[item["label"] :]]


def text_of(found: list[dict]) -> str:
    return "".join(
        "\n".join([f"{item['activity']}: {item['context']}", str(item["label"]), *endings_of(item)])
        + "\n"
        for item in found
    )


def release_of(found: list[dict]) -> str:
    rows = (
        {"ind": number, "activity_label": item["activity"], "ctx_a": "", "ctx_b": ""}
        | {"ctx": item["context"], "split": "val", "split_type": "indomain"}
        | {"label": item["label"], "endings": endings_of(item)}
        | {"source_id": f"activitynet~v_{item['video']}" if item["video"] else "wikihow~1"}
        for number, item in enumerate(found)
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def captions(tmp_path):
    folder = tmp_path / "captions"
    for split, videos in VIDEOS.items():
        texts = {
            f"v_{video}": captions_of(video)
            + ([SAME.split(". ")[0] + ".", "The man waits on."] if video in ("t1", "v1") else [])
            for video in videos
        }
        rows = [
            ("a", split, video, place, text, float(place), place + 1.0)
            for video, lines in texts.items()
            for place, text in enumerate(lines)
        ]
        rows = [dict(zip(CAPTIONS.names, row)) for row in rows]
        write_rows(rows, folder / f"{split}.parquet", CAPTIONS)
    return folder


@pytest.fixture
def clean(program, tmp_path):
    """Return a function that cleans a file and returns the folder."""

    def call(name: str, content: bytes):
        (tmp_path / "fetched").mkdir(exist_ok=True)
        (tmp_path / "fetched" / name).write_bytes(content)
        fetched, output = tmp_path / "fetched", tmp_path / "cleaned"
        return clean_files(program, "hellaswag", fetched, output)

    return call


@pytest.fixture
def build(program, captions, tmp_path):
    def call(cleaned, **options):
        output = tmp_path / "built"
        place = {"cleaned": str(captions), "spans": "", "train": "train"}
        beside = json.dumps({"captions": place | {"evaluate": ["val_1", "val_2"]}})
        build_set(program, "choices", cleaned, output, "train test", options, "--beside", beside)
        return splits_in(output, "train test")

    return call


@pytest.mark.parametrize(
    "name, write",
    [
        ("hellaswag_val_full.txt.bz2", lambda found: bz2.compress(text_of(found).encode())),
        ("hellaswag_val.jsonl", lambda found: release_of(found).encode()),
    ],
)
def test_no_video_of_what_is_measured_is_learnt_from(clean, build, tmp_path, name, write):
    cleaned = clean(name, write(items()))
    assert "hellaswag,val,items,noted,of wikihow,6" in (cleaned / "cleaning.csv").read_text()
    tables = build(cleaned)
    videos = {
        split: set(table.loc[table["category"] == "activitynet", "group_id"])
        for split, table in tables.items()
    }
    assert videos == {"train": {"v_t1", "v_t2"}, "test": {"v_v1", "v_v2"}}
    articles = [
        set(table.loc[table["category"] == "wikihow", "group_id"]) for table in tables.values()
    ]
    assert not articles[0] & articles[1] and len(articles[0] | articles[1]) == 6
    leakage = pd.read_csv(tmp_path / "built/leakage.csv")
    named = name.endswith(".jsonl")  # a named video is trusted
    assert leakage.loc[leakage["split"] == "dropped", ["reason", "items"]].to_numpy().tolist() == (
        [["no video has its captions", 1]]
        if named
        else [["no video has its captions", 1], ["several videos have its captions", 1]]
    )
    assert leakage["items"].sum() == len(items())
    every = pd.concat(tables.values())
    right = every[every["label"] == 1].set_index("instance_id")
    assert (every.groupby("instance_id")["label"].agg(["sum", "size"]) == [1, 4]).all().all()
    assert right.loc["val:0", "context"] == "A man opens the box of t1. he <MASK>"
    assert right.loc["val:0", "candidate"] == "takes a t1 out."


def run_of(folder, name: str, method: str, model: str, tables: dict, score, trained: int) -> str:
    rows = tables["test"]
    facts = {"study": "choices", "source": "hellaswag", "dataset": "default", "labels": ["right"]}
    facts |= {"data_options": {"category": None, "train_items": None, "limit": None}, "seed": 1}
    facts |= {"model": model, "method": method, "train_examples": trained, "held_out_examples": 0}
    return write_run(folder, name, [("test", "last", rows, score(rows))], **facts)


@pytest.fixture
def measured(clean, build, program, tmp_path):
    """Return the metrics of a perfect model, of one whose scores all tie, of one that is right on
    videos only, and of a control whose scores all tie.
    """
    tables = build(clean("hellaswag_val_full.txt", text_of(items()).encode()))
    (tmp_path / "build/hellaswag").mkdir(parents=True)
    (tmp_path / "built").rename(tmp_path / "build/hellaswag/default")
    of_video = lambda rows: (rows["category"] == "activitynet") == (rows["label"] == 1)  # noqa: E731
    runs = [
        run_of(tmp_path, *run)
        for run in [
            ("perfect", "train", "minilm", tables, lambda rows: rows["label"], 40),
            ("ties", "likelihood", "tiny_gpt", tables, lambda rows: rows["label"] * 0, 0),
            ("videos", "train", "bert_base", tables, of_video, 40),
            ("chance", "control", "random", tables, lambda rows: rows["label"] * 0, 0),
        ]
    ]
    sources = tmp_path / "sources.yaml"
    write_json(sources, {"hellaswag": {"evaluate": ["test"], "title": "HellaSwag"}})
    evaluate(program, "choices", tmp_path, runs, sources=sources).checked()
    return metrics_in(tmp_path)


def test_the_highest_ending_is_chosen_and_a_tie_is_wrong_but_of_a_control(measured):
    rows = measured[(measured["metric"] == "accuracy") & measured["seed"].isna()].set_index(
        ["model", "slice"]
    )["value"]
    assert rows["minilm", "all"] == 1
    assert rows["tiny_gpt", "all"] == 0
    assert rows["random", "all"] == pytest.approx(0.25)
    assert (
        rows["bert_base", "category=activitynet"] == 1
        and rows["bert_base", "category=wikihow"] == 0
    )
    n = measured[(measured["metric"] == "accuracy") & (measured["slice"] == "category=activitynet")]
    assert set(n["n"]) == {4} and set(n["groups"]) == {2}, "intervals are over videos"


@pytest.fixture
def inputs(measured, program, tmp_path):
    """Return the metrics as the programs of figures and tables receive them."""
    inputs = Inputs(tmp_path, program, "choices", SCHEMA, [])
    inputs.metrics, inputs.resources = tmp_path / "metrics.parquet", tmp_path
    inputs.write_resources(
        models={"minilm": {"title": "Mini"}, "bert_base": {"title": "BERT"}},
        studies={"choices": {"altered": []}},
    )
    return inputs


@pytest.mark.slow
def test_its_figures_and_tables(inputs, tmp_path):
    inputs.call("choices_accuracy")
    points = points_of(inputs, "choices_accuracy")
    assert set(points["slice"]) == {"category=activitynet", "category=wikihow"}
    assert np.isclose(points.loc[points["model"] == "random", "value"], 0.25).all()
    inputs.call("choices_table")
    assert "100.0" in set(table_of(inputs, "choices_table")["Accuracy (%)"])
    inputs.call("choices_leakage", build=tmp_path / "build")
    whole = table_of(inputs, "choices_leakage")
    assert "no video has its captions" in set(whole["Why"])
    rows, inputs.metrics = read_table(inputs.metrics).to_pylist(), tmp_path / "folds.parquet"
    more = ["category-wikihow", "fold-1"]
    inputs.write_metrics([row | {"dataset": name} for name in ["default", *more] for row in rows])
    for name in more:
        shutil.copytree(tmp_path / "build/hellaswag/default", tmp_path / f"build/hellaswag/{name}")
    inputs.call("choices_leakage", build=tmp_path / "build")
    table = table_of(inputs, "choices_leakage")
    assert set(table["Corpus"]) == {"HellaSwag", "HellaSwag, fold 1"}
    assert len(table) == 2 * len(whole), "a category's dataset was split as the whole"
