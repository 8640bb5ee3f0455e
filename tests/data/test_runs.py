"""What a run left and a user then broke: told with the file and what to do,
by the programs that measure and publish.
"""

import pytest

from scripts.data.tables import PREDICTIONS, read_table
from tests.files import read_json, write_json, write_rows
from tests.fuzz import called, place
from tests.fuzz_targets import TARGETS
from tests.rows import rows_of

STUDIES = "strided_sop mctaco temporal_nli timedial".split()


@pytest.fixture
def evaluated(tmp_path):
    """A function that evaluates two small runs of a study after `change` was applied to their
    folder; returns code and last line.
    """

    def call(study: str, change) -> tuple[int, str]:
        target = TARGETS[f"evaluate runs ({study})"]
        place(target.files, tmp_path)
        change(tmp_path)
        arguments = [
            text.replace("{in}", str(tmp_path)).replace("{out}", str(tmp_path / "out"))
            for text in target.arguments
        ]
        code, said, problem = called(target.module, arguments, b"")
        assert not problem and (code == 0) == (tmp_path / "out/metrics.parquet").exists(), said
        return code, said.splitlines()[-1]

    return call


def changed(file: str, **values):
    """A change of an object of JSON; None takes the key away."""

    def change(folder):
        facts = read_json(folder / file) | values
        write_json(folder / file, {key: value for key, value in facts.items() if value is not None})

    return change


def written(file: str, text: str):
    return lambda folder: (folder / file).write_text(text)


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize(
    "change, said",
    [
        (written("r/run.json", ""), "r/run.json: broken JSON at line 1, column 1"),
        (written("r/run.json", '{"run": "r", "run": "s"}'), "r/run.json: the key run occurs twice"),
        (changed("r/run.json", seed="1"), "r/run.json: seed is '1', not a whole number from 0"),
        (changed("r/run.json", source="../x"), "r/run.json: source is '../x', not a name"),
        (changed("r/run.json", wording="a/b"), "r/run.json: wording is 'a/b', not a name"),
        (changed("r/run.json", labels=["a"]), "its run.json names 1 labels; run it again"),
        (
            written("sources.yaml", "other: {evaluate: [val]}\n"),
            "sources.yaml: no source corpus, which the runs need",
        ),
        (
            written("sources.yaml", "corpus: {evaluate: val}\n"),
            "sources.yaml: corpus: evaluate must be a list of its splits",
        ),
    ],
)
def test_broken_facts_and_sources(evaluated, study, change, said):
    code, line = evaluated(study, change)
    assert code == 1 and line.startswith("error: ") and said in line


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize(
    "column, values, said",
    rows_of("""
        score     | [[0.1], [0.1, 0.2, 0.3]] | do not all have the same number of scores
        split     | [null]                   | column split has 1 missing values
        selection | [best]                   | selection 'best' is none of held_out, last, peak, direct
    """),
)
def test_broken_predictions(evaluated, study, column, values, said):
    def change(folder):
        file = folder / "r/predictions.parquet"
        table = read_table(file)
        rows = table.to_pylist()
        for row, value in zip(rows, values):
            row[column] = value
        write_rows(rows, file, PREDICTIONS)

    code, line = evaluated(study, change)
    assert code == 1
    assert "r/predictions.parquet: " in line
    assert said in line
    assert "remove it and run again" in line
