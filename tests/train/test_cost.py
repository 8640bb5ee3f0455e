"""What a study costs: the operations of a network, hours on cards, and sums of measured costs."""

import pytest

from benchmarks.cost import Size, count
from scripts.data.yaml_files import read_yaml
from scripts.plan.workplan import Workplan
from tests.conftest import ROOT
from tests.files import write_json
from tests.rows import each_row

SIZE = Size(1000, 0, 500, 20.0, 0.25, True, "made up")
SHAPE = {
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 100,
}
MODELS = {
    "small": {"init": {"model_type": "bert"} | SHAPE},
    "made": {"mlm": {"model": "small", "experiment": "x"}},
    "unknown": {"hub": "a/b"},
}
TRAINING = {"epochs": 3, "held_out_fraction": 0.1, "batch_size": 32, "max_length": 64}
ONCE = 2 * 2 * (4 * 64 * 64 + 2 * 64 * 128) * 20 + 4 * 2 * 64 * 20**2  # one reading, by hand


def job(paradigm: str = "classify", learns: bool = True, **more) -> dict:
    return {
        "paradigm": paradigm,
        "learns": learns,
        "training": TRAINING | more.pop("training", {}),
    } | more


@each_row(
    "asked, learned, learning, scoring",
    [
        (job(), 2700, 2700 * 3 * ONCE, 3 * 600 * ONCE),
        (job(learns=False), 0, 0, 500 * ONCE),
        (job("symmetric"), 2700, 2700 * 6 * ONCE, 3 * 600 * 2 * ONCE),
        (job("fill"), 675, 675 * 3 * ONCE, 3 * 600 * ONCE),
        (job("pseudo_log_likelihood", False), 0, 0, 500 * 20 * ONCE),
        (
            job("likelihood", False, prompt={"texts": {"a": 1, "b": 2}, "domain": "d"}),
            0,
            0,
            500 * 4 * ONCE,
        ),
        (job(training={"held_out_fraction": 0}), 3000, 3000 * 3 * ONCE, 3 * 500 * ONCE),
    ],
)
def test_operations_are_counted_by_what_a_run_reads(asked, learned, learning, scoring):
    found = count(asked, SIZE, "small", MODELS)
    assert (found.learned, found.learning, found.scoring) == pytest.approx(
        (learned, learning, scoring)
    )
    assert count(asked, SIZE, "made", MODELS).learning == found.learning


def test_what_was_measured_is_summed(program, tmp_path):
    """The sum has one finished run, with its own cost, and one built table."""
    experiment = (
        "experiments: {tried: {study: strided_sop, data: {source: activitynet, stride: 0}, models: "
        "[bert_base], seeds: [1, 2], controls: false}}"
    )
    (tmp_path / "tried.yaml").write_text(f"name: tried\nrun: [tried]\n{experiment}\n")
    config = read_yaml(tmp_path / "tried.yaml")
    run = next(iter(Workplan(config, ROOT).plan.runs.values()))
    results = tmp_path / "results"
    for place, facts in {
        f"train/strided_sop/{run.name}/run.json": {
            "seconds": 600,
            "cost": {"cpu_seconds": 7200, "gpu_seconds": 360, "peak_bytes": 3e9},
        },
        "benchmarks/build/strided_sop/activitynet/stride-0.jsonl": {
            "s": 60,
            "cpu_time": 30,
            "max_rss": 1000,
        },
    }.items():
        (results / place).parent.mkdir(parents=True)
        write_json(results / place, facts)
    done = program(
        f"benchmarks.cost --configfile {tmp_path}/tried.yaml --results {results}"
    ).checked()
    assert "| train | 1 | 10.0 | 2.00 | 0.10 | 3.00 |" in done.stdout
    assert "| build | 1 | 1.0 | 0.01 | 0.00 | 1.05 |" in done.stdout
    assert "| **all** | 2 | 11.0 | 2.01 | 0.10 | 3.00 |" in done.stdout
