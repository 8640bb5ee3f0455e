"""The verdicts on the claims of the papers, through the program. In the made-up metrics a claim
holds, fails, or has no run; or a control shows it too; or it rests on sample data, on a part of a
split, or on another class of model.
"""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from scripts.data.csv_files import read_csv
from scripts.measure.comparisons import SCHEMA
from scripts.studies.strided_sop import evaluate as strided_sop
from scripts.publish.claims import outcomes_of, read_claims, verdict, weakest
from tests.compared import compared, write_comparisons
from tests.conftest import ROOT
from tests.registers import SOURCES
from scripts.data import studies
from scripts.data.yaml_files import read_yaml
from tests.files import write_rows, write_yaml
from tests.publish.publish_inputs import metric_row
from tests.rows import each_row, rows_of
from tests.plan.planned_metrics import METRICS as MEASURED, MODELS, STUDIES, planned_metrics

CLASSES = read_yaml(ROOT / "resources/classes.yaml")
NOISE = np.random.default_rng(0).normal(0, 0.01, 300)


def row(source: str, model: str, stride: int, value: float, **more) -> dict:
    """Return a number over all seeds, in the schema of sentence order; its draws are paired with
    those of all others.
    """
    same = {"source": source, "dataset": f"stride-{stride}", "stride": stride, "hard": False}
    same |= {"split": "val_1", "metric": "accuracy", "method": "train", "model": model}
    ends = {"ci_low": value - 0.02, "ci_high": value + 0.02}
    draws = value + NOISE * (1 + stride / 5)
    return metric_row("strided_sop", value, draws=[draws], seeds=3, **same) | ends | more


def line(source: str, model: str, values: list[float], **more) -> list[dict]:
    """Return one row for each stride."""
    return [row(source, model, stride, value, **more) for stride, value in enumerate(values)]


RISE, FALL, FLAT = [0.6, 0.65, 0.7], [0.7, 0.65, 0.6], [0.6, 0.6, 0.6]
CONTROL = {"method": "control"}
METRICS = [
    *line("holds", "bert_base", RISE),
    *line("holds", "bag_of_words", FLAT, **CONTROL),
    *line("fails", "bert_base", FALL),
    *line("unclear", "bert_base", FLAT),
    *line("control", "bert_base", RISE),
    *line("control", "bag_of_words", RISE, **CONTROL),
    *line("control_alone", "bag_of_words", RISE, **CONTROL),
    *line("sampled", "bert_base", RISE, sample=True),
    *line("limited", "bert_base", RISE, limit=200),
    *line("class", "mpnet_base", RISE),
    *line("other", "minilm", RISE),
    *line("both", "minilm", FALL),
    *line("both", "bert_base", RISE),
    *line("wide", "bert_base", RISE, draws=None, ci_low=0.3, ci_high=0.9),
    *line("one", "bert_base", [0.6]),
    *line("peak", "bert_base", RISE, metric="peak_accuracy"),
    *line("few", "bert_base", RISE, seeds=1),
    *line("capped", "bert_base", RISE),
    *line("capped", "bag_of_words", FLAT, **CONTROL),
]
AT_CAP = frozenset({("capped", "stride-0", "bert_base", "train")})
NO_COMPARISONS = pa.schema(SCHEMA).empty_table().to_pandas()
TREND = {
    "shape": "trend",
    "over": "stride",
    "direction": "increases",
    "control": {"shows": "same_effect"},
}
ABOVE = {"shape": "reference", "value": 58, "direction": "above", "control": {"shows": "as_good"}}
LAST = yaml.safe_load("""
shape: difference
direction: above
by: 5
same: [source, model, method]
than: {stride: 0}
control: {shows: same_effect}
""")
SHAPES = {"trend": TREND, "above": ABOVE, "last": LAST}
EXPECTED = [  # shape, source, further rows, verdict, why
    (SHAPES[shape] | changed, *rest)
    for shape, changed, *rest in rows_of("""
        trend | {} | holds | {} | reproduced | ''
        trend | {} | fails | {} | not reproduced | ''
        trend | {} | unclear | {} | not comparable | 'unclear here: the interval includes zero'
        trend | {} | control | {} | contradicted by a control | 'bag of words: 60.0 % at stride 0, 70.0 % at stride 2: +5.0 points a stride'
        trend | {} | control_alone | {} | not comparable | 'no such run; a control shows the same: bag of words'
        trend | {} | nowhere | {} | not comparable | no such run
        trend | {} | one | {} | not comparable | no comparable run beside it
        trend | {} | sampled | {} | not comparable | sample data
        trend | {} | limited | {} | not comparable | at most 200 items
        trend | {} | class | {} | reproduced | by MPNet-base (all-mpnet-base-v2), of the same class
        trend | {} | other | {} | not comparable | 'other model class: MiniLM-L6 (a small model) shows it'
        trend | {} | both | {} | reproduced | ''
        trend | {} | wide | {} | not comparable | unclear here
        above | {} | holds | {stride: 2} | reproduced | ''
        above | {value: 90} | holds | {stride: 2} | not reproduced | ''
        above | {value: 71} | holds | {stride: 2} | not comparable | 'unclear here: the interval allows both'
        above | {} | control | {stride: 2} | contradicted by a control | bag of words 70.0 %, the model 0.0 points
        last | {} | holds | {stride: 2} | reproduced | ''
        last | {by: 15} | holds | {stride: 2} | not reproduced | ''
        last | {} | control | {stride: 2} | contradicted by a control | 'bag of words: 70.0 % beside 60.0 % (0)'
        last | {direction: alike} | unclear | {stride: 2} | reproduced | ''
        last | {than: [{stride: 0}, {stride: 1}], by: 0} | fails | {stride: 2} | not reproduced | ''
        trend | {} | few | {} | reproduced | one run
        trend | {} | capped | {} | reproduced | stopped at its cap
        last | {} | capped | {stride: 2} | reproduced | stopped at its cap
        above | {} | capped | {stride: 2} | reproduced | ''
        trend | {} | peak | {metric: peak_accuracy} | reproduced | ''
    """)
]


@pytest.fixture(scope="module")
def table(tmp_path_factory, program):
    """Return the program's verdicts, one row for each of EXPECTED."""
    folder = tmp_path_factory.mktemp("claims")
    claims = [
        {
            "name": f"claim_{number}",
            "says": f"claim {number}",
            "source": "here",
            "models": ["bert_base"],
            "classes": ["encoder_base"],
            "where": {"metric": "accuracy", "source": source, "slice": "all"} | more,
        }
        | shape
        for number, (shape, source, more, _, _) in enumerate(EXPECTED)
    ]
    for claim in claims:  # claims about controls name no method
        claim["where"] |= {"method": "train"}
    write_yaml(folder / "claims.yaml", {"classes": CLASSES, "claims": claims})
    for name, entries in (("sources", SOURCES), ("models", MODELS), ("studies", STUDIES)):
        write_yaml(folder / f"{name}.yaml", entries)
    rows, comparisons = compared(METRICS, at_cap=AT_CAP)
    write_rows(rows, folder / "metrics.parquet", strided_sop.SCHEMA)
    write_comparisons(comparisons, folder / "metrics.parquet")
    program(
        f"scripts.publish.item scripts.publish.claims --metrics {folder}/metrics.parquet "
        f"--resources {folder} "
        f"--output {folder}/strided_sop_verdicts"
    ).checked()
    assert all(
        (folder / f"strided_sop_verdicts.{suffix}").exists() for suffix in ("csv", "md", "tex")
    )
    return read_csv(folder / "strided_sop_verdicts.csv")


@each_row(
    "number, wanted, why",
    [(number, wanted, why) for number, (*_, wanted, why) in enumerate(EXPECTED)],
)
def test_a_claim_gets_its_verdict(table, number, wanted, why):
    found = table.iloc[number]
    assert found["Claim"] == f"claim {number}"
    assert (found["Verdict"], found["Why"][: len(why)]) == (wanted, why)
    assert bool(why) == bool(found["Why"])
    if "sample data" in why or "no such run" in why:
        assert found["Numbers"] == ""
    elif number == len(EXPECTED) - 1:
        assert found["Numbers"].startswith("BERT-base, peak accuracy: 60.0 % at stride 0")
    elif number == 0:
        assert found["Numbers"].startswith(
            "BERT-base: 60.0 % at stride 0, 70.0 % at stride 2: +5.0 points a stride (+4."
        )


@pytest.mark.parametrize(
    "direction, value, source, least",
    [("above", 40, "fails", 0.6), ("below", 90, "holds", 0.7), ("alike", 55, "holds", 0.7)],
)
def test_of_equal_signs_the_least_change_as_claimed_is_the_weakest(direction, value, source, least):
    rows = pd.DataFrame(METRICS)
    where = {"source": source, "model": "bert_base"}
    claim = ABOVE | {"value": value, "direction": direction, "where": where}
    outcomes = outcomes_of(claim | {"by": 5 if direction != "alike" else 30}, rows, rows)
    assert len(outcomes) == 3 and {one.sign for one in outcomes} == {1}
    assert weakest(outcomes).row["value"] == least


def test_a_missing_or_broken_file_is_one_sentence(tmp_path, program):
    write_rows(METRICS, tmp_path / "metrics.parquet", strided_sop.SCHEMA)
    write_comparisons([], tmp_path / "metrics.parquet")
    given = (
        f"scripts.publish.item scripts.publish.claims --metrics {tmp_path}/metrics.parquet "
        f"--resources {tmp_path} --output {tmp_path}/strided_sop_verdicts"
    )
    program(given).refused("claims.yaml: cannot be read", lines=1)
    write_yaml(
        tmp_path / "claims.yaml", {"classes": {}, "claims": [{"name": "a", "shape": "guess"}]}
    )
    done = program(given)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "strided_sop_verdicts.csv").exists()


def shipped(study: str, folder) -> tuple[dict, list[dict]]:
    """Read the claims of a study as its program receives them."""
    (folder / "claims.yaml").write_text(json.dumps(studies.read_claims(study)))
    return read_claims(folder / "claims.yaml")


def settings_of(claim: dict) -> list[dict]:
    """Return the settings of the rows that a claim names, and of those that it compares
    them with.
    """
    than = claim.get("than", [])
    return [claim["where"], *(than if isinstance(than, list) else [than])]


@pytest.mark.parametrize("study", MEASURED)
def test_the_published_protocols_can_tell_every_claim_that_needs_no_people(study, tmp_path):
    """With presets/paper.yaml each claim finds its runs; only claims about people get `no such
    run`.
    """
    classes, claims = shipped(study, tmp_path)
    parts = [part for claim in claims for part in settings_of(claim)]
    slices = {
        name for part in parts for name in [part.get("slice", "all")] if isinstance(name, str)
    }
    metrics = planned_metrics("paper", study, sorted(slices)).assign(limit=None)
    missing = {
        claim["name"]
        for claim in claims
        if verdict(claim, metrics, NO_COMPARISONS, classes, MODELS)["why"].startswith("no such run")
    }
    assert missing <= {"activitynet_above_people", "howto100m_above_people"}
