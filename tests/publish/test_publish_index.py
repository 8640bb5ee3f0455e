"""The list of studies: what each found, in the words of its page; text stays text."""

import json
from html import escape

import pytest

from tests.publish.publish_inputs import HOSTILE, Study

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> Study:
    """A study with its page; the page's folder is called `site`."""
    study = Study(tmp_path_factory.mktemp("study"), program)
    study.make_page().checked()
    return study


def list_of(study: Study, findings: dict[str, str | None]):
    """The program's run on copies of a study's metrics under other names, each with these
    findings beside its page (None: without).
    """
    for name, text in findings.items():
        metrics, page = (
            study.folder / "evaluate" / name / "metrics.parquet",
            study.folder / "publish" / name / "index.html",
        )
        for file in (metrics, page):
            file.parent.mkdir(parents=True, exist_ok=True)
        metrics.write_bytes(study.metrics.read_bytes())
        page.touch()
        page.with_name("findings.json").unlink(missing_ok=True)
        if text is not None:
            page.with_name("findings.json").write_text(text)
    return study.program(
        f"scripts.publish.index {study.folder}"
    ), study.folder / "publish/index.html"


def test_it_says_what_the_first_screen_says(study):
    text = study.page.with_name("findings.json").read_text()
    done, listed = list_of(study, {"one": text, "older": None, f"<b>{'x'}": text})
    assert done.returncode == 0, done.stderr
    html, page = listed.read_text(), study.page.read_text()
    [finding] = json.loads(text)["findings"]
    lines = [line for line in page.splitlines() if line.startswith('<p class="line">')]
    assert len(lines) == len(finding["clauses"]) == 2
    assert all(html.count(line) == 2 for line in lines)
    assert escape(finding["who"]) in html.replace("&#34;", "&quot;").replace("&#39;", "&#x27;")
    assert finding["caveats"][0] in html
    assert html.count('<span class="tag">sample data</span>') == 2, (
        "of the two studies whose findings are told"
    )
    assert 'href="one/index.html"' in html and "&lt;b&gt;x" in html and "<b>x" not in html
    assert html.count("An earlier version made this page") == 1
    assert HOSTILE not in html and "<img src=x" not in html and "<script" not in html


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"findings": [{"short": 1}], "shared_caveats": []}']
)
def test_a_file_that_holds_no_findings_is_told(study, text):
    before = list_of(study, {"one": None})[1].read_text()
    done, listed = list_of(study, {"one": text})
    assert done.returncode == 1
    assert "findings.json: holds no findings of a page; remove it" in done.stderr
    assert "Traceback" not in done.stderr and listed.read_text() == before
