"""Answers of people: how they are measured, how agreement is computed, which answers are refused.

The test makes all answers itself; no person gave them.
"""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.data.items import ANSWER_COLUMNS, items_of
from scripts.measure.elsewhere.people import on_split, read_people
from scripts.running.program import UserError
from scripts.plan.schemas import check, schema
from scripts.studies.choices import evaluate as choices
from scripts.studies.mctaco import evaluate as mctaco
from scripts.studies.timedial import evaluate as timedial
from scripts.measure.people import alpha, coincidences_of
from scripts.measure.ranking import checked
from scripts.publish.people import people_metrics, tabulate
from scripts.data.studies import beside
from scripts.measure.study import Part
from tests.conftest import ROOT
from tests.rows import each_row
from tests.studies.strided_sop.test_evaluate_strided_sop import evaluate, trained  # noqa: F401 (a fixture)

pytestmark = pytest.mark.slow

WORDS = ["swapped", "in_order"]
NOBODY = Part(ROOT / "test.parquet", "test", systems={}, options={})


def sheet(
    person: str, pairs: list[int], answers: list[str], types: str = "", **changed
) -> pd.DataFrame:
    """Return the file that a person downloads after answering these pairs of the fixture
    `trained`.
    """
    ids = pd.Series([f"v{pair // 4}:0:{pair}" for pair in pairs])
    return pd.DataFrame(
        {
            "study": "strided_sop",
            "source": "sample_howto100m",
            "dataset": "stride-0",
            "split": "val",
            "item": [f"{item:016x}" for item in items_of(ids)],
            "person": person,
            "answer": answers,
            "types": types,
        }
        | changed
    )


def coincidence_alpha(values: list[list[int | None]]) -> float:
    """Return alpha for one row from each observer; None is a missing answer."""
    cells = [(unit, value) for row in values for unit, value in enumerate(row) if value is not None]
    at, chosen = (np.array(column) for column in zip(*cells))
    _, pairs = coincidences_of(at, chosen, chosen.max() + 1)
    return float(alpha(pairs.sum(0), np.array(len(pairs))))


def slow_alpha(values: list[list[int | None]]) -> float:
    """Return alpha from its definition: disagreement within units over disagreement among all
    values, pair by pair.
    """
    units = [
        [row[unit] for row in values if row[unit] is not None] for unit in range(len(values[0]))
    ]
    units = [unit for unit in units if len(unit) > 1]
    every = [value for unit in units for value in unit]
    observed = sum(
        sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    ) / len(every)
    expected = sum(a != b for a, b in permutations(every, 2)) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, sections A (0.095) and C (0.743).
MEG_AND_OWEN, FOUR = yaml.safe_load("""
-
  - [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
  - [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
-
  - [1, 2, 3, 3, 2, 1, 4, 1, 2, null, null, null]
  - [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, null, 3]
  - [null, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, null]
  - [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, null]
""")


@pytest.mark.parametrize("values, printed", [(MEG_AND_OWEN, 0.095), (FOUR, 0.743)])
def test_alpha_is_that_of_its_author(values, printed):
    assert coincidence_alpha(values) == pytest.approx(printed, abs=0.0005)
    assert slow_alpha(values) == pytest.approx(printed, abs=0.0005)


def test_people_and_models_on_the_same_pairs(program, trained):  # noqa: F811
    """Ann is right on 16 of 20 pairs, Bob on 5 of the first 10."""
    folder, right = trained
    gold, wrong = ([WORDS[(pair + off) % 2] for pair in range(20)] for off in (0, 1))
    ann, bob = gold[:16] + wrong[16:], wrong[:5] + gold[5:10]
    types = ["unrelated_concepts"] * 5 + [""] * 15
    sheet("Ann", range(20), ann, types).to_csv(folder / "ann.csv", index=False)
    sheet("Bob", range(10), bob, types[3:13]).to_csv(folder / "bob.csv", index=False)
    metrics = evaluate(program, folder, "--people", folder / "ann.csv", folder / "bob.csv")
    human = metrics[metrics["model"] == "human"].set_index(["metric", "slice"])
    shares = [0.5] * 5 + [1] * 5 + [1] * 6 + [0] * 4
    rows = human.loc["human_accuracy"]
    assert rows.loc["all", "value"] == pytest.approx(np.mean(shares))
    assert rows.loc["all", ["n", "seeds"]].tolist() == [20, 2]
    assert rows.loc["person=Ann", ["value", "n"]].tolist() == [0.8, 20]
    assert rows.loc["person=Bob", ["value", "n"]].tolist() == [0.5, 10]
    assert rows.loc["all", "sd"] == pytest.approx(np.std([0.8, 0.5], ddof=1))
    of_type = rows.loc["type=unrelated_concepts", ["value", "n"]].tolist()
    assert of_type == pytest.approx([0.5, 5]), "half of two is enough"
    both = [[WORDS.index(answer) for answer in answers] for answers in (gold[:10], bob)]
    assert human.loc[("human_agreement", "all"), "value"] == pytest.approx(slow_alpha(both))
    assert human.loc[("human_agreement", "all"), "n"] == 10
    models = metrics[metrics["method"] != "train_ensemble"].set_index(["metric", "slice"])
    beside = models.loc[("accuracy_beside_people", "all")]
    value = np.mean([np.mean(right[seed, "held_out"][:20]) for seed in (1, 2)])
    assert beside["value"].item() == pytest.approx(value) and beside["n"].item() == 20
    above = models.loc["accuracy_above_people"]
    assert above["value"].item() == pytest.approx(value - np.mean(shares))
    table = tabulate(people_metrics(metrics), {}, {}).set_index(["Measure", "Kind", "Who"])
    value = table["Value, 95 % interval"]
    assert value["accuracy (%)", "all", "2 people"].startswith("67.5 (")
    assert value["agreement (alpha)", "all", "2 people"][:4] == f"{slow_alpha(both):.2f}"
    assert value.filter(like="points above people").str.match("[+−]").all()
    others = metrics[(metrics["model"] != "human") & ~metrics["metric"].str.endswith("_people")]
    alone = evaluate(program, folder)
    pd.testing.assert_frame_equal(others.reset_index(drop=True), alone)  # no other number changes


def test_answers_for_other_experiments_are_left_to_them(program, trained):  # noqa: F811
    folder, _ = trained
    answers = sheet("Ann", range(4), WORDS * 2)
    pd.concat([answers, answers.assign(dataset="stride-7")]).to_csv(folder / "ann.csv", index=False)
    shared = evaluate(
        program, folder, "--people", folder / "ann.csv", "--others", "sample_howto100m/stride-7"
    )
    assert shared.query("metric == 'human_accuracy' and slice == 'all'")["value"].tolist() == [1.0]


def given(folder, *tables: pd.DataFrame) -> pd.DataFrame:
    """Return the answers in files, as an evaluation of the fixture `trained` reads them."""
    files = [folder / f"{number}.csv" for number in range(len(tables))]
    for file, table in zip(files, tables):
        table.to_csv(file, index=False)
    return read_people(files, "strided_sop", {("sample_howto100m", "stride-0"): ["val"]}, WORDS)


@each_row(
    "change, said",
    """
        {answer: inorder} | 'row 2: answers ''inorder''; write swapped or in_order'
        {item: v0:0:0} | 'row 2: item v0:0:0 is none of a sheet'
        {split: test} | 'row 2: answers for split test of sample_howto100m stride-0; write the sheet of a split that is wanted: val of'
        {person: '  '} | 'row 2: nobody is named in the column person'
        {types: <b>} | 'row 2: types <b> are no names'
    """,
)
def test_wrong_answers_are_refused(tmp_path, change, said):
    with pytest.raises(UserError) as raised:
        given(tmp_path, sheet("Ann", [0], ["swapped"]).assign(**change))
    assert f"0.csv: {said}" in str(raised.value)


def test_who_answers_an_item_twice_is_refused_across_files(tmp_path):
    with pytest.raises(
        UserError, match="1.csv: row 3: Ann has answered item .* above; keep one of them"
    ):
        given(tmp_path, sheet("Ann", [0, 1], WORDS), sheet("Ann", [2, 1], WORDS))


def test_answers_to_other_pairs_are_refused(program, trained):  # noqa: F811
    folder, _ = trained
    sheet("Ann", [0], ["swapped"], item="0" * 16).to_csv(folder / "ann.csv", index=False)
    error = evaluate(program, folder, "--people", folder / "ann.csv", ok=False)
    assert (
        "ann.csv: row 2: item 0000000000000000 is not in split val of sample_howto100m stride-0"
        in error
    )
    assert len(error.splitlines()) == 1 and not (folder / "metrics.parquet").exists()


def answered(
    study: str, examples: pd.DataFrame, labels: list[str], numbers_of: dict[str, list[int]], folder
) -> pd.DataFrame:
    """Return answers of people on all examples of a split, as an evaluation reads them. numbers_of:
    the numbers of the labels, by person.
    """
    items = [f"{item:016x}" for item in items_of(examples["example_id"])]
    same = {"study": study, "source": "s", "dataset": "d", "split": "test", "types": ""}
    tables = [
        pd.DataFrame(
            same
            | {"person": person, "item": items}
            | {"answer": [labels[number] if number >= 0 else None for number in numbers]}
        ).dropna()
        for person, numbers in numbers_of.items()
    ]
    pd.concat(tables)[ANSWER_COLUMNS].to_csv(folder / "a.csv", index=False)
    answers = read_people([folder / "a.csv"], study, {("s", "d"): None}, labels)
    facts = {"source": "s", "dataset": "d", "data_options": {}}
    return on_split(answers, facts, "test", examples)


QUESTIONS = pd.DataFrame(
    {
        "example_id": [f"test:{number}" for number in range(6)],
        "group_id": list("aaabbb"),
        "sentence_id": list("aaabbb"),
        "label": [1, 0, 0, 1, 1, 0],
        "category": "duration",
        "answer": "2 hours",
        "text_a": "x",
        "text_b": "y",
    }
)


def test_a_question_is_right_where_every_candidate_is(tmp_path):
    people = answered(
        "mctaco",
        QUESTIONS.assign(unit=QUESTIONS["group_id"]),
        mctaco.ANSWERED.labels[0],
        yaml.safe_load("""
            Ann: [1, 0, 0, 1, 0, 0]
            Bob: [1, 1, 0, 1, 1, 0]
        """),
        tmp_path,
    )
    rows = (
        pd.DataFrame(mctaco.rows_of_part(QUESTIONS, NOBODY, 50, people))
        .query("slice == 'all'")
        .set_index(["model", "metric"])
    )
    assert rows.loc[("human", "human_exact_match"), "value"] == 0.5
    assert rows.loc[("human", "human_exact_match"), "n"] == 2
    assert rows.loc[("human", "human_f1"), "value"] == pytest.approx(np.mean([1, 2 / 3, 2 / 3, 1]))
    assert rows.loc[("always_no", "exact_match_beside_people"), "value"] == 0
    assert ("gold", "f1_beside_people") not in rows.index


def test_a_question_that_is_answered_in_part_is_refused(tmp_path):
    with pytest.raises(
        UserError,
        match=(
            r"a.csv: row 5: Ann has answered only a part of the unit of item [0-9a-f]{16}; answer "
            r"the rest"
        ),
    ):
        answered(
            "mctaco",
            QUESTIONS.assign(unit=QUESTIONS["group_id"]),
            mctaco.ANSWERED.labels[0],
            {"Ann": [1, 0, 0, 1, -1, 0]},
            tmp_path,
        )


@pytest.mark.parametrize(
    "study, metric", [(timedial, "human_two_best_accuracy"), (choices, "human_accuracy")]
)
def test_an_item_is_right_where_its_right_options_alone_are_chosen(tmp_path, study, metric):
    options = pd.DataFrame(
        {
            "example_id": [f"{number // 4}:{number % 4}" for number in range(8)],
            "instance_id": list("aaaabbbb"),
            "instance": [0] * 4 + [1] * 4,
            "label": [1, 1, 0, 0] * 2,
        }
    ).assign(rule="", kind="", has_numeral=False, turns=5, leak="none", dialog_id="d")
    options = options.assign(group_id="d", category="", unit=options["instance_id"])
    answers = {"Ann": [1, 1, 0, 0, 1, 0, 1, 0]}
    people = answered("any", options, study.ANSWERED.labels[0], answers, tmp_path)
    if study is timedial:
        options = checked(options.drop(columns="unit"), tmp_path)
    rows = pd.DataFrame(study.rows_of(options, NOBODY, 50, people)).set_index(["metric", "slice"])
    assert rows.loc[(metric, "all"), ["value", "n", "seeds"]].tolist() == [0.5, 2, 1]
    agreement = rows.index.get_level_values("metric") == "human_agreement"
    assert not agreement.any(), "one alone agrees with nobody"


@each_row(
    "path, value, said",
    """
        [types, Needs knowledge] | it has to be known | types
        [answers] | {in_order: Sentence 1 comes first} | answers
        [items] | 0 | items
    """,
)
def test_questions_of_ones_own_are_checked(path, value, said):
    entry = beside("strided_sop", "labelling.yaml")
    assert check(entry, schema("labelling"), "labelling.yaml")
    inner = entry
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(UserError, match=f"labelling.yaml: {said}"):
        check(entry, schema("labelling"), "labelling.yaml")
