"""Figures, tables and the page: their content, equal files for equal input, and hostile text that
stays text.
"""

import base64
import csv
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.data.csv_files import read_csv, write_csv
from scripts.publish.index import list_studies
from tests.conftest import ROOT
from tests.files import read_json, write_json
from tests.publish.publish_inputs import HOSTILE, Study

pytestmark = pytest.mark.slow  # many processes


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> Study:
    return Study(tmp_path_factory.mktemp("study"), program)


@pytest.fixture(scope="module")
def html(study) -> str:
    """Make the page of the made-up study with a hostile caption."""
    study.change("figures", lambda items: items[0].update(caption=f"A caption.\n\n{HOSTILE}\u2067"))
    left_out = {
        "study": "strided_sop",
        "model": "mute",
        "method": "likelihood",
        "reason": f"it has no head {HOSTILE}",
    }
    write_json(study.folder / "resources/left_out.yaml", [left_out])
    run = sorted(study.results.glob("train/*/*/run.json"))[0]
    write_json(run, read_json(run) | {"quantised": "fp8"})
    study.make_page().checked()
    return study.page.read_text()


def test_quantised_weights_are_named(html):
    assert html.count("quantised weights (fp8)") == 1


class Page(HTMLParser):
    """The ids and references of a page."""

    def __init__(self, html: str):
        super().__init__()
        self.ids, self.hrefs, self.loaded = [], [], []
        self.tags, self.handlers, self.attributes = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        self.tags.append(tag)
        self.attributes += attributes
        self.handlers += [name for name in facts if name.startswith("on")]
        if "id" in facts:
            self.ids.append(facts["id"])
        if tag == "a":
            self.hrefs.append(facts["href"])
        elif "src" in facts or "href" in facts:
            self.loaded.append(facts.get("src") or facts["href"])


def test_a_figure_comes_in_every_form_and_again_as_the_same_bytes(study):
    """The seed of hashes does not matter. Separate processes draw all forms."""
    name = "accuracy_by_stride"
    item = study.item(name)
    first, again = (
        lambda seed=seed: study.program(
            "scripts.publish.item", item["program"], *study.options(item), PYTHONHASHSEED=seed
        ).checked()
        for seed in "12"
    )
    said = first().stderr
    base = study.publish / "figures" / name
    suffixes = "svg dark.svg png pdf column.pdf csv".split()
    files = {suffix: base.with_name(f"{name}.{suffix}") for suffix in suffixes}
    before = {suffix: file.read_bytes() for suffix, file in files.items()}
    assert before["png"][:4] == b"\x89PNG" and before["pdf"][:4] == b"%PDF"
    assert b"SAMPLE DATA" in before["svg"]
    again()
    assert {suffix: file.read_bytes() for suffix, file in files.items()} == before
    maker = (
        rb"timestride \d+\.\d+\.\d+(?:, commit [0-9a-f]{40}(?: \\?\(modified\\?\))?)?, "
        rb"[\w/]+@\d+(?:\+[0-9a-f]{12})?"
    )
    for suffix in suffixes[:-1]:
        assert re.search(maker, before[suffix]), "each file tells which code drew it"
    assert "fontTools" not in said and len(said.splitlines()) == 1


@settings(max_examples=200)
@given(st.lists(st.text("=+-@'\t1a.,e±% \n", max_size=6), min_size=1, max_size=5))
def test_no_cell_of_a_csv_is_a_formula_and_each_comes_back(tmp_path_factory, cells):
    file = tmp_path_factory.mktemp("csv") / "table.csv"
    write_csv(pd.DataFrame({"text": cells, "number": 0.5}), file)
    with open(file, newline="") as opened:
        written = [row["text"] for row in csv.DictReader(opened)]
    assert not [cell for cell in written if re.match(r"[=@\t]|[+-](?![\d.,])", cell)]
    assert read_csv(file)["text"].tolist() == cells


def test_hostile_text_stays_text(study, html):
    found = Page(html)
    assert found.tags.count("script") == 1
    assert not found.handlers
    assert html.count("<script") == html.count("</script") == 1
    assert found.tags.count("img") == sum(
        place.startswith("data:image/svg") for place in found.loaded
    )
    values = [value for name, value in found.attributes if name == "value" and "script" in value]
    assert values == [f"Sample {HOSTILE} [sample data]", HOSTILE], (
        "a corpus or a category is what a filter offers, as it stands"
    )
    parts = [json.loads(value) for name, value in found.attributes if name == "data-parts"]
    assert len(parts) == 40 and HOSTILE in {part.get("category") for part in parts}
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in html and "{{ 7 * 7 }}" in html
    assert "&lt;b&gt;white&lt;/b&gt; space" in html
    assert 'href="#left-out"' in html
    assert "it has no head &lt;script&gt;" in html
    files = [file for end in ("csv", "md", "tex") for file in study.publish.rglob(f"*.{end}")]
    written = html + "".join(file.read_text() for file in files)
    assert not {"\u202e", "\u2067"} & set(written) and "\\u202e" in html and "\\u2067" in html
    assert "=then(" in html and "'=then(" not in html and "&#39;=then(" not in html


def test_nothing_runs_but_what_the_policy_names(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    assert {
        name: allowed[name] for name in ("default-src", "img-src", "base-uri", "form-action")
    } == {
        "default-src": "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    for tag in ("style", "script"):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", html, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert len(inside) == 1 and allowed[f"{tag}-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in policy and "style" not in {name for name, _ in Page(html).attributes}


def test_the_page_loads_nothing(html):
    found = Page(html)
    assert found.loaded and all(place.startswith("data:") for place in found.loaded)
    assert "url(" not in html and "@import" not in html
    homepages = {
        entry.get("homepage")
        for entry in yaml.safe_load((ROOT / "resources/sources.yaml").read_text()).values()
    }
    assert {place for place in found.hrefs if "://" in place} <= homepages


def test_every_link_of_the_page_leads_somewhere(study, html):
    found = Page(html)
    assert len(found.ids) == len(set(found.ids))
    for place in found.hrefs:
        if place.startswith("#"):
            assert place[1:] in found.ids
        elif "://" not in place:
            assert (study.page.parent / place).exists(), place


# ---- the list of studies


def list_of(study: Study, findings: dict[str, str | None]) -> Path:
    """List copies of a study's metrics under other names. findings: the text of
    findings.json beside each page (None: no file).
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
    list_studies(study.folder)
    return study.folder / "publish/index.html"


def test_the_list_of_studies_says_what_the_first_screen_says(study, html):
    text = study.page.with_name("findings.json").read_text()
    former = text.replace('"sentence"', '"clauses"')
    texts = {"one": text, "older": None, "old": former, f"<b>{'x'}": text}
    shown = list_of(study, texts).read_text()
    [finding] = json.loads(text)["findings"]
    lines = [line for line in html.splitlines() if line.startswith('<p class="line">')]
    assert len(lines) == 1 and finding["sentence"]["said"] in lines[0]
    assert all(shown.count(line) == 2 for line in lines)
    assert shown.count('<span class="tag">sample data</span>') == 2, (
        "of the two studies whose findings are told"
    )
    assert 'href="one/index.html"' in shown and "&lt;b&gt;x" in shown and "<b>x" not in shown
    assert shown.count("An earlier version made this page") == 2
    assert HOSTILE not in shown and "<img src=x" not in shown and "<script" not in shown
