"""The figure of an additive model of set I: it finds planted orders, and times that are not in
training stay flat.
"""

import numpy as np
import pandas as pd
import pytest

from scripts.studies.temporal_nli.figures.additive_weights import SHOWN
from scripts.studies.temporal_nli.evaluate import LABELS, SCHEMA
from scripts.studies.temporal_nli.tables import NLI
from scripts.studies.temporal_nli.times import LISTS
from tests.files import write_rows
from tests.publish.publish_inputs import Inputs, points_of, write_history
from tests.registers import FIGURES, hand_over
from tests.runs import write_run

pytestmark = pytest.mark.slow
ITEM = "temporal_nli_additive_weights"
LIST = ["source", "dataset", "list"]


def pairs_of(lists: list[str], labels: tuple[int, int] = (0, 2)) -> pd.DataFrame:
    """Return all pairs of different times of these lists, with every tenth year. labels: the label
    of pairs whose hypothesis names the later time, and that of the others.
    """
    rows = []
    for name in lists:
        _, size, (times, _), preposition = LISTS[name]
        places = range(0, size, 10 if name == "year" else 1)
        rows += [
            {
                "text_a": f"The dam burst {preposition} {times[first]}.",
                "text_b": f"The dam burst before {times[second]}.",
                "label": labels[second < first],
            }
            for first in places
            for second in places
            if first != second
        ]
    return pd.DataFrame(rows)


class NliStudy(Inputs):
    """Runs of temporal NLI with their datasets, without metrics."""

    def __init__(self, folder, program):
        super().__init__(folder, program, "temporal_nli", SCHEMA, [])
        hand_over(self.resources, "temporal_nli", FIGURES)

    def write_pairs(self, source: str, dataset: str, split: str, pairs: pd.DataFrame) -> None:
        file = self.results / "build/temporal_nli" / source / dataset / f"{split}.parquet"
        known = dict.fromkeys(NLI.names) | {"challenge_set": "temp_order"}
        write_rows([known | row for row in pairs.to_dict("records")], file, NLI)

    def make_run(self, source, dataset, seed, pairs, wrong: int = 0, held_out="template") -> None:
        """Write a run that is wrong on the first pairs."""
        number = np.arange(len(pairs))
        examples = pairs if "group_id" in pairs else pairs.assign(example_id="e", group_id="t")
        predicted = (examples["label"] + (number < wrong)) % 3
        options = {"challenge_set": "temp_order", "test_templates": None, "held_out": held_out}
        facts = {"source": source, "dataset": dataset, "model": "roberta_large_mnli", "seed": seed}
        facts |= {"study": "temporal_nli", "method": "train", "labels": LABELS}
        facts |= {"label_columns": [0, 1, 2], "data_options": options, "splits": ["train", "test"]}
        scores = np.log(np.where(np.eye(3)[predicted], 0.8, 0.1))
        part = ("test", "held_out", examples, scores)
        name = f"{source}-{dataset}-{seed}"
        trained = self.results / "train/temporal_nli"
        self.runs.append(write_run(trained, name, [part], **facts))
        write_history([], trained / name, {"training": {}})


@pytest.fixture(scope="module")
def points(tmp_path_factory, program) -> pd.DataFrame:
    """Make a study whose generated set has each list, and one set without weekdays; labels of the
    released set are exchanged.
    """
    study = NliStudy(tmp_path_factory.mktemp("study"), program)
    for source, dataset, held_out, pairs in (
        ("event_templates", "temp_order", "template", pairs_of(SHOWN)),
        ("event_templates", "temp_order-list", "list", pairs_of(SHOWN[1:])),
        ("temporal_nli_release", "temp_order", "template", pairs_of(SHOWN, labels=(2, 0))),
    ):
        study.write_pairs(source, dataset, "train", pairs)
        study.make_run(source, dataset, 1, pairs.head(1), held_out=held_out)
    study.call(ITEM)
    return points_of(study, ITEM)


def test_weights_follow_the_order_that_the_labels_have(points):
    share = points.groupby(LIST)["in_order"].first().unstack()
    assert (share.loc[("event_templates", "temp_order")] > 0.9).all()
    assert (share.loc[("temporal_nli_release", "temp_order")] < 0.1).all()
    assert share.loc[("event_templates", "temp_order-list"), "weekday"] == 0.5
    assert (share.loc[("event_templates", "temp_order-list"), SHOWN[1:]] > 0.9).all()


def test_times_that_training_lacks_are_marked_and_flat(points):
    weekdays = points[(points["dataset"] == "temp_order-list") & (points["list"] == "weekday")]
    assert not weekdays["in_training"].any()
    assert weekdays.groupby("sentence")["weight"].agg(np.ptp).max() < 1e-9
    learnt = points[points["dataset"] == "temp_order"]
    years = learnt[learnt["list"] == "year"]
    assert (years["in_training"] == (years["time"].astype(int) % 10 == 0)).all()
    assert learnt.loc[learnt["list"] != "year", "in_training"].all()
