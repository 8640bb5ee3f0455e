"""Figures, tables and the page: what they hold, that equal input gives equal files, that hostile text stays text."""

import base64
import csv
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.data.csv_files import read_csv, write_csv
from scripts.data.items import items_of
from scripts.data.tables import read_table
from scripts.studies.strided_sop.figures.metrics import strided_metrics
from scripts.studies.strided_sop.figures.slices import blocks_of, sliced_points
from scripts.publish.latex import latex
from scripts.publish.table import ABOVE, above_control, markdown, write
from tests.conftest import ROOT
from tests.rows import each_row
from tests.publish.publish_inputs import CONTROLS, HOSTILE, Study, metric_rows, of_one_group

pytestmark = pytest.mark.slow  # many processes; left out of `make check`


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> Study:
    return Study(tmp_path_factory.mktemp("study"), program)


@pytest.fixture(scope="module")
def html(study) -> str:
    """The page of the made-up study, with a hostile caption."""
    caption = study.folder / "report/strided_sop/accuracy_by_stride.rst"
    caption.write_text(f"{caption.read_text()}\n{HOSTILE}\n")
    done = study.make_page()
    assert done.returncode == 0, done.stderr
    return study.page.read_text()


class Page(HTMLParser):
    """Ids, and the references of a page."""

    def __init__(self, html: str):
        super().__init__()
        self.ids, self.hrefs, self.loaded, self.tags, self.handlers, self.attributes = [], [], [], [], [], []
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


def item_of(study: Study, name: str) -> dict:
    return next(item for item in study.items() if item["name"] == name)


@pytest.mark.parametrize("name", ["accuracy_by_stride", "strided_sop_training_curves", "strided_sop_slices"])
def test_a_figure_comes_in_every_form_and_again_as_the_same_bytes(study, name):
    base = study.publish / "figures" / name
    first = study.call(item_of(study, name))
    assert first.returncode == 0, first.stderr
    files = {suffix: base.with_name(f"{name}.{suffix}") for suffix in ("svg", "dark.svg", "png", "pdf", "csv")}
    before = {suffix: file.read_bytes() for suffix, file in files.items()}
    assert before["png"][:4] == b"\x89PNG" and before["pdf"][:4] == b"%PDF"
    assert b"SAMPLE DATA" in before["svg"]
    study.call(item_of(study, name))
    assert {suffix: file.read_bytes() for suffix, file in files.items()} == before
    telling = [suffix for suffix, content in before.items()
               if re.search(rb"timestride \d+\.\d+\.\d+(?:, commit [0-9a-f]{40}(?: \\?\(modified\\?\))?)?, scripts\.[\w.]+ [0-9a-f]{8,}", content)]
    assert {"svg", "dark.svg", "png", "pdf"} <= {suffix.lstrip(".") for suffix in telling}, "each file tells which code drew it"
    assert "fontTools" not in first.stderr and len(first.stderr.splitlines()) == 1


@pytest.mark.parametrize(("name", "slices"), [("accuracy_by_stride", "slice == 'all' and metric != 'accuracy_above_control'"),
                                            ("strided_sop_slices", "metric == 'accuracy' and seed.isna()")])
def test_the_points_beside_a_figure_are_the_metrics(study, name, slices):
    assert study.call(item_of(study, name)).returncode == 0
    points = pd.read_csv(study.publish / f"figures/{name}.csv")
    key = ["source", "split", "model", "size_matched", "stride", "metric", "seed", *(["slice"] if "slice" in points else [])]
    both = [frame.sort_values(key, ignore_index=True)[[*key, "value", "ci_low", "ci_high", "n", "groups", "sample"]]
            for frame in (points, read_table(study.metrics).to_pandas().query(slices))]
    pd.testing.assert_frame_equal(*both, check_dtype=False)
    assert not points.duplicated([*key, "metric"]).any() and set(CONTROLS) < set(points["model"])


def test_what_is_drawn_of_the_slices(study):
    """The first evaluation split; no slice of few pairs, and none that holds nearly all."""
    points = sliced_points(strided_metrics(study.metrics, {}, slices=True))
    drawn = blocks_of(points, {"activitynet": {"evaluate": ["val_2", "val_1"]}})
    assert [title for title, _ in drawn] == ["activitynet, validation 2", "sample_howto100m, validation"]
    assert (points["n"] < 10).any() and all((part["n"] >= 10).all() for _, part in drawn)
    same = points[points["slice"] == "all"]
    few = same.assign(slice="overlap=partial", row="overlap=partial", n=same["n"] // 2)
    _, part = blocks_of(pd.concat([same, few, same.assign(slice="overlap=none", row="overlap=none")]), {})[0]
    assert set(part["slice"]) == {"all", "overlap=partial"}
    assert blocks_of(points.assign(n=8), {}) == []


@each_row("row, told", [
    ({"value": 0.021, "ci_low": -0.003, "ci_high": 0.045, "control": "cues"}, "cue words: +2.1 (−0.3 to +4.5)"),
    ({"value": -0.5, "ci_low": None, "ci_high": None, "control": "first_text"}, "first text: −50.0"), (None, "")])
def test_how_far_a_model_lies_above_the_best_control_is_told(row, told):
    assert above_control(row and pd.Series(row), {"cues": {"title": "cue words"}}) == told


def test_rows_of_other_studies_and_settings(study, tmp_path, program):
    """What two experiments share stands once; what was trained or measured otherwise has another name; no interval of one group."""
    other, plain = Study(tmp_path / "other", program), [row for row in metric_rows() if row["size_matched"] is None]
    other.write_metrics(plain + [row | {"experiment": "again"} for row in plain])
    assert len(strided_metrics(other.metrics, {})) == len(plain)
    ways = {", same videos": {"same_videos": 3}, ", same videos, size-matched": {"same_videos": 3, "size_matched": 3},
            ", hard pairs": {"hard": True}, ", both orders": {"method": "train_symmetric"}}
    models = [row for row in plain if row["model"] == "minilm"]
    other.write_metrics([row | changed for changed in ({}, *ways.values()) for row in models])
    assert set(strided_metrics(other.metrics, {})["series"]) == {"minilm", *(f"minilm{way}" for way in ways)}
    other.write_metrics(models + [row | {"experiment": "again", "value": row["value"] + 0.01} for row in models])
    assert set(strided_metrics(other.metrics, {})["series"]) == {"minilm (tried)", "minilm (again)"}
    other.write_metrics(of_one_group(metric_rows()))
    assert other.call(item_of(study, "strided_sop_table")).returncode == other.call(item_of(study, "accuracy_by_stride")).returncode == 0
    table = pd.read_csv(other.publish / "tables/strided_sop_table.csv", dtype=str, keep_default_na=False)
    assert set(table["95 % interval"]) == {"one group"} and set(table["Videos"]) == {"1"}


@each_row("name, rows, said", [
    ("accuracy_by_stride", [row | {"study": "other"} for row in metric_rows()[:3]], "no rows of study strided_sop"),
    ("strided_sop_slices", metric_rows(), "no accuracy on slices; evaluate")])
def test_a_figure_without_its_numbers_is_one_sentence(study, tmp_path, program, name, rows, said):
    empty = Study(tmp_path / f"empty_{name}", program)
    empty.write_metrics(rows)
    done = empty.call(item_of(study, name))
    assert done.returncode == 1 and said in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (empty.publish / "figures").exists()


def test_the_table_holds_every_number(study, html):
    table = pd.read_csv(study.publish / "tables/strided_sop_table.csv", dtype=str, keep_default_na=False)
    assert len(table) == 3 * (4 * 2 * 2 + 4)
    row = table[(table["Split"] == "validation 1") & (table["Stride"] == "2") & (table["Model"] == HOSTILE)].iloc[0]
    assert row["Accuracy (%)"] == "66.5" and row["95 % interval"] == "63.5–69.5" and row["Peak (%)"] == "68.5"
    assert row["SD"] == "0.7" and row["Training pairs"] == "6,698" and row["Seeds"] == "2" and row["Human (%)"] == "60.0"
    assert table["Corpus"].str.contains("sample data").sum() == 3 * 4
    assert re.fullmatch(r"bag of words: \+12\.5 \(\+[\d.]+ to \+[\d.]+\)", row[ABOVE])
    controls = table[table["Model"].str.startswith(("bag of words", "first text"))]
    assert len(controls) == 2 * 20 and (controls[[ABOVE, "Peak (%)", "Seeds"]] == "").all(axis=None) and set(controls["Accuracy (%)"]) == {"54.0", "51.0"}
    tex = (study.publish / "tables/strided_sop_table.tex").read_text()
    cells = re.findall(r"& ([\d.,]+) (?=&|\\\\)", tex)
    assert set(table["Accuracy (%)"]) <= set(cells) and set(table["Pairs"]) <= set(cells)
    assert "validation 1" in tex and "val_1" not in tex


def test_markdown_and_latex_are_escaped(tmp_path):
    hostile = r"100% of $5 & #1_a {x} ~^ \ | *b* <i> [l](u)"
    write(pd.DataFrame({"a|b": [hostile]}), "A caption_", [], tmp_path / "table")
    tex, md = (tmp_path / "table.tex").read_text(), (tmp_path / "table.md").read_text()
    assert latex("50% & a_b #1") == r"50\% \& a\_b \#1" and r"\caption{A caption\_}" in tex
    assert re.search(r"(?<!\\)[%&#$]", latex(hostile).replace("$-$", "")) is None
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 2 for line in md.splitlines()[:3])
    assert markdown("a\nb") == "a b"
    assert pd.read_csv(tmp_path / "table.csv").iloc[0, 0] == hostile


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("=+-@'\t1a.,e±% \n", max_size=6), min_size=1, max_size=5))
def test_no_cell_of_a_csv_is_a_formula_and_each_comes_back(tmp_path_factory, cells):
    file = tmp_path_factory.mktemp("csv") / "table.csv"
    write_csv(pd.DataFrame({"text": cells, "number": 0.5}), file)
    with open(file, newline="") as opened:
        written = [row["text"] for row in csv.DictReader(opened)]
    assert not [cell for cell in written if re.match(r"[=@\t]|[+-](?![\d.,])", cell)]
    assert read_csv(file)["text"].tolist() == cells


@pytest.mark.parametrize("homepage", ["javascript:alert(1)", "data:text/html,x", "//elsewhere.org", " https://a.org", 5])
def test_a_homepage_that_is_no_web_address_is_refused(study, html, homepage):
    kept = (study.folder / "resources/sources.yaml").read_text()
    study.change("sources", lambda sources: sources["activitynet"].update(homepage=homepage))
    try:
        done = study.page_alone()
    finally:
        (study.folder / "resources/sources.yaml").write_text(kept)
    assert done.returncode == 1 and "sources.yaml: activitynet: homepage" in done.stderr
    assert "write https://" in done.stderr and len(done.stderr.splitlines()) == 1


def test_pairs_to_read_are_as_they_were_met_from_each_cell_of_who_was_right(study, html):
    file = study.publish / "tables/strided_sop_examples.csv"
    table = read_csv(file)
    assert set(table["Shown first"]) | set(table["Shown second"]) >= {HOSTILE, "=then(7)"}
    assert pd.read_csv(file)["Shown first"].str.startswith("'=then(").any(), "a spreadsheet shows it as text"
    assert "=then(" in html and "'=then(" not in html and "&#39;=then(" not in html
    assert table.groupby(["Corpus", "Dataset"]).size().tolist() == [5] * 8 and (table["Human right"] == "").all()
    pairs = table[table["Corpus"].str.startswith("ActivityNet") & (table["Dataset"] == "stride 0")]
    number = pairs["Item"].str.extract(r"v(\d+):0:1")[0].astype(int)
    # The probability of the right order is 0.02 + 0.08 n, of pair 6 one half: a tie is wrong. The control says swapped of all.
    assert (pairs["Model right"] == np.where(number > 6, "yes", "no")).all()
    assert (pairs["Control right"] == np.where(number % 2 == 0, "yes", "no")).all()
    assert pairs.groupby(["Model right", "Control right"]).ngroups == 4
    assert (pairs["Gold"] == np.where(number % 2, "in order", "swapped")).all()
    surely = np.maximum(0.02 + 0.08 * number, 0.98 - 0.08 * number).map("{:.2f}".format)
    said = pairs[f"model: {HOSTILE}, seed 1"].str.extract(r"^(in order|swapped) (\d\.\d\d)( ×)?$")
    assert (said[1] == surely).all() and (said[2].notna() == (number <= 6)).all()
    assert set(table.loc[table["Dataset"] == "stride 1", "Control right"]) == {""}, "where there is no control nobody was right"


def test_pairs_that_people_answered_tell_who_was_right(study, html):
    answers = {"v1:0:1": "in_order", "v3:0:1": "swapped"}
    study.human.write_text("study,source,dataset,split,item,person,answer,types\n" + "".join(
        f"strided_sop,activitynet,stride-0,val_1,{item:016x},Ann,{answer},\n" for item, answer in zip(items_of(pd.Series(list(answers))), answers.values())))
    before = (study.publish / "tables/strided_sop_examples.csv").read_bytes()
    done = study.call(item_of(study, "strided_sop_examples"))
    table = read_csv(study.publish / "tables/strided_sop_examples.csv")
    study.human.unlink()
    (study.publish / "tables/strided_sop_examples.csv").write_bytes(before)
    assert done.returncode == 0, done.stderr
    told = table[table["Human right"] != ""].set_index("Item")
    assert told["Human right"].to_dict() == {"v1:0:1": "yes", "v3:0:1": "no"}, "cells of few are drawn as well"
    assert told["human"].to_dict() == {"v1:0:1": "in order", "v3:0:1": "swapped ×"}


def test_hostile_text_stays_text(html):
    found = Page(html)
    assert found.tags.count("script") == 1 and not found.handlers and html.count("<script") == html.count("</script") == 1
    assert found.tags.count("img") == sum(place.startswith("data:image/svg") for place in found.loaded)
    values = [value for name, value in found.attributes if name == "value" and "script" in value]
    assert values == [f"Sample {HOSTILE} [sample data]", HOSTILE], "a corpus or a category is what a filter offers, as it stands"
    parts = [json.loads(value) for name, value in found.attributes if name == "data-parts"]
    assert len(parts) == 40 and HOSTILE in {part.get("category") for part in parts}
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in html and "{{ 7 * 7 }}" in html
    assert "&lt;b&gt;white&lt;/b&gt; space" in html


def test_nothing_runs_but_what_the_policy_names(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    assert {name: allowed[name] for name in ("default-src", "img-src", "base-uri", "form-action")} == {
        "default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
    for tag in ("style", "script"):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", html, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert len(inside) == 1 and allowed[f"{tag}-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in policy and "style" not in {name for name, _ in Page(html).attributes}


def test_the_page_loads_nothing(html):
    found = Page(html)
    assert found.loaded and all(place.startswith("data:") for place in found.loaded)
    assert "url(" not in html and "@import" not in html
    homepages = {entry.get("homepage") for entry in yaml.safe_load((ROOT / "resources/sources.yaml").read_text()).values()}
    assert {place for place in found.hrefs if "://" in place} <= homepages


def test_every_link_of_the_page_leads_somewhere(study, html):
    found = Page(html)
    assert len(found.ids) == len(set(found.ids))
    for place in found.hrefs:
        if place.startswith("#"):
            assert place[1:] in found.ids
        elif "://" not in place:
            assert (study.page.parent / place).is_file(), place


def test_every_item_has_its_program_and_caption():
    for item in yaml.safe_load((ROOT / "resources/figures.yaml").read_text()):
        assert (ROOT / f"{item['program'].replace('.', '/')}.py").is_file()
        caption = (ROOT / item["caption"]).read_text()
        assert caption.strip() and not re.search(r"[*`{}]|::|\.\. ", caption), "a caption is plain paragraphs"
        assert (ROOT / "report" / f"{item['study']}.rst").is_file()
