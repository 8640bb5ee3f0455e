"""Windows of captions as the units that are put in order: a slow reference, the dataset, its name, the figure."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.studies.strided_sop.parts import windows
from scripts.running.program import UserError
from scripts.data.tables import CAPTIONS, read_table, write_table
from scripts.studies.strided_sop.evaluate import SCHEMA
from tests.publish.figure_faults import faults_in
from tests.studies.strided_sop.test_build_strided_sop import build, captions, cleaned  # noqa: F401 (a fixture)
from tests.plan.test_configuration import plan
from tests.plan.test_initial_configuration import SOP, configured


def spoken(videos: list[list[float]]) -> pa.Table:
    """Captions that start at these seconds, each three seconds long."""
    rows = [{"source": "s", "split": "train", "video_id": f"v{video}", "position": position, "text": f"{video} {position}", "start_s": start,
             "end_s": start + 3} for video, starts in enumerate(videos) for position, start in enumerate(sorted(starts))]
    return pa.Table.from_pylist(rows, schema=CAPTIONS)


def windows_by_a_loop(table: pa.Table, context: dict) -> list[dict]:
    found: dict[tuple, dict] = {}
    for row in table.to_pylist():
        number = row["position"] // context["sentences"] if "sentences" in context else row["start_s"] // context["seconds"]
        window = found.setdefault((row["video_id"], number), row | {"text": "", "end_s": 0.0})
        window["text"] = f"{window['text']} {row['text']}".strip()
        window["end_s"] = max(window["end_s"], row["end_s"])
    position: dict[str, int] = {}
    for window in found.values():
        window["position"] = position[window["video_id"]] = position.get(window["video_id"], -1) + 1
    return list(found.values())


@given(st.lists(st.lists(st.floats(0, 90, allow_nan=False).map(lambda start: round(start, 1)), min_size=1, max_size=9), min_size=1, max_size=4),
       st.sampled_from([{"seconds": 10.0}, {"seconds": 0.5}, {"seconds": 200.0}, {"sentences": 2}, {"sentences": 3}]))
@settings(deadline=None)
def test_windows_equal_a_slow_reference(videos, context):
    assert windows(spoken(videos), context).to_pylist() == windows_by_a_loop(spoken(videos), context)


def test_pairs_of_windows(program, cleaned):  # noqa: F811
    """The captions of the fixture start a second apart: windows of two captions and of two seconds are the same."""
    for name, changed in {"one": {}, "two": {"context": {"sentences": 2}}, "seconds": {"context": {"seconds": 2}}}.items():
        build(program, cleaned / "whole", cleaned / name, **changed)
    one, two, seconds = (read_table(cleaned / f"{name}/train.parquet") for name in ("one", "two", "seconds"))
    assert two.equals(seconds) and 0 < len(two) < len(one)
    assert set(one["seconds_apart"].to_pylist()) == {1.0} and set(two["seconds_apart"].to_pylist()) == {2.0}
    first = two.to_pylist()[0]
    assert {first["text_a"], first["text_b"]} == {f"{int(first['video_id'][1:])} {at} {int(first['video_id'][1:])} {at + 1}" for at in (2, 4)}
    build(program, cleaned / "sharded", cleaned / "parts", context={"seconds": 2}, size_matched=1)
    build(program, cleaned / "whole", cleaned / "all", context={"seconds": 2}, size_matched=1)
    assert read_table(cleaned / "parts/train.parquet").equals(read_table(cleaned / "all/train.parquet"))


@pytest.mark.parametrize("context", [{"seconds": 0}, {"sentences": 1}, {"words": 3}, {}, {"seconds": 5, "sentences": 2}, 5])
def test_a_window_that_is_none_is_refused(program, cleaned, context):  # noqa: F811
    done = build(program, cleaned / "whole", cleaned / "out", ok=False, context=context)
    assert "the option context is" in done.stderr and "Traceback" not in done.stderr
    with pytest.raises(UserError, match="context"):
        plan(configured(["one"], one=SOP | {"data": SOP["data"] | {"context": context}}))


def test_windows_have_names_and_captions_keep_theirs():
    data = {"source": "sample_activitynet", "stride": 0}
    found = plan(configured(["one"], one=SOP | {"data": data | {"context": [None, {"seconds": 10}, {"sentences": 3}]}}))
    assert [folder.rpartition("/")[2] for folder in found.datasets] == ["stride-0", "stride-0-context-seconds-10", "stride-0-context-sentences-3"]
    plain = plan(configured(["one"], one=SOP | {"data": data}))
    assert set(plain.runs) <= set(found.runs)
    assert not any("context" in json.loads(run.settings)["data"] for run in plain.runs.values())


def row(context: str | None, stride: int, seconds: float, value: float, **told) -> dict:
    return dict.fromkeys(SCHEMA.names) | {
        "experiment": "tried", "study": "strided_sop", "model": "tiny_bert", "method": "train", "source": "howto100m", "split": "val", "slice": "all",
        "dataset": f"stride-{stride}", "stride": stride, "hard": False, "context": context, "seconds_apart": seconds, "metric": "accuracy", "value": value,
        "sd": 0.01, "seeds": 2, "ci_low": value - 0.02, "ci_high": value + 0.02, "n": 100, "groups": 40, "effective_groups": 40.0,
        "draws": np.full(50, value, np.float32), "sample": False} | told


def test_the_figure_sets_windows_beside_seconds(program, tmp_path, monkeypatch):
    rows = [row(context, stride, seconds * (stride + 1), 0.5 + 0.02 * stride) for context, seconds in ((None, 4.0), ("10 s", 10.0), ("3 sentences", 12.0))
            for stride in (0, 2)]
    rows += [one | {"model": name, "method": "control", "value": value, "seeds": 0, "sd": None} for one in rows for name, value in
             (("bag_of_words", 0.52), ("first_text", 0.51))]
    write_table(pa.Table.from_pylist(rows, schema=SCHEMA), tmp_path / "metrics.parquet", SCHEMA, {})
    for name, entries in {"sources": {"howto100m": {"title": "HowTo100M"}}, "models": {"tiny_bert": {"title": "Tiny"}}}.items():
        (tmp_path / f"{name}.yaml").write_text(json.dumps(entries))
    arguments = ["--metrics", tmp_path / "metrics.parquet", "--sources", tmp_path / "sources.yaml", "--models", tmp_path / "models.yaml",
                 "--output", tmp_path / "figure"]
    done = program("scripts.studies.strided_sop.figures.windows", *arguments)
    assert done.returncode == 0, done.stderr
    assert faults_in(monkeypatch, "scripts.studies.strided_sop.figures.windows", *arguments) == []
    points = pd.read_csv(tmp_path / "figure.csv")
    assert list(points.loc[points["model"] == "tiny_bert", "window"].unique()) == ["one caption", "10 s", "3 sentences"]
    assert set(points.loc[points["model"] == "tiny_bert", "system"]) == {"Tiny"} and "first_text" not in set(points["model"])
    at = points[points["model"] == "tiny_bert"].set_index(["window", "stride"])["seconds_apart"]
    assert at["10 s", 2] == 30 and at["one caption", 0] == 4
