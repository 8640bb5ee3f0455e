"""Released results of others: if an experiment names them, they are fetched, measured and shown in
a table.
"""

import pytest

from scripts.plan import evaluation
from scripts.plan.published import Published
from scripts.plan.workplan import Workplan
from scripts.running.program import UserError
from tests.conftest import ROOT
from tests.rows import rows_of

EXPERIMENT = {"study": "mctaco", "data": {"source": "mctaco"}, "models": ["bag_of_words"]}


def planned(**more) -> Published:
    config = {"run": ["one", "two"], "experiments": {"one": EXPERIMENT | more, "two": EXPERIMENT}}
    workplan = Workplan(config, ROOT)
    return Published(workplan)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_only_what_names_it_reads_it(here):
    published = planned(released=["temporal_llms"])
    work = published.workplan
    assert work.released_rows(["one"]).count("\n") == 72 and not work.released_rows(["two"])
    manifest = "results/fetch/temporal_llms/manifest.json"
    assert manifest in evaluation.read_by(work, "one")
    assert manifest not in evaluation.read_by(work, "two")
    assert "mctaco_released" in published.items and "temporal_llms" in work.fetched_sources
    assert "temporal_llms" not in work.used_sources, "it is not cleaned"
    texts = published.page["texts"]["resources/sources.yaml"]
    assert "Qiu et al. 2024" in texts, "its terms stand on the page"


def test_without_it_there_is_no_table(here):
    assert "mctaco_released" not in planned().items


def test_of_contrast_pairs_alone_no_figure_of_whole_questions_is_drawn(here):
    one = EXPERIMENT | {"data": {"source": "mctaco", "contrast": "unit"}}
    items = Published(Workplan({"run": ["one"], "experiments": {"one": one}}, ROOT)).items
    assert "mctaco_by_category" in planned().items and "mctaco_by_category" not in items


@pytest.mark.parametrize(
    "more, said",
    rows_of("""
        {released: [temporal_llm]} | no source temporal_llm of released judgements; did you mean temporal_llms?
        {released: [mctaco]}       | mctaco has no source mctaco of released judgements
        {released: [temporal_llms], data: {source: sample_mctaco}} | which this experiment does not measure; name it in data
        {study: strided_sop, data: {source: hirest, stride: 0}, released: [temporal_llms]} | strided_sop has no source temporal_llms
        {data: {source: temporal_llms}} | source temporal_llms holds judgements, but mctaco reads questions
    """),
)
def test_a_wrong_name_is_refused(here, more, said):
    with pytest.raises(UserError) as error:
        planned(**more)
    assert said in str(error.value) and "\n" not in str(error.value)
