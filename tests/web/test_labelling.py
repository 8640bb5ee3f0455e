"""A person answers a page of items in a real browser by keyboard, stops, continues, and saves the
answers to a file.

A test gives the answers.
"""

import json
import re
import time

import pandas as pd
import pyarrow as pa
import pytest

from scripts.data.csv_files import read_csv
from scripts.data.items import ANSWER_COLUMNS, items_of
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.studies.timedial.tables import CLOZE
from scripts.publish.parts import policy_hash
from tests.files import write_rows
from tests.web.browser import CHROMIUM
from tests.web.keyboard import Keyboard

HOSTILE = "</script><img src=x onerror=alert(1)> & \"'<b>é\u2028"


def pair(number: int) -> dict:
    return {
        "pair_id": f"video{number}:0:1",
        "video_id": f"video{number}",
        "stride": 0,
        "first_position": 1,
        "second_position": 2,
        "text_a": f"{HOSTILE} first {number}",
        "text_b": f"then {number}",
        "label": number % 2,
    }


def option(instance: int, number: int) -> dict:
    return {
        "example_id": f"{instance}:{number}",
        "instance_id": str(instance),
        "dialog_id": str(instance),
        "context": "A: When?\nB: <MASK>.",
        "context_scope": "full",
        "candidate": f" {'right' if number < 2 else 'wrong'} {number}",
        "label": int(number < 2),
        "rule": "",
        "is_original": False,
        "kind": "",
        "has_numeral": False,
        "turns": 2,
        "leak": "none",
    }


def build(folder, study: str, rows: list[dict], schema: pa.Schema):
    place = folder / "build" / study / "corpus" / "data"
    write_rows(rows, place / "test.parquet", schema)
    return place


class Person(Keyboard):
    """A person who reads and presses keys; it collects the browser's complaints."""

    def __init__(self, page, folder):
        self.complaints, self.folder = [], folder
        super().__init__(page, folder)
        self.page = page
        self.ask("Runtime.enable")
        self.ask("Log.enable")
        self.ask("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self.await_storage()

    def message(self) -> dict:
        event = super().message()
        if event.get("method") in (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
        ):
            self.complaints.append(event["params"])
        return event

    def open(self) -> None:
        self.ask("Page.navigate", url=f"file://{self.page}")
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def await_storage(self) -> None:
        """Open the page until the browser keeps its saved data: a browser under load may lose the
        first data after its start.
        """
        for _ in range(50):
            self.open()
            if self.value("localStorage.getItem('kept') ?? ''"):
                break
            self.value("localStorage.setItem('kept', 'yes')")
            time.sleep(0.1)
        assert self.value("localStorage.getItem('kept') ?? ''") == "yes", (
            "the browser keeps nothing"
        )

    def type(self, text: str) -> None:
        for sign in text:
            self.ask(
                "Input.dispatchKeyEvent", type="keyDown", text=sign, key=sign, unmodifiedText=sign
            )
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=sign)

    def read(self, name: str) -> str:
        return self.value(f"document.getElementById('{name}').innerText")

    def choices(self) -> list[str]:
        return json.loads(
            self.value(
                "JSON.stringify([...document.querySelectorAll('#choices label span')].map((one) => one.innerText))"
            )
        )

    def download(self) -> pd.DataFrame:
        self.value("document.getElementById('download').click()")
        for _ in range(100):
            if (files := list(self.folder.glob("*.csv"))) and not list(
                self.folder.glob("*.crdownload")
            ):
                break
            time.sleep(0.1)
        [file] = files
        table = read_csv(file)
        file.unlink()
        return table


def write_page(program, page, dataset, *options):
    program(
        f"scripts.people.labelling.page --dataset {dataset}", "--output", page, *options
    ).checked()
    return page


@pytest.fixture
def person(tmp_path, program):
    """Return a function that opens the page of some datasets for a person."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; install it to test the page in a browser")
    opened = []

    def open_page(dataset, *options) -> Person:
        opened.append(
            Person(write_page(program, tmp_path / "page.html", dataset, *options), tmp_path)
        )
        return opened[-1]

    yield open_page
    for one in opened:
        one.close()


def test_pairs_are_answered_by_keys_saved_and_handed_out(tmp_path, person):
    pairs = [pair(number) for number in range(8)]
    at_work = person(build(tmp_path, "strided_sop", pairs, STRIDED_PAIRS), "--items", 5)
    at_work.type("=Ann")
    at_work.press("Enter")
    chosen, seen = {}, []
    for place in range(3):
        assert at_work.read("place") == f"Item {place + 1} of 5"
        texts = at_work.read("texts")
        assert HOSTILE.replace("\u2028", "") in texts.replace("\u2028", ""), (
            "a corpus' text is text"
        )
        seen.append(int(re.search(r"then (\d)", texts)[1]))
        if place == 0:
            at_work.press("Enter")
            assert at_work.read("told") == "Choose first."
            assert at_work.read("place") == "Item 1 of 5"
        at_work.type("12"[place % 2])
        chosen[seen[-1]] = ["in_order", "swapped"][place % 2]
        at_work.type("gu" if place == 1 else "ww" if place == 2 else "")
        at_work.press("Enter")
    at_work.press("Backspace")
    assert at_work.read("place") == "Item 3 of 5"
    assert at_work.value("document.querySelector('#choices input:checked').value") == "in_order"

    at_work.open()  # a day later
    assert at_work.read("names") == "=Ann"
    at_work.value("document.querySelector('#names button').focus()")
    at_work.press("Enter")
    assert at_work.read("place") == "Item 4 of 5" and at_work.read("counted") == "3 of 5 answered"
    half = at_work.download()
    assert list(half) == ANSWER_COLUMNS and (half["answer"] == "").sum() == 2
    for _ in range(2):
        number = int(re.search(r"then (\d)", at_work.read("texts"))[1])
        seen.append(number)
        chosen[number] = "swapped"
        at_work.type("2")
        at_work.press("Enter")
    assert "All answered" in at_work.read("done")
    answers = at_work.download()
    assert len(set(seen)) == 5
    assert set(answers["person"]) == {"=Ann"}
    assert set(answers["study"]) == {"strided_sop"}
    assert set(zip(answers["source"], answers["dataset"], answers["split"])) == {
        ("corpus", "data", "test")
    }
    ids = pd.Series([f"video{number}:0:1" for number in seen])
    assert answers.set_index("item")["answer"].to_dict() == {
        f"{item:016x}": chosen[number] for item, number in zip(items_of(ids), seen)
    }
    assert answers["types"].tolist() == [
        "",
        "needs_visual_grounding; unrelated_concepts",
        "",
        "",
        "",
    ]
    assert at_work.complaints == []


def test_two_of_four_candidates_are_chosen_and_each_is_a_row(tmp_path, person):
    rows = [option(instance, number) for instance in range(3) for number in range(4)]
    at_work = person(build(tmp_path, "timedial", rows, CLOZE), "--items", 3)
    at_work.type("b")
    at_work.press("Enter")
    orders = []
    for _ in range(3):
        assert "________" in at_work.read("texts")
        choices = at_work.choices()
        orders.append(tuple(choices))
        wrong, *right = [
            next(place for place, text in enumerate(choices) if text == name)
            for name in ("wrong 3", "right 0", "right 1")
        ]
        at_work.type(str(wrong + 1))
        at_work.press("Enter")
        assert at_work.read("told") == "Choose first."
        # the third choice replaces the first
        at_work.type("".join(str(place + 1) for place in right))
        at_work.type("c")
        at_work.press("Enter")
    answers = at_work.download()
    expected = {
        f"{item:016x}": "right" if row["label"] else "wrong"
        for item, row in zip(items_of(pd.Series([row["example_id"] for row in rows])), rows)
    }
    assert answers.set_index("item")["answer"].to_dict() == expected
    assert set(answers["types"]) == {"comparison"}
    assert len(set(orders)) > 1, "the right ones do not stand first"
    assert at_work.complaints == []


def test_the_page_holds_no_label_and_loads_nothing(tmp_path, program):
    dataset = build(tmp_path, "strided_sop", [pair(number) for number in range(8)], STRIDED_PAIRS)
    html = write_page(program, tmp_path / "page.html", dataset, "--items", 8).read_text()
    asked = json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1]
    )
    assert not re.search(r"video\d", html)
    assert all(
        set(screen) == set("dataset unit texts items pick".split()) for screen in asked["screens"]
    )
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#39;", "'")
    script, style = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", html, re.DOTALL)[::-1]
    assert policy == (
        f"default-src 'none'; img-src data:; style-src '{policy_hash(style)}'; script-src '{policy_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_the_same_call_makes_the_same_page_and_too_many_items_are_refused(tmp_path, program):
    dataset = build(tmp_path, "strided_sop", [pair(number) for number in range(8)], STRIDED_PAIRS)
    pages = [
        write_page(
            program, tmp_path / f"{number}.html", dataset, "--items", 4, "--seed", number // 2
        )
        for number in range(3)
    ]
    assert pages[0].read_bytes() == pages[1].read_bytes() != pages[2].read_bytes()
    for options, said in (
        (["--items", 9], "--items is 9, but test has 8; ask for fewer"),
        (["--items", 0], "is not a whole number from 1"),
        (["--dataset", tmp_path], "name datasets of one study"),
    ):
        done = program(
            f"scripts.people.labelling.page --output {tmp_path}/none.html",
            "--dataset",
            dataset,
            *options,
        )
        assert done.returncode
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "none.html").exists()
