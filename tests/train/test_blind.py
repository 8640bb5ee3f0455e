"""The blind control of a trained model, the same model without the text that it should read; and the
distance of a model that is asked to its blind control.
"""

import numpy as np
import pytest

from scripts.measure.bootstrap import resampling
from tests.compared import compared
from tests.models import job_of
from scripts.measure.tally import Replicate, Tally, metric_rows, share
from scripts.train.paradigms import classify
from tests.registers import STUDIES
from tests.train.test_likelihood import cloze, models, pairs  # noqa: F401 (a fixture)

BLIND = [
    (study, name)
    for study, entry in STUDIES.items()
    for name, method in entry["methods"].items()
    if name.endswith("_blind") and method.get("paradigm") != "likelihood"
]
# methods whose name contains the omitted field
LEARNT = [*sorted(BLIND), ("temporal_nli", "hypothesis_only")]
OF_CANDIDATES = ("timedial", "choices")


# ---- trained models


@pytest.mark.models
@pytest.mark.parametrize("study, method", LEARNT)
def test_what_learns_without_its_context_cannot_see_it(models, study, method):  # noqa: F811
    entry, table = STUDIES[study], cloze() if study in OF_CANDIDATES else pairs()
    first, *_ = entry["methods"]
    (hidden,) = set(entry["methods"][first]["inputs"]) - set(entry["methods"][method]["inputs"])
    place = table.column_names.index(hidden)
    other = table.set_column(
        place, hidden, [[f"on another day , {text}" for text in table[hidden].to_pylist()]]
    )
    reads = {}
    for name in (first, method):
        given = job_of(entry["methods"][name]["inputs"], entry["labels"])
        paradigm = classify.Paradigm(models / "bert", given, {})
        reads[name] = [
            paradigm.encode(one).fields["input_ids"].flat.tolist() for one in (table, other)
        ]
    assert reads[method][0] == reads[method][1] and reads[first][0] != reads[first][1]


# ---- the distance to the model


def test_each_wording_is_paired_with_the_same_wording_blind():
    """The model is asked in two wordings; one of them is good even without the text. The rows are
    the mean difference and that of each wording, from the same draws.
    """
    draw, rows = np.random.default_rng(1), []
    drawn = resampling(range(400), 200)
    replicates = [Replicate(0, "good"), Replicate(0, "poor")]
    for method, rates in (("likelihood", (0.7, 0.5)), ("likelihood_blind", (0.65, 0.3))):
        sums = np.stack([(draw.random(400) < rate).astype(float) for rate in rates])
        tally = Tally("all", {"accuracy": share}, sums, np.ones(400, int))
        same = {"model": "gpt", "method": method, "source": "s", "dataset": "d", "split": "test"}
        rows += [same | row for row in metric_rows([tally], replicates, drawn)]
    value = {(row["method"], row["wording"]): row["value"] for row in rows}
    found = {row["wording"]: row for row in compared(rows)[1] if row["kind"] == "blind"}
    assert set(found) == {None, "good", "poor"}
    for wording, row in found.items():
        wanted = value["likelihood", wording] - value["likelihood_blind", wording]
        assert (
            row["difference"] == pytest.approx(wanted) and row["ci_low"] < wanted < row["ci_high"]
        )
