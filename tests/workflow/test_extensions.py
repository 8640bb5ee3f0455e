"""What the authors left to do (docs/extensions.md) runs to its numbers beside every control."""

import json

import pandas as pd

DATA = {
    "which_stride": {"stride": "up_to_2", "predict": ["stride", "order_and_stride"]},
    "spans": {"stride": 0, "span": 3, "train_stride": "up_to_2"},
    "windows": {"stride": 1, "context": {"seconds": 10}},
}
MEASURES = {"which_stride": "stride_accuracy", "spans": "exact_order", "windows": "accuracy"}


def test_every_control_is_measured_on_every_extension(study):
    experiments = {
        name: {"study": "strided_sop", "data": {"source": "mini"} | data, "models": ["random"]}
        for name, data in DATA.items()
    }
    config = {"name": "extensions", "run": [*DATA], "experiments": experiments}
    (study / "extensions.json").write_text(json.dumps(config))
    study.run("evaluate", "--configfile", "extensions.json")
    metrics = pd.read_parquet(study / "results/evaluate/extensions/metrics.parquet")
    for name, measure in MEASURES.items():
        rows = metrics[(metrics["experiment"] == name) & (metrics["metric"] == measure)]
        assert {"random", "bag_of_words", "search_rules", "search_words"} <= set(rows["model"])
        assert rows["value"].between(0, 1).all()
