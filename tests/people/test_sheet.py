"""Sheets on which people answer: what they hold, and that a filled sheet is read."""

import pandas as pd
import pytest

from scripts.data.csv_files import read_csv
from scripts.data.items import ANSWER_COLUMNS, items_of
from scripts.measure.elsewhere.people import read_people
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.studies.timedial.tables import CLOZE
from tests.files import write_rows
from tests.studies.strided_sop.test_evaluate_strided_sop import scored_pair
from tests.studies.timedial.test_timedial_metrics import cloze

pytestmark = pytest.mark.slow
HOSTILE = "=1+1\n</script>, \"'é\u2028"


@pytest.fixture
def sheet(program, tmp_path):
    """Return a function that writes a sheet of a study for a person, and returns its file."""
    pairs = [scored_pair(pair) | {"text_a": f"{HOSTILE} {pair}"} for pair in range(40)]
    for study, rows, schema in (
        ("strided_sop", pairs, STRIDED_PAIRS),
        ("timedial", cloze(12, 2), CLOZE),
    ):
        write_rows(rows, tmp_path / "build" / study / "corpus/data/test.parquet", schema)

    def call(study: str, person: str, *more, ok=True):
        file = tmp_path / f"{study}-{person}.csv"
        place = tmp_path / "build" / study / "corpus/data"
        done = program(
            f"scripts.people.sheet --dataset {place} --person {person} --output {file}", *more
        ).checked(ok)
        return file if ok else done.stderr

    return call


def fill(file, answers: dict[str, str]) -> pd.DataFrame:
    """Write the answer of each row, by a text of the row, as a spreadsheet saves it."""
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    table["answer"] = table.iloc[:, :2].apply(lambda row: answers[row.iloc[1]], axis=1)
    table.to_csv(file, index=False, encoding="utf-8-sig", lineterminator="\r\n")
    return table


def test_a_filled_sheet_is_read(sheet):
    """The items are those of the dataset; a text that a spreadsheet would compute is none."""
    file = sheet("strided_sop", "Ann", "--items", "8")
    rows = read_csv(file)
    assert rows["Sentence 1"].str.startswith("=1+1\n</script>, \"'é").all()
    assert "\n=" not in file.read_text() and ",=" not in file.read_text()
    pairs = pd.DataFrame([scored_pair(pair) for pair in range(40)])
    known = dict(zip((f"i{item:016x}" for item in items_of(pairs["pair_id"])), pairs["text_b"]))
    assert rows["item"].map(known).tolist() == rows["Sentence 2"].tolist()
    fill(file, dict.fromkeys(rows["Sentence 2"], "swapped"))
    answers = read_people(
        [file], "strided_sop", {("corpus", "data"): ["test"]}, ["swapped", "in_order"]
    )
    assert (
        (answers["system"] == "Ann").all() and (answers["chosen"] == 0).all() and len(answers) == 8
    )


def test_people_get_the_same_items_in_an_order_of_their_own(sheet):
    """All candidates of an instance stand together; no column tells the label or an id."""
    ann, bob, again = (
        read_csv(sheet("timedial", name, "--items", "6")) for name in ("Ann", "Bob", "Ann")
    )
    assert ann.equals(again) and len(ann) == 24
    assert set(ann["item"]) == set(bob["item"]) and list(ann["item"]) != list(bob["item"])
    assert {*ann} == {*ANSWER_COLUMNS, "Dialog", "Candidate"}
    rows = pd.DataFrame(cloze(12, 2))
    instance = dict(
        zip((f"i{item:016x}" for item in items_of(rows["example_id"])), rows["instance_id"])
    )
    label = dict(zip(instance, rows["label"]))
    of_row = ann["item"].map(instance)
    assert (of_row != of_row.shift()).sum() == 6, "four rows of one instance, then the next"
    assert {tuple(part) for _, part in ann["item"].map(label).groupby(of_row)} > {(1, 1, 0, 0)}
    other = read_csv(sheet("timedial", "Ann", "--items", "6", "--seed", "2"))
    assert set(other["item"]) != set(ann["item"])


def test_what_cannot_be_asked_is_refused(sheet, program, tmp_path):
    assert "--items is 99, but test has 40; ask for fewer" in sheet(
        "strided_sop", "Ann", "--items", "99", ok=False
    )
    two = [tmp_path / "build" / study / "corpus/data" for study in ("strided_sop", "timedial")]
    typed = f"scripts.people.sheet --person Ann --output {tmp_path}/a.csv --dataset"
    program(typed, *two).refused("name datasets of one study")
    program(typed, *two[:1] * 2).refused("names a folder twice")
    assert not list(tmp_path.glob("*.csv"))
