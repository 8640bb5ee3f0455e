"""What a probe says that it will take, before it starts."""

from scripts.data.yaml_files import read_yaml
from scripts.plan.expected import cost_of_probe
from scripts.plan.workplan import Workplan
from tests.conftest import ROOT

FAR = {"far": {"api": "https://models.example/v1", "name": "m", "licence": "theirs"}}


def lines_of(preset: str, **given) -> list[str]:
    preset = read_yaml(ROOT / f"presets/{preset}.yaml")
    work = Workplan(preset | {"recorded": False} | given, ROOT)
    return cost_of_probe(work, 2)


def test_a_line_for_each_method_of_a_probed_model():
    """MC-TACO has 7 answers a question, asked in two sets of units; an answer has 32 tokens."""
    lines = lines_of("probe", models=FAR, model="far", study="mctaco", limit=200)
    assert lines[0].endswith("about:") and len(lines) == 5
    said = {line.split(":")[0].strip(): line for line in lines[1:]}
    assert "2 runs, 2,800 questions" in said["far, answer"]
    assert "at most 89,600 to write" in said["far, answer"]
    assert "2 runs, 400 questions" in said["far, answer_all"]
    assert not any("guess" in line for line in lines), "nobody knows how fast a server is"


def test_nothing_is_said_where_nothing_is_probed():
    assert lines_of("small") == []
