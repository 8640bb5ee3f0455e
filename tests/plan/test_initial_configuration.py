"""`initial:` and `training: objectives` in the configuration: the run that another run starts from,
the changed names, and refusals.
"""

import yaml

from tests.rows import each_row, texts_of
from tests.plan.test_configuration import default, overlaid, plan, read, refused

SOP, MCTACO = yaml.safe_load("""
- {study: strided_sop, data: {source: sample_activitynet, stride: [0, 3]}, models: [tiny_bert]}
- {study: mctaco, data: {source: sample_mctaco}, models: [tiny_bert], seeds: [1]}
""")


def configured(run: list[str], **experiments) -> dict:
    return default() | {"run": run, "experiments": experiments, "seeds": [1, 2]}


def second(experiment: dict, initial, first: dict = SOP):
    """Return the plan of an experiment that starts from another."""
    return plan(configured(["second"], first=first, second=experiment | {"initial": initial}))


def starts(resolved) -> list[tuple[dict, dict]]:
    """Return the settings of each run of `second` that is not a control, and those of the run that
    it starts from.
    """
    runs = [resolved.runs[name] for name in resolved.experiments["second"]]
    return [
        (run.settings, resolved.runs[run.begins_with].settings)
        for run in runs
        if run.method != "control"
    ]


def test_a_run_begins_with_that_of_its_own_factors():
    resolved = second(SOP | {"data": SOP["data"] | {"label_seed": 1}}, "first")
    found = starts(resolved)
    assert len(found) == 4
    assert all(
        one["seed"] == start["seed"] and one["data"]["stride"] == start["data"]["stride"]
        for one, start in found
    )
    assert resolved.initials == {"first"}
    assert "first" not in resolved.experiments
    assert len(resolved.datasets) == 4
    assert all(run.begins_with is None for run in resolved.runs.values() if run.method == "control")


def test_what_is_not_matched_is_told():
    start_of = {"experiment": "first", "stride": 3}
    [(one, start)] = starts(second(MCTACO, start_of))
    assert one["study"] == "mctaco"
    assert start["data"]["stride"] == 3
    assert start["seed"] == one["seed"] == 1
    [(one, start)] = starts(second(MCTACO, start_of | {"seed": 2}))
    assert (one["seed"], start["seed"]) == (1, 2)


def test_another_beginning_is_another_run_and_none_is_as_before():
    before = plan(configured(["alone"], alone=MCTACO))
    assert plan(configured(["alone"], alone=MCTACO, first=SOP)).runs == before.runs
    start_of = {"experiment": "first", "stride": 3}
    names = [
        set(second(MCTACO, start_of, first).experiments["second"])
        for first in (SOP, SOP | {"training": {"epochs": 3}})
    ]
    controls = {name for name in before.experiments["alone"] if "tiny_bert" not in name}
    assert names[0] & names[1] == controls
    assert not (names[0] | names[1]) & (set(before.runs) - controls)


@each_row(
    "change, said",
    texts_of("""
        second: {initial: frist} | experiments.second.initial: no experiment frist; did you mean first?
        {first: {initial: second}, second: {initial: first}} | second starts from first starts from second
        second: {models: [bert_base], initial: first} | first has no run of bert_base; it has runs of tiny_bert: name one of these
        second: {initial: first} | 2 runs of first fit, and they differ in stride; name one, such as `initial: {experiment: first, stride: 0}`
        {first: {data: {stride: 0}, training: {epochs: [1, 2]}}, second: {initial: first}} | first tries 2 settings, so it is not known
        second: {seeds: [3], initial: {experiment: first, stride: 0}} | first has no run of seed 3, stride 0 (it has seed 1, stride 0
        {first: {models: [esim_minilm]}, second: {initial: first}} | first trains no transformer, so it has no weights
    """),
)
def test_a_beginning_that_cannot_be_is_one_sentence(change, said):
    assert said in refused(
        configured(["second"], **overlaid({"first": SOP, "second": MCTACO}, read(change)))
    )


@each_row(
    "experiment, training, said",
    texts_of("""
        SOP    | objectives: {sop: 1, mlmm: 1} | no objective mlmm; did you mean mlm?
        SOP    | objectives: {sop: 0, mlm: 1}  | sop has the weight 0, so the model would not learn the task
        MCTACO | objectives: {sop: 1, mlm: 1}  | no method of this experiment learns a second one
        SOP    | {objectives: {mlm: 1}, adapter: lora} | an adapter learns no second objective
    """),
)
def test_objectives_that_cannot_be_are_one_sentence(experiment, training, said):
    one = {"SOP": SOP, "MCTACO": MCTACO}[experiment] | {"training": read(training)}
    assert said in refused(configured(["one"], one=one))
