"""There is one version everywhere; results name the commit that made them, and figures the code."""

import re
import shutil
import subprocess

import pytest

from scripts.data.yaml_files import read_yaml
from scripts.running import project_version
from tests.conftest import ROOT
from tests.files import read_json


version_now = project_version.project_version.__wrapped__  # a process remembers its first answer


def git(folder, *arguments):
    identity = "-c user.name=a -c user.email=a@b.c -c commit.gpgsign=false".split()
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a project of one file under git, in place of this project."""
    folder = tmp_path / "outer/project"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", folder)
    monkeypatch.setattr(project_version, "ROOT", folder)
    monkeypatch.delenv("TIMESTRIDE_COMMIT", raising=False)
    return folder


def test_one_version():
    version = project_version.version()
    citation = read_yaml(ROOT / "CITATION.cff")
    codemeta = read_json(ROOT / "codemeta.json")
    released, date = re.search(
        r"^## (\d+\.\d+\.\d+) \((\S+)\)", (ROOT / "CHANGELOG.md").read_text(), re.M
    ).groups()
    assert version == citation["version"] == codemeta["version"] == released
    assert date == str(citation["date-released"]) == codemeta["dateModified"]


def test_the_commit_and_whether_the_tree_is_modified(project):
    if not shutil.which("git"):
        pytest.skip("git is not installed; on Debian: apt-get install git")
    version = project_version.version()
    assert version_now() == {"version": version, "commit": None, "modified": None}, "no repository"
    git(project.parent, "init")
    git(project.parent, "add", ".")
    git(project.parent, "commit", "-m", "outer")
    assert version_now()["commit"] is None, "the commit of another project around it is not ours"
    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "first")
    facts = version_now()
    assert re.fullmatch("[0-9a-f]{40}", facts["commit"]) and facts["modified"] is False
    (project / "untracked").write_text("a log")
    assert version_now() == facts
    (project / "pyproject.toml").write_text((project / "pyproject.toml").read_text() + "\n")
    assert version_now() == facts | {"modified": True}


def test_without_git_the_commit_is_what_the_image_says(project, monkeypatch):
    monkeypatch.setenv("PATH", str(project))
    assert version_now() == {"version": project_version.version(), "commit": None, "modified": None}
    monkeypatch.setenv("TIMESTRIDE_COMMIT", "abc")
    assert version_now() == {
        "version": project_version.version(),
        "commit": "abc",
        "modified": None,
    }
