"""Every program that reads a user's input, with small whole input: the targets of tests/fuzz.py."""

import io
import json
import zipfile
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from scripts.data.items import items_of
from scripts.data.keyed import keyed_uniform
from tests.conftest import ROOT
from tests.fuzz import Target
from tests.fuzz_targets_made import DATA, MADE, as_json
from tests.fuzz_targets_models import MODELS


def named(split: int, count: int, draw: tuple = ()) -> list[str]:
    """Return `count` ids whose hash belongs to one tenth (1) or to the rest (0)."""
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
    """Make the target of a cleaner that writes <split>.parquet, or `outputs`, and cleaning.csv."""
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


SPEECH = {
    name: yaml.safe_load("""
        start: [0, 1.5, 3]
        end: [2, 3, 4.5]
        text: [so first, so first you cut, 'and {then} "x"']
    """)
    for name in [*named(0, 3, (0,)), *named(1, 1, (0,))]
}
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
TEMPLATES = (ROOT / "resources/templates.csv").read_text(encoding="utf-8").splitlines(keepends=True)
SHEET = "study,source,dataset,split,item,person,answer,types\n" + "".join(
    f"strided_sop,corpus,d,val,{item:016x},Ann,in_order,unrelated\n"
    for item in items_of(pd.Series(["e0", "e1"]))
)
ORDERED = MADE["evaluate runs (strided_sop)"]

TARGETS = {
    "configuration": Target(
        "tests.plan_of",
        {"config.yaml": as_json(DATA["configuration"]), "own.jsonl": b""},
        ["{in}/config.yaml"],
        damaged=("config.yaml",),
        places=("configuration",),
    ),
    "activitynet": cleaner(
        "activitynet",
        {
            "train.json": as_json(DATA["videos"]),
            "val_1.json": as_json({"v_c": DATA["videos"]["v_a"]}),
            "val_2.json": as_json({"v_c": DATA["videos"]["v_b"]}),
            "train_ids.json": as_json(["v_a", "v_b"]),
            "val_ids.json": as_json(["v_c"]),
        },
        ["train", "val_1", "val_2"],
    ),
    "hirest": cleaner(
        "hirest",
        {
            "all_data_train.json": as_json(DATA["prompts"]),
            "all_data_val.json": as_json(
                json.loads(json.dumps(DATA["prompts"]).replace("x.mp4", "y.mp4"))
            ),
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
            f"{split}.zip": zipped(f"{split}/dialogues_{split}.txt", DATA["talk"])
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
    "timedial": cleaner("timedial", {"test.json": as_json(DATA["instances"])}, ["test", "extras"]),
    "schema_guided": cleaner(
        "schema_guided",
        {
            "train_001.json": as_json(DATA["schema_guided"]),
            "dev_001.json": as_json(DATA["schema_guided"][:1]),
        },
        ["train", "validation"],
    ),
    "mctaco": cleaner(
        "mctaco",
        {"dev_3783.tsv": DATA["taco"].encode(), "test_9442.tsv": DATA["taco"].encode()},
        ["train", "test"],
    ),
    "temporal_nli_release": cleaner(
        "temporal_nli_release",
        {
            "cs1_train.csv": DATA["order"].encode(),
            "cs1_test.csv": DATA["order"].encode(),
            "cs2_train.csv": DATA["lasting"].encode(),
            "cs2_test.csv": DATA["lasting"].encode(),
            "cs3_test.csv": DATA["crossing"].encode(),
            "templates.csv": DATA["events"].encode(),
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
        {"gold.tsv": DATA["taco"].encode(), "predictions.txt": b"yes\nno\nyes\n"},
        "--gold {in}/gold.tsv --predictions {in}/predictions.txt --resamples 10".split(),
    ),
    "evaluate timedial": Target(
        "scripts.studies.timedial.evaluate",
        {
            "test.json": as_json(DATA["instances"]),
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
                    for one in DATA["instances"]
                )
            ),
        },
        "--gold {in}/test.json --predictions {in}/scores.jsonl --resamples 10".split(),
    ),
    "answers of people": replace(
        ORDERED,
        files=ORDERED.files | {"ann.csv": SHEET.encode()},
        arguments=[*ORDERED.arguments, "--people", "{in}/ann.csv"],
        damaged=("ann.csv",),
    ),
    "unit_normalization": Target(
        "scripts.text.unit_normalization",
        {"answers.txt": DATA["answers"].encode()},
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
# The targets with a user's files. Programs that evaluate read only results, which manifests
# protect.
GIVEN = [name for name in TARGETS if not name.startswith(("evaluate runs", "evaluate metrics"))]
