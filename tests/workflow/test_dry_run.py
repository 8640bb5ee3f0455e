"""Reading the Snakefile changes nothing on disk: a dry run, lint and summaries leave a fresh
checkout unchanged.
"""

import pytest

from tests.workflow.conftest import Study, checkout


def entries(study: Study) -> dict[str, bytes | str]:
    """Return every file and link of a folder with its content, without the files that Snakemake
    writes in .snakemake/ and Python in __pycache__/.
    """
    found = {}
    for path in study.folder.rglob("*"):
        if "__pycache__" in path.parts or (
            {"iocache", "log"} & set(path.parts) and ".snakemake" in path.parts
        ):
            continue
        if path.is_symlink():
            found[str(path)] = f"link to {path.readlink()}"
        elif path.is_file():
            found[str(path)] = path.read_bytes()
    return found


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Study:
    return checkout(tmp_path_factory.mktemp("fresh") / "study")


@pytest.mark.parametrize(
    "asked",
    [["-n"], ["--lint"], ["--summary"], ["-n", "--configfile", "presets/small.yaml"]],
    ids=" ".join,
)
def test_nothing_is_written(fresh, asked):
    before = entries(fresh)
    fresh.snakemake(*asked).checked()
    assert entries(fresh) == before


def test_a_dry_run_takes_no_manifest_away(study):
    """A dry run names the missing files; the next run makes them again."""
    (study / "results/build/strided_sop/mini/stride-0/val_1.parquet").unlink()
    before = entries(study)
    done = study.snakemake("-n")
    assert "val_1.parquet is missing" in done.stdout + done.stderr and entries(study) == before
    study.run("build")
    assert (study / "results/build/strided_sop/mini/stride-0/val_1.parquet").exists()
