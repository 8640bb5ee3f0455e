"""What is long is folded: little is seen at once, nothing is lost, a link opens what it leads
to, and print has what was opened.
"""

import json
import re
from urllib.parse import unquote

import pytest

from tests.web.browser import browse
from tests.web.keyboard import Keyboard

SEEN = """const seen = (root) => { let count = 0; const walker = root.ownerDocument.createTreeWalker(root, 4);
  while (walker.nextNode()) { const one = walker.currentNode.parentElement;
    if (!one.closest("script, style") && one.checkVisibility()) count += (walker.currentNode.textContent.match(/\\S+/g) || []).length; }
  return count; };"""
# the last two are links under a figure
FOLDED = "strided_sop_table strided_sop_examples runs configuration hashes".split()


@pytest.fixture
def reader(page, tmp_path):
    """A browser with the page open, for who presses keys and follows links."""
    opened = Keyboard(page, tmp_path)
    yield opened
    opened.close()


def test_a_link_opens_what_it_leads_to(reader):
    """The first time, and again after a reader has closed it; before, all is closed."""

    def opened() -> set[bool]:
        return set(json.loads(reader.value(f"JSON.stringify([...{folds}].map((one) => one.open))")))

    for name in FOLDED:
        folds = f"document.querySelectorAll('details#{name}, #{name} > .fold, #{name} > .reading > .fold')"
        assert opened() == {False}
        for _ in range(2):
            reader.value(f"document.querySelector('a[href=\"#{name}\"]').click()")
            for _ in range(100):  # the address changes a moment later
                if opened() == {True}:
                    break
            assert opened() == {True}, name
            reader.value(f"for (const one of {folds}) one.open = false")


def test_an_address_with_a_part_opens_it_with_and_without_a_script(page, tmp_path):
    """The page in frames, as a link from elsewhere opens it; the second runs no script,
    in the third no part is named.
    """
    parts = [
        ("#strided_sop_table", ""),
        ("#strided_sop_table", "allow-same-origin"),
        ("", "allow-same-origin"),
    ]
    frames = "".join(
        f'<iframe src="{page.name}{part}" style="width:1280px;height:900px"{f" sandbox={rule!r}" if rule else ""}></iframe>'
        for part, rule in parts
    )
    outer = page.with_name("folds.html")
    outer.write_text(f"""<body>{frames}<script>{SEEN}
      addEventListener("load", () => {{
        const found = [...document.querySelectorAll("iframe")].map((one) => one.contentDocument)
          .map((inner) => ["strided_sop_table", "strided_sop_examples"].map((name) => seen(inner.getElementById(name))));
        document.documentElement.replaceChildren(document.createElement("body"));
        document.body.textContent = "MEASURED" + encodeURIComponent(JSON.stringify(found)) + "END";
      }});</script></body>""")
    done = browse(outer, tmp_path, 1280, "--dump-dom", "--allow-file-access-from-files")
    lively, still, closed = json.loads(
        unquote(re.search(r"MEASURED(.*?)END", done.stdout).group(1))
    )
    assert lively[0] > 200
    assert still[0] > 200
    assert closed[0] < 200, "the table that the address names"
    assert lively[1] == still[1] == closed[1], "and nothing else"
