"""Questions with options of one's own: a file and ten lines become a test like the others, from the
file to the page.
"""

import csv
import json
import random
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.data.tables import read_metrics, read_table
from scripts.plan.workplan import laid_over
from tests.clean.cleaned_dialogs import call as clean
from tests.rows import each_row, texts_of
from tests.train.api_server import teaching
from tests.train.test_asking import KEY
from tests.workflow.conftest import Study, checkout
from tests.workflow.test_probes import write_model

# The ten lines of a user. Below them stand further experiments of this test.
PRESET = """
name: mine
run: [mine]
sources:
  mine: {title: My trips, kind: choices, local: mine.csv, answers_are: letters, licence: MIT, citation: "Me 2026, Trips",
         columns: {question: Question, context: Text, options: [Option A, Option B, Option C], answer: Answer, category: Kind},
         published: [{row: "A model <of> mine", value: 61.5}, {row: People, model: human, value: 93}]}
experiments:
  mine: {study: choices, data: {source: mine}, models: [decoder, teacher], methods: fitting}
"""
MORE = """
bootstrap_resamples: 100
fine_tune: true
seeds: [1]
models:
  decoder: {folder: my/tiny_gpt, licence: MIT, title: A decoder}
  teacher: {api: ADDRESS, name: one, key: KEY_OF_TESTS, licence: theirs}
sources:
  coins: {title: Coins, kind: choices, local: coins.csv, answers_are: letters, licence: MIT, citation: none}
experiments:
  coins: {study: choices, data: {source: coins}, models: [bag_of_words, search_all_options], controls: false}
run: [mine, coins]
"""
HEADER = ["Kind", "Answer", "Text", "Question", "Option A", "Option B", "Option C"]
RIGHT = "at noon"  # the cue: a right option of a trip, and never a wrong one


def items(count: int, cue: bool, seed: int = 0) -> list[list[str]]:
    """Return items as rows of a table. Without a cue, the answer is a coin."""
    draw, rows = random.Random(seed), []
    for number in range(count):
        words = [f"w{draw.randrange(10**6)} w{draw.randrange(10**6)}" for _ in range(3)]
        right = draw.randrange(3)
        if cue:
            words[right] += f" {RIGHT}"
        kind = ["Long trips", "Rests"][number % 2]
        text = f'Person {number} leaves, "says" <b>one</b>.'
        rows.append([kind, "ABC"[right], text, f"When is trip {seed} over?", *words])
    return rows


def write_csv(path, rows: list[list[str]], header=HEADER) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def merged(preset: str, more: str) -> dict:
    return laid_over(yaml.safe_load(preset), yaml.safe_load(more))


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    study = checkout(tmp_path_factory.mktemp("choices"))
    write_csv(study / "mine.csv", items(60, cue=True))
    write_csv(study / "coins.csv", items(150, cue=False, seed=1))
    for name in ("train", "test"):
        write_csv(study / f"two/{name}.csv", items(3, cue=True))
    return study


@pytest.fixture(scope="module")
def page(study) -> str:
    """Run all experiments; return the page."""
    write_model(study, "tiny_gpt")
    (study / "mine.yaml").write_text(PRESET)
    with teaching() as teacher, pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEY_OF_TESTS", KEY)
        teacher.reply = lambda question, count: letter_of(question)
        (study / "more.yaml").write_text(MORE.replace("ADDRESS", teacher.address))
        study.run("--configfile", "mine.yaml", "more.yaml")
    return (study / "results/publish/mine/index.html").read_text()


def letter_of(question: str) -> str:
    """Return the letter of the option with the cue."""
    return re.search(rf"([A-C])\W[^\n]*{RIGHT}", question)[1]


def accuracies(study: Study) -> pd.Series:
    metrics = read_metrics(study / "results/evaluate/mine/metrics.parquet").to_pandas()
    means = metrics[metrics["seed"].isna() & metrics["wording"].isna()]
    means = means[(means["metric"] == "accuracy") & (means["slice"] == "all")]
    return means.set_index(["experiment", "dataset", "model", "method"])["value"]


@pytest.mark.models
@pytest.mark.slow
def test_from_a_file_and_ten_lines_to_the_page(study, page):
    assert len(PRESET.strip().splitlines()) <= 10
    assert "My trips: Me 2026, Trips" in page and "A model &lt;of&gt; mine" in page
    assert "<b>one</b>" not in page, "a text of the file is data"
    assert "MC-TACO" not in page and "Zellers" not in page
    value = accuracies(study)
    assert value["mine", "default", "teacher", "answer_all"] == 1
    assert value["mine", "default", "bag_of_words", "control"] == 1, "the cue is in each fold"
    assert value["mine", "default", "random", "control"] == pytest.approx(1 / 3)
    assert {"likelihood", "likelihood_blind"} <= set(value["mine"]["default"]["decoder"].index)
    assert "it trains the model, and the source is a test alone" in page, "fine_tune: true"
    compared = read_table(study / "results/evaluate/mine/comparisons.parquet").to_pandas()
    kinds = set(compared.loc[compared["model"] == "decoder", "kind"])
    assert {"shortcut", "like_for_like", "blind"} <= kinds
    assert study.jobs("--configfile", "mine.yaml", "more.yaml") == {}


@pytest.mark.models
@pytest.mark.slow
def test_controls_of_a_test_alone_learn_from_other_groups(study, page):
    """A control that had learnt from the items that it is measured on would know the coins."""
    value = accuracies(study)["coins"]
    assert (value < 0.5).all(), "chance is a third; three standard errors are 0.12"


COLUMNS = yaml.safe_load("""
{question: Question, context: Text, answer: Answer, category: Kind, options: [Option A, Option B, Option C]}
""")


def test_permuted_columns_give_the_same_items(program, tmp_path):
    """The order of columns, the form of the answer and a zip change no item."""
    rows = items(12, cue=True)
    forms = {
        "letters": [row[1] for row in rows],
        "texts": [row["ABCDEFG".index(row[1]) + 4] for row in rows],
    }
    forms["numbers0"] = [str("ABC".index(row[1])) for row in rows]
    found = []
    for number, (kind, answers) in enumerate(forms.items()):
        order = np.random.default_rng(number).permutation(len(HEADER))
        table = [[*row[:1], answer, *row[2:]] for row, answer in zip(rows, answers)]
        name = f"{kind}.csv"
        write_csv(
            tmp_path / name, [[row[i] for i in order] for row in table], [HEADER[i] for i in order]
        )
        files = {}
        if kind == "numbers0":
            with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
                archive.write(tmp_path / name, f"deep/{name}")
                archive.writestr("deep/other.csv", "a,b")
            files, name = {"files": {"test": f"deep/{name}"}}, "all.zip"
        layout = files | {"columns": COLUMNS, "answers_are": kind}
        given = json.dumps({"sha256": {name: None}}), "--columns", json.dumps(layout)
        output = clean(program, "choices", tmp_path, tmp_path / kind, *given)
        found.append(read_table(output / "test.parquet"))
    assert found[0].equals(found[1]) and found[0].equals(found[2])
    assert found[0]["label"].to_pandas().sum() == 12 and len(found[0]) == 36


FAULTS = texts_of("""
    answers_are: letters, columns: {answer: Key} | has no column Key (answer); its columns are Kind, Answer, Text
    answers_are: numbers0 | row 2: column Answer: 'B' is no whole number
    answers_are: letters, local: two | has 2 files; name one of them: `files: {test: …}`
    answers_are: letters, local: nowhere.csv | nowhere.csv cannot be read (No such file or directory); put the file there
    answers_are: letters, kind: chioces | no study declares the kind chioces; did you mean choices?
    columns: {answer: Answer}, train: train, evaluate: [test] | answers_are
    answers_are: letters, files: {test: other.csv} | mine.csv: holds no other.csv, since it is no zip
    answers_are: letters, published: [{row: A model, value: 161.5}] | mine.published.0.value
""")


def refused(study: Study, **config) -> str:
    """Write a configuration; return what a dry run says against it."""
    (study / "wrong.yaml").write_text(json.dumps({"name": "wrong", "run": ["mine"]} | config))
    done = study.snakemake("--dry-run", "--configfile", "wrong.yaml")
    assert done.returncode and "Traceback" not in done.stdout + done.stderr
    return done.stdout + done.stderr


@each_row("change, said", FAULTS)
def test_a_wrong_declaration_is_one_sentence_in_a_dry_run(study, change, said):
    entry = {"title": "t", "kind": "choices", "local": "mine.csv", "licence": "MIT"}
    entry |= {"citation": "none"} | yaml.safe_load(f"{{{change}}}")
    experiment = {"study": "choices", "data": {"source": "mine"}, "models": ["bag_of_words"]}
    text = refused(study, sources={"mine": entry}, experiments={"mine": experiment})
    assert said in text, text


def test_a_model_does_not_learn_from_a_test_alone(study):
    experiment = {"study": "choices", "data": {"source": "mine"}, "models": ["tiny_bert"]}
    said = refused(study, **merged(PRESET, "{}") | {"experiments": {"mine": experiment}})
    assert "train trains a model, but mine is a test alone; write `fold:" in said


def test_files_of_one_name_have_an_audit_each(study):
    for folder in ("one", "other"):
        write_csv(study / f"{folder}/set.csv", items(3, cue=True))
    config = {"name": "sets", "benchmark": ["one/set.csv", "other/set.csv"]}
    (study / "sets.yaml").write_text(json.dumps(config))
    assert len(study.jobs("--configfile", "sets.yaml")["audit_benchmark"]) == 2
