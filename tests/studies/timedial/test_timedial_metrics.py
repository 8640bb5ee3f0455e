"""TimeDial: 2-best accuracy and errors by rule against a slow reference, baselines, a file of
scores, wrong input.
"""

import itertools

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.data.tables import PREDICTIONS, read_table, write_table
from scripts.studies.timedial.tables import CLOZE
from scripts.studies.timedial.tallies import with_time_and_form
from scripts.measure.ranking import outranked, outranked_by_chance
from tests.files import write_rows, write_yaml
from tests.rows import rows_of
from tests.runs import write_run
from tests.studies.programs import evaluate, metrics_in

# Few different scores, so that ties are frequent; labels in any order.
SCORED = st.integers(-3, 3).map(float)
INSTANCES = st.lists(
    st.one_of(
        st.tuples(st.permutations([1, 1, 0, 0]), st.lists(SCORED, min_size=4, max_size=4)),
        st.tuples(st.permutations([1, 0, 0]), st.lists(SCORED, min_size=3, max_size=3)),
    ),
    min_size=1,
    max_size=8,
)


def slow(labels: list[int], scores: list[float]) -> tuple[int, list[int]]:
    """Follow section 5: rank the options; the right ones must be first. A wrong option that ties is
    ranked before a right one.
    """
    ranked = sorted(zip(scores, labels), key=lambda one: (-one[0], one[1]))
    best = [label for _, label in ranked[: sum(labels)]]
    right = [score for score, label in zip(scores, labels) if label]
    return int(all(best)), [
        int(not label and any(score >= other for other in right))
        for score, label in zip(scores, labels)
    ]


def flat(instances) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the score, label and instance of every option."""
    number = np.repeat(np.arange(len(instances)), [len(labels) for labels, _ in instances])
    return (
        np.array([score for _, scores in instances for score in scores]),
        np.array([label for labels, _ in instances for label in labels]),
        number,
    )


def in_any_order(metric, instances, draw) -> tuple[list, list]:
    """Return a metric's values of the instances and of their options. The metric gets the options
    in another order.
    """
    given, turned = flat(instances), list(range(sum(len(labels) for labels, _ in instances)))
    draw.shuffle(turned)
    accurate, above = metric(*(values[turned] for values in given))
    return accurate.tolist(), above[np.argsort(turned)].tolist()


@given(INSTANCES, st.randoms(use_true_random=False))
def test_both_metrics_equal_a_slow_reference(instances, draw):
    wanted = [slow(*one) for one in instances]
    assert in_any_order(outranked, instances, draw) == (
        [right for right, _ in wanted],
        [error for _, errors in wanted for error in errors],
    )


@given(INSTANCES, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_chance_is_the_mean_over_all_orders_of_what_ties(instances, draw):
    wanted, all_errors = [], []
    for labels, scores in instances:
        results = []
        for order in itertools.permutations(range(len(labels))):
            pairs = list(zip(scores, order))
            results.append(slow(labels, [sorted(pairs).index(pair) for pair in pairs]))
        wanted.append(np.mean([right for right, _ in results]))
        all_errors += np.mean([errors for _, errors in results], axis=0).tolist()
    accurate, above = in_any_order(outranked_by_chance, instances, draw)
    assert accurate == pytest.approx(wanted) and above == pytest.approx(all_errors)


# ---- The runs of an experiment.

KINDS = ["date", "time", "duration", ""]
DATA_OPTIONS = yaml.safe_load("""
{context_scope: full, negatives: 3, negatives_from: pool, negatives_of: any_kind, negatives_by: text,
  negative_seed: 0, max_dialogs: null}
""")


def cloze(many: int, right: int) -> list[dict]:
    """Make instances with `right` right options and two wrong ones, and with 3 to 20 turns; every
    fourth has no known kind.
    """
    rules = ["phrase", "numeral", "open_ended"]
    return [
        {"example_id": f"{number}:{place}", "instance_id": str(number), "dialog_id": str(number)}
        | {"context": "A: We met at two o'clock.\nB: For <MASK>.", "context_scope": "full"}
        | {"candidate": f"{place + 1} hours", "label": int(place < right)}
        | {"rule": "" if place < right else rules[(number + place - right) % 3]}
        | {"is_original": place == 0, "kind": KINDS[number % 4], "has_numeral": number % 2 == 0}
        | {"turns": 3 + number % 18, "leak": "none" if number % 5 else "near"}
        for number in range(many)
        for place in range(right + 2)
    ]


def write_timedial_run(
    place,
    name: str,
    method: str,
    seed: int,
    scores: dict[str, np.ndarray],
    tables: dict[str, list[dict]],
) -> str:
    """Write a run on the dataset default of sample_dialogs. For a model that learns, all scores at
    the peak tie.
    """
    learns = method in ("classify", "fill", "generate")
    parts = []
    for split, table in tables.items():
        examples = pd.DataFrame(table).rename(columns={"dialog_id": "group_id"})
        of_labels = (
            np.stack([0 * scores[split] - 9, scores[split]], 1)
            if method == "classify"
            else scores[split]
        )
        parts += [
            (split, selection, examples, scale * of_labels)
            for selection, scale in ([("held_out", 1), ("peak", 0)] if learns else [("direct", 1)])
        ]
    facts = {"study": "timedial", "source": "sample_dialogs", "dataset": "default", "seed": seed}
    facts |= {"model": name if method == "control" else "tiny", "method": method}
    facts |= {"train_examples": 400 * learns, "held_out_examples": 40}
    return write_run(place, name, parts, data_options=DATA_OPTIONS, **facts)


@pytest.fixture
def experiment(tmp_path, program):
    """Write two seeds of a classifier, one always right and one always wrong, and an untrained
    model whose scores all tie.
    """
    tables = {"test": cloze(40, 2), "extras": cloze(12, 1)}
    folder = tmp_path / "build/sample_dialogs/default"
    for split, rows in (tables | {"train": cloze(9, 1)}).items():
        write_rows(rows, folder / f"{split}.parquet", CLOZE)
    perfect = {split: np.array([row["label"] for row in rows]) for split, rows in tables.items()}
    runs = [
        write_timedial_run(
            tmp_path,
            name,
            method,
            seed,
            {split: sign * scores for split, scores in perfect.items()},
            tables,
        )
        for name, method, seed, sign in rows_of("""
            one    | classify       | 1 | 1.0
            two    | classify       | 2 | -1.0
            three  | fill_zero_shot | 0 | 0.0
            random | control        | 0 | 0.0
        """)
    ]
    sources = tmp_path / "sources.yaml"
    of_source = {"measured_on": "sample_challenge", "domain": "in", "sample": {}}
    write_yaml(
        sources,
        {"sample_dialogs": of_source, "sample_challenge": {"evaluate": [*tables], "sample": {}}},
    )
    return lambda: evaluate(program, "timedial", tmp_path, runs, sources=sources)


def test_an_experiment_is_measured(experiment, tmp_path):
    """Of two seeds one is always right, one always wrong. A tie counts as wrong, but of a control by
    chance.
    """
    experiment().checked()
    metrics = metrics_in(tmp_path)
    classified, direct, random = (
        metrics[metrics["method"] == name] for name in ("classify", "fill_zero_shot", "control")
    )
    assert set(classified["domain"]) == {"in"} and set(direct["domain"]) == {"zero_shot"}
    assert direct["train_examples"].isna().all() and direct["seed"].isna().all()
    place = "split metric slice".split()
    by_seed = classified.set_index([*place, "seed"])["value"]
    assert [by_seed["test", "two_best_accuracy", "all", seed] for seed in (1, 2)] == [1, 0]
    tied, by_chance = (rows.set_index(place)["value"] for rows in (direct, random))
    assert tied["test", "two_best_accuracy", "all"] == 0
    assert tied["test", "wrong_above_right", "all"] == 1
    assert by_chance["test", "two_best_accuracy", "all"] == pytest.approx(1 / 6)
    assert by_chance["extras", "one_best_accuracy", "all"] == pytest.approx(1 / 3)
    means = classified[classified["seed"].isna()].set_index(place).sort_index()
    mean = means.loc[("test", "wrong_above_right", "all")]
    assert (mean["value"], mean["n"], mean["groups"]) == (0.5, 80, 40)
    n = means.loc[("test", "two_best_accuracy"), "n"]
    for slices in ("kind=", "has_numeral=", "leak=", "turns=", "form="):
        assert n.filter(like=slices).sum() == n["all"] == 40, slices


@pytest.mark.parametrize(
    "right, wrong, form",
    rows_of("""
        two days; 3 days | a week; one hour | differs
        two days; a week | 3 hours; an hour | same
        two-week; 30 - minute | 3 days; 4 days | differs
        two-week; 3 days | 4 - month; 5 years | same
        Two days; 3 days | two hours; 3 hours | same
        Two days; Four days | two hours; four hours | differs
        two days ago; three days ago | two hours; three hours | differs
        two days ago; three days ago | two hours ago; three hours | same
        a bus; a dress | a bus; a day | same
        two days | three hours; an hour | same
    """),
)
def test_a_form_differs_if_a_part_of_it_tells_the_right_options(right, wrong, form):
    """What all right options have in common, and no wrong option has, tells them."""
    texts = [(text, 1) for text in right.split("; ")] + [(text, 0) for text in wrong.split("; ")]
    options = pd.DataFrame(texts, columns=["candidate", "label"]).assign(instance=0)
    assert with_time_and_form(options)["form"].tolist() == [form]


def without_an_option(folder) -> None:
    table = read_table(folder / "one/predictions.parquet")
    write_table(
        table.filter(pc.field("example_id") != "3:2"),
        folder / "one/predictions.parquet",
        PREDICTIONS,
        {},
    )


def score_of_nan(folder) -> None:
    rows = read_table(folder / "three/predictions.parquet").to_pylist()
    rows[0]["score"] = [float("nan")]
    write_rows(rows, folder / "three/predictions.parquet", PREDICTIONS)


def without_domain(folder) -> None:
    (folder / "sources.yaml").write_text(
        "{sample_dialogs: {measured_on: a}, a: {evaluate: [test]}}"
    )


def labelled(*labels: int):
    """Return a function that gives instance 1 other labels."""

    def change(folder) -> None:
        rows = cloze(40, 2)
        for row, label in zip(rows[4:8], labels):
            row["label"] = label
        write_rows(rows, folder / "build/sample_dialogs/default/test.parquet", CLOZE)

    return change


@pytest.mark.parametrize(
    "damage, said",
    [
        (without_an_option, "belong to other options than the dataset's"),
        (score_of_nan, "is not a number"),
        (without_domain, "write `domain: in` or `domain: out`"),
        (labelled(1, 1, 1, 0), "instance 1 has"),
    ],
)
def test_what_cannot_be_measured_is_refused(experiment, tmp_path, damage, said):
    damage(tmp_path)
    experiment().refused(said, lines=1)
