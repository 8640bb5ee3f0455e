"""The page of the record has only numbers, in one file."""

import shutil

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow


def test_the_record_of_a_study_makes_a_page_that_stands_alone(tmp_path, program):
    record, page = tmp_path / "record", tmp_path / "index.html"
    shutil.copytree(ROOT / "docs/record/timedial", record / "timedial")
    program(f"scripts.publish.record_page {record} {page} --presets base").checked()
    html = page.read_text()
    assert 'id="timedial_accuracy"' in html and "is not drawn" not in html
    assert "94.1 %" in html and "search: all options" in html
    assert 'href="figures/' not in html and "-published" not in html and 'src="http' not in html
    assert len(html) < 2_000_000
    program(f"scripts.publish.record_page {record} {page} --presets none").refused(
        "has no runs of these presets", lines=1
    )
    assert page.read_text() == html
