"""Questions with options of one's own: a file and ten lines become a test like the others, from the
file to the page.
"""

import csv
import json
import random
import re
import subprocess
import zipfile

import numpy as np
import pandas as pd
import pytest

from scripts.data.items import items_of
from scripts.data.tables import read_metrics, read_table
from tests.forking import interpreter
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
  halves: {title: Two files, kind: choices, local: two, answers_are: letters, licence: MIT, citation: none,
           columns: {category: Kind}, files: {train: train.csv, test: test.csv}}
experiments:
  coins: {study: choices, data: {source: coins}, models: [bag_of_words, search_all_options], controls: false}
  folds: {study: choices, data: {source: mine, fold: [0, 3], limit: 12}, models: [tiny_bert], methods: [train, train_blind],
          controls: [random], training: {epochs: 1}}
  two: {study: choices, data: {source: halves, category: Long_trips}, models: [bag_of_words], controls: false}
run: [mine, coins, folds, two]
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
    from scripts.data.yaml_files import yaml
    from scripts.plan.workplan import laid_over

    return laid_over(yaml.safe_load(preset), yaml.safe_load(more))


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    study = checkout(tmp_path_factory.mktemp("choices"))
    write_csv(study / "mine.csv", items(60, cue=True))
    write_csv(study / "coins.csv", items(150, cue=False, seed=1))
    train = items(40, cue=True, seed=2)
    write_csv(study / "two/train.csv", train)
    write_csv(study / "two/test.csv", [*items(30, cue=True, seed=3), *train[:4]])
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


@pytest.mark.models
@pytest.mark.slow
def test_folds_and_two_files_have_a_training_split(study, page):
    tables = {
        (place, split): read_table(
            study / f"results/build/choices/{place}/{split}.parquet"
        ).to_pandas()
        for place in ("mine/fold-0", "mine/fold-0-limit-12", "halves/Long_trips")
        for split in ("train", "test")
        if (study / f"results/build/choices/{place}").exists()
    }
    learnt, measured = (tables["mine/fold-0-limit-12", split] for split in ("train", "test"))
    assert not set(learnt["group_id"]) & set(measured["group_id"])
    assert measured["instance_id"].nunique() <= 12 < learnt["instance_id"].nunique()
    learnt, measured = (tables["halves/Long_trips", split] for split in ("train", "test"))
    assert set(learnt["category"]) == {"Long_trips"} == set(measured["category"])
    assert not set(learnt["candidate"]) & set(measured["candidate"]), "repeated items are dropped"
    assert learnt["instance_id"].nunique() == 18 and measured["instance_id"].nunique() == 17
    value = accuracies(study)
    assert {"train", "train_blind"} <= set(value["folds"]["fold-3-limit-12"]["tiny_bert"].index)
    assert value["two", "Long_trips", "bag_of_words", "control"] == 1


def called(study: Study, command: str) -> str:
    """Run a program in the study; return what it prints."""
    done = subprocess.run(
        [interpreter(), "-m", *command.split()], cwd=study.folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.models
@pytest.mark.slow
def test_predictions_made_elsewhere_and_people_join(study, page):
    data = "results/build/choices/mine/default"
    options = read_table(study / f"{data}/test.parquet").to_pandas()
    score = options["candidate"].str.endswith(RIGHT).astype(float)
    options.assign(score=score)[["example_id", "score"]].to_csv(study / "scores.csv", index=False)
    score_file = f"--predictions scores.csv --dataset {data} --name cue"
    assert "100.0" in called(study, f"scripts.studies.choices.evaluate {score_file}")
    sheet = f"--dataset {data} --items 5 --person Ann --output sheet.csv"
    called(study, f"scripts.people.sheet {sheet}")
    assert len(pd.read_csv(study / "sheet.csv")) == 5 * options.groupby("instance_id").size().max()
    first = options[options["instance_id"].isin(options["instance_id"].unique()[:5])]
    answers = pd.DataFrame(
        {"study": "choices", "source": "mine", "dataset": "default", "split": "test"}
        | {
            "item": [f"{one:016x}" for one in items_of(first["example_id"])],
            "person": "Ann",
            "types": "",
        }
        | {"answer": first["label"].map({0: "wrong", 1: "right"})}
    )
    answers.to_csv(study / "ann.csv", index=False)
    people = {"experiments": {"mine": {"people": ["ann.csv"]}}}
    (study / "people.yaml").write_text(json.dumps(people))
    study.run("evaluate", "--configfile", "mine.yaml", "more.yaml", "people.yaml")
    assert accuracies(study)["mine", "default", "cue", "external"] == 1
    metrics = read_metrics(study / "results/evaluate/mine/metrics.parquet").to_pandas()
    human = metrics[metrics["metric"] == "human_accuracy"]
    assert len(human) and (human["value"] == 1).all()


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
        if kind == "numbers0":
            with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
                archive.write(tmp_path / name, f"deep/{name}")
                archive.writestr("deep/other.csv", "a,b")
            files, name = {"files": {"test": f"deep/{name}"}}, "all.zip"
        else:
            files = {}
        layout = files | {
            "columns": {
                "question": "Question",
                "context": "Text",
                "answer": "Answer",
                "category": "Kind",
                "options": ["Option A", "Option B", "Option C"],
            },
            "answers_are": kind,
        }
        program(
            f"scripts.clean.choices --source mine --fetched {tmp_path} --output {tmp_path}/{kind}",
            "--columns",
            json.dumps(layout),
            "--provenance",
            json.dumps({"sha256": {name: None}}),
        ).checked()
        found.append(read_table(tmp_path / kind / "test.parquet"))
    assert found[0].equals(found[1]) and found[0].equals(found[2])
    assert found[0]["label"].to_pandas().sum() == 12 and len(found[0]) == 36


FAULTS = texts_of("""
    answers_are: letters, columns: {answer: Key} | has no column Key (answer); its columns are Kind, Answer, Text
    answers_are: numbers0 | row 2: column Answer: 'B' is no whole number
    answers_are: guesses | mine.answers_are: 'guesses' is not one of
    answers_are: letters, columns: {answr: Key} | unknown key answr at mine.columns; did you mean answer?
    answers_are: letters, files: {test: other.csv}, local: two | other.csv: no such file
    answers_are: letters, local: two | has 2 files; name one of them: `files: {test: …}`
    answers_are: letters, local: nowhere.csv | nowhere.csv cannot be read (No such file or directory); put the file there
    answers_are: letters, kind: chioces | no study declares the kind chioces; did you mean choices?
    answers_are: letters, header: [a, b] | mine.csv
    columns: {answer: Answer}, train: train, evaluate: [test] | answers_are
    answers_are: letters, files: {test: other.csv} | mine.csv: holds no other.csv, since it is no zip
    answers_are: letters, published: [{row: A model, value: 161.5}] | mine.published.0.value
    answers_are: letters, published: [{row: A model, value: -1}] | mine.published.0.value
""")


@each_row("change, said", FAULTS)
def test_a_wrong_declaration_is_one_sentence_in_a_dry_run(study, change, said):
    from scripts.data.yaml_files import yaml

    entry = {
        "title": "t",
        "kind": "choices",
        "local": "mine.csv",
        "licence": "MIT",
        "citation": "none",
    }
    experiment = {"study": "choices", "data": {"source": "mine"}, "models": ["bag_of_words"]}
    config = {
        "name": "wrong",
        "run": ["mine"],
        "sources": {"mine": entry | yaml.safe_load(f"{{{change}}}")},
        "experiments": {"mine": experiment},
    }
    (study / "wrong.yaml").write_text(json.dumps(config))
    done = study.snakemake("--dry-run", "--configfile", "wrong.yaml")
    text = done.stdout + done.stderr
    assert done.returncode and said in text, text
    assert "Traceback" not in text


def test_files_of_one_name_have_an_audit_each(study):
    """A source whose declaration is wrong is refused before jobs, also where nothing else uses it."""
    for folder in ("one", "other"):
        write_csv(study / f"{folder}/set.csv", items(3, cue=True))
    config = {"name": "sets", "benchmark": ["one/set.csv", "other/set.csv"]}
    (study / "sets.yaml").write_text(json.dumps(config))
    assert len(study.jobs("--configfile", "sets.yaml")["audit_benchmark"]) == 2
    entry = {"title": "t", "kind": "choices", "local": "mine.csv", "licence": "MIT"}
    entry |= {"citation": "none", "answers_are": "numbers0"}
    (study / "sets.yaml").write_text(
        json.dumps(config | {"benchmark": "own", "sources": {"own": entry}})
    )
    done = study.snakemake("--dry-run", "--configfile", "sets.yaml")
    assert done.returncode and "column Answer: 'B' is no whole number" in done.stdout + done.stderr


def test_a_model_does_not_learn_from_a_test_alone(study):
    experiment = {"study": "choices", "data": {"source": "mine"}, "models": ["tiny_bert"]}
    config = merged(PRESET, "{}") | {"experiments": {"mine": experiment}}
    (study / "wrong.yaml").write_text(json.dumps(config))
    done = study.snakemake("--dry-run", "--configfile", "wrong.yaml")
    said = done.stdout + done.stderr
    assert (
        done.returncode and "train trains a model, but mine is a test alone; write `fold:" in said
    )
