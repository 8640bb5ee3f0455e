"""Tasks that ask in words, and lm-evaluation-harness' answers (its form, 0.4.13): letters stand for
labels, unreadable answers are wrong, wrong files are refused.
"""

import hashlib
import json

import pandas as pd
import pytest

from tests.files import read_json, write_json
from tests.measure.test_external import HEADLINE, SETS, measure
from tests.measure.test_harness_samples import (
    docs_of,
    one_wording,
    results,
    write_lines,
    write_tasks,
)

pytestmark = pytest.mark.slow


@pytest.fixture(params=SETS)
def tasks(request, program, tmp_path):
    study = request.param
    folder, _, files = write_tasks(program, study, tmp_path, "answer")
    return study, folder, [file for file in files if "_blind_" not in file.name]


def sent_as(number: int, question: str):
    """Return a question in one of the forms in which the harness writes a request: a text, one in
    a chat template, messages with examples before them, their JSON, and parts of a message.
    """
    user = {"role": "user", "content": question}
    turns = [{"role": "system", "content": "?"}, {"role": "assistant", "content": "A"}, user]
    forms = (
        question,
        f"<user> {question.strip()} <it> ",
        turns,
        [json.dumps(turns)],
        json.dumps(turns, ensure_ascii=False),
        [user | {"content": [{"type": "text", "text": question}]}],
    )
    return forms[number % len(forms)]


def answered(number: int, doc: dict, text: str | None) -> dict:
    written = json.dumps(doc, indent=2, ensure_ascii=False)
    asked = {"gen_args_0": {"arg_0": sent_as(number, doc["question"]), "arg_1": {}}}
    return {
        "doc_id": number,
        "doc": doc,
        "target": doc["target"],
        "arguments": asked,
        "resps": [[text]],
        "filtered_resps": [text],
        "filter": "none",
        "doc_hash": hashlib.sha256(written.encode()).hexdigest(),
    }


def headline(done, study: str) -> float:
    line = next(line for line in done.stdout.splitlines() if line.startswith(HEADLINE[study]))
    return float(line.removeprefix(HEADLINE[study]).split()[0])


def numbers(done) -> list[str]:
    """Return the printed lines, without the share of unread answers."""
    return [line for line in done.stdout.splitlines()[1:] if not line.startswith("unread")]


def as_labels(docs: list[dict], letters: list[str], names: list[str]) -> pd.DataFrame:
    """Turn letters into plain predictions for each example: a label, or a score if options are
    ranked.
    """
    rows = []
    for doc, said in zip(docs, letters):
        named = said.removeprefix("Answer: ").split(", ")
        chosen = {"ABCDEFGH".index(letter) for letter in named if letter != "none"}
        for example, option in json.loads(doc["members"]):
            if labels := json.loads(doc["labels"]):
                rows.append((example, labels[min(chosen)]))
            else:
                rows.append((example, names[option in chosen]))
    table = pd.DataFrame(rows, columns=["example_id", "label"])
    if names == ["wrong", "right"]:
        return table.assign(score=table["label"].eq("right").astype(int)).drop(columns="label")
    return table


def test_letters_are_the_labels_that_they_stand_for(program, tasks, tmp_path):
    study, folder, files = tasks
    (tmp_path / "out").mkdir()
    for task in one_wording(files):
        docs = docs_of(task)
        letters = [doc["target"] if at % 3 else "A" for at, doc in enumerate(docs)]
        lines = [answered(at, *said) for at, said in enumerate(zip(docs, letters))]
        doubled = lines + [line | {"filter": "first"} for line in lines]
        write_json(tmp_path / "out/results_1.json", results("me/mine"))
        file = write_lines(doubled, tmp_path / "out/samples.jsonl")
        theirs = measure(program, study, folder, file, name="mine")
        as_labels(docs, letters, SETS[study]).to_csv(tmp_path / "plain.csv", index=False)
        ours = measure(program, study, folder, tmp_path / "plain.csv")
        assert numbers(theirs) == numbers(ours) and headline(theirs, study) > 0, task.name
        (kept,) = tmp_path.glob("results/external/*/*/*/test/mine/run.json")
        facts = read_json(kept)
        assert (
            facts["unread"] == facts["cut"] == {"test": 0.0}
            and facts["made_by"]["model_name"] == "me/mine"
        )
        if study == "mctaco":
            cut = [
                answered(at, doc, None if at else "<think>\nSo A.") for at, doc in enumerate(docs)
            ]
            done = measure(program, study, folder, write_lines(cut, tmp_path / "out/cut.jsonl"))
            assert headline(done, study) == 0 and "end inside a thought" in done.stderr
            opened = [answered(at, doc, "The answer is A. But") for at, doc in enumerate(docs)]
            for line, doc in zip(opened, docs):  # a template ends the prompt with the mark
                line["arguments"]["gen_args_0"]["arg_0"] = f"{doc['question']}\n<think>\n"
            file = write_lines(opened, tmp_path / "out/opened.jsonl")
            done = measure(program, study, folder, file)
            assert headline(done, study) == 0 and "end inside a thought" in done.stderr
