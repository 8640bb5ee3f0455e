"""Which changes cause reruns, and which do not: the contract with the user, line by line. Those of
fields in resources/ stand in resource_fields.yaml.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from scripts.data.tables import read_table
from tests.conftest import call, python_code
from tests.files import write_yaml
from tests.rows import rows_of
from tests.workflow.conftest import Study


def families(jobs: dict[str, list[str]]) -> set[str]:
    return {name.split("_")[0] for name in jobs}


def test_nothing_changed(study):
    assert study.jobs() == {}


def test_touch_checkout_comment_and_formatting(study):
    for path in study.folder.rglob("*"):
        inside = path.relative_to(study.folder).parts[0]
        if path.is_file() and inside not in ("results", ".snakemake"):
            os.utime(path)
            if path.suffix == ".py" and path.name != "__init__.py":
                path.write_text("# a comment\n\n" + path.read_text())
    assert study.jobs() == {}


MAIN = "def main(given: argparse.Namespace) -> None:\n"
TRAIN = "def train_or_ask(one: GivenRun, given: argparse.Namespace) -> None:\n"
PUBLISH = "def publish(item: dict, metrics: Path, resources: Path, page: Path) -> None:\n"
FIGURE = "scripts/studies/strided_sop/figures/accuracy_by_stride.py"


def write_lock(study: Study) -> None:
    """Write the digests of a study's files into its lock. The versions stay, as `make lock` leaves
    them where the pinned results are the same.
    """
    write = """
from pathlib import Path
from scripts.running import code_lock
from tests import lock
locked = code_lock.read_lock()
text = lock.text_of(locked["study"], lock.files_today(), locked["programs"])
Path(code_lock.LOCK).write_text(text, encoding="utf-8")
"""
    done = python_code(write, cwd=study.folder)
    assert done.returncode == 0, done.stderr


def test_a_merged_and_a_moved_module_with_a_new_lock(study):
    """Nothing reruns after scripts/data/keyed.py moves into another module and
    scripts/measure/tally.py and a function get other names, if the lock keeps the versions.
    """
    keyed, choice = study / "scripts/data/keyed.py", study / "scripts/train/epochs.py"
    choice.write_text(choice.read_text() + "\n\n" + keyed.read_text())
    keyed.unlink()
    (study / "scripts/measure/tally.py").rename(study / "scripts/measure/sums.py")
    for path in study.folder.glob("scripts/**/*.py"):
        text = path.read_text().replace("scripts.data.keyed", "scripts.train.epochs")
        text = text.replace("keyed_uniform", "uniform_by_key")
        path.write_text(text.replace("scripts.measure.tally", "scripts.measure.sums"))
    assert study.jobs() != {}
    write_lock(study)
    assert study.jobs() == {}


def test_an_edit_and_a_new_version_are_named_and_the_way_back(study):
    """The reason of a job is the edited file, or the version of its results."""
    cleaner, lock = "scripts/clean/activitynet.py", study / "resources/code.lock"
    before, locked = (study / cleaner).read_text(), lock.read_text()
    study.edit(cleaner, MAIN, f"{MAIN}    added = 1\n")
    assert f"{cleaner} changed" in study.snakemake("-n").checked().stdout
    study.run("clean")
    assert "clean_corpus" not in study.jobs("clean")
    (study / cleaner).write_text(before)
    assert "clean/activitynet is again as released" in study.snakemake("-n", "clean").stdout
    study.run("clean")
    entry = '"clean/activitynet" = { version = '
    number = int(locked.partition(entry)[2].partition(",")[0])
    lock.write_text(locked.replace(f"{entry}{number}", f"{entry}{number + 1}"))
    said = f"version {number + 1} of clean/activitynet (results: {number})"
    assert said in study.snakemake("-n", "clean").stdout


def test_a_programs_plumbing_that_decides_a_number(study):
    """A seed set where runs are trained reruns them, and other numbers read where figures are
    drawn redraw these.
    """
    study.edit("scripts/train/runs.py", TRAIN, f"{TRAIN}    added = 1\n")
    assert {"train_run", "train_no_model"} <= set(study.jobs())
    study.edit("scripts/train/runs.py", f"{TRAIN}    added = 1\n", TRAIN)
    study.edit("scripts/publish/items.py", PUBLISH, f"{PUBLISH}    added = 1\n")
    assert set(study.jobs()) == {"publish_strided_sop", "publish_all", "publish_page"}


def test_the_cleaner_of_one_source(study):
    study.edit("scripts/clean/howto100m.py", MAIN, f"{MAIN}    added = 1\n")
    jobs = study.jobs()
    assert jobs["clean_corpus"] == ["Cleaning sample_howto100m"] and "fetch" not in families(jobs)
    assert not [message for message in jobs["build_dataset"] if "mini" in message]
    assert "train_run" in jobs


def test_a_local_corpus_of_the_same_size_and_time(study):
    """An edit that gives the file its old size and time again is noticed, and no other touch."""
    file, target = study / "mine/templates.csv", "results/clean/mine/manifest.json"
    file.parent.mkdir()
    shutil.copyfile(study / "resources/templates.csv", file)
    study.change(
        "resources/sources.yaml",
        lambda sources: sources.update(
            mine=sources["event_templates"] | {"local": str(file), "cleaner": "event_templates"}
        ),
    )
    nli = {"study": "temporal_nli", "data": {"source": "mine", "challenge_set": "temp_order"}}
    study.change("config.yaml", lambda config: config["experiments"]["other_sop"].update(nli))
    time.sleep(2.1)  # the hash of a file that has just changed is not remembered
    study.run(target)
    file.chmod(0o600)
    assert study.jobs(target) == {}
    before, text = file.stat(), file.read_text()
    [command] = re.findall("python -m scripts.clean.*", study.snakemake("-npF", target).stdout)
    file.write_text(text.replace("the", "teh", 1))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert study.jobs(target)["clean_corpus"] == ["Cleaning mine"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = call("bash", "-c", command, cwd=study.folder, env=os.environ | {"PATH": path})
    assert (
        done.returncode == 1 and "mine/templates.csv: is not the file whose sha256" in done.stderr
    )


def test_the_code_of_a_figure(study):
    main = "def main(given: Given) -> None:\n"
    study.edit(FIGURE, main, f"{main}    added = 1\n")
    jobs = study.jobs()
    [figures] = jobs["publish_strided_sop"]
    assert figures.endswith(" figures and tables of strided_sop")
    assert jobs == {"publish_strided_sop": [figures], "publish_page": ["Publishing the page"]}


@pytest.mark.parametrize(
    "changed, trained",
    rows_of("""
        {experiments: {other_sop: {training: {learning_rate: 0.003}}}} | 1
        {seeds: [1, 2]}    | 5
        {run: [sample_sop]} | 0
    """),
)
def test_a_setting_one_more_seed_and_a_removed_experiment(study, changed, trained):
    write_yaml(study / "changed.yaml", changed)
    jobs = study.jobs("--configfile", "changed.yaml")
    assert study.trained(jobs) == trained
    assert families(jobs) == {"train", "evaluate", "publish"}


def test_a_card_says_what_is_true_now_also_if_nothing_is_to_be_done(study):
    study.edit(
        "scripts/studies/strided_sop/study.yaml",
        "title: Strided sentence",
        "title: The new title of sentence",
    )
    assert study.jobs("build") == {}
    study.run("build")
    assert "The new title of" in (study / "results/build/strided_sop/README.md").read_text()


def test_records_stay_with_the_results_without_hooks(study):
    shutil.rmtree(study / "results/.records")
    (study / ".snakemake/metadata").unlink()
    study.run("fetch", "--no-hooks", "--forceall")
    assert any((study / "results/.records").iterdir())
    assert (study / ".snakemake/metadata").is_symlink()


def steps_taken(study) -> dict[str, float]:
    """Return when each run's work was finished; a run that is not trained keeps its time."""
    found = {
        str(file.relative_to(study.folder)): file.stat().st_mtime_ns
        for file in study.folder.glob("results/train/*/*/work/finished.json")
    }
    assert found
    return found


def test_forced_training_says_that_it_trains(study):
    for forced in (["-R", "train_run"], ["-F"]):
        assert study.trained(study.jobs(*forced)) == 5, "two jobs, of two and three runs"
    assert study.trained(study.jobs("-R", "clean_corpus")) == 0


def test_another_licence_and_a_refactored_cleaner_train_nothing(study):
    """The tables contain the licence and the cleaner's hash, so they are written again; their
    content is the same, so nothing is trained.
    """
    before = steps_taken(study)
    study.change("resources/sources.yaml", lambda sources: sources["mini"].update(licence="CC0"))
    jobs = study.jobs()
    assert "fetch" not in families(jobs)
    assert all(message.startswith("Already trained, if data") for message in jobs["train_run"])
    study.change("resources/sources.yaml", lambda sources: sources["mini"].update(licence="MIT"))
    assert study.jobs() == {}
    study.edit("scripts/clean/activitynet.py", MAIN, f"{MAIN}    added = 1\n")
    jobs = study.jobs()
    assert jobs["clean_corpus"] == ["Cleaning mini"] and "train" in families(jobs)
    study.change("resources/sources.yaml", lambda sources: sources["mini"].update(licence="CC0"))
    study.run()
    assert steps_taken(study) == before
    logs = "".join(
        file.read_text() for file in study.folder.glob("results/logs/train/strided_sop/tiny*.log")
    )
    of_mini = [run for run in before if "tiny_bert" in run and "mini-" in run]
    assert logs.count("no step taken") == len(of_mini)
    assert "CC0" in (study / study.page).read_text() and study.jobs() == {}


def test_what_a_study_no_longer_makes_is_removed(study):
    """Beside the new page, a paper would take its numbers."""
    publish = study / "results/publish/default"
    others = ["tables/mctaco_table.tex", "figures/mctaco_by_category.dark.svg"]
    others += [
        "mctaco.manifest.json",
        "leaderboard/gone.json",
        "leaderboard/every_eval_ever/x.json",
    ]
    made = {file for file in publish.rglob("*") if file.is_file()}
    for name in (*others, "notes.txt"):
        (publish / name).write_text("{}")
    study.run("--forcerun", "publish_page", "publish_leaderboard")
    kept = {file for file in publish.rglob("*") if file.is_file()}
    assert kept == made | {publish / "notes.txt"}
    log = (study / "results/logs/publish/default/page.log").read_text()
    assert "mctaco_table.tex: removed, since this study no longer makes it" in log


def test_another_study_and_back(study):
    """Studies with other names share expensive results. Neither study causes a job of the other
    one, wherever the other one stopped. The cards and the list name both studies.
    """
    other = ("--configfile", "presets/other.yaml")
    (study / "presets/other.yaml").write_text(
        "name: other-1\nrun: [other_sop]\nexperiments: {other_sop: {data: {stride: [1, 3]}}}\n"
    )
    card = study / "results/build/strided_sop/README.md"
    listed = study / "results/publish/index.html"
    assert set(study.jobs(*other)) >= {"build_dataset", "train_run"}
    assert "config_name: mini-stride-3" not in card.read_text()
    study.run("train", *other)
    assert "config_name: mini-stride-3" in card.read_text() and study.jobs() == {}
    study.run(*other)
    assert study.jobs() == {} and study.jobs(*other) == {}
    assert (study / study.page).exists() and (study / "results/publish/other-1/index.html").exists()
    assert 'href="default/index.html"' in listed.read_text()
    assert 'href="other-1/index.html"' in listed.read_text()
    shutil.rmtree(study / "results/build/strided_sop/mini/stride-3")
    shutil.rmtree(study / "results/publish/other-1")
    (study / study.page).unlink()
    study.run()
    assert "config_name: mini-stride-2" in card.read_text()
    assert "stride-3" not in card.read_text() and "other-1" not in listed.read_text()


def test_lost_files_come_back(study):
    """A missing or cut table is written again when it is needed, although its rule's output is a
    manifest.
    """
    lost, short = (
        study / "results/build/strided_sop/mini/stride-0/val_1.parquet",
        study / "results/clean/sample_howto100m/videos.parquet",
    )
    before, whole = steps_taken(study), short.stat().st_size
    trained = list(study.folder.glob("results/train/*/*/*.parquet"))
    assert len(trained) > 10
    for file in (lost, *trained):
        file.unlink()
    short.write_bytes(short.read_bytes()[:-10])
    planned = study.jobs("clean", "build", "train")
    said = study.run("clean", "build", "train")
    assert planned["clean_corpus"] == ["Cleaning sample_howto100m"], "a dry run lists what will run"
    assert "Building strided_sop: mini, stride-0" in planned["build_dataset"]
    assert all(file.exists() for file in trained), "those of runs come back without training"
    assert lost.exists() and short.stat().st_size == whole
    assert all(
        said.count(f": {file.name} is missing or has another length") == 1 for file in (lost, short)
    )
    study.run()
    assert steps_taken(study) == before and study.jobs() == {}


def test_results_taken_elsewhere_are_taken_as_they_are(study, tmp_path):
    """Nothing reruns after a copy without file times, with Snakemake's own folder or without."""
    for number, left_out in enumerate(([], [".snakemake"])):
        place = tmp_path / f"elsewhere {number}"
        subprocess.run(["cp", "-r", study.folder, place], check=True)
        for name in left_out:
            shutil.rmtree(place / name)
        assert Study(place).jobs() == {}


def test_results_that_were_removed_are_made_again(study):
    """Snakemake's records are in results/, so they are removed with it."""
    (study / "results").rename(study / "elsewhere")
    assert study.trained(study.jobs()) > 0


def test_other_environment_changes_nothing(study):
    """Another mirror or number of cores changes how the work is done, not the results."""
    shutil.copytree(study / "results/fetch", study / "mirror")
    study.change(
        "config.yaml",
        lambda config: config.update(mirror=str(study / "mirror"), checkpoint_seconds=7),
    )
    assert study.jobs("--cores", "1") == {}


def test_predictions_made_elsewhere_join_their_experiment_and_leave_it(study, program):
    """Their files alone are enough: no file of the project and no configuration changes."""
    dataset = "results/build/strided_sop/mini/stride-0"
    pairs = read_table(study / dataset / "val_1.parquet").to_pandas()
    answers = pairs["label"].map({0: "swapped", 1: "in_order"})
    pd.DataFrame({"example_id": pairs["pair_id"], "label": answers}).to_csv(
        study / "answers.csv", index=False
    )
    options = "--predictions answers.csv --split val_1 --name oracle --dataset"
    evaluate = f"scripts.studies.strided_sop.evaluate {options}"
    program(evaluate, dataset, cwd=study.folder).checked()
    jobs = study.jobs()
    assert jobs["evaluate_experiment"] == ["Evaluating sample_sop"]
    assert not {"train_run", "build_dataset"} & set(jobs)
    study.run()
    assert "oracle" in (study / study.page).read_text() and study.jobs() == {}
    [folder] = (study / "results/external").glob("*/*/*/*/oracle")
    folder = folder.rename(folder.with_name("tiny_bert"))
    study.snakemake("--dry-run").refused("have the name of a model", "resources/models.yaml")
    shutil.rmtree(study / "results/external")
    assert study.jobs()["evaluate_experiment"] == ["Evaluating sample_sop"]
