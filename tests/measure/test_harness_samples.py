"""Tasks for lm-evaluation-harness and its samples, without the harness. Samples that this test
writes in its form (0.4.13) give the same numbers as plain scores; wrong samples are refused.

tests/workflow/test_harness.py runs the harness itself.
"""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from scripts.data.studies import read_studies
from scripts.data.tables import write_table
from scripts.plan.prompts import prompts_of
from tests.files import read_json, write_json
from tests.measure.test_external import SETS, examples, measure

pytestmark = pytest.mark.slow
TASKS = {"strided_sop": 4, "temporal_nli": 9, "mctaco": 4, "timedial": 4}


def write_dataset(study: str, folder: Path) -> None:
    """Write a test split of a study, and the same examples under other ids as its training
    split.
    """
    rows, schema = examples(study)
    example = schema.names[0]
    for split, start in (("test", ""), ("train", "train-")):
        named = [row | {example: f"{start}{row[example]}"} for row in rows]
        table = pa.Table.from_pylist(named, schema=schema)
        write_table(table, folder / f"{split}.parquet", schema, {"options": {}})


def write_tasks(program, study: str, place: Path, paradigm: str) -> tuple[Path, str, list[Path]]:
    """Write a dataset of a study, and the tasks that ask a decoder; return the dataset's folder,
    the program's output, and the files of the tasks.
    """
    source = "sample_dialogs" if study == "timedial" else "sample"
    folder = place / "results/build" / study / source / "default"
    write_dataset(study, folder)
    entry = read_studies()[study]
    methods = {
        method: {"inputs": how["inputs"], "prompts": prompts_of(study, entry, method)}
        for method, how in entry["methods"].items()
        if how.get("paradigm") == paradigm and "decoder" in how["fits"]
    }
    dataset = {"study": study, "source": source, "name": folder.name}
    more = {"folder": str(folder), "splits": ["train", "test"], "columns": entry["columns"]}
    write_json(place / "datasets.json", [dataset | more | {"methods": methods}])
    done = program(
        f"scripts.publish.harness_tasks --study {place}/datasets.json --output {place}/asked"
    ).checked()
    files = sorted(place.glob("asked/tasks/*.jsonl"))
    assert files and len(files) == len(list(place.glob("asked/tasks/*.yaml")))
    return folder, done.stderr, files


def likelihood(context: str, text: str) -> float:
    digest = hashlib.sha256(f"{context}|{text}".encode()).digest()
    return -1 - int.from_bytes(digest[:4], "big") / 2**29


def sample(number: int, doc: dict, answer=None, **changed) -> dict:
    answer = str(likelihood(doc["context"], doc["text"])) if answer is None else answer
    written = json.dumps(doc, indent=2, ensure_ascii=False)
    return {
        "doc_id": number,
        "doc": doc,
        "target": doc["text"],
        "arguments": {"gen_args_0": {"arg_0": doc["context"], "arg_1": doc["text"]}},
        "resps": [[[answer, "False"]]],
        "filtered_resps": [[answer, "False"]],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": hashlib.sha256(written.encode()).hexdigest(),
        "acc": 0,
    } | changed


def docs_of(task: Path) -> list[dict]:
    return [json.loads(line) for line in task.read_text().splitlines()]


def one_wording(files: list[Path]) -> list[Path]:
    """Return one task of each method, the last: wordings differ only in their words."""
    return list({docs_of(task)[0]["method"]: task for task in files}.values())


def write_lines(lines: list, file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    file.write_text(text, encoding="utf-8")
    return file


def results(model: str) -> dict:
    config = {"model": "hf", "model_args": {}, "model_dtype": "torch.float32"}
    return {"config": config, "model_name": model, "lm_eval_version": "0.4.13", "date": 1.5}


@pytest.fixture(params=SETS)
def tasks(request, program, tmp_path):
    study = request.param
    folder, said, files = write_tasks(program, study, tmp_path, "likelihood")
    assert ("left out: its score is divided by tokens" in said) == (study in ("mctaco", "timedial"))
    assert len(files) == TASKS[study]
    return study, folder, files


def plain_scores(docs: list[dict], study: str) -> pd.DataFrame:
    """Return the scores of the examples of the test split, one row for each example."""
    scores: dict[str, dict] = {}
    for doc in docs:
        if doc["example_id"]:
            found = likelihood(doc["context"], doc["text"])
            if doc["domain"] is not None:
                found -= likelihood(doc["domain"], doc["text"])
            scores.setdefault(doc["example_id"], {})[doc["label"]] = found
    if study == "mctaco":
        right = {f"train-{row['example_id']}": row["label"] for row in examples(study)[0]}
        margins = {name: one["likely"] - one["unlikely"] for name, one in scores.items()}
        learnt = sorted(margins[name] for name in right)
        between = [(one + other) / 2 for one, other in zip(learnt, learnt[1:])]
        edges = [learnt[0] - 1, *between, learnt[-1] + 1]
        hits = {
            edge: sum((margins[name] > edge) == label for name, label in right.items())
            for edge in edges
        }
        best = max(edges, key=lambda edge: hits[edge])
        scores = {
            name: {"unlikely": 0, "likely": margin - best}
            for name, margin in margins.items()
            if name not in right
        }
    table = pd.DataFrame.from_dict(scores, orient="index").rename_axis("example_id").reset_index()
    return table.rename(columns={"candidate": "score"})


def test_samples_give_the_numbers_of_plain_scores(program, tasks, tmp_path):
    study, folder, files = tasks
    for task in one_wording(files):
        docs = docs_of(task)
        lines = [sample(number, doc) for number, doc in enumerate(docs)]
        doubled = lines + [line | {"filter": "first"} for line in lines]
        out = tmp_path / "out/me__mine"
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / "results_2026-11-25T10-30-56.333961.json", results("me/mine"))
        write_json(out / "results_2026-11-26T10-30-56.333961.json", results("me/other"))
        file = write_lines(doubled, out / f"samples_{task.stem}_2026-11-25T10-30-56.333961.jsonl")
        plain_scores(docs, study).to_csv(tmp_path / "plain.csv", index=False)
        theirs = measure(program, study, folder, file, name="mine")
        ours = measure(program, study, folder, tmp_path / "plain.csv")
        assert theirs.stdout.splitlines()[1:] == ours.stdout.splitlines()[1:], task.name
        (kept,) = tmp_path.glob("results/external/*/*/*/test/mine/run.json")
        facts = read_json(kept)["made_by"]
        assert facts["model_name"] == "me/mine" and facts["lm_eval_version"] == "0.4.13"
        assert task.stem.endswith(f"_{facts['method']}_{facts['wording']}")
        # Files are known by content, not by name; no file names the model.
        alone = write_lines(lines[::-1], tmp_path / "answers.txt")
        done = measure(program, study, folder, alone)
        assert done.stdout.splitlines()[1:] == ours.stdout.splitlines()[1:]
        assert "a results_*.json beside it" in done.stderr


def wrong_samples(docs: list[dict]) -> list[tuple[list, str]]:
    lines = [sample(number, doc) for number, doc in enumerate(docs)]
    last = next(number for number in range(len(docs))[::-1] if docs[number]["part"] == "test")
    row = docs[last]

    def put(number: int, line) -> list:
        return [*lines[:number], line, *lines[number + 1 :]]

    rebuilt = [sample(0, doc | {"data": doc["data"] and "0" * 64}) for doc in docs]
    twice = [*lines, sample(last, row, "-0.5")]
    mixed = put(3, sample(3, docs[3] | {"wording": "another"}))
    asked = {"gen_args_0": {"arg_0": "Quite another text", "arg_1": row["text"]}}
    return [
        (
            lines[:last] + lines[last + 1 :],
            f"lack a row (or one of their domain), {row['example_id']} first",
        ),
        (rebuilt, "has changed since these rows"),
        (twice, f"line {len(lines) + 1}: its row is already above with another answer"),
        (mixed, "its rows have 2 values of wording; give the samples of one task"),
        (put(last, lines[last] | {"arguments": asked}), "the harness asked 'Quite another text'"),
        (put(1, lines[1] | {"doc": {"question": "?"}}), "line 2: is not a row of a task"),
    ]


@pytest.mark.parametrize("tasks", ["mctaco"], indirect=True)
def test_wrong_samples_are_refused_in_one_sentence(program, tasks, tmp_path):
    study, folder, files = tasks
    docs = next(docs for docs in map(docs_of, files) if docs[0]["context"])
    for number, (lines, said) in enumerate(wrong_samples(docs)):
        file = write_lines(lines, tmp_path / f"{number}.jsonl")
        done = measure(program, study, folder, file, ok=False, name="kept")
        errors = done.stderr.splitlines()
        assert said in errors[-1] and errors[-1].startswith(f"error: {file}: "), (said, errors)
        assert all(line.startswith("warning: ") for line in errors[:-1]) and not done.stdout
    lines = [sample(number, doc) for number, doc in enumerate(docs)]
    file = write_lines(lines, tmp_path / "out/samples.jsonl")
    (folder / "dev.parquet").write_bytes((folder / "test.parquet").read_bytes())
    done = measure(program, study, folder, file, ok=False, split="dev")
    assert "has the split test, not dev; give --split" in done.stderr
    for model in ("one", "two"):
        write_json(tmp_path / f"out/results_{model}.json", results(model))
    done = measure(program, study, folder, file, ok=False)
    assert "2 files results_*.json are beside it" in done.stderr
    other = next(name for name in SETS if name != study)
    place = tmp_path / "results/build" / other / "sample/default"
    write_dataset(other, place)
    done = measure(program, other, place, file, ok=False)
    assert f"has the study {study}, not {other}" in done.stderr
    assert not (tmp_path / "results/external").exists()
