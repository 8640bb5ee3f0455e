"""Questions with options: each form of a file gives one table, and each fault one sentence."""

import json
import zipfile
from pathlib import Path

import msgspec
import pandas as pd
import pytest

from scripts.data.choice_columns import Declaration, in_words
from scripts.data.choices import COLUMNS, read_choices
from scripts.running.program import UserError
from tests.rows import each_row, texts_of

ITEMS = [
    ("How long is a nap?", "Ann was tired.", ["an hour", "a year", "a decade"], 0, "duration"),
    ('He said "soon", when?', "Bo left, then\tcame.", ["now", "in 1066", "never"], 2, "order"),
    ("How often is Easter?", "", ["daily", "once a year", "=1+1"], 1, "frequency"),
]
EXPECTED = pd.DataFrame(
    [
        [
            str(number),
            context.replace("\t", " "),
            question,
            option,
            place,
            int(place == right),
            kind,
        ]
        for number, (question, context, options, right, kind) in enumerate(ITEMS)
        for place, option in enumerate(options)
    ],
    columns=["item", "context", "question", "option", "place", "right", "category"],
)
LETTERS = "ABC"


def flat(answer) -> list[dict]:
    """Return the items with a column for each option; answer: of the place and the options."""
    return [
        {
            "question": question,
            "context": context.replace("\t", " "),
            **{f"Option {letter}": option for letter, option in zip(LETTERS, options)},
            "answer": answer(right, options),
            "category": kind,
        }
        for question, context, options, right, kind in ITEMS
    ]


def listed(answer) -> list[dict]:
    return [
        {key: value for key, value in row.items() if not key.startswith("Option")}
        | {"options": options}
        for row, (_, _, options, _, _) in zip(flat(answer), ITEMS)
    ]


def in_text() -> list[dict]:
    return [
        {
            "input": question
            + "\nOptions:\n"
            + "\n".join(f"({letter}) {option}" for letter, option in zip(LETTERS, options)),
            "context": context.replace("\t", " "),
            "target": f"({LETTERS[right]})",
            "category": kind,
        }
        for question, context, options, right, kind in ITEMS
    ]


def by_columns() -> list[dict]:
    names = ["correct", "incorrect1", "incorrect2"]
    rows = flat(lambda right, options: options[right])
    for row, (_, _, options, right, _) in zip(rows, ITEMS):
        sorted_options = [options[right], *(each for each in options if each != options[right])]
        row |= dict(zip(names, sorted_options))
    return [{key: row[key] for key in ("question", "context", "category", *names)} for row in rows]


def a_candidate_a_row() -> list[dict]:
    return [
        {"sentence": row["context"], "question": row["question"], "answer": option,
         "label": "yes" if place == right else "no", "category": row["category"]}
        for row, (_, _, options, right, _) in zip(flat(lambda *_: ""), ITEMS)
        for place, option in enumerate(options)
    ]  # fmt: skip


def in_lines() -> str:
    return "".join(
        f"q: {question} c: {context}".replace("\t", " ")
        + f"\t{right}\n"
        + "\n".join(options)
        + "\n"
        for question, context, options, right, _ in ITEMS
    )


def json_lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_csv(rows: list[dict], **options) -> str:
    return pd.DataFrame(rows).to_csv(index=False, **options)


FORMS = {
    "letters.csv": as_csv(flat(lambda right, _: LETTERS[right])),
    "numbers0.jsonl": json_lines(listed(lambda right, _: right)),
    "numbers1.json": json.dumps(listed(lambda right, _: right + 1)),
    "texts.jsonl": json_lines(listed(lambda right, options: options[right])),
    "objects.jsonl": json_lines([
        row | {"options": [{"label": letter, "text": text} for letter, text in zip(LETTERS, row["options"])]}
        for row in listed(lambda right, _: LETTERS[right])
    ]),
    "marks.jsonl": json_lines(listed(lambda right, options: ["yes" if place == right else "no" for place, _ in enumerate(options)])),
    "lists_in_cells.csv": as_csv(listed(lambda right, _: LETTERS[right])),
    "in_text.json": json.dumps({"canary": "no training", "examples": in_text()}),
    "correct_and_incorrect.json": json.dumps(by_columns()),
    "a_candidate_a_row.tsv": "\n".join("\t".join(row.values()) for row in a_candidate_a_row()),
    "in_lines.txt": in_lines(),
    "letters.parquet": None,
}  # fmt: skip
DECLARED = {
    "a_candidate_a_row.tsv": {"header": ["sentence", "question", "answer", "label", "category"]},
    "in_lines.txt": {
        "lines": 4,
        "patterns": {
            "text": r"^q: (?P<question>.*?) c: (?P<context>.*)\t(?P<answer>\d)\n"
            r"(?P<option_1>.*)\n(?P<option_2>.*)\n(?P<option_3>.*)$"
        },
    },
}


def declaration(**given) -> Declaration:
    return msgspec.convert(given, Declaration)


def write(folder: Path, name: str, content: str | None) -> Path:
    file = folder / name
    if content is None:
        pd.DataFrame(listed(lambda right, _: LETTERS[right])).to_parquet(file)
    else:
        file.write_text(content, encoding="utf-8")
    return file


@each_row("name", list(FORMS))
def test_each_form_gives_the_same_table(tmp_path, name):
    """Without a declaration where the names of the columns show it; a declaration that was guessed
    reads the file again; a zip holds the same.
    """
    file = write(tmp_path, name, FORMS[name])
    table, guessed = read_choices(file, declaration(**DECLARED.get(name, {})))
    assert list(table) == COLUMNS
    item = pd.Series(pd.factorize(table["item_id"])[0].astype(str), name="item")
    found = pd.concat([item, table], axis=1)[EXPECTED.columns.tolist()]
    found = found.astype({"place": int, "right": int})
    expected = EXPECTED.assign(category="") if name == "in_lines.txt" else EXPECTED
    if name.startswith("correct"):  # their order says nothing, so it is drawn
        assert found["place"].tolist() == [0, 1, 2] * 3
        by_text = ["item", "option"]
        found, expected = (
            each.sort_values(by_text).drop(columns="place").reset_index(drop=True)
            for each in (found, expected)
        )
    pd.testing.assert_frame_equal(found, expected)
    assert read_choices(file, guessed)[0].equals(table)
    with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
        archive.write(file, f"folder/{name}")
        archive.writestr("readme.md", "nothing")
    assert read_choices(tmp_path / f"{name}.zip", guessed)[0].equals(table)


def test_labels_are_the_options_of_every_item(tmp_path):
    """Items of one premise are a group."""
    rows = [("It rains.", "It is wet.", "entailment"), ("It rains.", "It is dry.", "contradiction"),
            ("", "It snows.", "neutral")]  # fmt: skip
    content = as_csv([dict(zip(("Premise", "Hypothesis", "Label"), row)) for row in rows])
    table, found = read_choices(write(tmp_path, "nli.csv", content), Declaration())
    assert "answers_are=labels" in in_words(found)
    labels = ["contradiction", "entailment", "neutral"]
    assert table["option"].tolist() == labels * 3
    assert table["right"].tolist() == [0, 1, 0, 1, 0, 0, 0, 0, 1]
    assert table["question"].tolist()[::3] == ["It is wet.", "It is dry.", "It snows."]
    assert table["group_id"].tolist()[::3] == ["It rains.", "It rains.", "4"]


def test_empty_cells_are_no_options(tmp_path):
    """TimeDial's instances without a second right answer; a letter of an option that is missing."""
    rows = [{"dialog": ["A: When?", "B: <MASK>"], "correct1": "now", "correct2": "none",
             "incorrect1": "never", "incorrect2": "soon", "incorrect1_rule": "none"}]  # fmt: skip
    file = write(tmp_path, "test.json", json.dumps(rows))
    table, _ = read_choices(file, declaration(empty=["none"]))
    assert sorted(zip(table["option"], table["right"])) == [("never", 0), ("now", 1), ("soon", 0)]
    assert set(table["context"]) == {"A: When?\nB: <MASK>"}
    content = "question,A,B,C,answer\nq,x,y,,C\n"
    with pytest.raises(UserError, match=r"row 2: column answer: 'C' names an empty option"):
        read_choices(write(tmp_path, "empty.csv", content), Declaration())


FAULTS = texts_of(r"""
    a.csv | {} | question,A,B,answer\nq,x,y,A\nq,x,y,E\n | row 3: column answer: 'E' names no option: there are 2; correct
    a.csv | {"answers_are": "texts"} | question,A,B,answer\nq,x,y,z\n | row 2: column answer: 'z' is none of the options
    a.csv | {} | question,A,B,answer\nq,x,y\n | line 2 has 3 cells, but the header has 4; mend it
    a.csv | {} | question,A,B,answer\n | has no rows
    a.csv | {} | question,A,A,answer\nq,x,y,A\n | column A occurs twice
    a.csv | {"columns": {"answer": "Key"}} | question,A,B,answer\nq,x,y,A\n | has no column Key (answer); its columns are question, A, B, answer
    a.csv | {} | stem,A,B,number of it\nq,x,y,A\n | no column is known as the answer
    a.csv | {"answers_are": "letters"} | question,answer\nq,A\n | answers_are is letters, but no column has options
    a.csv | {} | question,answer\nq,\xe9 | give its encoding, such as encoding=cp1252
    a.csv | {"columns": {"id": "id"}} | id,question,A,B,answer\n1,q,x,y,A\n1,q,x,y,B\n | row 3: the id 1 repeats
    a.jsonl | {} | {"question": "q", "options": ["x"], "answer": "A"} | row 1: column answer: 'A' stands beside fewer than two options
    a.jsonl | {} | {"question": "q", "options": ["x", "y"], "answer": ["yes"]} | has 1 mark for 2 options
    a.jsonl | {} | {"question": "q", | broken JSON at line 1
    a.csv | {"patterns": {"question": "(?P<A>.)"}} | question,A,B,answer\nq,x,y,A\n | question has parts with the names of other columns
    a.json | {} | [{"question": "q", "options": [["x"], ["y"]], "answer": "x"}] | ok
    a.json | {} | [{"question": {"stem": "q", "choices": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}]}, "answerKey": "A"}] | ok
    a.csv | {"columns": {"options": ["a", "b"], "answer": ["c", "d"]}} | question,a,b,c,d\nq,x,y,TRUE,FALSE\n | ok
    a.json | {} | {"a": [1], "b": [2]} | must be a list of items, or an object with one list
    a.txt | {"lines": 2} | one\ntwo\nthree\n | has 3 lines, but an item has 2
    a.txt | {"patterns": {"text": "^(?P<question>.*)\\t(?P<answer>.)$"}} | q\tA\nq A\n | row 2: text is 'q A', which the pattern does not match
    a.pickle | {} | anything | cannot be read: needs .csv
    a.zip | {} | anything | not a zip
""")  # fmt: skip


@each_row("name, given, content, fault", FAULTS)
def test_each_fault_is_one_sentence(tmp_path, name, given, content, fault):
    file = tmp_path / name
    file.write_bytes(content.encode().decode("unicode_escape").encode("latin-1"))
    try:
        read_choices(file, declaration(**json.loads(given)))
        said = "ok"
    except UserError as error:
        said = str(error)
        assert str(file) in said and "\n" not in said
    assert fault in said


def test_free_answers_are_no_options(tmp_path):
    rows = [{"question": f"What is {number} years after 1900?", "answer": str(1900 + number)}
            for number in range(20)]  # fmt: skip
    file = write(tmp_path, "free.jsonl", json_lines(rows))
    with pytest.raises(UserError, match=r"20 different answers.*Free answers .* have no audit"):
        read_choices(file, Declaration())


def test_options_stand_in_the_order_of_their_labels(tmp_path):
    """ARC's rows name the letter of each option; an answer is such a letter, and no place."""
    rows = [
        {"question": f"Q{n}", "choices": {"text": texts, "label": labels}, "answerKey": "A"}
        for n, (texts, labels) in enumerate(
            [
                (["right", "x", "y"], "ACB"),
                (["x", "right", "y"], "BAC"),
                (["y", "x", "right"], "CBA"),
            ]
        )
    ]
    for row in rows:
        row["choices"]["label"] = list(row["choices"]["label"])
    file = tmp_path / "arc.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table, _ = read_choices(file, Declaration())
    assert set(table.loc[table["right"] == 1, "option"]) == {"right"}
    assert set(table.loc[table["right"] == 1, "place"]) == {0}
