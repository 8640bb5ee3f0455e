"""Figures and tables of TimeDial: their content, with each program run as the rule runs it; hostile
text stays text.
"""

import pytest

from scripts.data.tables import CHALLENGE, SPANS
from scripts.studies.timedial.figures.errors_by_rule import error_points
from scripts.studies.timedial.figures.metrics import timedial_metrics, with_best_control
from tests.publish.recorded import Recorded
from tests.registers import MODELS, SOURCES, write_published
from tests.files import read_texts, write_rows

pytestmark = pytest.mark.slow  # many processes


def test_statistics_stand_beside_table_3(tmp_path, program):
    instances = {
        "test": {
            "1": ("two hours", "A: We wait <MASK> now .\nB: Until 6 pm ?"),
            "2": ("6 PM", "A: We wait Two hours now .\nB: Until <MASK> ?"),
        },
        "extras": {"3": ("a day", "A: <MASK>\nB: Why ?\nA: So .")},
    }
    for split, dialogs in instances.items():
        same = {"source": "timedial", "split": split}
        options = [
            same
            | {
                "instance_id": name,
                "dialog": dialog,
                "option": f"{place} days" if place else option,
                "label": int(place < 2),
                "rule": "" if place < 2 else "phrase" if name == "1" else "numeral",
                "is_original": place == 0,
            }
            for name, (option, dialog) in dialogs.items()
            for place in range(4)
        ]
        spans = [
            same
            | {
                "dialog_id": name,
                "turn": turn,
                "start": 0,
                "end": 1,
                "text": "t",
                "kind": "time",
                "has_numeral": False,
                "value": "t",
            }
            for name in dialogs
            for turn in range(2)
        ]
        for folder, schema, rows in (("clean", CHALLENGE, options), ("spans", SPANS, spans)):
            write_rows(rows, tmp_path / folder / "timedial" / f"{split}.parquet", schema)
    (tmp_path / "sources.yaml").write_text("timedial: {title: TimeDial, splits: [test, extras]}")
    write_published(tmp_path)

    def call(challenge: str):
        return program(
            f"scripts.publish.item scripts.studies.timedial.figures.statistics --metrics {tmp_path} "
            f"--cleaned {tmp_path}/clean --spans {tmp_path}/spans --challenges {challenge} "
            f"--resources {tmp_path} "
            f"--output {tmp_path}/table"
        )

    call("timedial").checked()
    real = read_texts(tmp_path / "table.csv").set_index("Number").drop(columns="Corpus")
    expected = {
        "instances": "3 2 1 1,104",
        "turns of a dialog": "2.3 2.0 3.0 11.7",
        "words of a turn": "3.7 5.0 2.0 16.5",
        "different dialogs (original option in place)": "2 1 1 ",
        "temporal expressions in different dialogs": "4 2 2 1,985",
        "wrong options by phrase matching (%)": "33.3 50.0 0.0 16.3",
    }
    assert list(real) == ["All", "test", "extras", "In the paper"]
    assert {name: " ".join(real.loc[name]) for name in expected} == expected
    call("other").refused("no source other", lines=1)


def test_the_control_beside_models_was_chosen_on_the_dataset_of_the_best(tmp_path, program):
    recorded = Recorded(tmp_path, program, "timedial", "base")
    metrics = timedial_metrics(recorded.metrics, MODELS, SOURCES)
    points = with_best_control(error_points(metrics), metrics)
    grey = points[(points["paradigm"] == "control") & (points["model"] != "random")]
    assert (points.groupby("slice")["n"].nunique() == 1).all(), "a panel names one n"
    assert set(grey["dataset"]) == {"local-occurrence-max_dialogs-1000"}
    assert set(grey["model"]) == {"search_one_option"}
    assert len(grey) == grey["slice"].nunique() == 3
