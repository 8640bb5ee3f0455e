"""Actions of a reader in a real browser: sort a table, filter rows and cards, and read everything
without a script.
"""

import json
import re
from urllib.parse import unquote

import pytest

from tests.publish.publish_inputs import HOSTILE
from tests.web.browser import browse, found_on

CARDS, MAIN = 40, '<main id="main">'


def in_order(values: list[str]) -> bool:
    """Return whether cells are in the order of their first numbers."""
    numbers = [
        float(value.replace("−", "-").replace(",", "").split("–")[0].split(" ")[0])
        for value in values
    ]
    return numbers == sorted(numbers)


def test_a_table_sorts_by_click_and_back(page, tmp_path):
    found = found_on(
        page,
        tmp_path,
        """
      const table = document.querySelector("#strided_sop_table table"), heads = [...table.tHead.rows[0].cells];
      const column = heads.findIndex((head) => head.textContent.startsWith("Accuracy"));
      const button = heads[column].querySelector("button.sort");
      const read = () => ({ aria: heads.map((head) => head.getAttribute("aria-sort")).filter(Boolean),
        groups: [...table.tBodies].map((body) => [...body.rows].filter((row) => !row.querySelector(".group"))
          .map((row) => row.cells[column].textContent)), first: [...table.tBodies].map((body) => body.rows[0].textContent) });
      found = [read()];
      for (let time = 0; time < 3; time++) { button.click(); found.push(read()); }
      heads[0].querySelector("button.sort").click();
      found.push(read());
    """,
    )
    before, up, down, again, other = found
    assert before["aria"] == []
    assert up["aria"] == ["ascending"]
    assert down["aria"] == ["descending"]
    assert again == before
    assert other["aria"] == ["ascending"], "one column at a time"
    assert any(not in_order(group) for group in down["groups"])
    for was, rising, falling in zip(before["groups"], up["groups"], down["groups"]):
        assert sorted(was) == sorted(rising) and in_order(rising) and in_order(falling[::-1])
    assert up["first"] == before["first"], "the heading of a group stays above its rows"


def test_rows_are_filtered_by_words(page, tmp_path):
    found = found_on(
        page,
        tmp_path,
        """
      const section = document.getElementById("strided_sop_table"), box = section.querySelector("input[type=search]");
      const rows = [...section.querySelectorAll("tbody tr")].filter((row) => !row.querySelector(".group"));
      const type = (text) => { box.value = text; box.dispatchEvent(new Event("input"));
        return [rows.filter((row) => row.offsetHeight > 0).map((row) => row.textContent), section.querySelector("output").textContent,
          [...section.querySelectorAll(".group")].filter((head) => head.offsetHeight > 0).length]; };
      found = [rows.length, type("validation BAG of words"), type("nowhere <b>"), type("")];
    """,
    )
    count, (shown, summary, heads), (none, told_none, no_heads), (every, _, _) = found
    assert 0 < len(shown) < count and summary == f"{len(shown)} of {count} rows" and heads >= 1
    assert none == []
    assert told_none == f"0 of {count} rows"
    assert no_heads == 0
    assert len(every) == count


def test_cards_are_filtered_by_who_was_right_and_by_slice(page, tmp_path):
    found = found_on(
        page,
        tmp_path,
        """
      const reading = document.querySelector("#strided_sop_examples .reading"), selects = [...reading.querySelectorAll("select")];
      const cards = [...reading.querySelectorAll(".card")];
      const choose = (place, value) => { selects[place].value = value; selects[place].dispatchEvent(new Event("change", { bubbles: true })); };
      const read = () => [cards.filter((card) => card.offsetHeight > 0).map((card) => JSON.parse(card.dataset.parts)),
        reading.querySelector("output").textContent, [...reading.querySelectorAll("h4")].filter((head) => head.offsetHeight > 0).length];
      found = { labels: selects.map((select) => select.labels[0].firstChild.textContent.trim()), all: read() };
      choose(0, "right"); found.right = read();
      choose(1, "wrong"); found.alone = read();
      choose(0, ""); choose(1, "");
      const hostile = [...selects[2].options].find((option) => option.parentElement.label === "category" && option.value !== "Sport");
      hostile.selected = true; selects[2].dispatchEvent(new Event("change", { bubbles: true })); found.hostile = read();
      found.option = [hostile.value, hostile.textContent];
    """,
    )
    assert found["labels"] == ["Model", "Control", "Slice"]
    assert len(found["all"][0]) == CARDS and found["all"][1:] == [f"{CARDS} of {CARDS} items", 8]
    right = [part for part in found["all"][0] if part["Model"] == "right"]
    assert 0 < len(right) < CARDS
    assert found["right"][0] == right
    assert found["right"][1] == f"{len(right)} of {CARDS} items"
    assert found["alone"][0] == [part for part in right if part.get("Control") == "wrong"]
    assert found["alone"][2] == 1
    assert found["hostile"][0] == [part for part in found["all"][0] if part["category"] == HOSTILE]
    assert found["hostile"][0]
    assert found["option"] == [HOSTILE, f"{HOSTILE} ({len(found['hostile'][0])})"], (
        "text of a corpus is text in a filter"
    )


def test_without_a_script_all_is_there_to_read(page, tmp_path):
    """One frame shows the page without scripts, another with scripts; the outer page
    compares them.
    """
    outer = page.with_name("frames.html")
    frame = f'<iframe src="{page.name}" style="width:1280px;height:900px" '
    outer.write_text(f"""<body>{frame} sandbox="allow-same-origin"></iframe>{frame}></iframe><script>
      addEventListener("load", () => {{
        const found = [...document.querySelectorAll("iframe")].map((one) => one.contentDocument).map((inner) => {{
          const seen = (names) => [...inner.querySelectorAll(names)].filter((part) => part.getClientRects().length);
          return {{ controls: seen("button, input, select, output").length, cards: seen("article.card").length,
            cells: seen("td, th, dt, dd").map((part) => part.textContent) }};
        }});
        document.documentElement.replaceChildren(document.createElement("body"));
        document.body.textContent = "MEASURED" + encodeURIComponent(JSON.stringify(found)) + "END";
      }});</script></body>""")
    done = browse(outer, tmp_path, 1280, "--dump-dom", "--allow-file-access-from-files")
    still, lively = json.loads(unquote(re.search(r"MEASURED(.*?)END", done.stdout).group(1)))
    assert still["cards"] == lively["cards"] == CARDS
    assert still["cells"] == lively["cells"]
    assert len(still["cells"]) > 500
    assert still["controls"] == 0, "nothing that would do nothing"
    assert lively["controls"] > 20, "the page's own policy lets the page's own script run"


@pytest.mark.parametrize(
    "injected",
    [
        "<script>document.title = 'RAN'</script>",
        "<img src=x onerror=\"document.title = 'RAN'\">",
        "<style>body { display: none }</style>",
        "<a style='position: fixed'>x</a>",
    ],
)
def test_the_policy_stops_what_is_not_of_the_page(page, tmp_path, injected):
    """If a text were ever on the page as markup, the browser would run none of it."""
    copy = page.with_name("injected.html")
    copy.write_text(page.read_text().replace(MAIN, f"{MAIN}{injected}"))
    done = browse(copy, tmp_path, 1280, "--dump-dom")
    assert "<title>RAN" not in done.stdout and "Content Security Policy" in done.stderr
