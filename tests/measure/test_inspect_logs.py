"""Logs of inspect_ai (its form, schema version 2), without the library: answers in words give the
same numbers as plain predictions; wrong logs are refused.
"""

import json
import zipfile

import pytest

from scripts.data.tables import read_table
from tests.files import read_json
from tests.measure.test_external import SETS, dataset, half_wrong, labels_of, measure  # noqa: F401 (a fixture)
from tests.measure.test_harness_answers import as_labels, numbers
from tests.measure.test_harness_samples import docs_of, one_wording, write_tasks

pytestmark = pytest.mark.slow
EVAL = {"task": "order", "model": "openai/gpt-5", "created": "2026-11-29T10:00:00+00:00"}


def sample(name, text, choices=None, reason="stop", **more) -> dict:
    """Return a sample. The text is the content of the model's message, or its parts."""
    message = {"role": "assistant", "content": text, "source": "generate"}
    output = {"model": "gpt-5", "choices": [{"message": message, "stop_reason": reason}]}
    fields = {"id": name, "epoch": 1, "input": "?", "target": "A", "messages": [message]}
    choices = {} if choices is None else {"choices": choices}
    return fields | choices | {"output": output, "scores": {"choice": {"value": "I"}}} | more


def write_log(samples: list, file):
    header = {"version": 2, "status": "success", "eval": EVAL}
    if file.suffix == ".json":
        file.write_text(json.dumps(header | {"samples": samples}, indent=2))
        return file
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("header.json", json.dumps(header))
        for one in samples:
            opened.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        opened.writestr("summaries.json", "[]")
    return file


@pytest.mark.parametrize("dataset", ["temporal_nli", "timedial"], indirect=True)
def test_labels_as_choices_give_the_numbers_of_labels(program, dataset, tmp_path):  # noqa: F811
    study, folder, table = dataset
    labels = labels_of(study, table, half_wrong(study, table))
    labels.to_csv(tmp_path / "labels.csv", index=False)
    ours, names = measure(program, study, folder, tmp_path / "labels.csv"), SETS[study][::-1]
    rows = list(labels.itertuples(index=False))
    for suffix, samples in (
        (
            ".json",
            [
                sample(name, f"It is so.\n\nANSWER: {'ABC'[names.index(label)]}", names)
                for name, label in rows
            ],
        ),
        (".eval", [sample(name, label) for name, label in rows]),
    ):
        file = write_log(samples, tmp_path / f"log{suffix}")
        theirs = measure(program, study, folder, file, name=f"mine{suffix}")
        assert numbers(theirs) == numbers(ours)
        (kept,) = tmp_path.glob(f"results/external/*/*/*/test/mine{suffix}/run.json")
        facts = read_json(kept)
        assert facts["unread"] == {"test": 0.0} and facts["made_by"]["model"] == "openai/gpt-5"


@pytest.mark.parametrize("dataset", ["timedial"], indirect=True)
def test_candidates_as_choices_give_the_numbers_of_scores(program, dataset, tmp_path):  # noqa: F811
    study, folder, _ = dataset
    table = read_table(folder / "test.parquet").to_pandas()
    chosen, samples = [], []
    for number, (name, rows) in enumerate(table.groupby("instance_id", sort=False)):
        named = {number % 4, (number + 1) % 4}
        chosen += [int(place in named) for place in range(len(rows))]
        letters = ", ".join("ABCD"[3 - place] for place in sorted(named))
        parts = [
            {"type": "reasoning", "reasoning": "A?"},
            {"type": "text", "text": f"Answer: {letters}"},
        ]
        samples.append(sample(name, parts, [f" {text}" for text in rows["candidate"][::-1]]))
    table.assign(score=chosen)[["example_id", "score"]].to_csv(tmp_path / "s.csv", index=False)
    theirs = measure(program, study, folder, write_log(samples, tmp_path / "log.eval"))
    assert numbers(theirs) == numbers(measure(program, study, folder, tmp_path / "s.csv"))


def test_rows_of_our_tasks_as_metadata_give_the_numbers_of_labels(program, tmp_path):
    folder, _, files = write_tasks(program, "mctaco", tmp_path, "answer")
    for task in one_wording([file for file in files if "_blind_" not in file.name]):
        docs = docs_of(task)
        letters = [doc["target"] if at % 3 else "A" for at, doc in enumerate(docs)]
        samples = [
            sample(at, text, metadata=doc) for at, (doc, text) in enumerate(zip(docs, letters))
        ]
        as_labels(docs, letters, SETS["mctaco"]).to_csv(tmp_path / "plain.csv", index=False)
        theirs = measure(program, "mctaco", folder, write_log(samples, tmp_path / "log.json"))
        assert numbers(theirs) == numbers(
            measure(program, "mctaco", folder, tmp_path / "plain.csv")
        )
        cut = [one | {"output": sample(0, "A", reason="max_tokens")["output"]} for one in samples]
        done = measure(program, "mctaco", folder, write_log(cut, tmp_path / "cut.json"))
        assert "100.0 % of the answers are cut" in done.stderr


@pytest.mark.parametrize("dataset", ["strided_sop"], indirect=True)
def test_wrong_logs_are_refused_in_one_sentence(program, dataset, tmp_path):  # noqa: F811
    study, folder, table = dataset
    names = list(table["example_id"])
    good = [sample(name, "Answer: A", SETS[study]) for name in names]
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(write_log(good, tmp_path / "whole.eval").read_bytes()[:999])
    (tmp_path / "other.json").write_text('{\n  "answers": []\n}')
    for file, said in (
        (damaged, "damaged.eval: not a whole zip"),
        (tmp_path / "other.json", "is neither JSON lines nor a log of inspect_ai"),
        (
            write_log(good[1:], tmp_path / "limit.json"),
            f"for the example {names[0]} (1 of 160 examples of default test have no row); run the "
            "task without --limit",
        ),
        (
            write_log([*good, good[3] | {"epoch": 2}], tmp_path / "epochs.json"),
            f"sample {names[3]}, epoch 2: example {names[3]} is already in sample {names[3]}, epoch "
            "1; ask it in one epoch",
        ),
        (
            write_log([*good[1:], sample("7", "A", SETS[study])], tmp_path / "id.json"),
            "sample 7, epoch 1: default test has no example and no question 7",
        ),
        (
            write_log([sample(names[0], "A", ["Yes", "No"])], tmp_path / "choices.json"),
            "its choices are ['Yes', 'No'], not swapped, in_order",
        ),
        (
            write_log([good[0] | {"error": {"message": "oops"}}], tmp_path / "error.json"),
            "ended in an error; complete the log with `inspect eval-retry`",
        ),
    ):
        done = measure(program, study, folder, file, ok=False, name="kept")
        assert done.stderr.startswith(f"error: {file}"), done.stderr
        assert said in done.stderr and len(done.stderr.splitlines()) == 1, (said, done.stderr)
    assert not (tmp_path / "results/external").exists()
