"""If a user broke the files of a run, the message names the file and the remedy."""

import pytest

from scripts.data.runs import facts_of
from scripts.running.program import UserError
from tests.rows import each_row


@each_row(
    "text, said",
    """
        ''                         | broken JSON at line 1, column 1
        '{"run": "r", "run": "s"}' | the key run occurs twice
        '{}'                       | has no run; remove it and run again
        '{"run": {}}'              | has no name; remove it and run again
    """,
)
def test_broken_facts(tmp_path, text, said):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UserError, match=f"run.json: {said}"):
        facts_of(tmp_path / "run.json")["run"]["name"]
