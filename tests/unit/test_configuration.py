"""A wrong configuration is refused in one sentence that says what to write; a right one gives stable runs."""

import copy

import pytest
import yaml

from scripts.common.configuration import check, resolve
from scripts.common.program import UserError
from tests.conftest import ROOT
from tests.rows import each_row

SCHEMA = yaml.safe_load((ROOT / "resources/schemas/config.schema.yaml").read_text())
SOURCES = yaml.safe_load((ROOT / "resources/sources.yaml").read_text())
MODELS = yaml.safe_load((ROOT / "resources/models.yaml").read_text())
STUDIES = yaml.safe_load((ROOT / "resources/studies.yaml").read_text())


def default() -> dict:
    return yaml.safe_load((ROOT / "config.yaml").read_text())


def only(name: str) -> dict:
    """The default configuration with one of its experiments running."""
    return default() | {"run": [name]}


def overlaid(under: dict, over: dict) -> dict:
    """As Snakemake lays one configuration over another: mappings by key, all else replaced."""
    made = dict(under)
    for key, value in over.items():
        made[key] = overlaid(made[key], value) if isinstance(value, dict) and isinstance(made.get(key), dict) else value
    return made


def plan(config: dict):
    check(config, SCHEMA)
    return resolve(config, SOURCES, MODELS, STUDIES)


@pytest.mark.parametrize("preset", [None, "small", "paper"])
def test_default_and_presets_are_valid(preset):
    over = yaml.safe_load((ROOT / f"presets/{preset}.yaml").read_text()) if preset else {}
    resolved = plan(overlaid(default(), over))
    assert set(resolved.experiments) == set((over or default())["run"])
    assert all(name in resolved.runs for names in resolved.experiments.values() for name in names)


@each_row("change, said", [
    ({"trainings": {}}, "unknown key trainings at the top level; did you mean training?"),
    ({"training": {"learning_rat": 0.1}}, "unknown key learning_rat at training; did you mean learning_rate?"),
    ({"training": {"learning_rate": "3e-5"}}, "YAML reads 3e-5 as text; write `training: {learning_rate: 3.0e-5}`"),
    ({"training": {"epochs": "3"}}, "--config gives nested numbers as text"),
    ({"training": {"epochs": 0}}, "training.epochs: 0 is less than the minimum of 1"),
    ({"seeds": []}, "seeds"),
    ({"device": "tpu"}, "device: 'tpu' is not one of"),
    ({"run": ["sample_sopp"]}, "run names sample_sopp, which is no experiment; did you mean sample_sop?"),
    ({"experiments": {"sample_sop": {"study": "strided_sopp"}}}, "did you mean strided_sop?"),
    ({"experiments": {"sample_sop": {"models": ["tiny_bart"]}}}, "no model tiny_bart; did you mean tiny_bert?"),
    ({"experiments": {"sample_sop": {"data": {"source": "activitynt"}}}}, "did you mean activitynet?"),
    ({"experiments": {"sample_sop": {"data": {"strid": 1}}}}, "unknown key strid; did you mean stride?"),
    ({"experiments": {"sample_sop": {"data": {"stride": [0, -1]}}}}, "stride: -1 is less than the minimum of 0"),
    ({"experiments": {"sample_sop": {"data": {"stride": "1e0"}}}}, "is the text '1e0', not a number"),
    ({"experiments": {"sample_sop": {"traning": {}}}}, "did you mean training?"),
    ({"experiments": {"sample_sop": {"methods": ["direct"]}}}, "strided_sop has no method direct; known: train"),
    ({"experiments": {"sample_nli": {"methods": ["hypothesis"]}}}, "did you mean hypothesis_only?"),
    ({"experiments": {"sample_nli": {"data": {"source": "generate"}}}}, "did you mean generated?"),
    ({"experiments": {"sample_nli": {"data": {"source": "activitynet"}}}}, "temporal_nli reads event_templates or nli"),
    ({"experiments": {"sample_nli": {"data": {"challenge_set": "temp_orders"}}}}, "challenge_set: 'temp_orders' is not one of"),
])
def test_a_wrong_configuration_is_refused(change, said):
    with pytest.raises(UserError) as refused:
        plan(overlaid(default(), change))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_key_shows_what_to_write():
    config = default()
    del config["training"]["epochs"]
    with pytest.raises(UserError, match=r"key epochs is missing at training; write `training: \{epochs: …\}`"):
        plan(config)


def test_runs_are_their_settings():
    first = plan(only("sample_sop"))
    changed = only("sample_sop")
    changed["experiments"] = {"sample_sop": dict(reversed(changed["experiments"]["sample_sop"].items()))}
    assert list(plan(changed).runs) == list(first.runs), "the order of keys must not matter"
    for setting in ({"epochs": 9}, {"learning_rate": 0.5}):
        other = plan(overlaid(only("sample_sop"), {"experiments": {"sample_sop": {"training": setting}}}))
        assert not set(other.runs) & set(first.runs)
    more = only("sample_sop") | {"seeds": [1, 2, 3]}
    assert set(first.runs) < set(plan(more).runs)


def test_two_experiments_share_a_run():
    config = default()
    config["experiments"]["again"] = copy.deepcopy(config["experiments"]["sample_sop"])
    config["experiments"]["again"]["data"]["stride"] = 0
    config["run"] = ["sample_sop", "again"]
    both = plan(config)
    assert set(both.experiments["again"]) < set(both.experiments["sample_sop"])
    assert len(both.runs) == len(both.experiments["sample_sop"])


def test_a_method_that_does_not_learn_is_one_run():
    """Neither the seeds nor the settings of learning make another; what it reads and how far does."""
    config = overlaid(only("sample_nli"), {"experiments": {"sample_nli": {"methods": ["direct", "train"]}}})
    runs = plan(config).runs
    direct = {name for name, run in runs.items() if run.method == "direct"}
    assert len(direct) == 3 and len(runs) == 3 + 3 * 2
    for change in ({"seeds": [7, 8]}, {"training": {"epochs": 9}}):
        assert direct < set(plan(overlaid(config, {"experiments": {"sample_nli": change}})).runs)
    longer = plan(overlaid(config, {"experiments": {"sample_nli": {"training": {"max_length": 65}}}})).runs
    assert not direct & set(longer)


def test_methods_differ_and_short_names_of_sources_stand_for_sources():
    runs = plan(only("sample_nli")).runs.values()
    assert {run.method for run in runs} == {"train", "hypothesis_only"}
    assert {run.dataset.folder for run in runs} == {
        f"results/build/temporal_nli/event_templates/{name}-train_templates-6-test_templates-4"
        for name in ("temp_order", "temp_duration", "cross_unit")}
    assert len({run.name for run in runs}) == 3 * 2 * 2
