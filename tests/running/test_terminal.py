"""The terminal's text about a job."""

import pytest

from scripts.running.terminal import in_words

PARAMS = "Params have changed since last execution: Union of params: before: {} now: {} "


@pytest.mark.parametrize(
    "before, now, said",
    [
        (
            "'scripts.studies.mctaco.evaluate@0123456789ab'",
            "'scripts.studies.mctaco.evaluate@ba9876543210'",
            "code of studies/mctaco/evaluate.py changed",
        ),
        ("'{\"a\": 1}'", "'{\"a\": 2}'", "settings changed"),
        (
            "'scripts.train.run@0123456789ab scripts.train.process@0123456789ab'",
            "'scripts.train.run@ba9876543210 scripts.train.process@0123456789ab'",
            "code of train/run.py changed",
        ),
        (
            "'scripts.studies.mctaco.controls.VIEWS@0123456789ab', '1'",
            "'scripts.studies.mctaco.controls.VIEWS@ba9876543210', '2'",
            "code of studies/mctaco/controls.py and settings changed",
        ),
    ],
)
def test_why_a_job_would_run(before, now, said):
    assert in_words(PARAMS.format(before, now)) == said


def test_another_reason_stays_as_it_is():
    assert in_words("Missing output files: x") == "Missing output files: x"
