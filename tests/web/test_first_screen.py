"""The first screen with four studies: every line is read without scrolling, on a wide window and on a phone."""

import json
import re

import pytest

from scripts.publish.findings import ABOVE, BELOW, LEVEL, Finding
from scripts.publish.site import templates
from tests.web.test_page import CHROMIUM, browse

NAMES = {"strided_sop": "Order", "temporal_nli": "Inference", "mctaco": "Common sense", "timedial": "Dialogs"}
CONTROL = "best control 39 (fewest shared numbers, not in the dialog, then most frequent)"
ROW = {"title": "set II: duration", "value": 52.1, "low": 46.7, "high": 57.5, "others": [15.3], "human": 97.8, "verdict": BELOW, "control": 70.3}
CAVEAT = "Sample data, made up to try the workflow: the numbers say nothing about language."


def finding(study: str) -> Finding:
    """A finding as long as they get: two corpora for the first study."""
    clause = {"corpus": "", "said": "50, 67, 50 %", "of": "of questions with every answer judged right", "control": CONTROL, "alone": False,
              "verdicts": [(LEVEL, "no better than the control")]}
    two = [clause | {"corpus": "sample of ActivityNet", "said": "52 → 60 %", "control": "best control 70 → 91 (bag of words)"},
           clause | {"corpus": "sample of HowTo100M", "of": "", "control": "best control 51 → 50 (bag of words)",
                     "verdicts": [(ABOVE, "clearly above the control at stride 3"), (BELOW, "below it at stride 0")]}]
    groups = [{"title": corpus, "rows": [ROW, ROW]} for corpus in (["ActivityNet", "HowTo100M"] if study == "strided_sop" else [""])]
    return Finding(study, NAMES[study], NAMES[study], two if study == "strided_sop" else [clause],
                   "tiny BERT, from scratch, fine-tuned (best of 5) · sample · 140–586 pairs · 2 seeds", [CAVEAT], ["sample data"], groups)


@pytest.fixture
def screen(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; install it to test the page in a browser")
    parts = """<!DOCTYPE html><meta name="viewport" content="width=device-width"><style>{% include "page.css" %}</style><body>
{% include "navigation.html.j2" %}
{% include "header.html.j2" %}
<main id="main">{% include "findings.html.j2" %}</main></body>"""
    studies = [{"name": name, "short": title, "title": title, "items": []} for name, title in NAMES.items()]
    page = tmp_path / "page.html"
    page.write_text(templates().from_string(parts).render(
        studies=studies, findings=[finding(name) for name in NAMES], shared_caveats=[CAVEAT], all_items=[], left_out=[]))
    return page


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_every_line_is_read_without_scrolling(screen, tmp_path, width, height):
    """In a frame, since Chromium opens no window under 500 pixels."""
    outer = screen.with_name("outer.html")
    outer.write_text(f"""<body style="margin:0"><iframe id=f src="page.html" style="width:{width}px;height:{height}px;border:0"></iframe><script>
      addEventListener("load", () => {{ const inner = document.getElementById("f").contentDocument;
      const bottoms = (what) => [...inner.querySelectorAll(what)].map((one) => one.getBoundingClientRect().bottom);
      document.title = "MEASURED" + JSON.stringify({{lines: bottoms(".finding .line"), figures: bottoms("table.dots"),
        nav: inner.querySelector("nav").getBoundingClientRect().width, wide: inner.documentElement.scrollWidth}}) + "END"; }});
      </script></body>""")
    done = browse(outer, tmp_path, max(width, 500), "--dump-dom", "--allow-file-access-from-files")
    found = json.loads(re.search(r"MEASURED(.*?)END", done.stdout).group(1))
    assert len(found["lines"]) == 5 and max(found["lines"]) <= height
    assert found["wide"] <= width
    if width > 1000:
        assert max(found["figures"]) <= height and found["nav"] < 300, "the figures beside the lines, the contents at the side"
    else:
        assert min(found["figures"]) > max(found["lines"]), "the numbers first"
