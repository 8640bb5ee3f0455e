"""The jobs of the rules, without Snakemake: options that decide a result are compared, paths and
speed are not.
"""

import json
from functools import cache

import pytest

from scripts.plan.jobs import Jobs
from scripts.plan.published import Published
from scripts.plan.workplan import Workplan
from tests.conftest import ROOT
from tests.rows import each_row


@pytest.fixture
def jobs_of(tmp_path, monkeypatch):
    """Return a function that plans the default study, with a configuration laid over it, in an
    empty folder.
    """
    monkeypatch.chdir(tmp_path)

    @cache
    def plan(changed: str) -> Jobs:
        workplan = Workplan(json.loads(changed), ROOT)
        return Jobs(workplan, Published(workplan))

    yield lambda **changed: plan(json.dumps(changed))
    assert not list(tmp_path.iterdir()), "planning wrote something"


def first(jobs: Jobs, rule: str):
    """Return the first job of a rule."""
    work = jobs.work
    experiment, run = next(
        (name, work.runs[runs[0]]) for name, runs in work.plan.experiments.items()
    )
    wildcards = {
        "clean_corpus": {"source": run.dataset.source},
        "train_run": {"study": run.study, "run": run.name},
        "build_dataset": {
            "study": run.study,
            "source": run.dataset.source,
            "dataset": run.dataset.name,
        },
        "evaluate_experiment": {"study": run.study, "experiment": experiment},
        "publish_item": {"item": next(iter(jobs.published.items))},
    }
    return getattr(jobs, rule)(**wildcards.get(rule, {}))


@each_row(
    "changed, rule, decides",
    """
        {checkpoint_seconds: 7}    | train_run           | false
        {keep: best}               | train_run           | true
        {name: other}              | train_run           | false
        {bootstrap_resamples: 177} | evaluate_experiment | true
        {name: other}              | evaluate_experiment | false
        {bootstrap_resamples: 177} | publish_page        | true
        {checkpoint_seconds: 7}    | publish_page        | false
        {name: other}              | publish_item        | false
        {mirror: /somewhere}       | clean_corpus        | false
        {seeds: [5]}               | build_dataset       | false
    """,
)
def test_what_decides_is_compared(jobs_of, changed, rule, decides):
    before, after = first(jobs_of(), rule), first(jobs_of(**changed), rule)
    assert (before.decides() != after.decides()) == decides
    assert before.identity() == after.identity()
