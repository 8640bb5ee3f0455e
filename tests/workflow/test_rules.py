"""The rules themselves: their picture, the text that reaches a shell, and studies outside the
project's folder.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from scripts.data.yaml_files import read_yaml
from tests.files import write_yaml
from tests.forking import Ended, snakemake
from tests.workflow.conftest import Study, checkout

SMALL = yaml.safe_load("""
name: tiny
run: [sample_sop]
seeds: [1]
bootstrap_resamples: 100
experiments:
  sample_sop:
    controls: [bag_of_words]
    data: {source: sample_activitynet, stride: 0}
    training: {epochs: 1}
""")


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    done = snakemake("--rulegraph", cwd=ROOT).checked()
    names = dict(re.findall(r'(\d+)\[label = "([^"]+)"', done.stdout))
    edges = re.findall(r"(\d+) -> (\d+)", done.stdout)
    return {
        name: {names[first] for first, second in edges if names[second] == name}
        for name in names.values()
    }


def test_the_picture_in_the_docs_is_of_this_graph(graph):
    picture = (ROOT / "docs/figures/rules.svg").read_text()
    of_studies = re.compile(r"publish_(?!page|leaderboard)\w+")  # one box for all studies
    for name in {of_studies.sub("publish_STUDY", rule) for rule in graph} - {"all"}:
        assert f">{name}<" in picture, (
            f"{name} is not in the picture: write it anew (docs/workflow.md says how)"
        )


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Study:
    """Return a checkout without results, at a path that breaks an unquoted shell command."""
    return checkout(tmp_path_factory.mktemp("project") / 'it\'s $HOME, ä "b"')


def made_in(folder: Path, project: Study, *arguments, cwd: Path | None = None) -> Ended:
    rules = ("-s", project / "Snakefile", "--directory", folder)
    return snakemake("--cores", "2", *rules, *arguments, cwd=cwd or folder)


@pytest.fixture(scope="module")
def elsewhere(project, tmp_path_factory) -> tuple[Study, str]:
    """Make a study with `-s … --directory …`, called from a third folder; return it and the output
    of its first run.
    """
    place = tmp_path_factory.mktemp("elsewhere") / "m y 'ö' $x"
    place.mkdir()
    write_yaml(place / "tiny.yaml", SMALL)
    given = ("--configfile", place / "tiny.yaml")
    done = made_in(place, project, *given, cwd=place.parent).checked()
    return Study(place), done.stdout + done.stderr


def test_elsewhere_than_in_the_projects_folder(project, elsewhere):
    study = elsewhere[0]
    assert (study / "results/publish/tiny/index.html").exists()
    assert not (project / "results").exists()
    assert (
        study.jobs(
            "-s", project / "Snakefile", "--directory", study.folder, "--configfile", "tiny.yaml"
        )
        == {}
    )


def test_as_a_module(project, tmp_path):
    """Another workflow uses the rules under its own names; `config:` is laid over the defaults."""
    (tmp_path / "Snakefile").write_text(f"""
module timestride:
    snakefile: {str(project / "Snakefile")!r}
    config: {SMALL!r}

use rule * from timestride as timestride_*

rule mine:
    default_target: True
    input: rules.timestride_build.input
    output: "mine.txt"
    shell: "cat {{input}} > {{output}}"
""")
    study = Study(tmp_path)
    study.run()
    assert "val_1.parquet" in (tmp_path / "mine.txt").read_text()
    assert "Nothing to be done" in study.run()
    assert not (project / "results").exists()
    study.edit("Snakefile", "module timestride:", "module timestride:\n    prefix: 'elsewhere'")
    refused = study.snakemake("-n")
    assert refused.returncode and "take it out, and give" in refused.stdout + refused.stderr


HOSTILE = "x; touch HERE #$(touch HERE)`touch HERE`'\"; touch HERE"
SOURCE = {
    name: value
    for name, value in read_yaml(ROOT / "resources/sources.yaml")["sample_activitynet"].items()
    if name != "downloads"
}
DOWNLOAD = {"urls": [HOSTILE], "file": HOSTILE, "sha256": None, "bytes": None}


@pytest.mark.parametrize(
    "configured",
    [
        {
            "mirror": HOSTILE,
            "spacy_pipeline": HOSTILE,
            "experiments": {"sample_sop": {"people": [HOSTILE], "title": HOSTILE}},
        },
        {"name": HOSTILE},
        {"sources": {"sample_activitynet": SOURCE | {"local": HOSTILE, "licence": HOSTILE}}},
        {"sources": {"sample_activitynet": SOURCE | {"downloads": [DOWNLOAD]}}},
    ],
)
def test_no_configured_value_reaches_a_shell(project, tmp_path, configured):
    """The jobs of both corpora start, even if one of them fails."""
    write_yaml(tmp_path / "hostile.yaml", configured)
    (tmp_path / HOSTILE).touch()  # the file of people's answers exists
    base = tmp_path / "base.yaml"
    write_yaml(base, SMALL | {"run": ["sample_sop", "sample_dialogs_classify"]})
    given = ("build", "--keep-going", "--configfile", base, tmp_path / "hostile.yaml")
    done = made_in(tmp_path, project, *given)
    said = done.stdout + done.stderr
    assert "experiments" not in configured or "Finding temporal expressions" in said, said
    assert not list(Path(tmp_path).rglob("HERE*"))


def test_the_terminal_is_a_page(project, elsewhere, tmp_path):
    """The output has one line for each job, then headline, page and times; a failure
    appears once.
    """
    study, said = elsewhere
    assert len(said.encode()) < 4000
    assert re.search(r"\[ ?\d+/\d+, +\d+ .*\] Cleaning sample_activitynet", said)
    assert re.search(r"\[(\d+)/\1, .*\] Done", said)
    for text in (
        "Strided sentence order prediction, ",
        "Page: results/publish/tiny/index.html",
        "Time: ",
    ):
        assert said.count(text) == 1, said
    broken = Study(shutil.copytree(project.folder, tmp_path / "copy"))
    broken.edit(
        "scripts/clean/activitynet.py",
        "def main(given: argparse.Namespace) -> None:\n",
        "def main(given: argparse.Namespace) -> None:\n"
        "    raise UserError('this went wrong, do that')\n",
    )
    done = study.snakemake("-s", broken / "Snakefile", "--cores", "2", "--configfile", "tiny.yaml")
    output = done.stdout + done.stderr
    assert done.returncode != 0
    assert output.count("this went wrong, do that") == 1
    assert len(output.encode()) < 2000, output


def test_a_name_that_stands_for_no_answers_is_refused(project, tmp_path):
    write_yaml(
        tmp_path / "people.yaml",
        {"run": ["sample_sop"], "experiments": {"sample_sop": {"people": ["answers/*.csv"]}}},
    )
    asked = ["-n", "--configfile", tmp_path / "people.yaml"]
    made_in(tmp_path, project, *asked).refused(
        "experiments: sample_sop: people: there is no file answers/*.csv; put the answers there"
    )
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers/{ann}.csv").write_text("")
    made_in(tmp_path, project, *asked).refused(
        "people: answers/{ann}.csv begins with - or holds a brace; rename the file"
    )
    (tmp_path / "answers/{ann}.csv").rename(tmp_path / "answers/ann.csv")
    done = made_in(tmp_path, project, "results/publish/people/tables/people.csv", *asked).checked()
    assert "figures and tables of all studies" in done.stdout + done.stderr


def test_a_folder_that_cannot_be_written(project, tmp_path):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", tmp_path])
    if mounted.returncode:
        pytest.skip("a folder that cannot be written is a mount, which takes root")
    try:
        made_in(tmp_path, project, "-n").refused("is not writable, and Snakemake locks this folder")
    finally:
        subprocess.run(["umount", tmp_path], check=True)
