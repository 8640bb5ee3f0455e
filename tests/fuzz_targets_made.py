"""Programs that read results of other programs of this project, which a user then damages: targets
of tests/fuzz.py.
"""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from scripts.data import tables
from scripts.studies.mctaco import tables as mctaco_tables
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.studies.temporal_nli.tables import NLI
from scripts.studies.timedial.tables import CLOZE
from tests.fuzz import Target

DATA = yaml.safe_load(Path(__file__).with_name("fuzz_targets.yaml").read_text(encoding="utf-8"))


def table(schema: pa.Schema, *rows: dict) -> bytes:
    """Return a Parquet file of a schema; a value that a row leaves out is missing."""
    written = io.BytesIO()
    whole = pa.Table.from_pylist(
        [dict.fromkeys(schema.names) | row for row in rows],
        schema=schema.with_metadata({"timestride": "{}"}),
    )
    pq.write_table(whole, written, write_page_checksum=False)
    return written.getvalue()


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


# ---- Runs and their test sets


def predictions(ids: list[str], groups: list[str], labels: list[int], width: int) -> bytes:
    return table(
        tables.PREDICTIONS,
        *(
            {
                "run": "r",
                "split": "val",
                "selection": "held_out",
                "epoch": 1,
                "example_id": name,
                "group_id": group,
                "label": label,
                "score": [-0.1 - place - other for other in range(width)],
            }
            for place, (name, group, label) in enumerate(zip(ids, groups, labels))
        ),
    )


SCHEMAS = {
    "strided_sop": STRIDED_PAIRS,
    "mctaco": mctaco_tables.ANSWERS,
    "temporal_nli": NLI,
    "timedial": CLOZE,
}


def evaluation(study: str) -> Target:
    """Make the target of an evaluation: two seeds on one split of one dataset."""
    schema, given = SCHEMAS[study], DATA["studies"][study]
    labels, examples = given["labels"], given["examples"]
    files = {"sources.yaml": as_json({"corpus": {"evaluate": ["val"], "domain": "in"}})}
    for seed, name in enumerate(("r", "s")):
        files[f"{name}/run.json"] = as_json(
            {
                "run": name,
                "study": study,
                "source": "corpus",
                "dataset": "d",
                "model": "m",
                "method": "train",
                "seed": seed,
                "labels": labels,
                "train_examples": 40,
                "held_out_examples": 4,
                "data_options": given["options"],
                "training": {"epochs": 3},
            }
        )
        columns = [
            [example[key] for example in examples]
            for key in ("example_id", "dialog_id" if study == "timedial" else "group_id", "label")
        ]
        files[f"{name}/predictions.parquet"] = predictions(*columns, len(labels))
    arguments = (
        "--experiment e --runs r s --trained {in} --sources {in}/sources.yaml --output "
        f"{{out}}/metrics.parquet --resamples 10 --metrics scripts/studies/{study}/study.yaml"
    ).split()
    for split in ("val", "train"):
        files[f"corpus/d/{split}.parquet"] = table(schema, *examples)
    arguments += ["--build", "{in}"]
    damaged = tuple(
        name
        for name in files
        if not name.startswith("s/") and (study == "timedial" or name != "corpus/d/train.parquet")
    )
    return Target(
        f"scripts.studies.{study}.evaluate", files, arguments, ("metrics.parquet",), damaged=damaged
    )


def external(study: str, form: str) -> Target:
    """Make the target of predictions from elsewhere on one split of a dataset: a CSV of labels, or
    JSON lines of scores.
    """
    given = DATA["studies"][study]
    labels, examples = given["labels"], given["examples"]
    ids = [example["example_id"] for example in examples]
    rows = (
        [
            "example_id,label",
            *(f"{name},{labels[place % len(labels)]}" for place, name in enumerate(ids)),
        ]
        if form == "csv"
        else [
            json.dumps(
                {
                    "example_id": name,
                    "scores": {label: -0.5 - place - other for other, label in enumerate(labels)},
                }
            )
            for place, name in enumerate(ids)
        ]
    )
    files = {
        f"told.{form}": "".join(f"{line}\n" for line in rows).encode(),
        "corpus/d/val.parquet": table(SCHEMAS[study], *examples),
    }
    return Target(
        f"scripts.studies.{study}.evaluate",
        files,
        f"--predictions {{in}}/told.{form} --dataset {{in}}/corpus/d --split val --resamples 10".split(),
        damaged=(f"told.{form}", f"told.{form}", "corpus/d/val.parquet"),
    )


METRIC = yaml.safe_load("""
{study: s, model: m, source: corpus, dataset: d, split: val, slice: all, metric: accuracy, value: 0.5,
  n: 9, sample: false}
""")


# ---- Builders


def builder(
    study: str,
    files: dict[str, bytes],
    options: dict,
    given: str = "--cleaned {in} --splits train test",
) -> Target:
    """Make the target of a builder of datasets; `given`: the arguments that name the
    cleaned data.
    """
    arguments = [*given.split(), "--options", json.dumps(options), "--output", "{out}"]
    return Target(f"scripts.studies.{study}.build", files, arguments, ("train.parquet",))


def both(schema: pa.Schema, rows: list[dict]) -> dict[str, bytes]:
    return {
        f"{split}.parquet": table(schema, *(row | {"split": split} for row in rows))
        for split in ("train", "test")
    }


MADE = {
    **{f"evaluate runs ({study})": evaluation(study) for study in SCHEMAS},
    **{
        f"external {study} ({form})": external(study, form)
        for study, form in zip(SCHEMAS, ("csv", "jsonl") * 2)
    },
    "evaluate metrics": Target(
        "scripts.measure.collect",
        {f"{name}.parquet": table(tables.METRICS, METRIC | {"experiment": name}) for name in "ab"},
        "{in}/a.parquet {in}/b.parquet --output {out}/metrics.parquet".split(),
        ("metrics.parquet",),
    ),
    "build strided_sop": builder(
        "strided_sop", both(tables.CAPTIONS, DATA["captions"]), {"stride": 1, "max_videos": 2}
    ),
    "build mctaco": builder(
        "mctaco",
        both(tables.QUESTIONS, DATA["questions"]),
        {"unit_normalization": True, "train_questions": 2},
    ),
    "build temporal_nli (templates)": builder(
        "temporal_nli",
        both(tables.TEMPLATES, DATA["templates"]),
        {"challenge_set": "temp_order", "iterations": 1},
    ),
    "build temporal_nli (released)": builder(
        "temporal_nli",
        both(NLI, DATA["studies"]["temporal_nli"]["examples"]),
        {"challenge_set": "temp_order"},
    ),
    "build timedial": builder(
        "timedial",
        {
            f"{folder}/{file}": content
            for folder, schema, rows in (
                ("dialogs", tables.DIALOGS, DATA["dialogs"]),
                ("spans", tables.SPANS, DATA["spans"]),
            )
            for file, content in both(schema, rows).items()
        }
        | {
            "challenge/test.parquet": table(tables.CHALLENGE, *DATA["challenge"]),
            "masked/test.parquet": table(tables.SPANS, *DATA["masked"]),
        },
        {"negatives": 2},
        "--cleaned {in}/dialogs --spans {in}/spans --splits train test --beside "
        '{"challenge":{"cleaned":"{in}/challenge","spans":"{in}/masked","train":null,"evaluate":["test"]}}',
    ),
    **{
        f"temporal_spans ({name})": Target(
            "scripts.text.temporal_spans",
            {"train.parquet": table(schema, *rows)},
            "--cleaned {in} --splits train --output {out}".split(),
            ("train.parquet",),
        )
        for name, schema, rows in (
            ("dialogs", tables.DIALOGS, DATA["dialogs"]),
            ("challenge", tables.CHALLENGE, DATA["challenge"]),
        )
    },
}
