"""The files of wordings: one sentence names a fault, and runs depend on the content of the
files.
"""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from scripts.running.program import UserError
from scripts.data.yaml_files import read_yaml
from scripts.plan import prompts
from scripts.plan.prompts import check_configured_prompts, prompts_of, worded_methods
from tests.conftest import ROOT
from tests.registers import STUDIES
from tests.files import read_json, write_yaml
from tests.rows import each_row, texts_of
from tests.training import arguments
from tests.plan.test_configuration import read
from tests.train.decoders import write_decoder
from tests.train.test_likelihood import pairs

PLACE = "scripts/studies/{}/prompts.yaml"
YES_NO = {"likely": "{text_a} {text_b}?| yes", "unlikely": "{text_a} {text_b}?| no"}


def prompts_in(folder, study: str, method: str, entries: dict | None = None) -> dict:
    """Call prompts_of() in a project whose study has these entries, or no file."""
    if entries is not None:
        file = folder / PLACE.format(study)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_yaml(file, entries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prompts, "ROOT", folder)
        return prompts_of(study, STUDIES[study], method)


def test_each_method_that_asks_by_likelihood_has_two_wordings_or_more():
    for name, study in STUDIES.items():
        assert set(read_yaml(ROOT / PLACE.format(name))) == set(worded_methods(study))
        assert all(prompts_of(name, study, method) for method in worded_methods(study))
        asked = [
            method
            for method, how in study["methods"].items()
            if how.get("paradigm") == "likelihood"
        ]
        assert asked
        assert all(
            len(prompts_of(name, study, method)) >= 2
            for method in asked
            if not method.endswith("_blind")
        )
    prompt = prompts_of("mctaco", STUDIES["mctaco"], "likelihood")["plain"]
    assert prompt == {
        "score": "token",
        "threshold": "train",
        "domain": None,
        "texts": {"likely": "{text_a}| {text_b}"},
    }
    assert prompts_of("mctaco", STUDIES["mctaco"], "likelihood_word")["plain"] == prompt | {
        "masks": "word"
    }
    assert prompts_of("temporal_nli", STUDIES["temporal_nli"], "likelihood_pmi")["yes_no"]["domain"]


@each_row(
    "study, entry, said",
    [
        (
            "mctaco",
            "{score: token, wordings: {w: {likely: '{text_a} {text_b}'}}, threshold: train}",
            "w.likely: '{text_a} {text_b}' has 0 |",
        ),
        (
            "mctaco",
            "{score: token, wordings: {w: {likely: '{text_a}|{answr}'}}, threshold: train}",
            "there is no {answr}",
        ),
        (
            "mctaco",
            "{score: token, wordings: {w: {likely: '{text_a}|{text_b'}}, threshold: train}",
            "has a single brace",
        ),
        (
            "mctaco",
            {"score": "sum", "wordings": {"w": {"likely": YES_NO["likely"]}}},
            "no text for unlikely",
        ),
        (
            "mctaco",
            {"score": "sum", "wordings": {"w": YES_NO | {"likly": "{text_a}|x"}}},
            "there is no label likly; did you mean likely?",
        ),
        (
            "mctaco",
            {"score": "sum", "wordings": {"w": YES_NO}, "domain": "{text_a}|"},
            "domain (w): '{text_a}|' has 1 |; take it out",
        ),
        (
            "mctaco",
            {"score": "sum", "wordings": {"w": YES_NO}, "domain": {"v": "Answer:"}},
            "domain and likelihood.wordings differ in v",
        ),
        (
            "temporal_nli",
            "{score: sum, threshold: train, wordings: {w: {neutral: '{text_a}|{text_b}'}}}",
            "a threshold separates two labels",
        ),
        (
            "mctaco",
            "{score: token, wordings: {w: {likely: '{text_a}|{text_b}'}}, masks: words}",
            "likelihood.masks",
        ),
        (
            "timedial",
            "{score: sum, wordings: {w: {candidate: '{context}|{candidate}'}}}",
            "there is no {context}",
        ),
    ],
)
def test_what_is_wrong_with_a_wording_is_said(tmp_path_factory, study, entry, said):
    folder, entries = tmp_path_factory.mktemp("prompts"), {"likelihood": read(entry)}
    with pytest.raises(UserError) as error:
        prompts_in(folder, study, "likelihood", entries)
    assert str(error.value).startswith(f"scripts/studies/{study}/prompts.yaml: ")
    assert "likelihood" in str(error.value)
    assert said in str(error.value)


def test_a_file_that_is_missing_or_has_no_such_method_is_said(tmp_path):
    with pytest.raises(UserError, match="scripts/studies/mctaco/prompts.yaml: no such file"):
        prompts_in(tmp_path, "mctaco", "likelihood")
    with pytest.raises(UserError, match="has no method likelihood; did you mean likelyhood?"):
        prompts_in(tmp_path, "mctaco", "likelihood", {"likelyhood": {}})


@each_row(
    "method, entry, said",
    [
        *texts_of("""
            answer | {score: sum, wordings: {w: {question: '{text_a} {text_b} {options}'}}} | answer.score: a method that asks in words has no such key; take it out
            answer | {wordings: {w: {likely: '{options}'}}} | a wording has question, and
            answer | {wordings: {w: {question: '{text_a}', answers: {likely: 'yes', unlikely: 'no'}}}} | w.question: write {options} once
            answer | {wordings: {w: {question: '{text_c} {options}', answers: {likely: y, unlikely: n}}}} | w.question: there is no {text_c}
            answer | {wordings: {w: {question: '{text_a} {options}', answers: {likely: a, maybe: b}}}} | w.answers: give one text for each of unlikely, likely
            answer | {wordings: {w: {question: '{text_a} {options}', answers: {likely: a, unlikely: a}}}} | w.answers: two answers are the same text
            answer_all | {wordings: {w: {question: '{text_a} {text_b} {options}'}}} | w.question: {text_b} is one of the options
            likelihood | {score: sum, wordings: {w: {likely: {a: 'x', b: 'y'}}}, threshold: train} | w.likely: write one text
        """),
        (
            "likelihood",
            "{wordings: {w: {likely: '{text_a}|{text_b}'}}, threshold: train}",
            "likelihood: key score is missing",
        ),
    ],
)
def test_what_is_wrong_with_a_question_is_said(tmp_path_factory, method, entry, said):
    folder, entries = tmp_path_factory.mktemp("prompts"), {method: read(entry)}
    with pytest.raises(UserError) as error:
        prompts_in(folder, "mctaco", method, entries)
    assert said in str(error.value)


BLIND = {"score": "token", "threshold": "train", "wordings": {"plain": {"likely": "| {text_b}"}}}


@each_row(
    "changed, said",
    [
        (
            "score: sum",
            "likelihood_blind.score differs from likelihood.score, but likelihood_blind is the control",
        ),
        (
            "masks: word",
            "likelihood_blind.masks differs from likelihood.masks, but likelihood_blind is the control",
        ),
        (
            "wordings: {other: {likely: '| {text_b}'}}",
            "likelihood_blind.wordings has other, but likelihood, whose control it is, has no such wording",
        ),
        (
            "wordings: {plain: {likely: '{text_a}| {text_b}'}}",
            "likelihood_blind.wordings.plain.likely: there is no {text_a}",
        ),
    ],
)
def test_a_control_that_is_scored_or_worded_otherwise_or_sees_all_is_refused(
    tmp_path_factory, changed, said
):
    folder = tmp_path_factory.mktemp("prompts")
    plain = {
        "score": "token",
        "threshold": "train",
        "wordings": {"plain": {"likely": "{text_a}| {text_b}"}},
    }
    entries = {"likelihood": plain, "likelihood_blind": BLIND | read(changed)}
    with pytest.raises(UserError) as error:
        prompts_in(folder, "mctaco", "likelihood_blind", entries)
    assert said in str(error.value)


# ---- wordings in the configuration


def test_wordings_of_the_configuration_stand_beside_those_of_the_file():
    added = yaml.safe_load("""
        strided_sop:
          likelihood:
            wordings:
              later: {in_order: '|{text_a} Later, {text_b}', swapped: '|{text_b} Later, {text_a}'}
        temporal_nli:
          likelihood_pmi:
            domain: {labels: 'So:'}
    """)
    check_configured_prompts(added, STUDIES)
    plain, mine = (
        prompts_of("strided_sop", STUDIES["strided_sop"], "likelihood", configured=given)
        for given in (None, added)
    )
    assert list(mine) == [*plain, "later"]
    assert plain == {name: prompt for name, prompt in mine.items() if name != "later"}
    assert mine["later"]["texts"]["in_order"] == "|{text_a} Later, {text_b}"
    assert mine["later"]["score"] == "sum"
    domains = {
        name: prompt["domain"]
        for name, prompt in prompts_of(
            "temporal_nli", STUDIES["temporal_nli"], "likelihood_pmi", configured=added
        ).items()
    }
    assert domains["labels"] == "So:" and domains["yes_no"] == "Yes, no or maybe?"


@each_row(
    "added, said",
    [
        (
            "strided_sob: {}",
            "configuration: prompts: no study strided_sob; did you mean strided_sop?",
        ),
        (
            "mctaco: {verbalize: {}}",
            (
                "configuration: prompts.mctaco: verbalize is no method of mctaco that asks in "
                "words; did you mean verbalizer?"
            ),
        ),
        (
            "mctaco: {likelihood: {wordings: {mine: {likely: '{text_a} {text_b}'}}}}",
            (
                "configuration: prompts.mctaco: likelihood.wordings.mine.likely: '{text_a} "
                "{text_b}' has 0 |"
            ),
        ),
        (
            "mctaco: {likelihood_blind: {wordings: {mine: {likely: '| {text_b}'}}}}",
            "has mine, but likelihood, whose control it is, has no such wording",
        ),
    ],
)
def test_what_is_wrong_with_prompts_of_the_configuration_is_said(added, said):
    with pytest.raises(UserError) as error:
        check_configured_prompts(read(added), STUDIES)
    assert said in str(error.value)


# ---- runs

ASKED = yaml.safe_load("""
columns: {example_id: example_id, group_id: group_id}
labels: [unlikely, likely]
peak: null
paradigm: likelihood
learns: false
""")


@pytest.mark.models
def test_a_run_is_of_its_wording_and_of_the_training_split_where_it_reads_that(program, tmp_path):
    write_decoder("gpt2", tmp_path / "gpt2")

    def write(split: str, table: pa.Table) -> None:
        (tmp_path / "data").mkdir(exist_ok=True)
        pq.write_table(table, tmp_path / f"data/{split}.parquet")

    def run(prompt: dict, shots: int = 0) -> tuple[bool, dict, list]:
        done = program(
            "scripts.train.run",
            *arguments(
                tmp_path / "out",
                tmp_path / "data",
                tmp_path / "gpt2",
                splits=("train", "test"),
                method=ASKED | {"prompt": prompt},
                settings={
                    "study": "mctaco",
                    "model": "gpt2",
                    "method": "likelihood",
                    "seed": 2,
                    "wording": "plain",
                    "training": {"max_length": 400, "precision": "fp32", "shots": shots},
                },
            ),
        ).checked()
        scores = pq.read_table(tmp_path / "out/predictions.parquet")["score"].to_pylist()
        return ("no step taken" not in done.stderr, read_json(tmp_path / "out/run.json"), scores)

    plain = {"score": "sum", "threshold": None, "domain": None, "texts": YES_NO}
    write("train", pa.concat_tables([pairs(), pairs()]))
    write("test", pairs())
    trained, facts, scores = run(plain)
    assert trained and len(scores) == 4 and all(len(each) == 2 for each in scores)
    assert list(facts["data"]) == ["test"]
    write("train", pairs())
    assert not run(plain)[0], "the training split is not read"
    assert run(plain | {"texts": YES_NO | {"likely": "{text_a} {text_b}?| maybe"}})[0], (
        "the wording is another one"
    )
    decided = plain | {"threshold": "train", "texts": {"likely": "{text_a}| {text_b}"}}
    trained, facts, scores = run(decided, shots=2)
    assert trained
    assert facts["threshold"] is not None
    assert facts["shots"] == 2
    assert facts["train_examples"] == 4
    assert list(facts["data"]) == ["test", "train"] and not run(decided, shots=2)[0]
    write("train", pairs().slice(0, 3))
    assert run(decided, shots=1)[0], "the training split is read"
