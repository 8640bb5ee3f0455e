"""The plans of the default study and of all presets equal those of tests/golden/, job by job."""

import pytest

from scripts.plan.workplan import Workplan
from tests.conftest import ROOT
from tests.planned_jobs import GOLDEN, STUDIES, planned_text


# a process reads the kind of each probed model, which takes seconds
SLOW = {"probe": [pytest.mark.slow]}


@pytest.mark.parametrize(
    "study", [pytest.param(name, marks=SLOW.get(name, [])) for name in STUDIES]
)
def test_the_plan_is_the_golden_one(study):
    golden = set((GOLDEN / f"{study}.txt").read_text(encoding="utf-8").splitlines())
    planned = set(planned_text(study).splitlines())
    lost, new = sorted(golden - planned), sorted(planned - golden)
    assert not (lost or new), "\n".join(
        [
            "the plan is another one; if it should be: python -m tests.planned_jobs --write",
            *(f"- {line}" for line in lost[:20]),
            *(f"+ {line}" for line in new[:20]),
        ]
    )


def test_there_is_a_golden_plan_for_each_study_and_no_other():
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(STUDIES)


def test_a_tiny_model_takes_one_thread_and_others_the_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = {"source": "sample_activitynet", "stride": 0}
    one = {"study": "strided_sop", "data": data, "models": ["tiny_bert", "minilm"], "seeds": [1]}
    work = Workplan({"run": ["one"], "experiments": {"one": one | {"controls": False}}}, ROOT)
    threads = {
        work.runs[runs[0]].model: work.threads_of(job, 4)
        for job, runs in work.training_jobs.items()
    }
    assert threads == {"tiny_bert": 1, "minilm": 4}
