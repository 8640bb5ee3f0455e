"""The terminal's text about a job."""

import pytest

from scripts.running.terminal import in_words

PARAMS = "Params have changed since last execution: Union of params: before: {} now: {} "
PROGRAM = "python -m scripts.studies.mctaco.evaluate @arguments --log x"
SEVERAL = "python -m scripts.running.several a b"


@pytest.mark.parametrize(
    "reason, command, said",
    [
        (
            PARAMS.format("'0123456789ab'", "'ba9876543210'"),
            PROGRAM,
            "code of studies/mctaco/evaluate.py changed",
        ),
        (PARAMS.format("'0123456789ab'", "'ba9876543210'"), SEVERAL, "code changed"),
        (PARAMS.format("'{\"a\": 1}'", "'{\"a\": 2}'"), PROGRAM, "settings changed"),
        (
            PARAMS.format(
                "'scripts.a.ranges@0123456789ab scripts.a.table@0123456789ab'",
                "'scripts.a.ranges@ba9876543210 scripts.a.table@0123456789ab'",
            ),
            SEVERAL,
            "code of a/ranges.py changed",
        ),
        ("Missing output files: x", PROGRAM, "Missing output files: x"),
    ],
)
def test_why_a_job_would_run(reason, command, said):
    assert in_words(reason, command) == said
