"""New instances and questions for people to label: rules against slow accounts, wrong input."""

import itertools
import re
from collections import Counter

import pandas as pd
import pyarrow as pa
import pytest

from scripts.build.distractors import read_numerals
from scripts.clean.mctaco import CATEGORIES
from scripts.common.program import UserError
from scripts.common.tables import ANSWERS, CLOZE, DIALOGS, SPANS, read_complete, read_table, write_table
from tests.rows import each_row
from tests.unit.to_label import QUESTIONS, TALKS, dialogs_fixture, dialogs_to_label, questions_to_label  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow  # left out of `make check`


@pytest.fixture(scope="module")
def proposed(dialogs, program, tmp_path_factory):
    """The instances of the dialogs, and the spans that they are of."""
    output = dialogs_to_label(program, dialogs, tmp_path_factory.mktemp("new"), "--per-rule", 3)
    return read_table(output / "test.parquet", schema=CLOZE).to_pandas(), read_table(dialogs / "spans/train.parquet", schema=SPANS).to_pandas()


def test_every_numeral_of_a_dialog_with_more_than_three_expressions_is_masked_once(proposed):
    rows, spans = proposed
    wanted = {}
    for name, turns in TALKS.items():
        own = spans[spans["dialog_id"] == name]
        if len(own) > 3 and name != "d4":
            for span in own[own["has_numeral"]].itertuples():
                lines = [f"{'AB'[turn % 2]}: {text}" for turn, text in enumerate(turns)]
                text = turns[span.turn]
                lines[span.turn] = f"{'AB'[span.turn % 2]}: {text[:span.start]}<MASK>{text[span.end:]}"
                wanted[f"{name}:{span.turn}:{span.start}"] = ("\n".join(lines), span.text, span.kind, len(turns))
    originals = rows[rows["is_original"]]
    assert {row.instance_id: (row.context, row.candidate, row.kind, row.turns) for row in originals.itertuples()} == wanted
    assert {name.split(":")[0] for name in wanted} == {"d0", "d1", *(f"e{number}" for number in range(2, 9))}
    assert (originals["label"] == 1).all() and rows.loc[~rows["is_original"], "label"].isna().all()
    assert rows["example_id"].is_unique and (rows["example_id"].str.rsplit(":", n=1).str[0] == rows["instance_id"]).all()


def test_each_proposal_is_what_its_rule_says(proposed):
    """By a slow account that goes from row to row: who said it, which one word differs, and that nothing means the same twice."""
    rows, spans = proposed
    of = {f"{span.dialog_id}:{span.turn}:{span.start}": span for span in spans.itertuples()}
    for row in rows[~rows["is_original"]].itertuples():
        masked = of[row.instance_id]
        others = spans[(spans["dialog_id"] == masked.dialog_id) & (spans["kind"] == masked.kind) & (spans["value"] != masked.value)]
        if row.rule == "phrase":
            assert row.candidate.lower() in set(others["text"].str.lower())
        if row.rule == "numeral":
            tell = re.compile(r"\w+|\W+")
            pairs = list(itertools.zip_longest(tell.findall(masked.text), tell.findall(row.candidate)))
            [changed] = [new for old, new in pairs if old.lower() != new.lower()]
            assert changed.lower() in re.findall(r"\w+", " ".join(TALKS[masked.dialog_id]).lower())
        assert row.candidate.lower() != masked.text.lower()
    by_rule = rows[~rows["is_original"]].groupby(["instance_id", "rule"]).size()
    assert by_rule.max() == 3 and set(by_rule.index.get_level_values("rule")) == {"phrase", "numeral", "open_ended"}
    assert not rows.assign(folded=rows["candidate"].str.lower()).duplicated(["instance_id", "folded"]).any()


def test_what_means_the_same_is_not_proposed_and_places_keep_their_writing(proposed):
    """Two hours are 120 minutes; 1990 is a year and no hour; a sentence begins with a capital."""
    rows, _ = proposed
    options = {name: {rule: part["candidate"].tolist() for rule, part in own.groupby("rule")} for name, own in rows.groupby("instance_id")}
    two_hours = options["d0:1:22"]
    assert two_hours[""] == ["two hours"] and "120 minutes" not in sum(two_hours.values(), []) and "phrase" not in two_hours
    assert "1990" in options["d1:0:15"]["phrase"] and "numeral" not in options["d1:0:15"], "nothing is proposed twice"
    assert options["d1:1:18"][""] == ["two years later"] and sorted(options["d1:1:18"]["numeral"]) == ["five years later", "ten years later"]
    at_start = options["d0:2:0"]
    assert at_start[""] == ["Two hours"] and all(option[:1] == option[:1].upper() for option in sum(at_start.values(), []))
    assert options["d0:0:17"]["numeral"] == ["7:30 pm"], "the hour, not the minutes; 14th and 120 are none"


@each_row("text, wanted", [
    ("at 5:30 pm", [("5", "digits", 5)]), ("March 14th", [("14th", "ordinal", 14)]), ("in 1987", [("1987", "year", 1987)]),
    ("twenty-five days", [("twenty-five", "word", 25)]), ("$12 or 3.50", []), ("call 555-0199", []), ("05 pm", []), ("Two or 99", [("two", "word", 2), ("99", "digits", 99)]),
])
def test_numerals_are_read(text, wanted):
    assert list(read_numerals(pd.Series([text]))[["numeral", "sort", "size"]].itertuples(index=False, name=None)) == wanted


def test_a_draw_is_a_part_of_all_and_comes_again(dialogs, program, tmp_path, proposed):
    rows, _ = proposed
    few = dialogs_to_label(program, dialogs, tmp_path / "few", "--instances", 5, "--per-rule", 3)
    again = dialogs_to_label(program, dialogs, tmp_path / "again", "--instances", 5, "--per-rule", 3)
    more = read_table(dialogs_to_label(program, dialogs, tmp_path / "more", "--instances", 8, "--per-rule", 3) / "test.parquet").to_pandas()
    other = read_table(dialogs_to_label(program, dialogs, tmp_path / "other", "--instances", 5, "--seed", 4) / "test.parquet").to_pandas()
    table = read_table(few / "test.parquet").to_pandas()
    assert (few / "test.parquet").read_bytes() == (again / "test.parquet").read_bytes() and table["instance_id"].nunique() == 5
    assert set(table["instance_id"]) < set(more["instance_id"]) and set(table["instance_id"]) != set(other["instance_id"])
    pd.testing.assert_frame_equal(table, rows[rows["instance_id"].isin(table["instance_id"])].reset_index(drop=True))


def test_nothing_can_be_measured_before_it_is_labelled(dialogs, program, tmp_path):
    with pytest.raises(UserError, match="label has .* missing values"):
        read_complete(dialogs_to_label(program, dialogs, tmp_path) / "test.parquet", CLOZE)


def test_dialogs_without_enough_expressions_are_refused(dialogs, program, tmp_path):
    for name in ("cleaned", "spans"):
        table = read_table(dialogs / name / "train.parquet").to_pandas()
        schema = DIALOGS if name == "cleaned" else SPANS
        write_table(pa.Table.from_pandas(table[table["dialog_id"].isin(["d2", "d3"])]), tmp_path / name / "train.parquet", schema, {})
    assert "no dialog has more than 3 temporal expressions" in dialogs_to_label(program, tmp_path, tmp_path / "out", ok=False)


# Questions

def test_questions_grow_to_unlabelled_answers_like_those_of_the_expansion(program, tmp_path):
    """The same candidates as scripts/build/candidates.py, in its order, with their question's category and no label."""
    new = questions_to_label(program, tmp_path, QUESTIONS)
    done = program("scripts.build.candidates", "--questions", tmp_path / "q.tsv", "--candidates", 7, "--output", tmp_path / "candidates.parquet")
    assert done.returncode == 0, done.stderr
    candidates, rows = read_table(tmp_path / "candidates.parquet").to_pandas(), read_table(new / "test.parquet", schema=ANSWERS).to_pandas()
    assert rows["answer"].tolist() == rows["text_b"].tolist() == candidates["answer"].tolist() and len(rows) > 10
    category = {(sentence, question): {**CATEGORIES, **{name: name for name in CATEGORIES.values()}}[name] for sentence, question, _, name in QUESTIONS}
    assert rows["category"].tolist() == [category[row.sentence, row.question] for row in candidates.itertuples()]
    assert rows["text_a"].tolist() == [f"{row.sentence} {' '.join(row.question.split())}" for row in candidates.itertuples()]
    assert rows["group_id"].nunique() == 4 and rows["example_id"].is_unique and rows["label"].isna().all()
    sheet_rows = pd.read_csv(new / "labels.csv", dtype=str, keep_default_na=False)
    assert sheet_rows["answer"].tolist() == rows["answer"].tolist() and Counter(sheet_rows["origin"]) == Counter(candidates["origin"])


@each_row("rows, said", [
    ([("S.", "Q?", "1 day", "length")], "category length is not one of duration, ordering"), ([("S.", "Q?", "1 day", "")], "line 2 has no category"),
    ([("S.", "Q?", "1 day", "duration"), ("S.", "Q?", "2 days", "frequency")], "the question Q? has two categories"),
    ([("S.", "Q?", "1 day")], "line 2 has 3 columns, not 4"),
])
def test_wrong_questions_to_label_are_refused(rows, said, program, tmp_path):
    assert said in questions_to_label(program, tmp_path, rows, ok=False) and not (tmp_path / "new").exists()
