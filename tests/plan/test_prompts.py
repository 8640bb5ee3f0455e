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
LIKELY = "{{score: token, wordings: {{w: {{likely: '{}'}}}}, threshold: train}}"
SUM = {"score": "sum"}
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


def refused(folder, study: str, method: str, entries: dict | None = None) -> str:
    with pytest.raises(UserError) as error:
        prompts_in(folder, study, method, entries)
    assert str(error.value).startswith(f"scripts/studies/{study}/prompts.yaml: ")
    return str(error.value)


def test_each_method_that_asks_by_likelihood_has_two_wordings_or_more():
    for name, study in STUDIES.items():
        assert set(read_yaml(ROOT / PLACE.format(name))) == set(worded_methods(study))
        for method, how in study["methods"].items():
            if how.get("paradigm") == "likelihood" and not method.endswith("_blind"):
                assert len(prompts_of(name, study, method)) >= 2, (name, method)
    found = prompts_of("mctaco", STUDIES["mctaco"], "likelihood_word")["plain"]
    assert found == {
        **{"score": "token", "threshold": "train", "domain": None, "masks": "word"},
        "texts": {"likely": "{text_a}| {text_b}"},
    }


@each_row(
    "study, method, entry, said",
    [
        *(
            ("mctaco", "likelihood", entry, said)
            for entry, said in [
                (LIKELY.format("{text_a} {text_b}"), "w.likely: '{text_a} {text_b}' has 0 |"),
                (LIKELY.format("{text_a}|{answr}"), "there is no {answr}"),
                (LIKELY.format("{text_a}|{text_b"), "has a single brace"),
                ({"wordings": {"w": YES_NO}}, "likelihood: key score is missing"),
                (SUM | {"wordings": {"w": {"likely": "{text_a}|x"}}}, "no text for unlikely"),
                (SUM | {"wordings": {"w": YES_NO | {"likly": "|x"}}}, "did you mean likely?"),
                (SUM | {"wordings": {"w": YES_NO}, "domain": "|"}, "'|' has 1 |; take it out"),
                (SUM | {"wordings": {"w": YES_NO}, "domain": {"v": "So:"}}, "differ in v"),
                (SUM | {"wordings": {"w": YES_NO}, "masks": "words"}, "likelihood.masks"),
                (
                    SUM | {"wordings": {"w": {"likely": {"a": "x", "b": "y"}}}},
                    "w.likely: write one text",
                ),
            ]
        ),
        *texts_of("""
            temporal_nli | likelihood | {score: sum, threshold: train, wordings: {w: {neutral: '{text_a}'}}} | a threshold separates two labels
            mctaco | answer | {score: sum, wordings: {w: {question: '{text_a} {text_b} {options}'}}} | answer.score: a method that asks in words has no such key; take it out
            mctaco | answer | {wordings: {w: {likely: '{options}'}}} | a wording has question, and
            mctaco | answer_all | {wordings: {w: {question: '{text_a} {text_b} {options}'}}} | w.question: {text_b} is one of the options
            mctaco | answer | {wordings: {w: {question: '{text_a}', answers: {likely: 'yes', unlikely: 'no'}}}} | w.question: write {options} once
            mctaco | answer | {wordings: {w: {question: '{text_a} {options}', answers: {likely: a, maybe: b}}}} | w.answers: give one text for each of unlikely, likely
            mctaco | answer | {wordings: {w: {question: '{text_a} {options}', answers: {likely: a, unlikely: a}}}} | w.answers: two answers are the same text
        """),
    ],
)
def test_what_is_wrong_with_a_wording_is_said(tmp_path_factory, study, method, entry, said):
    found = refused(tmp_path_factory.mktemp("prompts"), study, method, {method: read(entry)})
    assert said in found and method in found


def test_a_file_that_is_missing_or_has_no_such_method_is_said(tmp_path):
    assert "no such file" in refused(tmp_path, "mctaco", "likelihood")
    said = refused(tmp_path, "mctaco", "likelihood", {"likelyhood": {}})
    assert "has no method likelihood; did you mean likelyhood?" in said


@each_row(
    "changed, said",
    texts_of("""
        score: sum | likelihood_blind.score differs from likelihood.score, but likelihood_blind is the control
        wordings: {other: {likely: '{pipe} {text_b}'}} | likelihood_blind.wordings has other, but likelihood, whose control it is, has no such wording
        wordings: {plain: {likely: '{text_a}{pipe} {text_b}'}} | likelihood_blind.wordings.plain.likely: there is no {text_a}
    """),
)
def test_a_control_that_is_scored_or_worded_otherwise_or_sees_all_is_refused(
    tmp_path_factory, changed, said
):
    changed = read(changed.replace("{pipe}", "|"))
    plain, blind = (
        {"score": "token", "threshold": "train", "wordings": {"plain": {"likely": text}}}
        for text in ("{text_a}| {text_b}", "| {text_b}")
    )
    entries = {"likelihood": plain, "likelihood_blind": blind | changed}
    folder = tmp_path_factory.mktemp("prompts")
    assert said in refused(folder, "mctaco", "likelihood_blind", entries)


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
        ("strided_sob: {}", "prompts: no study strided_sob; did you mean strided_sop?"),
        (
            "mctaco: {verbalize: {}}",
            "prompts.mctaco: verbalize is no method of mctaco that asks in words; did you mean "
            "verbalizer?",
        ),
        (
            "mctaco: {likelihood: {wordings: {mine: {likely: '{text_a} {text_b}'}}}}",
            "configuration: prompts.mctaco: likelihood.wordings.mine.likely: '{text_a} {text_b}' "
            "has 0 |",
        ),
    ],
)
def test_what_is_wrong_with_prompts_of_the_configuration_is_said(added, said):
    with pytest.raises(UserError) as error:
        check_configured_prompts(read(added), STUDIES)
    assert said in str(error.value)


# ---- runs


@pytest.mark.models
def test_a_run_is_of_its_wording_and_of_the_training_split_where_it_reads_that(program, tmp_path):
    write_decoder("gpt2", tmp_path / "gpt2")
    (tmp_path / "data").mkdir()

    def write(split: str, table: pa.Table) -> None:
        pq.write_table(table, tmp_path / f"data/{split}.parquet")

    def run(prompt: dict, shots: int = 0) -> tuple[bool, dict]:
        settings = {"study": "mctaco", "model": "gpt2", "method": "likelihood", "wording": "plain"}
        settings |= {"training": {"max_length": 400, "precision": "fp32", "shots": shots}}
        method = {"paradigm": "likelihood", "learns": False, "peak": None, "prompt": prompt}
        method |= {"columns": {name: name for name in ("example_id", "group_id")}}
        method |= {"labels": ["unlikely", "likely"]}
        places = (tmp_path / "out", tmp_path / "data", tmp_path / "gpt2")
        more = {"splits": ("train", "test"), "method": method, "settings": settings | {"seed": 2}}
        done = program("scripts.train.runs", *arguments(*places, **more)).checked()
        return "no step taken" not in done.stderr, read_json(tmp_path / "out/run.json")

    plain = {"score": "sum", "threshold": None, "domain": None, "texts": YES_NO}
    write("train", pa.concat_tables([pairs(), pairs()]))
    write("test", pairs())
    trained, facts = run(plain)
    assert trained and list(facts["data"]) == ["test"]
    write("train", pairs())
    assert not run(plain)[0], "the training split is not read"
    maybe = YES_NO | {"likely": "{text_a} {text_b}?| maybe"}
    assert run(plain | {"texts": maybe})[0], "the wording is another one"
    decided = plain | {"threshold": "train", "texts": {"likely": "{text_a}| {text_b}"}}
    trained, facts = run(decided, shots=2)
    assert trained and facts["threshold"] is not None
    assert (facts["shots"], facts["train_examples"], [*facts["data"]]) == (2, 4, ["test", "train"])
    assert not run(decided, shots=2)[0]
    write("train", pairs().slice(0, 3))
    assert run(decided, shots=1)[0], "the training split is read"
