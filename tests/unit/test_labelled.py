"""Data made of people's labels, from sheets and from pages: votes, options that people add, wrong input."""

import json

import numpy as np
import pandas as pd
import pytest

from scripts.common.items import items_of
from scripts.common.tables import CHALLENGE, read_table
from tests.rows import each_row
from tests.unit.to_label import QUESTIONS, dialogs_fixture, dialogs_to_label, questions_to_label  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow  # left out of `make check`


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
    assert refused.returncode and "answers.csv: row 2: item 0000000000000000 is not among what" in refused.stderr
    for change, said in (({"dataset": "old"}, "row 2: is an answer on mine old test; name the folder of that"),
                         ({"person": " "}, "row 2: nobody is named"), (None, "no answer is in it")):
        table = pd.concat(answers)
        (table.assign(**change) if change else table[:0]).to_csv(tmp_path / "answers.csv", index=False)
        refused = program(f"scripts.build.{study}_labelled", *call, "--made", folder)
        assert refused.returncode and said in refused.stderr and "Traceback" not in refused.stderr
    # Whoever sorts the sheet moves no answer to another text; whoever takes a row out is told.
    pd.concat(answers).to_csv(tmp_path / "answers.csv", index=False)
    sheet_there = pd.read_csv(folder / "labels.csv", dtype=str, keep_default_na=False)
    sheet_there[::-1].to_csv(folder / "labels.csv", index=False)
    assert program(f"scripts.build.{study}_labelled", *call, "--made", folder).returncode == 0
    assert (tmp_path / "of_page").read_text() == (tmp_path / "of_sheets").read_text()
    sheet_there[1:].to_csv(folder / "labels.csv", index=False)
    refused = program(f"scripts.build.{study}_labelled", *call, "--made", folder)
    assert refused.returncode and "labels.csv: has no row of" in refused.stderr


def test_labels_from_nowhere_are_refused(program, tmp_path):
    done = program("scripts.build.mctaco_labelled", "--output", tmp_path / "x")
    assert done.returncode and "neither --sheets nor --answers" in done.stderr
