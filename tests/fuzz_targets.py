"""Every program that reads what a user gives, with small whole input:
the targets of tests/fuzz.py.
"""

import io
import json
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from scripts.data.items import items_of
from scripts.data.keyed import keyed_uniform
from tests.conftest import ROOT
from tests.fuzz import Target
from tests.fuzz_targets_made import MADE, as_json
from tests.fuzz_targets_models import MODELS


def named(split: int, count: int, draw: tuple = ()) -> list[str]:
    """So many ids of which the hash falls to a tenth (1) or to the rest (0)."""
    ids = pd.Series([f"id{number:04}" for number in range(40 * count + 40)])
    return list(ids[(keyed_uniform(ids, *draw) < 0.1) == bool(split)][:count])


def cleaner(
    program: str,
    files: dict[str, bytes],
    splits: list[str],
    provenance: str = '{"licence": "none"}',
    more: tuple = (),
    outputs: tuple = (),
) -> Target:
    """A cleaner that writes <split>.parquet, or `outputs`, and cleaning.csv."""
    return Target(
        f"scripts.clean.{program}",
        files,
        [
            "--source",
            "corpus",
            "--fetched",
            "{in}",
            "--output",
            "{out}",
            "--provenance",
            provenance,
            *more,
        ],
        (*(outputs or (f"{split}.parquet" for split in splits)), "cleaning.csv"),
    )


def lines(*values: object) -> bytes:
    return b"".join(as_json(value) + b"\n" for value in values)


def parquet(**columns: list) -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written, write_page_checksum=False)
    return written.getvalue()


def zipped(name: str, text: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return written.getvalue()


VIDEOS = {
    f"v_{name}": {
        "duration": 9.5,
        "timestamps": [[0.5, 2], [2, 4.5], [1, 9]],
        "sentences": ["A man  waits.", " He sits\ndown. ", "Then \u00e9 goes."],
    }
    for name in "ab"
}
PROMPTS = {
    "Make tea": {
        "x.mp4": {
            "v_duration": 20,
            "steps": [
                {"index": place, "heading": heading, "absolute_bounds": [4 * place, 4 * place + 3]}
                for place, heading in enumerate(["boil water", "pour it", "wait"])
            ],
        },
        "none.mp4": {"v_duration": 3, "steps": []},
    }
}
SPEECH = {
    name: yaml.safe_load("""
        start: [0, 1.5, 3]
        end: [2, 3, 4.5]
        text: [so first, so first you cut, 'and {then} "x"']
    """)
    for name in [*named(0, 3, (0,)), *named(1, 1, (0,))]
}
TALK = (
    "Say , Jim , how about going at 5 p . m . ? __eou__ I can ' t . It ’ s late.But ok __eou__\n"
    "Hello . __eou__ Hi __eou__\n"
)
DIALOGS = [
    (name, ["See you at 5 pm .", "  Yes,  two hours ' time."])
    for name in [*named(0, 4), *named(1, 1)]
]
TURNS = {
    "dialog_id": [name for name, said in DIALOGS for _ in said],
    "turn": [turn for _, said in DIALOGS for turn in range(len(said))],
    "text": [text for _, said in DIALOGS for text in said],
    "speaker": ["x", "y"] * len(DIALOGS),
}
INSTANCE = yaml.safe_load("""
id: 1
conversation: ['A: How long ?', 'B:It takes <MASK> . ']
correct1: two hours
correct2: 120 minutes
incorrect1: two days
incorrect1_rule: Rule 1
incorrect2: 9 hours
incorrect2_rule: Rule 2
""")
INSTANCES = [
    INSTANCE,
    INSTANCE | {"id": 2},
    INSTANCE | {"id": 3, "correct2": "none", "incorrect2_rule": "Rule 3"},
]
SCHEMA_GUIDED = [
    {
        "dialogue_id": f"1_0000{number}",
        "services": [],
        "turns": [
            {"speaker": speaker, "utterance": text, "frames": []}
            for speaker, text in (("USER", " Book it  for 5 pm. "), ("SYSTEM", f"At {number}?"))
        ],
    }
    for number in range(2)
]
TACO = "".join(
    f'She ate.\tHow long "did" it take?\t{answer}\t{label}\t{category}\n'
    for answer, label, category in [
        ("30 minutes", "yes", "Event Duration"),
        ("2\u2002years", "no", "Event Duration"),
        ("at noon", "yes", "Typical Time"),
    ]
)
ORDER = (
    ",Premise,Hypothesis,Label,Time Diff,Type,Prem Fixed,Temp Type\n"
    "0,They met on Monday.,They met before Sunday.,Contradiction,0.14,SINGLE_day,True,Forward "
    "Past\n"
    '1,"On Monday, they met.","After Sunday, they met.",Entailment,0.5,SINGLE_day,True,Backward '
    "Past\n"
)
LASTING = (
    ",Premise,Hypothesis,Label,Time Diff,Type,Dur Type,Next Cycle,Temp Type\n"
    "0,They came at 5 and left at 9.,They stayed for 4 "
    "hours.,Entailment,0.1,DATE_YM_full,EQUAL_GOLD,False,Spread\n"
)
CROSSING = (
    ",Premise,Hypothesis,Label,Premise Preposition,Higher Duration Unit,Premise "
    "Direction,Hypothesis Direction,Lower/Higher Diff\n"
    "0,They will meet in 1 month.,They will meet before 13 days.,C,in,month,forward,forward,-0.57\n"
)
EVENTS = (
    "Forward Past Template,Backward Past Template,Forward Future Template,Backward Future "
    "Template,Duration Template\n"
    "They met,they met,They will meet,they will meet,They stayed\n"
)
ANSWERS = (
    "30 months\na few days\n1 hour and 15 minutes\nevery 24 hours\n\nsoft\u00adly 90 minutes\n"
    "12 to 72 hours\n"
)
TEMPLATES = (ROOT / "resources/templates.csv").read_text(encoding="utf-8").splitlines(keepends=True)
SHEET = "study,source,dataset,split,item,person,answer,types\n" + "".join(
    f"strided_sop,corpus,stride-0,val,{item:016x},Ann,in_order,unrelated\n"
    for item in items_of(pd.Series(["p0", "p1"]))
)
RUN = yaml.safe_load("""
run: r
study: strided_sop
source: corpus
dataset: stride-0
model: m
method: train
seed: 1
labels: [swapped, in_order]
train_examples: 9
training: {}
data_options: {stride: 0, size_matched: null, same_videos: null, hard: false}
""")
PREDICTIONS = parquet(
    run=["r", "r"],
    split=["val"] * 2,
    selection=["held_out"] * 2,
    epoch=pa.array([1, 1], pa.int32()),
    example_id=["p0", "p1"],
    group_id=["v0", "v1"],
    label=pa.array([1, 0], pa.int8()),
    score=pa.array([[0.1, 0.9]] * 2, pa.list_(pa.float32())),
)
BUILT = parquet(
    pair_id=["p0", "p1"],
    video_id=["v0", "v1"],
    label=pa.array([1, 0], pa.int8()),
    first_position=pa.array([0, 1], pa.int32()),
    stride=pa.array([0, 0], pa.int32()),
    overlap=[0.0, 0.5],
    same_start=[False, True],
    relative_position=[0.1, 0.9],
    sentences=pa.array([5, 9], pa.int32()),
    words_a=pa.array([3, 4], pa.int32()),
    words_b=pa.array([5, 6], pa.int32()),
    seconds_apart=[2.5, 7.0],
    category=pa.array([None, "Food"], pa.string()),
)
CONFIGURATION = yaml.safe_load("""
name: mine
run: [sample_sop, own]
seeds: [1]
limit: 20
mirror: null
training: {epochs: 1, batch_size: 8, learning_rate: 0.001, objectives: null}
models: {small: {title: Small, licence: none, folder: "{in}"}}
sources:
  talks: {title: Talks, kind: dialogs, cleaner: dialogs, local: "{in}/own.jsonl", train: train, evaluate: [],
    splits: [train, validation], measured_on: timedial, domain: out, licence: none, citation: Me 2026}
prompts: {strided_sop: {likelihood: {wordings: {then: {in_order: "|{text_a} {text_b}", swapped: "|{text_b} {text_a}"}}}}}
experiments:
  sample_sop: {data: {source: [sample_activitynet], stride: [0, 1], hard: true}, models: [tiny_bert], methods: [train]}
  own: {title: Own, study: timedial, data: {source: talks, negatives: 2}, models: [tiny_bert, small], methods: [classify],
    training: {max_length: 64, dropout: 0.1}, controls: true}
""")

TARGETS = {
    "configuration": Target(
        "tests.plan_of",
        {"config.yaml": as_json(CONFIGURATION), "own.jsonl": b""},
        ["{in}/config.yaml"],
        damaged=("config.yaml",),
        places=("configuration",),
    ),
    "activitynet": cleaner(
        "activitynet",
        {
            "train.json": as_json(VIDEOS),
            "val_1.json": as_json({"v_c": VIDEOS["v_a"]}),
            "val_2.json": as_json({"v_c": VIDEOS["v_b"]}),
            "train_ids.json": as_json(["v_a", "v_b"]),
            "val_ids.json": as_json(["v_c"]),
        },
        ["train", "val_1", "val_2"],
    ),
    "hirest": cleaner(
        "hirest",
        {
            "all_data_train.json": as_json(PROMPTS),
            "all_data_val.json": as_json(json.loads(json.dumps(PROMPTS).replace("x.mp4", "y.mp4"))),
        },
        ["train", "val"],
    ),
    "howto100m": cleaner(
        "howto100m",
        {
            "raw_caption.json": as_json(SPEECH),
            "HowTo100M_v1.csv": b"video_id,category_1,category_2\n"
            + f"{list(SPEECH)[0]},Food,Tea\n".encode(),
        },
        [],
        more=("--videos-per-shard", "2"),
        outputs=("train/manifest.json", "val/manifest.json", "videos.parquet"),
    ),
    "howto100m (zip)": cleaner(
        "howto100m",
        {"raw_caption.zip": zipped("raw_caption.json", json.dumps(SPEECH))},
        [],
        outputs=("train/manifest.json", "val/manifest.json", "videos.parquet"),
    ),
    "dailydialog": cleaner(
        "dailydialog",
        {
            f"{split}.zip": zipped(f"{split}/dialogues_{split}.txt", TALK)
            for split in ("train", "validation", "test")
        },
        ["train", "validation", "test"],
    ),
    "dialogs (jsonl)": cleaner(
        "dialogs",
        {"own.jsonl": lines(*({"dialog_id": name, "dialog": said} for name, said in DIALOGS))},
        ["train", "validation"],
        '{"sha256": {"own.jsonl": null}}',
    ),
    "dialogs (parquet)": cleaner(
        "dialogs",
        {"own.parquet": parquet(**TURNS)},
        ["train", "validation"],
        '{"sha256": {"own.parquet": null}}',
    ),
    "captions_table": cleaner(
        "captions_table",
        {
            "own.csv": b"video_id,start,end,text\n"
            + b"".join(
                f"{name},{place},{place + 1},step {place}\n".encode()
                for name in [*named(0, 4), *named(1, 1)]
                for place in (0, 2)
            )
        },
        ["train", "test"],
        '{"sha256": {"own.csv": null}}',
    ),
    "timedial": cleaner("timedial", {"test.json": as_json(INSTANCES)}, ["test", "extras"]),
    "schema_guided": cleaner(
        "schema_guided",
        {"train_001.json": as_json(SCHEMA_GUIDED), "dev_001.json": as_json(SCHEMA_GUIDED[:1])},
        ["train", "validation"],
    ),
    "mctaco": cleaner(
        "mctaco", {"dev_3783.tsv": TACO.encode(), "test_9442.tsv": TACO.encode()}, ["train", "test"]
    ),
    "temporal_nli_release": cleaner(
        "temporal_nli_release",
        {
            "cs1_train.csv": ORDER.encode(),
            "cs1_test.csv": ORDER.encode(),
            "cs2_train.csv": LASTING.encode(),
            "cs2_test.csv": LASTING.encode(),
            "cs3_test.csv": CROSSING.encode(),
            "templates.csv": EVENTS.encode(),
        },
        ["train", "test"],
    ),
    "event_templates": cleaner(
        "event_templates",
        {"templates.csv": "".join([*TEMPLATES[:4], *TEMPLATES[-3:]]).encode()},
        ["train", "test"],
        more=("--expect", "{}"),
    ),
    "evaluate mctaco": Target(
        "scripts.studies.mctaco.evaluate",
        {"gold.tsv": TACO.encode(), "predictions.txt": b"yes\nno\nyes\n"},
        "--gold {in}/gold.tsv --predictions {in}/predictions.txt --resamples 10".split(),
    ),
    "evaluate timedial": Target(
        "scripts.studies.timedial.evaluate",
        {
            "test.json": as_json(INSTANCES),
            "scores.jsonl": lines(
                *(
                    {
                        "id": one["id"],
                        "scores": {
                            one[key]: -1.5
                            for key in ("correct1", "correct2", "incorrect1", "incorrect2")
                            if one[key] != "none"
                        },
                    }
                    for one in INSTANCES
                )
            ),
        },
        "--gold {in}/test.json --predictions {in}/scores.jsonl --resamples 10".split(),
    ),
    "answers of people": Target(
        "scripts.studies.strided_sop.evaluate",
        {
            "ann.csv": SHEET.encode(),
            "r/run.json": as_json(RUN),
            "r/predictions.parquet": PREDICTIONS,
            "corpus/stride-0/val.parquet": BUILT,
            "sources.yaml": b"corpus: {evaluate: [val]}\n",
        },
        (
            "--experiment e --runs r --trained {in} --build {in} --sources {in}/sources.yaml "
            "--people {in}/ann.csv --output {out}/metrics.parquet --resamples 10"
        ).split(),
        ("metrics.parquet",),
        damaged=("ann.csv",),
    ),
    "unit_normalization": Target(
        "scripts.text.unit_normalization",
        {"answers.txt": ANSWERS.encode()},
        [],
        stdin="answers.txt",
    ),
    "labelling page": Target(
        "scripts.people.labelling.page",
        {
            "strided_sop/corpus/stride-0/val.parquet": parquet(
                pair_id=["p0", "p1"],
                text_a=["=1", "b"],
                text_b=["c", "-d"],
                label=pa.array([1, 0], pa.int8()),
            )
        },
        (
            "--dataset {in}/strided_sop/corpus/stride-0 --split val --items 2 --seed 1 --output "
            "{out}/page.html"
        ).split(),
        ("page.html",),
    ),
    **MADE,
    **MODELS,
}
# Those that a user may damage. What measures runs reads results alone, by their manifests.
GIVEN = [name for name in TARGETS if not name.startswith(("evaluate runs", "evaluate metrics"))]
