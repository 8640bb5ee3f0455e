"""What a probe says that it will take, before it starts."""

import json

from scripts.data.yaml_files import read_yaml
from scripts.plan.expected import cost_of_probe
from scripts.plan.model_facts import PLACE, identity
from scripts.plan.workplan import Workplan
from tests.conftest import ROOT
from tests.rows import each_row

FAR = {"far": {"api": "https://models.example/v1", "name": "m", "licence": "theirs"}}


def lines_of(preset: str, **given) -> list[str]:
    preset = read_yaml(ROOT / f"presets/{preset}.yaml")
    work = Workplan(preset | {"recorded": False} | given, ROOT)
    return cost_of_probe(work, 2)


def write_facts(base: str) -> dict:
    """Write the facts of an encoder, as if they were known; return its entry."""
    entry = read_yaml(ROOT / "resources/models.yaml")[base]
    weights = [] if "init" in entry else ["model.safetensors"]
    facts = {"kind": "encoder", "abilities": ["encoder"], "weights": weights, "quantised": None}
    facts |= {"parameters": 22_700_000, "bytes": None, "identity": identity(entry, ROOT)}
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / f"{base}.json").write_text(json.dumps(facts))
    return entry


def test_a_line_for_each_method_of_a_probed_model():
    """MC-TACO has 7 answers a question, asked in two sets of units; an answer has 32 tokens."""
    lines = lines_of("probe", models=FAR, model="far", study="mctaco", limit=200)
    assert lines[0].endswith("about:") and len(lines) == 5
    said = {line.split(":")[0].strip(): line for line in lines[1:]}
    assert "2 runs, 2,800 questions" in said["far, answer"]
    assert "at most 89,600 to write" in said["far, answer"]
    assert "2 runs, 400 questions" in said["far, answer_all"]
    assert not any("guess" in line for line in lines), "nobody knows how fast a server is"


def test_questions_that_choose_a_threshold_are_counted():
    """A limit cuts them as it cuts the test split; verbalizer has two texts a candidate."""
    models = {"far": FAR["far"] | {"logprobs": True}}
    said = "\n".join(lines_of("probe", models=models, model="far", study="mctaco", limit=200))
    assert "far, likelihood: 4 runs, 11,200 questions" in said
    assert "far, verbalizer: 4 runs, 22,400 questions" in said


def test_a_first_look_and_a_blind_model_have_costs_of_their_own(tmp_path, monkeypatch):
    """A first look learns from 256 examples once. The blind model reads the answer alone."""
    monkeypatch.chdir(tmp_path)
    write_facts("minilm")
    found = {}
    for quick in (False, True):
        lines = lines_of("probe", model="minilm", study="timedial", quick=quick)
        found[quick] = {line.split(":")[0].strip(): line for line in lines[1:]}
    assert "on 16,056 examples, 3,705,432 tokens" in found[False]["minilm, classify"]
    assert "on 16,056 examples, 102,360 tokens" in found[False]["minilm, classify_blind"]
    # 256 examples, and 100 instances of four candidates in two splits, of 181 tokens
    assert "on 256 examples, 191,136 tokens" in found[True]["minilm, classify"]


@each_row("base", ["minilm", "tiny_bert"])
def test_a_time_is_guessed_for_a_model_without_weights(tmp_path, monkeypatch, base):
    monkeypatch.chdir(tmp_path)
    entry = write_facts(base)
    bare = {"bare": {"without_pretraining": base, "licence": "none"}}
    given = {"model": base} if "init" in entry else {"model": "bare", "models": bare}
    lines = lines_of("probe", study="temporal_nli", **given)
    assert lines and all("(a guess)" in line for line in lines[1:])
