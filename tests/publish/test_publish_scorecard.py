"""The scorecard: the content and order of its cells, its figures, and its place on the page."""

import pandas as pd
import pyarrow as pa
import pytest
import yaml

from scripts.studies.mctaco import evaluate as mctaco
from scripts.studies.strided_sop import evaluate as strided_sop
from scripts.studies.temporal_nli import evaluate as temporal_nli
from scripts.studies.timedial import evaluate as timedial
from scripts.data.runs import facts_of
from scripts.publish.scorecard.cells import cells_of, networks_of, probe_rows, read_scores
from scripts.measure.comparisons import LIKE
from scripts.publish.compared import read_comparisons
from scripts.publish.table import signed
from tests.compared import comparison
from tests.registers import STUDIES, write_published
from tests.files import write_json
from tests.publish.publish_inputs import (
    HOSTILE,
    Inputs,
    metric_row,
    p_value_of,
    points_of,
    table_of,
)
from tests.rows import each_row

pytestmark = pytest.mark.slow

SCHEMA = pa.unify_schemas([study.SCHEMA for study in (strided_sop, temporal_nli, mctaco, timedial)])
SOURCES = yaml.safe_load("""
activitynet: {title: ActivityNet Captions, evaluate: [val_1, val_2]}
mctaco: {title: MC-TACO, evaluate: [test], predictions: {judged: {title: BERT (released)}}}
sample_mctaco: {title: Sample questions, evaluate: [test], sample: true}
temporal_nli_release: {title: released NLI sets, evaluate: [test]}
dailydialog: {title: DailyDialog, measured_on: timedial}
timedial: {title: TimeDial, evaluate: [test, extras]}
""")
MODELS = {
    "small": {"title": HOSTILE},
    "large": {"title": "Large"},
    "gpt": {"title": "GPT"},
    "old": {"title": "Old"},
    "mute": {"title": "Mute"},
    "bag_of_words": {"title": "bag of words"},
}
NETWORKS = yaml.safe_load("""
small: [encoder, 4000000]
large: [encoder, 330000000]
gpt: [decoder, 135000000]
old: [null, null]
""")
OF = yaml.safe_load("""
strided_sop: {source: activitynet, split: val_1, metric: accuracy, stride: 0, hard: false}
temporal_nli: {source: temporal_nli_release, split: test, metric: accuracy, scoring: ternary, held_out: template,
  challenge_set: temp_order}
mctaco: {source: mctaco, split: test, metric: exact_match, unit_normalization: false, draw: 0}
timedial: {source: dailydialog, measured_on: timedial, split: test, metric: two_best_accuracy, context_scope: full}
""")


def measured(
    study: str,
    model: str,
    method: str,
    value: float,
    above: tuple | None = None,
    wordings: dict | None = None,
    **more,
) -> list[dict]:
    """Return the rows of a system: its mean, the value of each wording, and its comparison with the
    control like for like (difference, ci_low, ci_high). A control is the one like for like.
    """
    same = {"model": model, "method": method, "dataset": "default"} | OF[study] | more
    row = metric_row(study, value, **{"seeds": len(wordings or ()) or 2} | same)
    if method == "control":
        row |= {"kind_of_control": LIKE, "chosen": True}
    rows = [row] + [
        row | {"seed": 0, "wording": name, "value": one, "seeds": 1}
        for name, one in (wordings or {}).items()
    ]
    return rows + ([comparison(row, "bag_of_words", (*above, p_value_of(*above)))] if above else [])


def at(stride: int) -> dict:
    return {"stride": stride, "dataset": f"stride-{stride}"}


WORDINGS = {"plain": 0.55, "then": 0.61}
LIMITED = {"dataset": "stride-0-train_pairs-4000", "train_pairs": 4000}
ROWS = [
    *(
        row
        for stride in (0, 1, 3)
        for row in [
            *measured(
                "strided_sop",
                "small",
                "train",
                0.6 + stride / 100,
                (0.05, 0.01, 0.09),
                **at(stride),
            ),
            *measured("strided_sop", "bag_of_words", "control", 0.55, **at(stride)),
        ]
    ),
    *measured("strided_sop", "small", "train", 0.99, stride=0, size_matched=3, dataset="matched"),
    *measured("strided_sop", "small", "train", 0.98, split="val_2"),
    *measured("strided_sop", "gpt", "likelihood", 0.58, (0.03, -0.01, 0.07), WORDINGS, **at(0)),
    *measured("strided_sop", "large", "train", 0.8, (0.25, 0.2, 0.3), **LIMITED),
    *measured("strided_sop", "human", "human", 0.9, metric="human_accuracy"),
    *measured("temporal_nli", "old", "train", 0.7),
    *measured("temporal_nli", "old", "hypothesis_only", 0.75),
    *measured("temporal_nli", "small", "likelihood", 0.5, wordings={"a": 0.5}),
    *measured("temporal_nli", "old", "train", 0.9, scoring="binary"),
    *measured("mctaco", "gpt", "likelihood", 0.3, wordings={"a": 0.2, "b": 0.4}),
    *measured("mctaco", "gpt", "verbalizer", 0.4, wordings={"a": 0.4, "b": 0.4}),
    *measured("mctaco", "judged", "released", 0.42, dataset="released"),
    *measured("mctaco", "of_others", "released", 0.43, dataset="llms"),  # it has its own table
    *measured("mctaco", "random", "baseline", 0.08),
    *measured("mctaco", "bag_of_words", "control", 0.2),
    *measured("mctaco", "gold", "baseline", 1.0),
    *measured("timedial", "small", "classify", 0.5, context_scope="target", dataset="target"),
    *measured("timedial", "small", "classify", 0.4),
    *measured("timedial", "small", "fill", 0.6),
    *measured("timedial", "theirs", "external", 0.7),
]
BOTH = ["scorecard", "scorecard_table"]
LEFT_OUT = [
    dict(zip(("experiment", "study", "model", "method", "reason"), ("tried", "mctaco", *row)))
    for row in [
        ("mute", "likelihood", f"it has no head {HOSTILE}"),
        ("small", "train", "it learns"),
    ]
]


class Card(Inputs):
    """A made-up probe in a folder."""

    def __init__(self, folder, program, rows: list[dict]):
        comparisons = [row for row in rows if "difference" in row]
        rows = [row for row in rows if "difference" not in row]
        super().__init__(folder, program, "all", SCHEMA, rows, comparisons)
        of = {"sources": SOURCES, "models": MODELS, "studies": STUDIES, "left_out": LEFT_OUT}
        self.write_resources(**of)
        write_published(self.resources)
        for model, (kind, parameters) in NETWORKS.items():
            facts = {"study": "mctaco", "source": "mctaco", "dataset": "default", "method": "train"}
            facts |= {"run": f"{model}-0", "model": model, "seed": 1}
            self.runs.append(f"mctaco/{model}-0")
            place = self.results / f"train/mctaco/{model}-0/run.json"
            place.parent.mkdir(parents=True)
            write_json(place, facts | ({"kind": kind, "parameters": parameters} if kind else {}))

    def cells(self) -> pd.DataFrame:
        files = [self.results / "train" / name / "run.json" for name in self.runs]
        networks = networks_of(map(facts_of, files))
        metrics = read_scores(self.metrics)
        beside = read_comparisons(self.metrics)
        return cells_of(probe_rows(metrics, STUDIES, SOURCES), metrics, beside, STUDIES, networks)


@pytest.fixture(scope="module")
def card(tmp_path_factory, program) -> Card:
    return Card(tmp_path_factory.mktemp("card"), program, ROWS)


def value_of(cells: pd.DataFrame, study: str, model: str, **more) -> float:
    """Return the value of the one cell of a study and model."""
    rows = cells[(cells["study"] == study) & (cells["model"] == model)]
    for name, value in more.items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1, rows
    return rows["value"].iloc[0]


def test_a_probe_is_the_whole_test_of_a_study(card):
    """A cell shows the smallest or largest stride of the first split, without size-matched sets;
    the full context; three labels; whole inputs.
    """
    cells = card.cells()
    assert set(cells.loc[cells["study"] == "strided_sop", "option"]) == {"0", "3"}
    assert set(cells["split"]) == {"val_1", "test"}
    assert value_of(cells, "strided_sop", "small", option="0") == 0.6
    assert value_of(cells, "temporal_nli", "old") == 0.7, (
        "not of two labels, not of the hypothesis alone"
    )
    assert value_of(cells, "timedial", "small") == 0.4, (
        "the study's first method, with the full context: not the best of four"
    )
    assert value_of(cells, "mctaco", "gpt") == 0.3, "the first of two ways to ask"
    gpt = cells.query("study == 'strided_sop' and model == 'gpt'").iloc[0]
    found = gpt["above above_low wordings lowest highest control way".split()].tolist()
    assert found == [0.03, -0.01, 2, 0.55, 0.61, "bag_of_words", "likelihood"]
    assert "mask filling" in set(cells.loc[cells["study"] == "temporal_nli", "way"]), (
        "an encoder is asked by its masks"
    )
    assert not {"gold", "bag_of_words", "random", "human"} & set(cells["model"])


def test_the_table(card):
    card.call("scorecard_table")
    table = table_of(card, "scorecard_table")
    names = "Kind|Model|Asked|Parameters|Order, stride 0|Order, stride 3|Inference, set I: order"
    assert list(table)[:7] == names.split("|")
    rows = table["Kind Model Parameters Asked".split()].to_numpy().tolist()
    assert rows[:4] == [
        ["encoders", HOSTILE, "4 M", "fine-tuned, 2 seeds"],
        ["encoders", HOSTILE, "4 M", "mask filling"],
        ["encoders", "Large", "330 M", "fine-tuned, 2 seeds"],
        ["decoders", "GPT", "135 M", "likelihood, 2 wordings"],
    ]
    models = "BERT (released)|theirs|Old|Mute|like for like|best in the paper|human"
    assert table["Model"].tolist()[4:] == models.split("|")
    stride, taco = table["Order, stride 0"].tolist(), table["Common sense, exact match"].tolist()
    assert stride == [
        "60.0 (57.0–63.0); like for like +5.0: clearly above",
        "not run",
        "80.0 (77.0–83.0); like for like +25.0: clearly above; learnt from 4,000 pairs",
        "58.0 (55.0–61.0); like for like +3.0: not clear; wordings 55.0–61.0",
        *["not run"] * 4,
        "55.0 (52.0–58.0), bag of words",
        "",
        "90.0 (87.0–93.0)",
    ]
    assert taco[0] == "left out: it learns" and taco[7] == f"left out: it has no head {HOSTILE}"
    assert taco[8:] == ["20.0 (17.0–23.0), bag of words", "43.6, RoBERTa", "75.8, in the paper"]
    nli = table["Inference, set I: order"].tolist()
    assert nli[9] == "99.8, RoBERTa (MNLI), train and evaluate", (
        "of three labels, not by the hypothesis alone"
    )
    file = card.publish / "tables/scorecard_table"
    assert HOSTILE not in file.with_suffix(".md").read_text()
    assert "\\textless{}script" in file.with_suffix(".tex").read_text()


@each_row(
    "distance, mark, verdict",
    """
        0.12  | above the control like for like | above
        0.01  | level with it, or not clear     | not clear
        -0.14 | below it                        | below
    """,
)
def test_a_mark_has_the_verdict_of_the_table_of_comparisons(
    tmp_path, program, distance, mark, verdict
):
    above = (distance, distance - 0.04, distance + 0.08)
    place = {"context_scope": "local", "dataset": "local"}
    card = Card(
        tmp_path / verdict,
        program,
        [
            *measured("timedial", "small", "classify", 0.5, above, **place),
            *measured("timedial", "bag_of_words", "control", 0.5 - distance, **place),
            *measured("timedial", "random", "control", 0.9, context_scope="full"),
        ],
    )
    for name in BOTH:
        card.call(name)
    assert points_of(card, "scorecard")["verdict"].tolist() == [verdict]
    table = table_of(card, "scorecard_table").set_index("Model").iloc[:, -2]
    assert f"like for like {signed(distance)}: " in table[HOSTILE]
    assert mark in card.drawn("scorecard")
    assert table["like for like"].startswith(f"{50 - 100 * distance:.1f}"), "of its own dataset"


def test_a_score_of_unread_answers_is_marked(tmp_path, program):
    """An exact match of 0 with 75 % of the answers unread is no accuracy."""
    answer = measured("mctaco", "gpt", "answer", 0.0, (-0.2, -0.3, -0.1))
    unread = answer[0] | {"metric": "unread_answers", "value": 0.75}
    control = measured("mctaco", "bag_of_words", "control", 0.2)
    card = Card(tmp_path, program, [*answer, unread, *control])
    for name in BOTH:
        card.call(name)
    drawn = card.drawn("scorecard")
    assert "(unread 75.0)" in drawn and "most answers could not be read" in drawn
    assert points_of(card, "scorecard")["unread"].tolist() == [0.75]
    score, experiment = table_of(card, "scorecard_table").iloc[0, -2:]
    assert "; unread 75.0" in score and experiment == answer[0]["experiment"]


def test_a_column_of_a_paper_has_models_by_studies(card):
    card.call("scorecard_column")
    table = table_of(card, "scorecard_column")
    assert table["Model"].tolist()[:2] == [
        f"{HOSTILE}, fine-tuned, 2 seeds",
        f"{HOSTILE}, mask filling",
    ]
    assert table.iloc[0]["Order, stride 0"] == "60.0 (+5.0)"
    assert table.set_index("Model").loc["like for like", "Order, stride 0"] == "55.0"


def test_without_a_model_it_says_so(tmp_path, program):
    """A study of slices, or of controls alone, is published all the same."""
    card = Card(tmp_path, program, measured("mctaco", "bag_of_words", "control", 0.3))
    for name in ("scorecard_table", "scorecard_column"):
        card.call(name)
        [said] = table_of(card, name)["Model"]
        assert said.startswith("No model has a headline")
    card.call("scorecard")
    assert points_of(card, "scorecard").empty
