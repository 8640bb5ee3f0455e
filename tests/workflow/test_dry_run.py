"""Reading the Snakefile changes nothing on disk: a dry run, lint and summaries leave a fresh
checkout unchanged.
"""

import sys

import pytest

from tests.conftest import call
from tests.rows import each_row, texts_of
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


def test_a_reader_may_end_before_the_output(fresh):
    """As in `snakemake -n | head`."""
    for asked in ("-n", "-n -p", "--rulegraph", "--summary"):
        command = f"{sys.executable} -m snakemake {asked} | true; echo ${{PIPESTATUS[0]}}"
        done = call("bash", "-c", command, cwd=fresh.folder)
        assert done.stdout == "0\n", (asked, done.stdout, done.stderr)
        assert "rror" not in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_dry_run_takes_no_manifest_away(study):
    """A dry run names the missing files; the next run makes them again."""
    (study / "results/build/strided_sop/mini/stride-0/val_1.parquet").unlink()
    before = entries(study)
    done = study.snakemake("-n")
    assert "val_1.parquet is missing" in done.stdout + done.stderr and entries(study) == before
    study.run("build")
    assert (study / "results/build/strided_sop/mini/stride-0/val_1.parquet").exists()


@each_row(
    "file, old, new, rule, reason",
    texts_of(r"""
        scripts/studies/strided_sop/claims.yaml | increases with stride | grows with stride | publish_strided_sop | claims.yaml changed
        scripts/studies/strided_sop/study.yaml | title: Strided sentence | title: The sentence | publish_strided_sop | strided_sop.title: Strided sentence order prediction → The sentence order prediction changed
        resources/sources.yaml | title: Mini captions | title: Small captions | publish_strided_sop | mini.title: Mini captions → Small captions changed
        config.yaml | epochs: 1 | epochs: 2 | train_run | training.epochs: 1 → 2 beside the nearest finished run
        config.yaml | seeds:\n- 1 | seeds:\n- 2 | train_run | seed: 1 → 2 beside the nearest finished run
    """),
)
def test_a_dry_run_names_what_changed(study, file, old, new, rule, reason):
    before = (study / file).read_text()
    changed = before.replace(*(text.replace("\\n", "\n") for text in (old, new)))
    assert changed != before
    (study / file).write_text(changed)
    done = study.snakemake("-n").checked()
    (study / file).write_text(before)
    assert f"   ({rule}; {reason})" in done.stdout + done.stderr, done.stdout + done.stderr
