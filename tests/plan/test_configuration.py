"""A wrong configuration is refused in one sentence with the remedy; a right one gives
stable runs.
"""

import contextlib
import functools
import json
import operator

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scripts.data.yaml_files import read_yaml
from scripts.plan.configuration import resolve
from scripts.running.program import UserError
from scripts.plan.schemas import VALIDATOR, checked
from scripts.plan.settings import Configuration
from scripts.plan.workplan import Workplan
from tests.conftest import ROOT
from tests.registers import MODELS, SOURCES, STUDIES
from tests.rows import each_row
from tests.rows import rows_of, texts_of


def default() -> dict:
    return read_yaml(ROOT / "config.yaml")


def only(name: str) -> dict:
    """Return the default configuration with only one of its experiments running."""
    return default() | {"run": [name]}


def overlaid(under: dict, over: dict) -> dict:
    """Lay one configuration over another like Snakemake: merge mappings by key, replace all
    else.
    """
    merged = dict(under)
    for key, value in over.items():
        merged[key] = (
            overlaid(merged[key], value)
            if isinstance(value, dict) and isinstance(merged.get(key), dict)
            else value
        )
    return merged


def without_controls(name: str) -> dict:
    """Return the default configuration with only one of its experiments running, without the
    study's controls.
    """
    return overlaid(only(name), {"experiments": {name: {"controls": False}}})


def unknown(name: str, entry: dict, needed: bool) -> None:
    """Give no facts of a model, for plans that do not need them."""


def plan(config: dict, sources=SOURCES, models=MODELS, studies=STUDIES):
    return resolve(checked(Configuration, config), sources, models, studies, [], unknown)


def refused(config: dict, **resources) -> str:
    """Return the one sentence that refuses a configuration."""
    with pytest.raises(UserError) as error:
        plan(config, **resources)
    assert "\n" not in str(error.value)
    return str(error.value)


def read(text) -> dict:
    """Read a piece of a configuration from YAML; return other values unchanged."""
    return yaml.safe_load(text) if isinstance(text, str) else text


@each_row(
    "change, said",
    [
        *texts_of("""
            trainings: {} | unknown key trainings at the top level; did you mean training?
            training: {learning_rate: 3e-5} | YAML reads 3e-5 as text; write `training: {learning_rate: 3.0e-5}`
            experiments: {sample_mctaco: {data: {unit_normalization: 'false'}}} | is the text 'false', not true or false: --config gives nested values as text
            {device: tpu, seeds: []} | device: 'tpu' is not one of ['auto', 'cpu', 'gpu'] (auto: a GPU where one is visible; gpu: refuse to train without one); write `device: …`; also: seeds
            run: [sample_sopp] | run names sample_sopp, which is no experiment; did you mean sample_sop?
            experiments: {sample_sop: {data: {strid: 1}}} | unknown key strid; did you mean stride?
            experiments: {sample_sop: {data: {stride: 1e0}}} | is the text '1e0', not a number
            experiments: {sample_sop: {methods: [direct]}} | strided_sop has no method direct; known: answer, answer_blind
            experiments: {sample_nli: {data: {source: [generated, event_templates]}}} | source names event_templates twice
            seeds: 3 | seeds must be a list, not 3 (one run for each seed: [1, 2, 3] are three); write `seeds: [3]`
            1: x | the top level has the key 1, which YAML does not read as text
            mirror: 2020-01-01 | mirror is a date to YAML (2020-01-01); write it in quotes
            training: {weight_decay: .nan} | training.weight_decay is nan, not a finite number
            experiments: {Mine: {}} | experiments has the key Mine, which is refused: lower-case letters
        """),
        ({"training": {"epochs": 2**20000}}, "is a number of 20001 bits"),
        ("name: ../up", "the study's name, used in paths"),
        ('experiments: {"mine\\n": {}}', r"has the key 'mine\n', which is refused"),
        ('run: "a\\nb"', r"""run is the text 'a\nb', not a list; write `run: ["a\nb"]`"""),
        ('mirror: "a\\0b"', "holds the invalid character '\\x00'"),
        ({"experiments": {"sample_sop": {"models": ["m" * 10**6]}}}, "no model 'mmmmmm"),
        *(
            ({"experiments": {"sample_sop": {"data": data}}}, said)
            for data, said in [
                *rows_of("""
                    {stride: []}        | 'data: stride is an empty list; name one level or more'
                    {stride: [1, 1.0]}  | 'stride is 1.0, not an integer; write `stride: 1`'
                    {stride: [1, 2, 1]} | 'data: stride names 1 twice'
                """),
                (
                    {"max_videos": list(range(1, 60_000))},
                    "data: max_videos has 59,999 levels, and at most 1,000 are allowed",
                ),
                (
                    {"max_videos": list(range(1, 900)), "label_seed": list(range(10))},
                    "asks for 53,940 runs, and at most 50,000 are allowed",
                ),
            ]
        ),
    ],
)
def test_a_wrong_configuration_is_refused(change, said):
    assert said in refused(overlaid(default(), read(change)))


def test_a_value_that_holds_itself():
    config = default()
    config["training"]["dropout"] = config["training"]
    assert "refers to itself" in refused(config)


def places(value, path=()):
    """Yield the paths to all values in a configuration."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield from places(inner, (*path, key))


PLACES = [path for path in places(default()) if path]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-2, 5),
    st.just(10**30),
    st.floats(),
    st.text(max_size=8),
    st.dates(),
    st.binary(max_size=3),
    st.sampled_from(
        [
            *(
                "activitynet generated temp_order train mlm tiny_bert tiny_bert_dialogs sample_sop "
                "sample_dialogs_mlm timedial 3e-5 1e400 .."
            ).split(),
            "",
            "\n",
            "a\nb",
            "\ud800",
            "$(touch x)",
        ]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(SCALARS.filter(lambda key: key == key), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(suppress_health_check=list(HealthCheck), derandomize=True)
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=2))
def test_any_value_at_any_place_gives_a_plan_or_one_sentence(changes):
    config = default()
    for path, value in changes:
        # the previous change removed this place
        with contextlib.suppress(KeyError, IndexError, TypeError):
            functools.reduce(operator.getitem, path[:-1], config)[path[-1]] = value
    try:
        plan(config)
    except UserError as error:
        assert "\n" not in str(error) and 20 < len(str(error)) < 1500


@settings(suppress_health_check=list(HealthCheck), derandomize=True)
@given(path=st.sampled_from(PLACES), value=VALUES)
def test_the_schema_allows_what_the_model_allows(path, value):
    """The model checks a configuration. Editors check it by the schema, which messages read too."""
    with contextlib.suppress(TypeError, ValueError):  # values that JSON does not have
        written = json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        config = default()
        functools.reduce(operator.getitem, path[:-1], config)[path[-1]] = json.loads(written)
        try:
            Configuration.model_validate(config)
        except ValidationError:
            assert not VALIDATOR(Configuration.schema_of()).is_valid(config)
        else:
            assert VALIDATOR(Configuration.schema_of()).is_valid(config)


def test_equal_settings_have_equal_names():
    for one, other in rows_of("""
        {weight_decay: 0}    | {weight_decay: 0.0}
        {weight_decay: -0.0} | {weight_decay: 0}
        {gradient_clip: 1}   | {gradient_clip: 1.0}
    """):
        names = [
            list(
                plan(
                    overlaid(default(), {"experiments": {"sample_sop": {"training": training}}})
                ).runs
            )
            for training in (one, other)
        ]
        assert names[0] == names[1]
    assert all(
        type(value) is float
        for run in plan(default()).runs.values()
        for key, value in run.training.items()
        if key in ("weight_decay", "held_out_fraction")
    )


@pytest.mark.parametrize(
    "experiment, setting, renames",
    rows_of("""
        sample_sop | {held_out_fraction: 0.2} | true
        sample_nli | {held_out_fraction: 0.2} | false
        sample_nli | {early_stopping_patience: 2} | true
        sample_mctaco | {early_stopping_patience: 2} | false
        sample_dialogs_whole | {epochs: 2, weight_decay: 0.3, held_out_fraction: 0.2, compile: true} | false
        sample_sop | {compile: true} | true
    """),
)
def test_a_setting_without_effect_renames_no_run(experiment, setting, renames):
    """A split is held out (temporal_nli), nothing is held out (held_out_fraction: 0), or nothing is
    trained.
    """
    before = plan(only(experiment))
    after = plan(overlaid(only(experiment), {"experiments": {experiment: {"training": setting}}}))
    assert (set(before.experiments[experiment]) != set(after.experiments[experiment])) == renames


def test_lists_in_training_are_settings_to_try():
    """Their runs are the product of the lists; one of them is the run of an experiment that names
    these values. A method that does not learn has no settings to try.
    """

    def runs_of(name: str, **training) -> list[str]:
        change = {"experiments": {name: {"training": training}}}
        return plan(overlaid(without_controls(name), change)).experiments[name]

    grid = runs_of("sample_nli", learning_rate=[1e-3, 2e-3], batch_size=[8, 16], epochs=[4])
    single = runs_of("sample_nli", learning_rate=2e-3, batch_size=16, epochs=4)
    assert len(grid) == 4 * len(single) and set(single) < set(grid)
    assert runs_of("sample_mctaco_untrained", epochs=[1, 2]) == runs_of("sample_mctaco_untrained")
    said = refused(
        overlaid(
            only("sample_mctaco"),
            {"experiments": {"sample_mctaco": {"training": {"epochs": [1, 2]}}}},
        )
    )
    assert "sample_mctaco.training: tries 2 settings, but holds nothing out" in said


def test_how_a_run_is_trained_renames_none():
    change = {
        "report_to": "wandb",
        "runs_per_gpu": 3,
        "micro_batch_tokens": 4096,
        "deterministic": False,
        "device": "cpu",
        "checkpoint_seconds": 1,
    }
    assert list(plan(default() | change).runs) == list(plan(default()).runs)


@pytest.mark.parametrize(
    "data, study, said",
    rows_of("""
        '{source: released, challenge_set: temp_order, iterations: 3}' | temporal_nli | 'data: iterations has no effect here'
        '{source: released, challenge_set: temp_order, generation_seed: 1}' | temporal_nli | generation_seed has no effect
        '{source: mctaco, draw: [0, 1]}' | mctaco | draw has no effect here
    """),
)
def test_an_option_that_can_have_no_effect_is_refused(data, study, said):
    experiment = {"study": study, "data": read(data), "models": ["tiny_bert"]}
    assert said in refused(default() | {"run": ["mine"], "experiments": {"mine": experiment}})


def test_models_that_make_each_other():
    stage = {"study": "timedial", "data": {"source": "sample_dialogs"}, "methods": ["mlm"]}
    made = {
        name: {"mlm": {"model": other, "experiment": f"of_{name}"}, "licence": "MIT"}
        for name, other in (("one", "two"), ("two", "one"))
    }
    experiments = {f"of_{name}": stage | {"models": [made[name]["mlm"]["model"]]} for name in made}
    experiments["mine"] = stage | {"models": ["one"], "methods": ["fill"]}
    config = default() | {"run": ["mine"], "experiments": experiments}
    said = refused(config, models=MODELS | made)
    assert "experiments.of_one makes one, so it cannot start from it" in said


def test_an_adapter_makes_other_runs_and_what_it_would_be_does_not():
    """Without an adapter, rank, alpha and target change no run's name; a list of targets becomes
    one text.
    """
    config = without_controls("sample_sop")
    names = set(plan(config).runs)

    def with_training(**training):
        return plan(overlaid(config, {"experiments": {"sample_sop": {"training": training}}})).runs

    none = {"rank": 4, "alpha": 1.0, "target": ["query"], "adapter": None}
    assert set(with_training(**none, gradient_checkpointing=False)) == names
    lora = with_training(adapter="lora", target=["query", "value"])
    assert not set(lora) & names and not set(with_training(gradient_checkpointing=True)) & names
    settings = next(iter(lora.values())).training
    found = {"adapter": "lora", "rank": 16, "alpha": 32.0, "target": "query,value"}
    assert found.items() <= settings.items() and "gradient_checkpointing" not in settings
    assert not found.keys() & next(iter(plan(config).runs.values())).training.keys()
    assert "training.adapter: 'qlora' is not one of [None, 'lora']" in refused(
        overlaid(config, {"experiments": {"sample_sop": {"training": {"adapter": "qlora"}}}})
    )


@each_row("file, is_refused", [("default.yaml", True), ("Default.yml", True), ("mine.yaml", False)])
def test_a_preset_without_a_name_never_replaces_the_default_study(tmp_path, file, is_refused):
    """A file that is called default.yaml had the default study's name."""
    (tmp_path / file).write_text("seeds: [3]\n")
    refused = pytest.raises(UserError, match="has no `name`, and the name of its file is that of")
    with refused if is_refused else contextlib.nullcontext():
        assert Workplan({"seeds": [3]}, ROOT, [tmp_path / file]).name == "mine"
