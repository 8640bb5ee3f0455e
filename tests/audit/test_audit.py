"""Audits of tests whose cues are known: what is planted is found and named, and nothing else."""

import json

import numpy as np
import pandas as pd
import pytest

from scripts.audit.audit import best_shortcut
from scripts.audit.features import VIEWS
from scripts.audit.reach import (
    Benchmark,
    answered,
    estimate,
    folds_of,
    scorer_of,
    reaches_of,
    benchmark_of,
)
from scripts.text.near_copies import near_copies
from tests.rows import each_row

WORDS = (
    "river stone bread lamp window cloud horse paper bridge candle garden mirror ladder basket wheel "
    "anchor feather hammer island jacket kettle lemon marble needle orange pepper quilt ribbon saddle "
    "teapot umbrella violin walnut zipper button carrot dragon engine flower guitar"
).split()


def some_words(rng: np.random.Generator, count: int) -> str:
    return " ".join(rng.choice(WORDS, count))


def items(count: int, seed: int, option=None, right: bool = True) -> pd.DataFrame:
    """Return items with three options, the right place drawn; option: of the generator and whether
    the option is right, a text.
    """
    rng = np.random.default_rng(seed)
    option = option or (lambda rng, _: some_words(rng, 3))
    rows = []
    for number in range(count):
        place = int(rng.integers(3)) if right else 0
        texts = [option(rng, each == place) for each in range(3)]
        rows.append([some_words(rng, 12) + "?", *texts, "ABC"[place], "xy"[number % 2]])
    return pd.DataFrame(rows, columns=["question", "A", "B", "C", "answer", "category"])


def as_test(table: pd.DataFrame) -> Benchmark:
    rows = table.assign(item_id=[str(number) for number in range(len(table))], context="")
    same = ["item_id", "question", "context", "answer", "category"]
    rows = rows.melt(same, list("ABC"), "letter", "option")
    rows = rows.assign(
        group_id=rows["item_id"], place=rows["letter"].map("ABC".index),
        right=(rows["letter"] == rows["answer"]).astype(int),
    )  # fmt: skip
    rows = rows.sort_values(["item_id", "place"], key=lambda column: column.astype(int))
    return benchmark_of(rows, None, "test.csv")


def audit(program, folder, table: pd.DataFrame, *words: str, ok: bool = True):
    """Audit a table by the program; returns audit.json, or what it says if it fails."""
    table.to_csv(folder / "test.csv", index=False)
    ended = program(
        "scripts.running.command audit", folder / "test.csv", *words, "--output", folder / "out"
    )
    assert (ended.returncode == 0) == ok, ended.stderr
    return json.loads((folder / "out/audit.json").read_text()) if ok else ended.stderr


CUES = {
    "the longest": lambda rng, right: some_words(rng, 6 if right else int(rng.integers(2, 5))),
    "the middle in size": None,
    "the nearest two in size": None,
    "a unit that only one option has": lambda rng, right: f"{rng.integers(2, 60)} {'years' if right else 'days'}",
    "a list of all, or none": lambda rng, right: "all of these" if right else some_words(rng, 3),
    "stands in the question": None,
}  # fmt: skip


def planted(cue: str) -> pd.DataFrame:
    table, rng = items(150, 1, CUES[cue]), np.random.default_rng(2)
    for row, answer in zip(table.index, table["answer"]):
        others = [letter for letter in "ABC" if letter != answer]
        days = np.sort(rng.choice(np.arange(2, 29), 3, replace=False))
        if cue == "the middle in size":
            table.loc[row, [others[0], answer, others[1]]] = [f"{day} days" for day in days]
        if cue == "the nearest two in size":
            sizes = [f"{days[1]} hours", f"{days[1] + 1} hours", f"{days[2] + 20} years"]
            table.loc[row, [answer, *others]] = sizes
        if cue == "stands in the question":
            table.loc[row, answer] = " ".join(table.at[row, "question"].strip("?").split()[2:5])
    return table


@pytest.mark.slow
@each_row("cue", list(CUES))
def test_a_planted_cue_is_found_and_named(program, tmp_path, cue):
    """It stands among the first, its precision is that of the plan, and the page names it."""
    found = audit(program, tmp_path, planted(cue))
    names = [each["cue"] for each in found["cues"]]
    assert cue in names[:10], names
    precision = found["cues"][names.index(cue)]["precision"]
    assert precision == pytest.approx(0.5 if "two" in cue else 1, abs=0.02)
    assert cue in (tmp_path / "out/index.html").read_text()
    if "question" not in cue:
        assert found["reaches"]["options"] > 0.6 and found["verdict"]["part"] != "none"


def test_what_an_audit_writes(program, tmp_path):
    """The keys for machines, with intervals; hostile texts stay data; the same call gives the same
    numbers.
    """
    table = planted("the longest")
    table["question"] = "<script>alert(1)</script> =1+1 " + table["question"]
    found = audit(program, tmp_path, table)
    assert list(found) == ["items", "groups", "chance", "reaches", "cues", "faults", "verdict"]
    assert found["items"] == 150 and found["chance"] == pytest.approx(1 / 3)
    for name in ("position", "one_option", "options", "question", "words"):
        low, high = found["reaches"][f"{name}_interval"]
        assert low <= found["reaches"][name] <= high
    assert found["reaches"]["context"] is None  # there is none
    page = (tmp_path / "out/index.html").read_text()
    assert found["verdict"]["sentence"] in page and "<script>" not in page
    assert "The question is not needed for most of this test" in page
    hard = pd.read_csv(tmp_path / "out/hard_items.csv")
    assert hard.equals(pd.read_parquet(tmp_path / "out/hard_items.parquet").astype(hard.dtypes))
    assert len(hard) < 15 and "audit" in (tmp_path / "out/reaches.tex").read_text()
    assert audit(program, tmp_path, table) == found


def options_reach(test: Benchmark):
    right = answered(test, scorer_of(test, VIEWS["options"])("apart"))
    return estimate(right, test.items["apart"].to_numpy())


@pytest.mark.slow
def test_a_clean_test_stays_at_chance():
    """In 60 draws without a cue, the interval holds chance in nearly all: 95 of 100 are meant."""
    inside = 0
    for seed in range(60):
        found = options_reach(as_test(items(60, seed)))
        inside += found.ci_low <= 1 / 3 <= found.ci_high
    assert inside >= 54, inside


def test_permuted_answers_fall_to_chance():
    table = planted("the longest")
    assert options_reach(as_test(table)).value > 0.9
    answers = table["answer"].sample(frac=1, random_state=0).to_numpy()
    permuted = options_reach(as_test(table.assign(answer=answers)))
    assert permuted.ci_low <= 1 / 3 <= permuted.ci_high


def test_near_copies_and_groups_never_cross_folds():
    """Variants of a template are a group: what only they share is learnt only where they may be
    learnt from.
    """
    table = items(120, 3)
    for number in range(120):  # forty templates, each three times with other numbers
        first = number - number % 3
        table.loc[number, "question"] = f"{number} {table.at[first, 'question']} {number + 7}"
        table.loc[number, ["A", "B", "C", "answer"]] = table.loc[first, ["A", "B", "C", "answer"]]
    test = as_test(table)
    assert test.items["apart"].nunique() == 40
    group = test.items["apart"].to_numpy()[test.options["item"]]
    scored = np.zeros(len(group), int)
    for learn, score in folds_of(test, "apart"):
        assert not set(group[learn]) & set(group[score])
        scored += score
    assert (scored == 1).all()
    reach = {each.name: each for each in reaches_of(test)}["options"]
    assert reach.share_copies.value > 0.9 and reach.share.ci_low <= 1 / 3


@each_row(
    "one, other, alike",
    """
    How long do 3 trains need to Rome? | How long do 12 trains need to Rome? | true
    How long does the trip to Rome take? | How long does the trip to Oslo take? | true
    How long does the trip to Rome take? | When did the war in the north begin? | false
    why | why | true
    why | when | false
    """,
)
def test_near_copies(one, other, alike):
    first, second = near_copies(pd.Series([str(one), str(other)]))
    assert (first == second) == alike


def test_faults_of_a_file(program, tmp_path):
    table = items(60, 4)
    table.loc[1] = table.loc[0]
    table.loc[2, ["question", "A", "B", "C"]] = table.loc[3, ["question", "A", "B", "C"]]
    table.loc[[2, 3], "answer"] = ["A", "B"]
    table.loc[4, ["B", "C"]] = table.loc[4, "A"]
    table.loc[5, "question"] = "It\ufffds broken, is it?"
    table.loc[6, "answer"], table.loc[6, "A"] = "A", "a violin that nobody ever played"
    table.loc[7, "question"] = "There was a violin that nobody ever played. Why?"
    found = {each["fault"]: each for each in audit(program, tmp_path, table)["faults"]}
    examples = {
        "repeats another item": ["2", "3"],
        "contradicts another item with the same question and options": ["4", "5"],
        "has two equal options": ["6"],
        "has broken characters": ["7"],
        "its right answer stands in another item": ["8"],
    }
    assert {name: each["examples"] for name, each in found.items()} == examples


def test_uneven_positions_are_a_fault(program, tmp_path):
    faults = audit(program, tmp_path, items(90, 5, right=False))["faults"]
    assert faults[0]["fault"].startswith("has its right option at place 1")


def test_what_models_keep(program, tmp_path):
    """A model that follows the cue, and one that is right where the cue misleads."""
    train, test = planted("the longest"), planted("the longest")
    train["question"] = "train " + train["question"].sample(frac=1, random_state=1).to_numpy()
    longest = test[list("ABC")].map(len).idxmax(axis=1)
    test["answer"] = np.where(
        test.index % 3 == 0, longest.map({"A": "B", "B": "C", "C": "A"}), longest
    )
    train.to_csv(tmp_path / "train.csv", index=False)
    test.to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "follower.txt").write_text("\n".join(longest))
    rows = pd.DataFrame({"item_id": range(2, 152), "answer": test["answer"]})
    rows.iloc[::-1].to_csv(tmp_path / "knower.csv", index=False)
    predictions = f"predictions=[{tmp_path}/follower.txt, {tmp_path}/knower.csv]"
    files = ["files={test: test.csv, train: train.csv}", predictions]
    program("scripts.audit.audit", tmp_path, *files, "--output", tmp_path / "out").checked()
    kept = pd.read_csv(tmp_path / "out/predictions.csv")
    kept = kept[kept["shortcut"] == "all options"]
    kept = kept.set_index(kept["model"].str.split("/").str[-1])
    assert kept["share"].round(2).to_dict() == {"follower.txt": 0.67, "knower.csv": 1}
    assert kept.at["follower.txt", "right"] > 0.95 and kept.at["follower.txt", "misled"] < 0.05
    (tmp_path / "follower.txt").write_text("\n".join(longest[1:]))
    said = audit(program, tmp_path, test, predictions, ok=False)
    assert "follower.txt: has 149 answers for 150 items" in said
    rows.assign(item_id=rows["item_id"] - 1).to_csv(tmp_path / "knower.csv", index=False)
    said = audit(program, tmp_path, test, f"predictions={tmp_path}/knower.csv", ok=False)
    assert "(item 1: no answer, or no such item)" in said


@each_row(
    "words, said",
    [
        (["colums={}"], "is no KEY=VALUE of an audit; did you mean columns?"),
        (["columns={"], "is no YAML"),
        (["columns={asked: question}"], "Object contains unknown field `asked`"),
        (["answers_are=words"], "answers_are"),
        (["lines=0"], "Expected `int` >= 1"),
        (["answers_are=numbers1"], "row 2: column answer"),
        (["files={test: missing.csv}"], "holds no missing.csv, since it is no zip"),
        (["files={train: test.csv}"], "files: names no test"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_writes_nothing(program, tmp_path, words, said):
    text = audit(program, tmp_path, items(10, 6), *words, ok=False)
    assert said in text and text.strip().splitlines()[-1].startswith("error: ")
    assert not (tmp_path / "out").exists()


def test_noise_is_no_shortcut():
    """The best of several shortcuts is above chance by luck; a verdict allows for that."""
    parts = []
    for seed in range(12):
        test = as_test(items(60, 500 + seed))
        parts.append(best_shortcut(reaches_of(test), 1 / 3)[1])
    assert parts.count("none") >= 11, parts


def written(folder, rows: list[dict]):
    (folder / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "own.jsonl"


def question(number: int) -> str:
    return f"Question {number} about {some_words(np.random.default_rng(number), 8)}?"


HOURS = {"options": ["two hours", "two hours and ten minutes", "", "a day"], "answer": "B"}
XYZ = {"options": ["x", "y", "z"]}


@each_row(
    "item, words, files",
    [
        (HOURS, [], {
            "two hours and ten minutes": (1, "30 texts of options"),
            "Well, two hours and ten minutes!": (1, "30 texts that hold an option"),
            "(d)": (0, "30 letters"),
        }),
        ({"options": ["5", "3"], "answer": "3"}, [], {"3": (1, "30 texts of options")}),
        (XYZ | {"answer": "B"}, [], {
            "1 0": (0.5, "30 numbers from 0"), "2 3": (0.5, "30 numbers from 1"),
        }),
        (XYZ | {"answer": "B"}, [], {"1": (None, "its numbers may count from 0 or from 1")}),
        (XYZ | {"answer": "B"}, [], {"4": (None, "item 1: '4' is no option; correct it")}),
        (XYZ | {"answer": ["A", "C"]}, [], {
            "C,A": (1, "30 letters"), '["z","x"]': (1, "30 texts of options"),
            "0/2": (1, "30 numbers from 0"), "A": (0.5, "30 letters"),
        }),
        ({"correct": "so", "wrong": "not"}, [], {"so": (1, "30 texts of options")}),
        ({"correct": "so", "wrong": "not"}, [], {"A": (None, "item 1: 'a' is no option")}),
        ({"answer": "late"}, ["labels=[early, late]"], {
            "answer: late <end>": (1, "30 texts that hold an option"),
        }),
        ({"answer": "past"}, ["labels=[past, next]"], {
            "answer: past <x> answer: next": (1, "30 texts that hold an option"),
        }),
        ({"answer": "late"}, ["labels=[early, late]"], {"B": (None, "item 1: 'b' is no option")}),
    ],
)  # fmt: skip
def test_an_answer_of_a_model_names_options(program, tmp_path, item, words, files):
    """By text first, then by letter or number; several of them where several are right. Of columns
    that show the right option, and of labels, letters and numbers say nothing. files: the lines in
    turn, the share that is right, and how they are read.
    """
    names = [tmp_path / f"{number}.txt" for number in range(len(files))]
    for name, lines in zip(names, files):
        lines = lines.split(" ") if lines[1:2] == " " else [lines]
        name.write_text("\n".join(lines[number % len(lines)] for number in range(30)))
    rows = [{"question": question(number)} | item for number in range(30)]
    given = f"predictions=[{', '.join(map(str, names))}]"
    call = [written(tmp_path, rows), *words, given, "--output", tmp_path / "o"]
    ok = all(share is not None for share, _ in files.values())
    ended = program("scripts.audit.audit", *call).checked(ok)
    for name, (share, said) in zip(names, files.values()):
        assert said in ended.stderr, ended.stderr
        if ok:
            kept = pd.read_csv(tmp_path / "o/predictions.csv")
            kept = kept.loc[kept["model"].str.endswith(name.name), "share"]
            assert len(kept) and kept.round(2).eq(share).all()


def test_items_without_a_choice_are_faults(program, tmp_path):
    """They are left out and named; a model may have answered them."""
    marks = {0: ["yes", "yes"], 1: ["no", "no"]}
    rows = [
        {"question": question(number), "options": ["x", "y"],
         "answer": marks.get(number, ["yes", "no"])}
        for number in range(30)
    ]  # fmt: skip
    (tmp_path / "model.txt").write_text("A\n" * 30)
    words = [f"predictions={tmp_path}/model.txt", "--output", tmp_path / "o"]
    program("scripts.audit.audit", written(tmp_path, rows), *words).checked()
    found = json.loads((tmp_path / "o/audit.json").read_text())
    faults = {each["fault"]: each["examples"] for each in found["faults"]}
    assert found["items"] == 28
    assert faults["has no wrong option, so it is left out"] == ["1"]
    assert faults["has no right option, so it is left out"] == ["2"]
    assert pd.read_csv(tmp_path / "o/predictions.csv")["share"].eq(1).all()
    assert "has no wrong option" in (tmp_path / "o/index.html").read_text()


@each_row("count, said", [(1, "all items have one text"), (2, None)])
def test_an_audit_needs_other_items_to_learn_from(program, tmp_path, count, said):
    rows = [{"question": question(n), "options": ["x", "y"], "answer": "A"} for n in range(count)]
    call = [written(tmp_path, rows), "--output", tmp_path / "o"]
    ended = program("scripts.audit.audit", *call).checked(said is None)
    assert "nan" not in ended.stderr and (said or "") in ended.stderr
    assert (tmp_path / "o").exists() == (said is None)
    for file in tmp_path.glob("o/reaches.tex"):
        assert "nan" not in file.read_text()
