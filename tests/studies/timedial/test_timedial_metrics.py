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
from scripts.studies.timedial.evaluate import SCHEMA
from scripts.measure.ranking import outranked, outranked_by_chance
from scripts.controls.simple import fit
from tests.files import write_rows, write_yaml
from tests.rows import rows_of
from tests.runs import write_run

AT = "raw.githubusercontent.com/google-research-datasets/TimeDial/main/test.json"

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


def options_of(context: str, candidates: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"first": context, "second": candidates, "choice_id": 0, "label": 0})


def test_how_the_controls_rank():
    context = (
        "A: It takes two hours, not 12 days.\nB: We've allowed <MASK> this summer.\n"
        "A: At 6 PM, maybe 48."
    )
    options = options_of(
        context,
        [
            "forty-eight hours",
            "two hours",
            "hours",
            "12 Days",
            "6 pm",
            "a",
            "days We've",
            "allowed this",
        ],
    )
    learnt = options_of(
        context, ["two hours", "Two  hours", "6 pm", "two hours a day", "hours"]
    ).assign(label=[1, 1, 1, 1, 0])
    found = {
        name: fit({"rank_by": [name]}, learnt, 2, False)(options)[:, 0]
        for name in ("in_context", "frequency", "shared_numbers")
    }
    assert set(fit({"predicts": "random"}, learnt, 2, False)(options)[:, 0]) == {0}
    # Whole words in any case count. Matches across turns or across the mask do not count, nor does
    # the speaker's letter.
    assert found["in_context"].tolist() == [0, 1, 1, 1, 1, 0, 0, 0]
    assert found["frequency"].tolist() == [0, 2, 0, 0, 1, 0, 0, 0]
    assert found["shared_numbers"].tolist() == [1, 1, 0, 1, 1, 0, 0, 0]


# ---- The runs of an experiment.

KINDS = ["date", "time", "duration", ""]
DATA_OPTIONS = yaml.safe_load("""
{context_scope: full, negatives: 3, negatives_from: pool, negatives_of: any_kind, negatives_by: text,
  negative_seed: 0, max_dialogs: null}
""")


def cloze(many: int, right: int, scope: str = "full") -> list[dict]:
    """Make instances with `right` right options and two wrong ones, and with 3 to 20 turns; every
    fourth has no known kind.
    """
    rows = []
    for number in range(many):
        wrong = [("phrase", "numeral", "open_ended")[(number + turn) % 3] for turn in range(2)]
        for place, rule in enumerate([""] * right + wrong):
            rows.append(
                {
                    "example_id": f"{number}:{place}",
                    "instance_id": str(number),
                    "dialog_id": str(number),
                    "context": "A: We met at two o'clock.\nB: For <MASK>.",
                    "context_scope": scope,
                    "candidate": f"{place + 1} hours",
                    "label": int(place < right),
                    "rule": rule,
                    "is_original": place == 0,
                    "kind": KINDS[number % 4],
                    "has_numeral": number % 2 == 0,
                    "turns": 3 + number % 18,
                    "leak": "none" if number % 5 else "near",
                }
            )
    return rows


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
    return write_run(
        place,
        name,
        parts,
        study="timedial",
        source="sample_dialogs",
        dataset="default",
        model=name if method == "control" else "tiny",
        method=method,
        seed=seed,
        train_examples=400 * learns,
        held_out_examples=40,
        data_options=DATA_OPTIONS,
    )


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
    sources = yaml.safe_load("""
        sample_dialogs:
          measured_on: sample_challenge
          domain: in
          sample: {}
        sample_challenge:
          evaluate: [test, extras]
          sample: {}
    """)
    write_yaml(tmp_path / "sources.yaml", sources)

    def call():
        return program(
            f"scripts.studies.timedial.evaluate --experiment e --trained {tmp_path} "
            "--contest scripts/studies/timedial/study.yaml "
            f"--build {tmp_path}/build --sources {tmp_path}/sources.yaml --resamples 200 "
            f"--output {tmp_path}/metrics.parquet",
            "--runs",
            *runs,
        )

    return call


def test_an_experiment_is_measured(experiment, tmp_path):
    experiment().checked()
    table = read_table(tmp_path / "metrics.parquet")
    assert table.schema.names == SCHEMA.names
    metrics = table.to_pandas()
    assert set(metrics["measured_on"]) == {"sample_challenge"}
    assert metrics["sample"].all()
    assert set(metrics["model"]) == {"tiny", "random"}
    classified, direct, random = (
        metrics[metrics["method"] == name] for name in ("classify", "fill_zero_shot", "control")
    )
    assert classified["train_examples"].eq(400).all() and classified["domain"].eq("in").all()
    assert direct["seed"].isna().all()
    assert set(direct["domain"]) == {"zero_shot"}
    assert direct["train_examples"].isna().all()
    place = "split metric slice seed".split()
    assert not metrics.duplicated([*place, "model", "method"]).any()
    rows = classified.set_index(place).sort_index()
    assert [rows.loc[("test", "two_best_accuracy", "all", seed), "value"] for seed in (1, 2)] == [
        1,
        0,
    ]
    assert rows.loc[("extras", "one_best_accuracy", "all", 1), ["value", "n"]].tolist() == [1, 12]
    tied, by_chance = (rows.set_index(place[:3])["value"] for rows in (direct, random))
    assert tied["test", "two_best_accuracy", "all"] == 0
    assert tied["test", "wrong_above_right", "all"] == 1, "a tie counts as wrong"
    assert by_chance["test", "two_best_accuracy", "all"] == pytest.approx(1 / 6)
    assert by_chance["extras", "one_best_accuracy", "all"] == pytest.approx(1 / 3)
    means = classified[classified["seed"].isna() & (classified["split"] == "test")].set_index(
        ["metric", "slice"]
    )
    mean = means.loc[("wrong_above_right", "all")]
    assert mean["value"] == 0.5
    assert mean["sd"] == pytest.approx(np.sqrt(0.5))
    assert mean[["n", "groups"]].tolist() == [80, 40]
    n = means.loc["two_best_accuracy", "n"]
    assert n.filter(like="kind=").to_dict() == dict.fromkeys(
        "kind=date kind=time kind=duration kind=other".split(), 10
    )
    assert n["has_numeral=true has_numeral=false leak=none leak=near".split()].tolist() == [
        20,
        20,
        32,
        8,
    ]
    assert n.filter(like="turns=").sum() == n["all"] == 40
    assert means.loc["wrong_above_right", "n"].filter(like="rule=").sum() == 80


def test_dialogs_that_are_linked_by_exchanges_are_drawn_together(experiment, tmp_path):
    """A control that chooses the same two options in both dialogs of an exchange is right in one.
    So half is right in every draw of linked dialogs. Two exchanges are linked by a shared dialog.
    """
    rows = cloze(40, 2)
    for row in rows:
        number, place = map(int, row["example_id"].split(":"))
        couple, turned = divmod(number, 2)
        row["candidate"] = f"{couple} times {(place + 2 * turned) % 4} hours"
        row["dialog_id"] = f"of couple {couple}" if number % 4 in (0, 3) else f"{number // 4}"
        row["rule"] = "" if row["label"] else "exchanged"
    tables = {"test": rows, "extras": cloze(12, 1)}
    in_first = [float(row["label"] == int(row["instance_id"]) % 2) for row in rows]
    scores = {"test": np.array(in_first), "extras": np.zeros(36)}
    write_rows(rows, tmp_path / "build/sample_dialogs/default/test.parquet", CLOZE)
    write_timedial_run(tmp_path, "random", "control", 0, scores, tables)
    experiment().checked()
    metrics = read_table(tmp_path / "metrics.parquet").to_pandas()
    found = metrics.query("model == 'random' and metric == 'two_best_accuracy' and slice == 'all'")
    assert found[["value", "ci_low", "ci_high"]].to_numpy() == pytest.approx(0.5, abs=1e-6)
    assert found[["n", "groups"]].to_numpy().tolist() == [[40, 10]]


def test_near_options_share_their_scores_for_every_system(experiment, tmp_path):
    """The right options are neighbours, and the wrong ones are. A system is sure of one right
    option and takes a wrong one before the other: joined, it is right. A sure wrong option is not.
    """
    rows, scores = cloze(40, 2), []
    for row in rows:
        number, place = map(int, row["example_id"].split(":"))
        times = (
            (["9 am", "10 am"], ["5 pm", "6 pm"])
            if number % 2
            else (["2 hours", "3 hours"], ["2 years", "3 years"])
        )
        row["candidate"] = times[place // 2][place % 2]
        sure = [9, 0, 1, 0] if number < 30 else [1, 0, 9, 0]
        scores.append(float(sure[place]))
    tables = {"test": rows, "extras": cloze(12, 1)}
    write_rows(rows, tmp_path / "build/sample_dialogs/default/test.parquet", CLOZE)
    extras = np.zeros(36)
    for name, method in (("three", "fill_zero_shot"), ("random", "control")):
        of_splits = {"test": np.array(scores), "extras": extras}
        write_timedial_run(tmp_path, name, method, 0, of_splits, tables)
    experiment().checked()
    metrics = read_table(tmp_path / "metrics.parquet").to_pandas()
    for method in ("fill_zero_shot", "control"):
        values = metrics[metrics["method"] == method].set_index(["metric", "slice"])
        assert values.loc[("two_best_accuracy", "all"), "value"].max() == 0
        joined = values.loc["joined_two_best_accuracy"]
        assert joined.loc["all", "value"] == 30 / 40
        assert joined["n"].to_dict() == {"all": 40, "time=clock": 20, "time=duration": 20}


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
