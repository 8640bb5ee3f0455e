"""Figures and tables of TimeDial: their content, with each program run as the rule runs it; hostile
text stays text.
"""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.data.tables import CHALLENGE, SPANS
from scripts.studies.timedial.tables import CLOZE
from scripts.measure.experiment import runs_by_dataset
from tests.ladder import compared
from scripts.studies.timedial.evaluate import SCHEMA, STUDY
from scripts.measure.study import parts_of
from scripts.publish.table import ABOVE
from scripts.studies.timedial.figures.metrics import PARADIGMS
from tests.registers import write_published
from tests.files import read_texts, write_rows
from tests.publish.publish_inputs import HOSTILE, Inputs, points_of, table_of
from tests.runs import write_run
from tests.studies.timedial.test_timedial_metrics import DATA_OPTIONS
from scripts.studies.timedial.figures.errors_by_rule import denominators
from scripts.studies.timedial.figures.metrics import published_beside
from tests.registers import PUBLISHED

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

FIGURES = "timedial_accuracy timedial_errors_by_rule".split()
PROGRAMS = [*FIGURES, "timedial_table", "timedial_examples"]
SOURCES = yaml.safe_load("""
dailydialog: {title: DailyDialog, measured_on: timedial, domain: in}
forum: {title: Forum dialogs, measured_on: timedial, domain: out}
timedial:
  title: TimeDial
  evaluate: [test, extras]
sample_dialogs:
  title: Sample dialogs
  measured_on: sample_challenge
  domain: in
  sample: {}
sample_challenge:
  title: Sample challenge
  evaluate: [test, extras]
  sample: {}
""")
# For each control: its title, and its number of right dialogs out of ten (null: all options tie).
CONTROLS = yaml.safe_load("""
random: [random, null]
in_context: [stands in the dialog, 1]
not_in_context: [does not stand in the dialog, 4]
most_frequent: [most frequent, 2]
""")
MODELS = {name: {"title": title} for name, (title, _) in CONTROLS.items()} | {
    "minilm": {"title": "MiniLM-L6"},
    "bert_base": {"title": "BERT-base"},
    "bert_large": {"title": "BERT-large"},
    "t5_base": {"title": "T5-base"},
    "t5_large": {"title": "T5-large"},
    "hostile": {"title": HOSTILE},
}
# Source, context, model, method: the number of right dialogs out of ten.
REAL = {
    ("dailydialog", scope, model, method): right + more
    for scope, more in (("target", 0), ("local", 1), ("full", 2))
    for (model, method), right in {
        ("minilm", "classify"): 3,
        ("bert_base", "fill"): 6,
        ("bert_base", "fill_zero_shot"): 4,
        ("bert_base", "pseudo_log_likelihood"): 5,
    }.items()
}
REAL |= {
    ("forum", "full", "bert_base", "fill"): 5,
    ("forum", "full", "bert_base", "fill_zero_shot"): 6,
}
SAMPLE = {
    ("sample_dialogs", "full", "hostile", "classify"): 3,
    ("sample_dialogs", "full", "hostile", "generate"): 4,
}
MANY = 40


def cloze(split: str, scope: str) -> list[dict]:
    """Make 40 instances with four options (test) or three (extras). Each rule makes wrong options
    in turn; one kind is rare.
    """
    rows = []
    for number in range(MANY):
        right = 2 if split == "test" else 1
        rules = [("phrase", "numeral", "open_ended")[(number + place) % 3] for place in range(2)]
        turns = [
            f"A: {HOSTILE}",
            f"B: It takes <MASK>, number {number}.",
            *["A: Well."] * (number % 18),
        ]
        for place, rule in enumerate([""] * right + rules):
            name = f"{split}-{number}"
            rows.append(
                {
                    "example_id": f"{name}:{place}",
                    "instance_id": name,
                    "dialog_id": name,
                    "context_scope": scope,
                    "context": "\n".join(turns if scope == "full" else turns[1:2]),
                    "label": int(place < right),
                    "candidate": f"{place + 1} hours {HOSTILE if place == 3 else ''}".strip(),
                    "rule": rule,
                    "is_original": place == 0,
                    "has_numeral": number % 2 == 0,
                    "turns": len(turns),
                    "kind": "age" if number == 0 else "duration" if number % 2 else "date",
                    "leak": "none" if number % 6 else "near",
                }
            )
    return rows


def scores(rows: list[dict], right: int | None, seed: int) -> list[float]:
    """Return scores with `right` of ten dialogs right (one more or less by seed). In the others the
    first wrong option is highest. None: all options tie.
    """
    if right is None:
        return [0.0] * len(rows)
    values, first = [], 2 if rows[0]["example_id"].startswith("test") else 1
    for row in rows:
        number, place = (int(digits) for digits in row["example_id"].split("-")[1].split(":"))
        mistaken = (number * 7 + seed) % 10 >= right
        values.append(
            -1.0
            - 0.1 * place
            - 0.001 * number
            + (2 + 0.01 * number if mistaken and place == first else 0)
        )
    return values


def measured(train, runs, build) -> list[dict]:
    """Return the rows of these runs, as the evaluation makes them."""
    parts = parts_of(runs_by_dataset(train, runs), {}, build, SOURCES)
    return [row for part in parts for row in STUDY.measure(part, 50)]


class Study(Inputs):
    """A made-up study of TimeDial with its evaluation."""

    def __init__(self, folder, program, systems: dict, seeds=(1, 2)):
        super().__init__(folder, program, "timedial", SCHEMA, [])
        self.train, self.build = (self.results / name / "timedial" for name in ("train", "build"))
        self.write_resources(sources=SOURCES, models=MODELS)
        write_published(self.resources)
        for (source, scope, model, method), right in systems.items():
            learns = method in ("classify", "fill", "generate")
            for seed in seeds if learns else (0,):
                self.make_run(
                    source, scope, model, method, right, seed, "held_out" if learns else "direct"
                )
        models = list(self.runs)
        for source, scope in dict.fromkeys((source, scope) for source, scope, _, _ in systems):
            for model, (_, right) in CONTROLS.items():
                self.make_run(
                    source,
                    scope,
                    model,
                    "control",
                    right,
                    0,
                    "last" if model == "most_frequent" else "direct",
                )
        rows = measured(self.train, self.runs, self.build)
        self.write_metrics([{"experiment": "tried"} | row for row in compared(rows)])
        self.runs = models  # as the rule gives them

    def make_run(self, source, scope, model, method, right, seed, selection) -> None:
        name = f"{source}-{scope}-{model}-{method}-{seed}"
        folder = self.build / source / ("default" if scope == "full" else scope)
        for split in ("train", "test", "extras"):
            write_rows(cloze(split, scope), folder / f"{split}.parquet", CLOZE)
        parts = []
        for split in ("test", "extras"):
            rows = cloze(split, scope)
            examples = pd.DataFrame(rows).rename(columns={"dialog_id": "group_id"})
            parts.append((split, selection, examples, np.array(scores(rows, right, seed))))
        write_run(
            self.train,
            name,
            parts,
            study="timedial",
            source=source,
            dataset=folder.name,
            model=model,
            method=method,
            seed=seed,
            train_examples=0 if selection == "direct" else 41116,
            held_out_examples=3596,
            truncated_instances={}
            if method == "control"
            else {"learned": 3, "test": 7 if scope == "full" else 0, "extras": 0},
            data_options=DATA_OPTIONS | {"context_scope": scope},
        )
        self.runs.append(name)


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> Study:
    """Make two training corpora of the real challenge with three contexts, and a sample with a
    model that has a hostile name.
    """
    inputs = Study(tmp_path_factory.mktemp("study"), program, REAL | SAMPLE)
    for name in PROGRAMS:
        assert len(inputs.call(name).stderr.splitlines()) == 1
    return inputs


def test_accuracy_is_that_of_the_metrics_beside_table_5(study):
    drawn = points_of(study, "timedial_accuracy")
    here = drawn[(drawn["origin"] == "here") & (drawn["measured_on"] == "timedial")]
    models = here[here["paradigm"] != "control"]
    assert models["paradigm title domain context_scope".split()].to_numpy().tolist() == [
        "classify MiniLM-L6 in full".split(),
        "fill BERT-base zero_shot full".split(),
        "fill BERT-base out full".split(),
        "fill BERT-base in full".split(),
        "pseudo_log_likelihood BERT-base zero_shot full".split(),
    ]
    assert models["value"].tolist() == pytest.approx([0.5, 0.6, 0.5, 0.8, 0.7]), (
        "zero-shot stands once, of DailyDialog"
    )
    assert models["n"].eq(MANY).all() and (models["ci_low"] <= models["value"]).all()
    controls = here[here["paradigm"] == "control"].set_index(["title", "domain"])["value"]
    assert controls.to_dict() == pytest.approx(
        {
            ("random", "zero_shot"): 1 / 6,
            ("stands in the dialog", "zero_shot"): 0.1,
            ("does not stand in the dialog", "zero_shot"): 0.4,
            ("most frequent", "out"): 0.2,
            ("most frequent", "in"): 0.2,
        }
    ), "one that learnt stands once for each domain"
    published = drawn[drawn["origin"] == "published"]
    assert set(published["measured_on"]) == {"timedial"} and len(published) == 17


def test_the_table_holds_tables_5_and_7_beside_the_published_numbers(study):
    rows = table_of(study, "timedial_table")
    real = (
        rows[rows["Corpus"] == "TimeDial"]
        .set_index("Paradigm Model Domain Context".split())
        .sort_index()
    )
    fill = real.loc[("mask filling", "BERT-base", "in-domain")]
    assert fill["2-best in the paper"].to_dict() == {
        "target": "57.8",
        "local": "63.2",
        "full": "67.4",
    }
    assert fill["2-best (%)"].to_dict() == {"target": "60.0", "local": "70.0", "full": "80.0"}
    assert fill["2-best cut"].to_dict() == {
        "target": "0 of 40",
        "local": "0 of 40",
        "full": "7 of 40",
    }
    assert set(fill["Not near"]) == {"33"} and fill.loc["full", "2-best, not near (%)"] == "78.8"
    assert (
        fill.loc["full", ["Training examples", "Seeds", "Instances", "Learnt from"]].tolist()
        == "41,116 2 40 DailyDialog".split()
    )
    controls = real.loc[PARADIGMS["control"]]
    assert controls.loc[
        ("random", "", ""), ["2-best (%)", "1-best (%)", "2-best 95 % interval"]
    ].tolist() == ["16.7", "33.3", "16.7–16.7"]
    assert (controls[ABOVE] == "").all() and (controls["2-best cut"] == "").all()
    assert re.fullmatch(
        r"does not stand in the dialog: \+40\.0 \([+−][\d.]+ to \+[\d.]+\)", fill.loc["full", ABOVE]
    )
    only = real[real.index.get_level_values("Model").str.endswith("(in the paper only)")]
    assert len(only) == 17 - 3 and (only["2-best (%)"] == "").all()
    assert (
        only.loc[
            ("generation", "T5-large (in the paper only)", "in-domain", "full"),
            "2-best in the paper",
        ]
        == "74.8"
    )


def test_sample_numbers_never_stand_beside_published_ones(study):
    rows = table_of(study, "timedial_table")
    sample = rows[rows["Corpus"] == "Sample challenge [sample data]"]
    assert len(sample) == len(CONTROLS) + 2 and (sample["2-best in the paper"] == "").all()
    for name in FIGURES:
        drawn = points_of(study, name)
        assert set(drawn.loc[drawn["origin"] == "published", "measured_on"]) == {"timedial"}


def test_statistics_stand_beside_table_3(tmp_path, program):
    instances = {
        "test": {
            "1": ("two hours", "A: We wait <MASK> now .\nB: Until 6 pm ?"),
            "2": ("6 PM", "A: We wait Two hours now .\nB: Until <MASK> ?"),
        },
        "extras": {"3": ("a day", "A: <MASK>\nB: Why ?\nA: So .")},
    }
    for split, dialogs in instances.items():
        same = {"source": "timedial", "split": split}
        options = [
            same
            | {
                "instance_id": name,
                "dialog": dialog,
                "option": f"{place} days" if place else option,
                "label": int(place < 2),
                "rule": "" if place < 2 else "phrase" if name == "1" else "numeral",
                "is_original": place == 0,
            }
            for name, (option, dialog) in dialogs.items()
            for place in range(4)
        ]
        spans = [
            same
            | {
                "dialog_id": name,
                "turn": turn,
                "start": 0,
                "end": 1,
                "text": "t",
                "kind": "time",
                "has_numeral": False,
                "value": "t",
            }
            for name in dialogs
            for turn in range(2)
        ]
        for folder, schema, rows in (("clean", CHALLENGE, options), ("spans", SPANS, spans)):
            write_rows(rows, tmp_path / folder / "timedial" / f"{split}.parquet", schema)
    (tmp_path / "sources.yaml").write_text("timedial: {title: TimeDial, splits: [test, extras]}")
    write_published(tmp_path)

    def call(challenge: str):
        return program(
            f"scripts.studies.timedial.figures.statistics --metrics {tmp_path} "
            f"--cleaned {tmp_path}/clean --spans {tmp_path}/spans --challenges {challenge} "
            f"--sources {tmp_path}/sources.yaml --models {tmp_path} "
            f"--output {tmp_path}/table"
        )

    call("timedial").checked()
    real = read_texts(tmp_path / "table.csv").set_index("Number").drop(columns="Corpus")
    expected = {
        "instances": "3 2 1 1,104",
        "turns of a dialog": "2.3 2.0 3.0 11.7",
        "words of a turn": "3.7 5.0 2.0 16.5",
        "different dialogs (original option in place)": "2 1 1 ",
        "temporal expressions in different dialogs": "4 2 2 1,985",
        "wrong options by phrase matching (%)": "33.3 50.0 0.0 16.3",
    }
    assert list(real) == ["All", "test", "extras", "In the paper"]
    assert {name: " ".join(real.loc[name]) for name in expected} == expected
    call("other").refused("no source other", lines=1)


def test_the_published_numbers_of_the_project_are_those_of_the_paper():
    """Tables 5 and 7 match the paper's text about them; the shares of figure 2 are whole numbers of
    options.
    """
    published = published_beside(PUBLISHED)
    key = ["paradigm", "model", "domain"]
    table_5 = published[published["table"] == "Table 5"].set_index(key)["value"] * 100
    assert len(table_5) == 17 and table_5["", "human", ""] == pytest.approx(97.8)
    assert table_5.drop(index=("", "human", "")).idxmax() == ("generate", "t5_large", "in")
    assert table_5["generate", "t5_large", "in"] == pytest.approx(74.8)
    wide = (
        published[published["table"] == "Table 7"].pivot(
            index=key, columns="context_scope", values="value"
        )
        * 100
    )
    assert len(wide) == 12
    assert (wide["local"] - wide["full"] > -0.01).sum() == 5, "equal or higher in 5 of the 12 cases"
    differences = (wide["full"] - table_5.reindex(wide.index)).round(1)
    assert differences[differences.abs() > 0.1].to_dict() == {
        ("classify", "bert_base", "in"): -1.2,
        ("classify", "bert_base", "out"): -3.2,
    }, "the paper's own tables differ"
    figure_2, counts = (
        published[published["table"] == "Figure 2"],
        denominators(PUBLISHED).astype(int),
    )
    assert len(figure_2) == 18
    assert [counts["timedial", f"rule={name}"] for name in ("phrase", "numeral", "open_ended")] == [
        446,
        1225,
        1379,
    ]
    many = figure_2["value"] * [counts["timedial", name] for name in figure_2["slice"]]
    assert (abs(many - many.round()) < 0.0005 * 1379).all()
