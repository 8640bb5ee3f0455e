"""A small study that the real workflow runs once; each test works on a copy of the finished
folder.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

from benchmarks.measure import checkout as copy_project
from scripts.data.yaml_files import read_yaml
from tests.files import write_yaml
from tests.forking import snakemake
from tests.samples import captions, downloads, speech, zipped


class Study:
    """A checkout with its results. A test changes a file, then asks which jobs would run, or runs
    them.
    """

    page = "results/publish/default/index.html"
    metrics = "results/evaluate/default/metrics.parquet"

    def __init__(self, folder: Path):
        self.folder = folder

    def __truediv__(self, path: str) -> Path:
        return self.folder / path

    def snakemake(self, *arguments, **environment) -> subprocess.CompletedProcess:
        return snakemake(*arguments, cwd=self.folder, **environment)

    def run(self, *arguments, **environment) -> str:
        done = self.snakemake("--cores", "2", *arguments, **environment).checked()
        return done.stdout + done.stderr

    def jobs(self, *arguments) -> dict[str, list[str]]:
        """Return the jobs of a dry run: their messages by rule."""
        done = self.snakemake("--dry-run", *arguments).checked()
        return self.listed(done.stdout + done.stderr)

    @staticmethod
    def listed(said: str) -> dict[str, list[str]]:
        """Return the jobs that a dry run lists, by rule."""
        lines = re.findall(r"^(.+?)   \((\w+); .*\)$", said, re.M)
        assert lines or "Nothing to be done" in said, said
        return {
            rule: sorted(message for message, other in lines if other == rule) for _, rule in lines
        }

    @staticmethod
    def trained(jobs: dict[str, list[str]]) -> int:
        """Return how many runs the jobs would train or ask, including those in batches."""
        messages = [
            message
            for rule in ("train_run", "train_no_model")
            for message in jobs.get(rule, [])
            if message.startswith(("Training", "Asking"))
        ]
        counts = [re.search(r", (\d+) runs? of \w+$", message) for message in messages]
        return sum(int(found[1]) if found else 1 for found in counts)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that occurs exactly once in a file."""
        text = (self / path).read_text()
        assert text.count(old) == 1, f"{path}: {old!r} stands {text.count(old)} times"
        (self / path).write_text(text.replace(old, new))

    def change(self, path: str, mend) -> None:
        """Read a YAML file, let `mend` change it, write it back."""
        value = read_yaml(self / path)
        mend(value)
        write_yaml(self / path, value)


def checkout(folder: Path) -> Study:
    """Return a copy of the project's files that git tracks or does not ignore, in a new folder."""
    study = Study(copy_project(folder))
    # bf16, which `auto` takes on some processors, slows tiny models down
    study.edit("config.yaml", "precision: auto ", "precision: fp32 ")
    return study


def add_downloaded_source(study: Study, folder: Path) -> None:
    """Add a source `mini` that is fetched by URL and verified by hash: sample captions in a zip.
    Also shorten the sample in the format of HowTo100M.
    """
    mini = downloads(folder / "captions.zip", captions(60))
    videos = json.dumps(dict([*speech().items()][:60])).encode()
    spoken = downloads(
        folder / "speech.zip", {"raw_caption.zip": zipped({"raw_caption.json": videos})}
    )

    def mend(sources):
        sources["mini"] = {
            "title": "Mini captions",
            "kind": "captions",
            "cleaner": "activitynet",
            "train": "train",
            "evaluate": ["val_1"],
            "licence": "MIT",
            "citation": "none",
            "downloads": mini,
        }
        sources["sample_howto100m"]["downloads"] = spoken

    study.change("resources/sources.yaml", mend)


def reduce(config: dict) -> None:
    """Reduce the default study to two sources, two strides, one seed and two controls."""
    config["seeds"] = [1]
    config["bootstrap_resamples"] = 200
    config["experiments"]["sample_sop"]["data"] = {
        "source": ["mini", "sample_howto100m"],
        "stride": [0, 1],
    }
    config["experiments"]["sample_sop"]["training"]["epochs"] = 1
    config["experiments"]["sample_sop"]["controls"] = ["bag_of_words", "length_and_overlap"]
    config["experiments"]["other_sop"] = json.loads(json.dumps(config["experiments"]["sample_sop"]))
    config["experiments"]["other_sop"]["data"] = {"source": "mini", "stride": 2}
    config["run"] = ["sample_sop", "other_sop"]


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Study:
    """Return a checkout whose reduced study has run to the page. It runs once for all of pytest's
    workers.
    """
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder = root / "finished"
    with FileLock(root / "finished.lock"):
        if not (folder / "whole").exists():
            shutil.rmtree(folder, ignore_errors=True)
            study = checkout(folder / "study")
            add_downloaded_source(study, folder / "upstream")
            study.change("config.yaml", reduce)
            study.run()
            (folder / "whole").touch()
    return Study(folder / "study")


@pytest.fixture
def study(finished, tmp_path) -> Study:
    """Return a copy of the finished study, with file times and Snakemake's own records."""
    copied = shutil.copytree(finished.folder, tmp_path / "study", symlinks=True)
    return Study(copied)
