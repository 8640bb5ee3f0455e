"""Programs that read what other programs of this project wrote, and what a user then damages:
targets of tests/fuzz.py.
"""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from scripts.data import tables
from scripts.studies.mctaco import tables as mctaco_tables
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.studies.temporal_nli.tables import NLI
from scripts.studies.timedial.tables import CLOZE
from tests.fuzz import Target


def table(schema: pa.Schema, *rows: dict) -> bytes:
    """A Parquet file of a schema; what a row leaves out is missing."""
    written = io.BytesIO()
    whole = pa.Table.from_pylist(
        [dict.fromkeys(schema.names) | row for row in rows],
        schema=schema.with_metadata({"timestride": "{}"}),
    )
    pq.write_table(whole, written, write_page_checksum=False)
    return written.getvalue()


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


# ---- Runs and what they were measured on


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


ANSWERS = [
    {
        "example_id": f"e{place}",
        "group_id": f"q{place // 2}",
        "sentence_id": f"q{place // 2}",
        "text_a": "She ate. How long?",
        "text_b": f"{place + 1} hours",
        "label": place % 2,
        "category": "duration",
        "answer": f"{place + 1} hours",
    }
    for place in range(4)
]
PAIRS = [
    {
        "example_id": f"e{place}",
        "group_id": f"t{place // 2}",
        "text_a": "They met on Monday.",
        "text_b": "They met before Sunday.",
        "label": place % 3,
        "challenge_set": "temp_order",
        "tense": "past",
        "choice": "day",
        "premise_type": "fixed",
        "premise_position": "forward",
        "withheld": "",
    }
    for place in range(4)
]
OPTIONS = [
    {
        "example_id": f"e{place}",
        "instance_id": f"i{place // 4}",
        "dialog_id": f"i{place // 4}",
        "context": "A: For <MASK>.\nB: 2 hours?",
        "context_scope": "full",
        "candidate": f"{place + 1} hours",
        "label": int(place % 4 < 2),
        "rule": "" if place % 4 < 2 else "phrase",
        "is_original": place % 4 == 0,
        "kind": "duration",
        "has_numeral": True,
        "turns": 2,
        "leak": "near" if place < 4 else "none",
    }
    for place in range(8)
]
ORDERED = [
    {
        "pair_id": f"e{place}",
        "example_id": f"e{place}",
        "group_id": f"v{place // 2}",
        "video_id": f"v{place // 2}",
        "stride": 0,
        "first_position": 1,
        "second_position": 2,
        "text_a": "She cuts.",
        "text_b": "She eats.",
        "label": place % 2,
        "overlap": 0.5,
        "same_start": False,
        "relative_position": 0.3,
        "sentences": 6,
        "words_a": 2,
        "words_b": 2,
        "seconds_apart": 4.0,
    }
    for place in range(4)
]
STUDIES = {
    "strided_sop": (
        STRIDED_PAIRS,
        {
            "stride": 0,
            "size_matched": None,
            "same_videos": None,
            "hard": False,
            "max_videos": None,
            "label_seed": 0,
        },
        ["swapped", "in_order"],
        ORDERED,
    ),
    "mctaco": (
        mctaco_tables.ANSWERS,
        {"unit_normalization": False, "train_questions": None, "draw": 0},
        ["unlikely", "likely"],
        ANSWERS,
    ),
    "temporal_nli": (
        NLI,
        {"challenge_set": "temp_order", "test_templates": None, "held_out": "template"},
        ["entailment", "neutral", "contradiction"],
        PAIRS,
    ),
    "timedial": (
        CLOZE,
        {
            "context_scope": "full",
            "negatives": 3,
            "negatives_of": "any_kind",
            "negatives_by": "text",
            "negative_seed": 0,
            "max_dialogs": None,
        },
        ["wrong", "right"],
        OPTIONS,
    ),
}


def evaluation(study: str) -> Target:
    """An evaluation of two seeds on one split of one dataset."""
    schema, options, labels, examples = STUDIES[study]
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
                "data_options": options,
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
        "{out}/metrics.parquet --resamples 10"
    ).split()
    if schema:
        files |= {
            f"corpus/d/{split}.parquet": table(schema, *examples) for split in ("val", "train")
        }
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
    """Predictions made elsewhere on one split of a dataset: a CSV of labels,
    or JSON lines of scores.
    """
    schema, _, labels, examples = STUDIES[study]
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
        "corpus/d/val.parquet": table(schema, *examples),
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

CAPTIONS = [
    {
        "source": "corpus",
        "split": "train",
        "video_id": f"v{video}",
        "position": place,
        "text": f"Step {place} of {video}.",
        "start_s": 2.0 * place,
        "end_s": 2.0 * place + 1,
    }
    for video in range(3)
    for place in range(6)
]
QUESTIONS = [
    {
        "source": "corpus",
        "split": "train",
        "question_id": f"q{place // 2}",
        "sentence": "She ate.",
        "question": "How long?",
        "answer": f"{place + 1} hours",
        "label": place % 2,
        "category": "duration",
    }
    for place in range(6)
]
TEMPLATES = [
    {
        "source": "corpus",
        "split": "train",
        "template": f"t{place}",
        "past": "They met",
        "past_fronted": "they met",
        "past_units": ["year", "day"],
        "future": "They will meet",
        "future_fronted": "they will meet",
        "future_units": ["year", "day"],
        "duration_units": ["hour"],
        "span_start": "They began to meet",
        "span_end": "stopped",
        "duration": "They met for",
    }
    for place in range(3)
]
SAID = [f"It takes {number} hours." for number in "two three 5 6 nine 12".split()]
DIALOGS = [
    {
        "source": "corpus",
        "split": "train",
        "dialog_id": f"d:{place}",
        "turn": turn,
        "speaker": "AB"[turn],
        "duplicate_of": "",
        "text": text,
    }
    for place, text in enumerate(SAID)
    for turn, text in enumerate([text, "I see ."])
]
SPANS = [
    {
        "source": "corpus",
        "split": "train",
        "dialog_id": f"d:{place}",
        "turn": 0,
        "start": 9,
        "end": len(text) - 1,
        "text": text[9:-1],
        "kind": "duration",
        "has_numeral": True,
        "value": f"{place} s",
    }
    for place, text in enumerate(SAID)
]
CHALLENGE = [
    {
        "source": "challenge",
        "split": "test",
        "instance_id": "1",
        "dialog": "A: How long?\nB: For <MASK>, I hope.",
        "option": option,
        "label": int(place < 2),
        "rule": "" if place < 2 else "phrase",
        "is_original": place == 0,
    }
    for place, option in enumerate(["two hours", "120 minutes", "2 days", "9 years"])
]
MASKED = yaml.safe_load("""
- {source: challenge, split: test, dialog_id: '1', turn: 1, start: 4, end: 13, text: two hours, kind: duration,
  has_numeral: true, value: 7200 s}
""")


def builder(
    study: str,
    files: dict[str, bytes],
    options: dict,
    given: str = "--cleaned {in} --splits train test",
) -> Target:
    """A builder of datasets; `given`: the arguments that name what was cleaned."""
    arguments = [*given.split(), "--options", json.dumps(options), "--output", "{out}"]
    return Target(f"scripts.studies.{study}.build", files, arguments, ("train.parquet",))


def both(schema: pa.Schema, rows: list[dict]) -> dict[str, bytes]:
    return {
        f"{split}.parquet": table(schema, *(row | {"split": split} for row in rows))
        for split in ("train", "test")
    }


MADE = {
    **{f"evaluate runs ({study})": evaluation(study) for study in STUDIES},
    **{
        f"external {study} ({form})": external(study, form)
        for study, form in zip(STUDIES, ("csv", "jsonl") * 2)
    },
    "evaluate metrics": Target(
        "scripts.measure.collect",
        {f"{name}.parquet": table(tables.METRICS, METRIC | {"experiment": name}) for name in "ab"},
        "{in}/a.parquet {in}/b.parquet --output {out}/metrics.parquet".split(),
        ("metrics.parquet",),
    ),
    "build strided_sop": builder(
        "strided_sop", both(tables.CAPTIONS, CAPTIONS), {"stride": 1, "max_videos": 2}
    ),
    "build mctaco": builder(
        "mctaco",
        both(tables.QUESTIONS, QUESTIONS),
        {"unit_normalization": True, "train_questions": 2},
    ),
    "build temporal_nli (templates)": builder(
        "temporal_nli",
        both(tables.TEMPLATES, TEMPLATES),
        {"challenge_set": "temp_order", "iterations": 1},
    ),
    "build temporal_nli (released)": builder(
        "temporal_nli", both(NLI, PAIRS), {"challenge_set": "temp_order"}
    ),
    "build timedial": builder(
        "timedial",
        {
            f"{folder}/{file}": content
            for folder, schema, rows in (
                ("dialogs", tables.DIALOGS, DIALOGS),
                ("spans", tables.SPANS, SPANS),
            )
            for file, content in both(schema, rows).items()
        }
        | {
            "challenge/test.parquet": table(tables.CHALLENGE, *CHALLENGE),
            "masked/test.parquet": table(tables.SPANS, *MASKED),
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
            ("dialogs", tables.DIALOGS, DIALOGS),
            ("challenge", tables.CHALLENGE, CHALLENGE),
        )
    },
}
