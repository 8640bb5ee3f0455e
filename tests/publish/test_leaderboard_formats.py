"""The numbers of each model in the formats of other tools. A new reader reads
lm-evaluation-harness' form; every_eval_ever's form is checked against its schema.
"""

import json

import jsonschema
import pyarrow as pa
import pytest
import yaml

from scripts.data.tables import METRICS
from tests.conftest import ROOT
from tests.files import read_json, write_rows

TASK = "mctaco:one:corpus:default:train:test"
TOLD = yaml.safe_load("""
    models:
      bert: {hub: someone/bert, revision: abc}
      other: {}
    metrics: {mctaco: {exact_match: {title: exact match, better: higher}, f1: {title: F1, better: higher}}}
    shots: {"one:bert:train": 4}
""")


def metric_rows(**changed) -> list[dict]:
    row = yaml.safe_load("""
        {experiment: one, study: mctaco, model: bert, source: corpus, dataset: default, method: train, seed: null,
          split: test, slice: all, metric: exact_match, value: 0.5, sd: null, ci_low: 0.402, ci_high: 0.598,
          n: 20, sample: false}
    """)
    return [
        row,
        row | {"metric": "f1", "ci_low": None, "ci_high": None},
        row | {"metric": "f1_minus_exact_match", "value": -0.1},
        row | {"seed": 1, "value": 0.1},
        row | {"wording": "w1", "value": 0.2},
        row | {"slice": "a=b"},
        row | {"metric": "exact_match_above_people"},
        row | {"model": "human", "value": 0.9},
        row | {"sample": True, "experiment": "two", "source": "mine", "limit": 20},
        row | changed,
    ]


def leaderboard(program, folder, rows):
    schema = METRICS
    for name in {"method", "scoring", "wording"} - set(METRICS.names):
        schema = schema.append(pa.field(name, pa.string()))
    write_rows(rows, folder / "metrics.parquet", schema)
    return program(
        f"scripts.publish.leaderboard --metrics {folder}/metrics.parquet --output {folder}/of",
        "--facts",
        json.dumps(TOLD),
    )


def read_harness(file) -> tuple[str, dict[tuple[str, str], tuple]]:
    """Return the model and, by task and `metric,filter`, the value, its standard error and its
    n-shot. Like every_eval_ever's converter, count every number but a standard error as a metric.
    """
    written, found = read_json(file), {}
    for task, entry in written["results"].items():
        for key, value in entry.items():
            metric, _, filtered = key.partition(",")
            if isinstance(value, (int, float)) and "_stderr," not in key:
                error = entry[f"{metric}_stderr,{filtered}"]
                found[task, key] = (value, error, written["n-shot"][task])
    return written["model_name"], found


def test_the_harness_file_is_read_by_its_own_rules(program, tmp_path):
    leaderboard(program, tmp_path, metric_rows(scoring="binary")).checked()
    model, found = read_harness(tmp_path / "of/bert.json")
    assert model == "someone/bert" and read_harness(tmp_path / "of/other.json") == ("other", {})
    error = pytest.approx(0.05)
    assert found == {
        (TASK, "exact_match,none"): (0.5, error, 4),
        (TASK, "exact_match,binary"): (0.5, error, 4),
        (TASK, "f1,none"): (0.5, "N/A", 4),
        (TASK, "f1_minus_exact_match,none"): (-0.1, error, 4),
        ("mctaco:two:mine:default:train:test", "exact_match,none"): (0.5, error, 0),
    }
    written = read_json(tmp_path / "of/bert.json")
    assert written["model_source"] == "hf" and written["config"]["model_sha"] == "abc"
    assert written["date"] == int((tmp_path / "metrics.parquet").stat().st_mtime)
    assert written["higher_is_better"][TASK] == {"exact_match": True, "f1": True}
    assert written["n-samples"][TASK] == {"original": 20, "effective": 20}
    (mine,) = written["results"].keys() - {TASK}
    assert written["results"][mine]["alias"].endswith(" [sample data] [at most 20 items]")


def test_the_every_eval_ever_file_fits_its_schema(program, tmp_path):
    leaderboard(program, tmp_path, metric_rows(scoring="binary")).checked()
    check = jsonschema.Draft7Validator(
        read_json(ROOT / "resources/schemas/every_eval_ever.schema.json")
    )
    files = [read_json(tmp_path / f"of/every_eval_ever/{name}.json") for name in ("bert", "other")]
    for content in files:
        assert not list(check.iter_errors(content)) and content["schema_version"] == "0.3.0"
        assert not check.is_valid(content | {"retrieved_timestamp": 1})
    written, other = files
    assert written["model_info"]["id"] == "someone/bert" and other["evaluation_results"] == []
    scores = {
        result["evaluation_result_id"].removeprefix(TASK): (
            result["score_details"]["score"],
            result["score_details"]["uncertainty"].get("confidence_interval", {}).get("lower"),
        )
        for result in written["evaluation_results"]
    }
    assert scores == {
        ":exact_match,none": (0.5, 0.402),
        ":exact_match,binary": (0.5, 0.402),
        ":f1,none": (0.5, None),
        "mctaco:two:mine:default:train:test:exact_match,none": (0.5, 0.402),
    }


def test_two_numbers_for_one_name_are_refused(program, tmp_path):
    leaderboard(program, tmp_path, metric_rows(value=0.7)).refused("has two rows", lines=1)
    assert not (tmp_path / "of").exists() or not list((tmp_path / "of").iterdir())
