"""Items for people to label, and data made of their labels: rules against slow accounts,
votes, hostile sheets.
"""

import itertools
import re
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from scripts.clean.mctaco import CATEGORIES
from scripts.data.items import items_of
from scripts.running.program import UserError
from scripts.studies.mctaco.tables import ANSWERS
from scripts.data.tables import CHALLENGE, DIALOGS, SPANS, read_complete, read_table, write_table
from scripts.studies.timedial.tables import CLOZE
from tests.files import read_json, read_texts
from tests.rows import each_row, rows_of

pytestmark = pytest.mark.slow  # left out of `make check`

TALKS = {
    "d0": [
        "Shall we meet at 5:30 pm on March 14th ?",
        "No , at 7 pm . I have two hours then .",
        "Two hours is 120 minutes . See you tomorrow .",
    ],
    "d1": [
        "He was born in 1987 .",
        "And she in 1990 , two years later .",
        "One year I waited for five weeks .",
        "Ten days are enough .",
    ],
    "d2": ["Every day .", "In ten minutes .", "At 4 pm ."],  # three expressions: too few
    "d3": ["Tomorrow , or next week ?", "Now .", "Tonight , or next year ."],  # no numeral
    "d4": [
        "Shall we meet at 5:30 pm on March 14th ?",
        "No , at 7 pm . I have two hours then .",
        "Two hours is 120 minutes . See you tomorrow .",
    ],
    **{
        f"e{number}": [
            f"I will stay for {number} days and leave at {number} am .",
            f"Not {number + 1} weeks ?",
            f"No , it is on May {number}th .",
            "Or in six hours .",
        ]
        for number in range(2, 9)
    },
}


@pytest.fixture(scope="module")
def dialogs(tmp_path_factory, program):
    """Cleaned dialogs and their spans; d4 repeats d0."""
    folder = tmp_path_factory.mktemp("dialogs")
    rows = pd.DataFrame(
        [
            {
                "source": "s",
                "split": "train",
                "dialog_id": name,
                "turn": turn,
                "speaker": "AB"[turn % 2],
                "text": text,
                "duplicate_of": "d0" if name == "d4" else "",
            }
            for name, turns in TALKS.items()
            for turn, text in enumerate(turns)
        ]
    )
    write_table(
        pa.Table.from_pandas(rows, preserve_index=False),
        folder / "cleaned/train.parquet",
        DIALOGS,
        {"licence": "MIT"},
    )
    program(
        f"scripts.text.temporal_spans --cleaned {folder}/cleaned --splits train "
        f"--output {folder}/spans"
    ).checked()
    return folder


def dialogs_to_label(program, dialogs, output, *more, ok=True):
    done = program(
        f"scripts.studies.timedial.to_label --cleaned {dialogs}/cleaned "
        f"--spans {dialogs}/spans --splits train",
        "--output",
        output,
        *more,
    ).checked(ok)
    return output if ok else done.stderr


QUESTIONS = rows_of("""
    She ran a marathon. | How long did it take?   | four hours      | Event Duration
    She ran a marathon. | How long did it take?   | 2 hours         | duration
    He moved to Rome.   | How often does he move? | once a year     | frequency
    He moved to Rome.   | What then?              | he quit the job | ordering
    They left.          | What  then?             | they ate a cake | ordering
""")


def read_sheet(file):
    return read_texts(file)


def questions_to_label(program, folder, rows, ok=True):
    text = (
        "\n".join("\t".join(row) for row in [("sentence", "question", "answer", "category"), *rows])
        + "\n"
    )
    (folder / "q.tsv").write_text(text)
    done = program(
        f"scripts.studies.mctaco.to_label --questions {folder}/q.tsv --candidates 7 "
        f"--output {folder}/new"
    ).checked(ok)
    return folder / "new" if ok else done.stderr


@pytest.fixture(scope="module")
def proposed(dialogs, program, tmp_path_factory):
    """The instances of the dialogs, and the spans that they are of;
    nothing can be measured on them.
    """
    file = (
        dialogs_to_label(program, dialogs, tmp_path_factory.mktemp("new"), "--per-rule", 3)
        / "test.parquet"
    )
    with pytest.raises(UserError, match="label has .* missing values"):
        read_complete(file, CLOZE)
    return read_table(file, schema=CLOZE).to_pandas(), read_table(
        dialogs / "spans/train.parquet", schema=SPANS
    ).to_pandas()


def test_every_numeral_of_a_dialog_with_more_than_three_expressions_is_masked_once(proposed):
    rows, spans = proposed
    wanted = {}
    for name, turns in TALKS.items():
        here = spans[spans["dialog_id"] == name]
        if len(here) > 3 and name != "d4":
            for span in here[here["has_numeral"]].itertuples():
                lines = [f"{'AB'[turn % 2]}: {text}" for turn, text in enumerate(turns)]
                text = turns[span.turn]
                lines[span.turn] = (
                    f"{'AB'[span.turn % 2]}: {text[: span.start]}<MASK>{text[span.end :]}"
                )
                wanted[f"{name}:{span.turn}:{span.start}"] = (
                    "\n".join(lines),
                    span.text,
                    span.kind,
                    len(turns),
                )
    originals = rows[rows["is_original"]]
    assert {
        row.instance_id: (row.context, row.candidate, row.kind, row.turns)
        for row in originals.itertuples()
    } == wanted
    assert {name.split(":")[0] for name in wanted} == {
        "d0",
        "d1",
        *(f"e{number}" for number in range(2, 9)),
    }
    assert (originals["label"] == 1).all() and rows.loc[~rows["is_original"], "label"].isna().all()
    assert rows["example_id"].is_unique
    assert (rows["example_id"].str.rsplit(":", n=1).str[0] == rows["instance_id"]).all()


def test_each_proposal_is_what_its_rule_says(proposed):
    """By a slow account that goes from row to row: who said it, which one word differs, and that
    nothing means the same twice.
    """
    rows, spans = proposed
    of = {f"{span.dialog_id}:{span.turn}:{span.start}": span for span in spans.itertuples()}
    for row in rows[~rows["is_original"]].itertuples():
        masked = of[row.instance_id]
        others = spans[
            (spans["dialog_id"] == masked.dialog_id)
            & (spans["kind"] == masked.kind)
            & (spans["value"] != masked.value)
        ]
        if row.rule == "phrase":
            assert row.candidate.lower() in set(others["text"].str.lower())
        if row.rule == "numeral":
            tell = re.compile(r"\w+|\W+")
            pairs = list(
                itertools.zip_longest(tell.findall(masked.text), tell.findall(row.candidate))
            )
            [changed] = [new for old, new in pairs if old.lower() != new.lower()]
            assert changed.lower() in re.findall(r"\w+", " ".join(TALKS[masked.dialog_id]).lower())
        assert row.candidate.lower() != masked.text.lower()
    by_rule = rows[~rows["is_original"]].groupby(["instance_id", "rule"]).size()
    assert by_rule.max() == 3
    assert set(by_rule.index.get_level_values("rule")) == {"phrase", "numeral", "open_ended"}
    assert (
        not rows.assign(folded=rows["candidate"].str.lower())
        .duplicated(["instance_id", "folded"])
        .any()
    )


def test_what_means_the_same_is_not_proposed_and_places_keep_their_writing(proposed):
    """Two hours are 120 minutes; 1990 is a year and no hour; a sentence begins with a capital."""
    rows, _ = proposed
    options = {
        name: {rule: part["candidate"].tolist() for rule, part in group.groupby("rule")}
        for name, group in rows.groupby("instance_id")
    }
    assert options["d0:1:22"][""] == ["two hours"]
    assert "120 minutes" not in sum(options["d0:1:22"].values(), [])
    assert "1990" in options["d1:0:15"]["phrase"]
    assert "numeral" not in options["d1:0:15"], "nothing is proposed twice"
    assert sorted(options["d1:1:18"]["numeral"]) == ["five years later", "ten years later"]
    assert all(option[:1] == option[:1].upper() for option in sum(options["d0:2:0"].values(), []))
    assert options["d0:0:17"]["numeral"] == ["7:30 pm"], (
        "the hour, not the minutes; 14th and 120 are none"
    )


def test_a_draw_is_a_part_of_all_and_comes_again(dialogs, program, tmp_path, proposed):
    rows, _ = proposed

    def drawn(name, *more):
        return read_table(
            dialogs_to_label(program, dialogs, tmp_path / name, "--per-rule", 3, *more)
            / "test.parquet"
        ).to_pandas()

    few, more, other = (
        drawn("few", "--instances", 5),
        drawn("more", "--instances", 8),
        drawn("other", "--instances", 5, "--seed", 4),
    )
    drawn("again", "--instances", 5)
    assert (tmp_path / "few/test.parquet").read_bytes() == (
        tmp_path / "again/test.parquet"
    ).read_bytes()
    assert few["instance_id"].nunique() == 5
    assert set(few["instance_id"]) < set(more["instance_id"])
    assert set(few["instance_id"]) != set(other["instance_id"])
    pd.testing.assert_frame_equal(
        few, rows[rows["instance_id"].isin(few["instance_id"])].reset_index(drop=True)
    )


# Questions


def test_questions_grow_to_unlabelled_answers_like_those_of_the_expansion(program, tmp_path):
    """The same candidates as scripts/people/candidates.py, in its order,
    with their question's category and no label.
    """
    new = questions_to_label(program, tmp_path, QUESTIONS)
    program(
        f"scripts.people.candidates --questions {tmp_path}/q.tsv --candidates 7 "
        f"--output {tmp_path}/candidates.parquet"
    ).checked()
    candidates, rows = (
        read_table(tmp_path / "candidates.parquet").to_pandas(),
        read_table(new / "test.parquet", schema=ANSWERS).to_pandas(),
    )
    assert rows["answer"].tolist() == rows["text_b"].tolist() == candidates["answer"].tolist()
    assert len(rows) > 10
    names = {
        (sentence, question): CATEGORIES.get(name, name)
        for sentence, question, _, name in QUESTIONS
    }
    assert rows["category"].tolist() == [
        names[row.sentence, row.question] for row in candidates.itertuples()
    ]
    assert rows["text_a"].tolist() == [
        f"{row.sentence} {' '.join(row.question.split())}" for row in candidates.itertuples()
    ]
    assert rows["group_id"].nunique() == 4
    assert rows["example_id"].is_unique
    assert rows["label"].isna().all()
    sheet_rows = read_sheet(new / "labels.csv")
    assert sheet_rows["answer"].tolist() == rows["answer"].tolist()
    assert Counter(sheet_rows["origin"]) == Counter(candidates["origin"])


@each_row(
    "rows, said",
    """
        [[S., Q?, 1 day, length]] | category length is not one of duration, ordering
        [[S., Q?, 1 day, '']] | 'line 2: category is '''''
        [[S., Q?, 1 day, duration], [S., Q?, 2 days, frequency]] | the question Q? has two categories
        [[S., Q?, 1 day]] | line 2 has 3 columns, not 4
    """,
)
def test_wrong_questions_to_label_are_refused(rows, said, program, tmp_path):
    assert said in questions_to_label(program, tmp_path, rows, ok=False)
    assert not (tmp_path / "new").exists()


# Labels

COLUMNS = {
    "timedial": "instance_id dialog option rule label".split(),
    "mctaco": "sentence question answer category label".split(),
}


def sheet(file, rows, columns=COLUMNS["timedial"]):
    pd.DataFrame(rows, columns=columns).to_csv(file, index=False)
    return file


def labelled(program, study, output, *given, ok=True):
    done = program(f"scripts.studies.{study}.labelled --output {output}", *given).checked(ok)
    assert (
        ok
        or done.stderr.splitlines()[-1].startswith("error: ")
        and "Traceback" not in done.stderr
        and not output.exists()
    )
    return done.stderr


def cleaned(program, study, folder):
    """The corpus that a study's cleaner makes of what stands in folder/fetched."""
    program(
        f"scripts.clean.{study} --source mine --fetched {folder}/fetched --output {folder}/clean",
        "--provenance",
        "{}",
    ).checked()
    return folder / "clean"


def test_labels_of_a_whole_sheet_become_a_challenge_that_the_cleaner_reads(
    dialogs, program, tmp_path
):
    rows = read_sheet(dialogs_to_label(program, dialogs, tmp_path / "new") / "labels.csv")
    assert rows.loc[rows["rule"] == "original", "label"].eq("right").all()
    assert rows.loc[rows["rule"] != "original", "label"].eq("").all()
    first = rows.groupby(["instance_id", "rule"]).cumcount() == 0
    right = (rows["rule"] == "original") | (
        (rows["rule"] == "open_ended") & first & rows["instance_id"].str.startswith("e")
    )
    rows["label"] = np.where(right, "right", "wrong")
    rows.to_csv(tmp_path / "sheet.csv", index=False)
    labelled(
        program, "timedial", tmp_path / "fetched/test.json", "--sheets", tmp_path / "sheet.csv"
    )
    folder = cleaned(program, "timedial", tmp_path)
    test, extras = (
        read_table(folder / f"{split}.parquet", schema=CHALLENGE).to_pandas()
        for split in ("test", "extras")
    )
    assert len(test) and len(extras)
    assert test.groupby("instance_id")["label"].sum().eq(2).all()
    assert extras.groupby("instance_id")["label"].sum().eq(1).all()
    assert set(test["instance_id"].str[:1]) == {"e"} and set(extras["instance_id"].str[:1]) == {"d"}
    given, place = rows.groupby("instance_id"), {"phrase": 0, "numeral": 1, "open_ended": 2}
    for name, options in pd.concat([test, extras]).groupby("instance_id"):
        asked = given.get_group(name)
        wrong = sorted(
            asked[asked["label"] == "wrong"].itertuples(), key=lambda row: place[row.rule]
        )[:2]
        assert [(row.option, row.rule) for row in options[options["label"] == 0].itertuples()] == [
            (row.option, row.rule) for row in wrong
        ]
        assert (
            options.loc[options["is_original"], "option"].tolist()
            == asked.loc[asked["rule"] == "original", "option"].tolist()
        )


TALK = "A: How long ?\nB: <MASK> ."
ONE = [
    ("i", TALK, "two hours", "original", "right"),
    ("i", TALK, "two days", "phrase", "wrong"),
    ("i", TALK, "9 hours", "numeral", "wrong"),
    ("i", TALK, "120 minutes", "open_ended", "right"),
]


def test_the_majority_decides_and_people_may_add_options(program, tmp_path):
    """Of three people two find 9 hours right; 120 minutes is told by one alone; an option that one
    added needs no dialog and no rule. Of the instance j people differ evenly on one option of two:
    it is dropped.
    """
    second = [*ONE[:2], (*ONE[2][:4], "Right"), (*ONE[3][:4], "")]
    differ = [
        [("j", TALK, *row[2:4], label) for row, label in zip(ONE, labels)]
        for labels in (["right", "wrong", "wrong"], ["right", "wrong", "right"])
    ]
    files = [
        sheet(tmp_path / "a.csv", [*ONE, *differ[0]]),
        sheet(tmp_path / "b.csv", [*second, ("i", "", "a year", "", "wrong"), *differ[1]]),
        sheet(tmp_path / "c.csv", second),
    ]
    said = labelled(program, "timedial", tmp_path / "test.json", "--sheets", *files)
    assert (
        "0 options are left out, which nobody labelled, and 1, on which people differ evenly"
        in said
    )
    assert (
        "2 instances; dropped: 0 whose original was not found right, 1 with fewer than 2 wrong "
        "options"
    ) in said
    assert read_json(tmp_path / "test.json") == yaml.safe_load("""
        - id: i
          conversation: ['A: How long ?', 'B: <MASK> .']
          correct1: two hours
          correct2: 9 hours
          incorrect1: two days
          incorrect1_rule: Rule 1
          incorrect2: a year
          incorrect2_rule: Rule 3
    """)


ASKED = ("S.", "Q?", "1 day", "duration", "likely")


@each_row(
    "study, rows, said",
    [
        (
            "timedial",
            [*ONE, ("i", TALK, "x", "phrase", "maybe")],
            "row 6: label is 'maybe', not right or wrong",
        ),
        (
            "timedial",
            [*ONE, ("i", TALK, "x", "rule 1", "wrong")],
            "row 6: rule is rule 1, not original, phrase or numeral or open_ended",
        ),
        (
            "timedial",
            [*ONE, ("i", TALK, "Two  Days", "phrase", "wrong")],
            "row 6: repeats a row above",
        ),
        (
            "timedial",
            [*ONE, ("k", "", "x", "phrase", "wrong")],
            "row 6: no row of instance k has its dialog",
        ),
        (
            "timedial",
            [*ONE, ("i", TALK + " Well .", "x", "phrase", "wrong")],
            "row 6: the dialog of instance i is another one than above",
        ),
        ("timedial", [*ONE, ("", TALK, "x", "phrase", "wrong")], "row 6: has no instance_id"),
        ("timedial", [("i", "A: Now .", *ONE[0][2:])], "row 2: its dialog has not one <MASK>"),
        ("timedial", [], "has no rows"),
        (
            "timedial",
            [(*row[:4], "wrong") for row in ONE],
            "no instance has its original found right",
        ),
        ("timedial", [("i", TALK, "two hours", "original")], "column label is missing"),
        (
            "mctaco",
            [ASKED, ("S.", "Q?", "2 days", "time", "likely")],
            "row 3: category is time, not one of duration",
        ),
        (
            "mctaco",
            [ASKED, ("S.", "Q?", "2 days", "frequency", "likely")],
            "row 3: the category of the question Q? is another one than above",
        ),
        (
            "mctaco",
            [ASKED, ("S.", "Q?", "1  DAY", "duration", "likely")],
            "row 3: repeats a row above",
        ),
        ("mctaco", [ASKED, ("", "Q?", "1", "duration", "likely")], "row 3: has no sentence"),
        ("mctaco", [(*ASKED[:4], "")], "no answers is labelled"),
    ],
)
def test_a_wrong_sheet_is_refused(study, rows, said, program, tmp_path):
    columns = COLUMNS[study][: len(rows[0]) if rows else None]
    error = labelled(
        program,
        study,
        tmp_path / "made",
        "--sheets",
        sheet(tmp_path / "a.csv", rows, columns),
        ok=False,
    )
    assert said in error and "a.csv" in error


def test_labelled_answers_are_data_that_the_cleaner_reads(program, tmp_path):
    """Two people; what they differ on is left out, an answer that one of them added stands
    with its question.
    """
    rows = read_sheet(questions_to_label(program, tmp_path, QUESTIONS) / "labels.csv")
    first = rows.assign(label=np.where(rows["origin"] == "seed", "likely", "unlikely"))
    second = first.assign(label=first["label"].mask(first["answer"] == "2 hours", "unlikely"))
    second.loc[len(second)] = [
        "She ran a marathon.",
        "How long did it take?",
        "3.5 hours",
        "Event Duration",
        "",
        "likely",
    ]
    for name, table in (("a", first), ("b", second)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    labelled(
        program,
        "mctaco",
        tmp_path / "fetched/test_9442.tsv",
        "--sheets",
        tmp_path / "a.csv",
        tmp_path / "b.csv",
    )
    (tmp_path / "fetched/dev_3783.tsv").write_text("S.\tQ?\t1 day\tyes\tEvent Duration\n")
    test = read_table(cleaned(program, "mctaco", tmp_path) / "test.parquet").to_pandas()
    wanted = {
        (row.sentence, row.question, row.answer, row.category, row.label == "likely")
        for row in first.itertuples()
        if row.answer != "2 hours"
    }
    wanted |= {("She ran a marathon.", "How long did it take?", "3.5 hours", "duration", True)}
    assert {
        (row.sentence, row.question, row.answer, row.category, row.label == 1)
        for row in test.itertuples()
    } == wanted
    assert test["question_id"].eq(test["question_id"].shift()).sum() == len(test) - 4, (
        "a question's answers are together"
    )


@pytest.fixture
def answered(request, dialogs, program, tmp_path):
    """Of a study what a page was made from, two people's answers on the page,
    and the sheets that say the same.
    """
    study, folder = request.param, tmp_path / request.param / "mine/new"
    folder.parent.mkdir(parents=True)
    made = (
        dialogs_to_label(program, dialogs, folder)
        if study == "timedial"
        else questions_to_label(program, tmp_path, QUESTIONS).rename(folder)
    )
    program(
        f"scripts.people.labelling.page --dataset {made} --items 2 --output {tmp_path}/page.html"
    ).checked()
    items = [
        f"{item:016x}"
        for item in items_of(read_table(folder / "test.parquet")["example_id"].to_pandas())
    ]
    rows, answers, files = read_sheet(folder / "labels.csv"), [], []
    for person, step in (("anna", 3), ("ben", 2)):
        answers_given = (
            np.where(rows.index % step == 0, "likely", "unlikely")
            if study == "mctaco"
            else np.where(rows["rule"] == "original", "right", "wrong")
        )
        files.append(tmp_path / f"{person}.csv")
        rows.assign(label=answers_given).to_csv(files[-1], index=False)
        answers.append(
            pd.DataFrame(
                {
                    "study": study,
                    "source": "mine",
                    "dataset": "new",
                    "split": "test",
                    "item": items,
                    "person": person,
                    "answer": answers_given,
                    "types": "",
                }
            )
        )
    return study, folder, pd.concat(answers, ignore_index=True), files


@pytest.mark.parametrize("answered", ["mctaco", "timedial"], indirect=True)
def test_answers_of_a_page_are_labels(answered, program, tmp_path):
    """What two people answered makes the same data as their sheets would, whoever sorts the
    answers, or the sheet beside them.
    """
    study, folder, answers, files = answered
    labelled(program, study, tmp_path / "of_sheets", "--sheets", *files)
    answers.sample(frac=1, random_state=1).to_csv(tmp_path / "answers.csv", index=False)
    read_sheet(folder / "labels.csv")[::-1].to_csv(folder / "labels.csv", index=False)
    labelled(
        program,
        study,
        tmp_path / "of_page",
        "--answers",
        tmp_path / "answers.csv",
        "--made",
        folder,
    )
    assert (tmp_path / "of_page").read_text() == (tmp_path / "of_sheets").read_text()
    assert len((tmp_path / "of_page").read_text()) > 200


@pytest.mark.parametrize("answered", ["mctaco"], indirect=True)
def test_wrong_answers_of_a_page_are_refused(answered, program, tmp_path):
    _, folder, answers, files = answered

    def refused(table, *made):
        table.to_csv(tmp_path / "answers.csv", index=False)
        return labelled(
            program,
            "mctaco",
            tmp_path / "of_page",
            "--answers",
            tmp_path / "answers.csv",
            *made,
            ok=False,
        )

    assert "--answers needs --made" in refused(answers)
    assert "neither --sheets nor --answers" in labelled(
        program, "mctaco", tmp_path / "of_page", ok=False
    )
    for change, said in (
        ({"item": "0" * 16}, "item 0000000000000000 is not among what"),
        ({"study": "timedial"}, "answers of the study timedial"),
        ({"dataset": "old"}, "answers for mine old, not for mine new"),
    ):
        assert f"answers.csv: row 2: {said}" in refused(
            answers[:1].assign(**change), "--made", folder
        )
    assert "has no rows" in refused(answers[:0], "--made", folder)
    assert "column study is missing" in refused(read_sheet(files[0]), "--made", folder)
    read_sheet(folder / "labels.csv")[1:].to_csv(folder / "labels.csv", index=False)
    assert "labels.csv: has no row of" in refused(answers, "--made", folder)
