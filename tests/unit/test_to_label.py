"""New instances and questions for people to label, and data made of their labels: rules against slow accounts, sheets, wrong input."""

import itertools
import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from scripts.build.distractors import read_numerals
from scripts.clean.mctaco import CATEGORIES
from scripts.common.items import items_of
from scripts.common.tables import ANSWERS, CHALLENGE, CLOZE, DIALOGS, SPANS, read_complete, read_table, write_table
from scripts.common.program import UserError
from tests.rows import each_row

pytestmark = pytest.mark.slow  # left out of `make check`

TALKS = {
    "d0": ["Shall we meet at 5:30 pm on March 14th ?", "No , at 7 pm . I have two hours then .", "Two hours is 120 minutes . See you tomorrow ."],
    "d1": ["He was born in 1987 .", "And she in 1990 , two years later .", "One year I waited for five weeks .", "Ten days are enough ."],
    "d2": ["Every day .", "In ten minutes .", "At 4 pm ."],              # three expressions: too few
    "d3": ["Tomorrow , or next week ?", "Now .", "Tonight , or next year ."],    # no numeral
    "d4": ["Shall we meet at 5:30 pm on March 14th ?", "No , at 7 pm . I have two hours then .", "Two hours is 120 minutes . See you tomorrow ."],
    **{f"e{number}": [f"I will stay for {number} days and leave at {number} am .", f"Not {number + 1} weeks ?", f"No , it is on May {number}th .",
                      "Or in six hours ."] for number in range(2, 9)},
}


@pytest.fixture(scope="module")
def dialogs(tmp_path_factory, program):
    """Cleaned dialogs and their spans; d4 repeats d0."""
    folder = tmp_path_factory.mktemp("dialogs")
    rows = pd.DataFrame([{"source": "s", "split": "train", "dialog_id": name, "turn": turn, "speaker": "AB"[turn % 2], "text": text,
                          "duplicate_of": "d0" if name == "d4" else ""} for name, turns in TALKS.items() for turn, text in enumerate(turns)])
    write_table(pa.Table.from_pandas(rows, preserve_index=False), folder / "cleaned/train.parquet", DIALOGS, {"licence": "MIT"})
    done = program("scripts.build.temporal_spans", "--cleaned", folder / "cleaned", "--splits", "train", "--output", folder / "spans")
    assert done.returncode == 0, done.stderr
    return folder


def dialogs_to_label(program, dialogs, output, *more, ok=True):
    done = program("scripts.build.timedial_to_label", "--cleaned", dialogs / "cleaned", "--spans", dialogs / "spans", "--splits", "train",
                   "--output", output, *more)
    assert (done.returncode == 0) == ok, done.stderr
    return output if ok else done.stderr


@pytest.fixture(scope="module")
def made(dialogs, program, tmp_path_factory):
    """The instances of the dialogs, and the spans that they are of."""
    output = dialogs_to_label(program, dialogs, tmp_path_factory.mktemp("new"), "--per-rule", 3)
    return read_table(output / "test.parquet", schema=CLOZE).to_pandas(), read_table(dialogs / "spans/train.parquet", schema=SPANS).to_pandas()


def test_every_numeral_of_a_dialog_with_more_than_three_expressions_is_masked_once(made):
    rows, spans = made
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


def test_each_proposal_is_what_its_rule_says(made):
    """By a slow account that goes from row to row: who said it, which one word differs, and that nothing means the same twice."""
    rows, spans = made
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


def test_what_means_the_same_is_not_proposed_and_places_keep_their_writing(made):
    """Two hours are 120 minutes; 1990 is a year and no hour; a sentence begins with a capital."""
    rows, _ = made
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


def test_a_draw_is_a_part_of_all_and_comes_again(dialogs, program, tmp_path, made):
    rows, _ = made
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


# Labels of dialogs


def sheet(file, rows, columns=("instance_id", "dialog", "option", "rule", "label")):
    pd.DataFrame(rows, columns=list(columns)).to_csv(file, index=False)
    return file


def labelled(program, module, output, *sheets, ok=True):
    done = program(f"scripts.build.{module}", "--sheets", *sheets, "--output", output)
    assert (done.returncode == 0) == ok, done.stderr
    assert ok or done.stderr.splitlines()[-1].startswith("error: ") and "Traceback" not in done.stderr and not output.exists()
    return done.stderr


def test_labels_of_a_whole_sheet_become_a_challenge_that_the_cleaner_reads(dialogs, program, tmp_path):
    new = dialogs_to_label(program, dialogs, tmp_path / "new")
    rows = pd.read_csv(new / "labels.csv", dtype=str, keep_default_na=False)
    assert rows.loc[rows["rule"] == "original", "label"].eq("right").all() and rows.loc[rows["rule"] != "original", "label"].eq("").all()
    open_ended = rows["rule"] == "open_ended"
    first = open_ended & ~rows[open_ended].duplicated("instance_id").reindex(rows.index, fill_value=False)
    rows["label"] = np.where((rows["rule"] == "original") | first & rows["instance_id"].str.startswith("e"), "right", "wrong")
    rows.to_csv(tmp_path / "sheet.csv", index=False)
    (tmp_path / "fetched").mkdir()
    labelled(program, "timedial_labelled", tmp_path / "fetched/test.json", tmp_path / "sheet.csv")
    done = program("scripts.clean.timedial", "--source", "mine", "--fetched", tmp_path / "fetched", "--output", tmp_path / "clean", "--provenance", "{}")
    assert done.returncode == 0, done.stderr
    test, extras = (read_table(tmp_path / f"clean/{split}.parquet", schema=CHALLENGE).to_pandas() for split in ("test", "extras"))
    assert len(test) and len(extras)
    assert test.groupby("instance_id")["label"].sum().eq(2).all() and extras.groupby("instance_id")["label"].sum().eq(1).all()
    assert set(test["instance_id"].str[:1]) == {"e"} and set(extras["instance_id"].str[:1]) == {"d"}
    given = rows.groupby("instance_id")
    for name, options in pd.concat([test, extras]).groupby("instance_id"):
        asked = given.get_group(name)
        place = {"phrase": 0, "numeral": 1, "open_ended": 2}
        wrong = sorted(asked[asked["label"] == "wrong"].itertuples(), key=lambda row: place[row.rule])[:2]
        assert [(row.option, row.rule) for row in options[options["label"] == 0].itertuples()] == [(row.option, row.rule) for row in wrong]
        assert options.loc[options["is_original"], "option"].tolist() == asked.loc[asked["rule"] == "original", "option"].tolist()


TALK = "A: How long ?\nB: <MASK> ."
ONE = [("i", TALK, "two hours", "original", "right"), ("i", TALK, "two days", "phrase", "wrong"), ("i", TALK, "9 hours", "numeral", "wrong"),
       ("i", TALK, "120 minutes", "open_ended", "right")]


def test_the_majority_decides_and_people_may_add_options(program, tmp_path):
    """Of three people two find 9 hours right; 120 minutes is told by one alone; an option that one added needs no dialog and no rule."""
    files = [sheet(tmp_path / "a.csv", ONE), sheet(tmp_path / "b.csv", [*ONE[:2], (*ONE[2][:4], "Right"), (*ONE[3][:4], ""), ("i", "", "a year", "", "wrong")]),
             sheet(tmp_path / "c.csv", [*ONE[:2], (*ONE[2][:4], "right"), (*ONE[3][:4], "")])]
    labelled(program, "timedial_labelled", tmp_path / "test.json", *files)
    assert json.loads((tmp_path / "test.json").read_text()) == [{
        "id": "i", "conversation": ["A: How long ?", "B: <MASK> ."], "correct1": "two hours", "correct2": "9 hours", "incorrect1": "two days",
        "incorrect1_rule": "Rule 1", "incorrect2": "a year", "incorrect2_rule": "Rule 3"}]


def test_an_even_vote_and_no_vote_leave_an_option_out(program, tmp_path):
    again = [("j", TALK, *row[2:]) for row in ONE[:3]]
    files = [sheet(tmp_path / "a.csv", [*ONE, *again]), sheet(tmp_path / "b.csv", [*ONE[:2], (*ONE[2][:4], "right"), *again])]
    told = labelled(program, "timedial_labelled", tmp_path / "test.json", *files)
    assert "0 options are left out, which nobody labelled, and 1, on which people differ evenly" in told
    assert "2 instances; dropped: 0 whose original was not found right, 1 with fewer than 2 wrong options" in told
    [value] = json.loads((tmp_path / "test.json").read_text())
    assert value["id"] == "j" and value["correct2"] == "none"


@each_row("rows, said", [
    ([*ONE, ("i", TALK, "x", "phrase", "maybe")], "row 6: label is 'maybe', not right or wrong"),
    ([*ONE, ("i", TALK, "x", "rule 1", "wrong")], "row 6: rule is rule 1, not original, phrase or numeral or open_ended"),
    ([*ONE, ("i", TALK, "Two  Days", "phrase", "wrong")], "row 6: repeats a row above"),
    ([*ONE, ("k", "", "x", "phrase", "wrong")], "row 6: no row of instance k has its dialog"),
    ([*ONE, ("i", TALK + " Well .", "x", "phrase", "wrong")], "row 6: the dialog of instance i is another one than above"),
    ([*ONE, ("", TALK, "x", "phrase", "wrong")], "row 6: has no instance_id"), ([*ONE, ("i", TALK, " ", "phrase", "wrong")], "row 6: has no option"),
    ([("i", "A: Now .", *ONE[0][2:])], "row 2: its dialog has not one <MASK>"),
    ([(*row[:4], "") for row in ONE], "no options is labelled"), ([(*row[:4], "wrong") for row in ONE], "no instance has its original found right"),
    ([("i", TALK, "two hours", "original")], "column label is missing"),
])
def test_a_wrong_sheet_of_dialogs_is_refused(rows, said, program, tmp_path):
    columns = ["instance_id", "dialog", "option", "rule", "label"][:len(rows[0])]
    told = labelled(program, "timedial_labelled", tmp_path / "test.json", sheet(tmp_path / "a.csv", rows, columns), ok=False)
    assert said in told and "a.csv" in told


# Questions

QUESTIONS = [("She ran a marathon.", "How long did it take?", "four hours", "Event Duration"), ("She ran a marathon.", "How long did it take?", "2 hours", "duration"),
             ("He moved to Rome.", "How often does he move?", "once a year", "frequency"), ("He moved to Rome.", "What then?", "he quit the job", "ordering"),
             ("They left.", "What  then?", "they ate a cake", "ordering")]


def questions_to_label(program, folder, rows, ok=True):
    text = "\n".join("\t".join(row) for row in [("sentence", "question", "answer", "category"), *rows]) + "\n"
    (folder / "q.tsv").write_text(text)
    done = program("scripts.build.mctaco_to_label", "--questions", folder / "q.tsv", "--candidates", 7, "--output", folder / "new")
    assert (done.returncode == 0) == ok, done.stderr
    return folder / "new" if ok else done.stderr


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


def test_labelled_answers_are_data_that_the_cleaner_reads(program, tmp_path):
    """Two people; what they differ on is left out, an answer that one of them added stands with its question."""
    new = questions_to_label(program, tmp_path, QUESTIONS)
    rows = pd.read_csv(new / "labels.csv", dtype=str, keep_default_na=False)
    first = rows.assign(label=np.where(rows["origin"] == "seed", "likely", "unlikely"))
    second = first.assign(label=first["label"].mask(first["answer"] == "2 hours", "unlikely"))
    second.loc[len(second)] = ["She ran a marathon.", "How long did it take?", "3.5 hours", "Event Duration", "", "likely"]
    for name, table in (("a", first), ("b", second)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "fetched").mkdir()
    labelled(program, "mctaco_labelled", tmp_path / "fetched/test_9442.tsv", tmp_path / "a.csv", tmp_path / "b.csv")
    (tmp_path / "fetched/dev_3783.tsv").write_text("S.\tQ?\t1 day\tyes\tEvent Duration\n")
    done = program("scripts.clean.mctaco", "--source", "mine", "--fetched", tmp_path / "fetched", "--output", tmp_path / "clean", "--provenance", "{}")
    assert done.returncode == 0, done.stderr
    test = read_table(tmp_path / "clean/test.parquet").to_pandas()
    wanted = {(row.sentence, row.question, row.answer, row.category, row.label == "likely") for row in first.itertuples() if row.answer != "2 hours"}
    wanted |= {("She ran a marathon.", "How long did it take?", "3.5 hours", "duration", True)}
    assert {(row.sentence, row.question, row.answer, row.category, row.label == 1) for row in test.itertuples()} == wanted
    assert test["question_id"].eq(test["question_id"].shift()).sum() == len(test) - 4, "a question's answers are together"


ASKED = ("S.", "Q?", "1 day", "duration", "likely")


@each_row("rows, said", [
    ([ASKED, ("S.", "Q?", "2 days", "duration", "yes")], "row 3: label is 'yes', not likely or unlikely"),
    ([ASKED, ("S.", "Q?", "2 days", "time", "likely")], "row 3: category is time, not one of duration"),
    ([ASKED, ("S.", "Q?", "2 days", "frequency", "likely")], "row 3: the category of the question Q? is another one than above"),
    ([ASKED, ("S.", "Q?", "1  DAY", "duration", "likely")], "row 3: repeats a row above"), ([ASKED, ("", "Q?", "1", "duration", "likely")], "row 3: has no sentence"),
    ([(*ASKED[:4], "")], "no answers is labelled"),
])
def test_a_wrong_sheet_of_answers_is_refused(rows, said, program, tmp_path):
    columns = ["sentence", "question", "answer", "category", "label"]
    assert said in labelled(program, "mctaco_labelled", tmp_path / "t.tsv", sheet(tmp_path / "a.csv", rows, columns), ok=False)


# Answers of a page


@pytest.mark.parametrize("study", ["mctaco", "timedial"])
def test_answers_of_a_page_are_labels(study, dialogs, program, tmp_path):
    """A page is made of what has no labels yet; what two people answered there makes the same data as their sheets would."""
    folder = tmp_path / study / "mine/new"
    folder.parent.mkdir(parents=True)
    made_of = dialogs_to_label(program, dialogs, folder) if study == "timedial" else questions_to_label(program, tmp_path, QUESTIONS).rename(folder)
    done = program("scripts.publish.labelling.page", "--dataset", made_of, "--items", 2, "--output", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    ids = read_table(folder / "test.parquet")["example_id"].to_pandas()
    rows = pd.read_csv(folder / "labels.csv", dtype=str, keep_default_na=False)
    both = {"mctaco": ["likely", "unlikely"], "timedial": ["right", "wrong"]}[study]
    answers, files = [], []
    for person, step in (("anna", 3), ("ben", 2)):
        told = np.where((rows.index % step == 0) if study == "mctaco" else rows["rule"] == "original", *both)
        rows.assign(label=told).to_csv(tmp_path / f"{person}.csv", index=False)
        files.append(tmp_path / f"{person}.csv")
        answers.append(pd.DataFrame({"study": study, "source": "mine", "dataset": "new", "split": "test", "item": [f"{item:016x}" for item in items_of(ids)],
                                     "person": person, "answer": told, "types": ""}))
    pd.concat(answers).sample(frac=1, random_state=1).to_csv(tmp_path / "answers.csv", index=False)
    labelled(program, f"{study}_labelled", tmp_path / "of_sheets", *files)
    call = ["--answers", tmp_path / "answers.csv", "--output", tmp_path / "of_page"]
    refused = program(f"scripts.build.{study}_labelled", *call)
    assert refused.returncode and "--answers needs --made" in refused.stderr
    done = program(f"scripts.build.{study}_labelled", *call, "--made", folder)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "of_page").read_text() == (tmp_path / "of_sheets").read_text() and len((tmp_path / "of_page").read_text()) > 200
    pd.concat(answers).assign(item="0" * 16).to_csv(tmp_path / "answers.csv", index=False)
    refused = program(f"scripts.build.{study}_labelled", *call, "--made", folder)
    assert refused.returncode and "answers.csv: row 2: item 0000000000000000 is not in" in refused.stderr


def test_labels_from_nowhere_are_refused(program, tmp_path):
    done = program("scripts.build.mctaco_labelled", "--output", tmp_path / "x")
    assert done.returncode and "neither --sheets nor --answers" in done.stderr
