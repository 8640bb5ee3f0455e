"""Every figure of the studies, in its smallest and its largest form, has no cut mark and no
overlapping texts.
"""

import importlib
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.plan.fields import has_options
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from tests.registers import FIGURES
from tests.forking import Ended
from tests.publish import publish_inputs, test_publish_scorecard
from tests.studies.mctaco import publish_inputs_mctaco
from tests.studies.timedial import test_publish_timedial
from tests.publish.figure_faults import faults_of
from tests.studies.temporal_nli.publish_inputs_temporal_nli import NliStudy

pytestmark = pytest.mark.slow  # many figures; left out of `make check`

# Figures of runs that these studies lack are tested with their own inputs:
# test_publish_strided_sop.py, test_windows.py, test_strides.py, test_spans.py, test_hellaswag.py,
# test_mctaco_released.py, test_learning_curve.py, test_held_out_lists.py.
FIGURES = [
    item
    for item in FIGURES
    if item["kind"] == "figure"
    and "needs_several" not in item
    and "others" not in item["reads"]
    and item["study"] != "hellaswag"
    and item["name"] != "temporal_nli_held_out_lists"
    and (item["study"] != "strided_sop" or has_options({"stride": 0}, item.get("needs", {})))
]
NOT_MODELS = "control baseline majority human".split()
LONG = "A model of 7 billion parameters (4 bits)"
MANY = 7  # further models in the largest form
# figures that show their limit themselves
OF_RUNS = ["temporal_nli_additive_weights"]


def here(typed: str, *given) -> Ended:
    """Run a publish program in this process."""
    module, *options = [*typed.split(), *map(str, given)]
    reads = [
        name for name, of in {"runs": "--runs", "datasets": "--build"}.items() if of in options
    ]
    importlib.import_module(module).main(publisher_arguments("", *reads).parse_args(options))
    return Ended(module, 0, "", "")


def studies(folder) -> dict:
    """Return the made-up inputs of each study, by its name in figures.yaml."""
    made_up = {
        "strided_sop": publish_inputs.Study(folder / "sop", here),
        "temporal_nli": NliStudy(folder / "nli", here),
        "mctaco": publish_inputs_mctaco.Study(
            folder / "mctaco",
            here,
            publish_inputs_mctaco.metric_rows() + publish_inputs_mctaco.untrained_rows(),
        ),
        "timedial": test_publish_timedial.Study(
            folder / "timedial", here, test_publish_timedial.REAL | test_publish_timedial.SAMPLE
        ),
    }
    (folder / "all").mkdir()
    made_up["all"] = test_publish_scorecard.Card(folder / "all", here, test_publish_scorecard.ROWS)
    for study in made_up.values():  # a hostile title is tried elsewhere; here one that is only long
        for file in (study.folder / "resources").glob("*.yaml"):
            file.write_text(
                re.sub(r"title: '?.*<script>.*(\n {4,}.*)*", f"title: {LONG}", file.read_text())
            )
    return made_up


def small(table: pa.Table) -> pa.Table:
    """Keep one model with one method on one corpus at one stride for each study, without intervals,
    and one control. Mark all rows as sample data, cut to 200 items.
    """
    frame = table.to_pandas()
    frame = frame[frame["source"] == frame.groupby("study")["source"].transform("first")]
    if "stride" in frame:
        frame = frame[frame["stride"].isna() | (frame["stride"] == 0)]
    is_control, is_model = frame["method"] == "control", ~frame["method"].isin(NOT_MODELS)
    kept = ~is_control & ~is_model
    for is_of in (is_model, is_control):
        for _, of_study in frame[is_of].groupby("study"):
            same = ["study", "model", "method"]
            kept |= is_of & (frame[same] == of_study.iloc[0][same]).all(axis=1)
    frame = frame[kept].assign(ci_low=np.nan, ci_high=np.nan, sample=True, limit=200)
    return pa.Table.from_pandas(frame, schema=table.schema, preserve_index=False)


def large(table: pa.Table) -> pa.Table:
    """Add MANY models with long names and scores from 0 to 100 % to each study's first model;
    double the number of strides.
    """
    frame = table.to_pandas()
    model = frame[~frame["method"].isin(NOT_MODELS)]
    first = model[model["model"] == model.groupby("study")["model"].transform("first")]
    for number in range(MANY):
        value = (first["value"] + 2 * number / (MANY - 1) - 1).clip(0, 1)
        ends = {"ci_low": (value - 0.04).clip(0, 1), "ci_high": (value + 0.04).clip(0, 1)}
        name = f"another_model_of_many_{number}_instruct"
        frame = pd.concat([frame, first.assign(model=name, value=value, **ends)])
    if "stride" in frame:
        strided = frame[frame["stride"].notna()]
        more = strided.assign(stride=strided["stride"] + 4, dataset=strided["dataset"] + "-more")
        frame = pd.concat([frame, more])
    return pa.Table.from_pandas(frame, schema=table.schema, preserve_index=False)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> list[tuple]:
    """Return the made-up inputs with their names and their metrics."""
    made_up = studies(tmp_path_factory.mktemp("figures"))
    return [(name, study, pq.read_table(study.metrics)) for name, study in made_up.items()]


@pytest.fixture(scope="module", params=[small, large])
def inputs(request, whole) -> dict:
    for _, study, metrics in whole:
        pq.write_table(request.param(metrics), study.metrics)
    return {name: study for name, study, _ in whole} | {"form": request.param}


@pytest.mark.parametrize("item", FIGURES, ids=[item["name"] for item in FIGURES])
def test_no_figure_has_a_fault_in_any_form(inputs, monkeypatch, item):
    drawn = []
    monkeypatch.setattr(style, "save", lambda draw, given: drawn.append(style.drawn(draw)))
    inputs[item["study"]].call(item)
    [figure] = drawn
    assert faults_of(figure) == []
    # with one model and one held-out list, the last figure has no panel
    if inputs["form"] is small and item["name"] != "temporal_nli_generalization":
        texts = "\n".join(text.get_text() for axes in figure.axes for text in axes.texts)
        assert "SAMPLE DATA" in texts, "it says so on its face"
        assert "AT MOST 200 ITEMS" in texts or item["name"] in OF_RUNS
    plt.close("all")


TABLES = ["strided_sop", "temporal_nli", "mctaco", "timedial"]


@pytest.mark.parametrize("study", TABLES)
def test_a_table_marks_samples_and_limits_and_says_where_one_group_has_no_interval(inputs, study):
    name = f"{study}_table"
    inputs[study].call(name)
    text = (inputs[study].publish / f"tables/{name}.md").read_text()
    if inputs["form"] is small:
        here = publish_inputs.table_of(inputs[study], name).iloc[:, 0]
        assert here.str.endswith("[sample data] [at most 200 items]").all()
        assert "SAMPLE DATA where marked" in text and "AT MOST 200 ITEMS where marked" in text
        assert "one group" in text
