"""The settings of Snakemake when jobs start, tested with a Snakefile of ten jobs."""

from tests.conftest import ROOT
from tests.forking import snakemake

SNAKEFILE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from scripts.running import snakemake_internals as internals
onstart:
    internals.start_jobs_when_one_ends(workflow)
    internals.put_first(workflow, "c")
onsuccess:
    print("limit:", workflow.scheduler.job_rate_limiter)
rule all:
    input: list("abcefghij")
rule one:
    output: "{{name}}"
    wildcard_constraints: name="[a-j]"
    shell: "echo {{wildcards.name}} >> order; touch {{output}}"
use rule one as other with:
    input: "d"
    output: "{{name,c}}"
ruleorder: other > one
"""


def test_a_file_goes_first_and_no_timer_runs_beside_the_jobs(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    done = snakemake("--cores", "1", cwd=tmp_path).checked()
    assert (tmp_path / "order").read_text().split()[:2] == ["d", "c"]
    assert "limit: None" in done.stdout + done.stderr
    (tmp_path / "order").unlink()
    options = "--forceall", "--prioritize", "b", "--max-jobs-per-timespan", "5/1s"
    done = snakemake("--cores", "1", *options, cwd=tmp_path).checked()
    assert (tmp_path / "order").read_text()[0] == "b"
    assert "limit: None" not in done.stdout + done.stderr


FAILING = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from scripts.running import snakemake_internals as internals
internals.keep_records_of_failed_jobs()
rule all:
    input: "last"
rule one:
    input: "first"
    output: "middle"
    params: config.get("value", 1)
    shell: "test ! -e broken; echo {{params}} $(cat first) > middle"
rule two:
    input: "middle"
    output: "last"
    shell: "cat middle > last"
"""
CALL = "--cores", "1", "--rerun-incomplete"


def made(folder, *options) -> str:
    snakemake(*CALL, *options, cwd=folder).checked()
    assert "Nothing to be done" in snakemake(*CALL, "-n", *options, cwd=folder).checked().stdout
    return (folder / "last").read_text()


def test_after_a_failure_the_same_command_makes_what_it_missed(tmp_path):
    """A job failed after a parameter, or after an input, had changed. Its output is gone, and the
    last one is still the old one.
    """
    (tmp_path / "Snakefile").write_text(FAILING)
    (tmp_path / "first").write_text("a")
    assert made(tmp_path) == "1 a\n"
    (tmp_path / "broken").touch()
    changed = ("--config", "value=2")
    snakemake(*CALL, *changed, cwd=tmp_path).checked(False)
    assert not (tmp_path / "middle").exists() and (tmp_path / "last").read_text() == "1 a\n"
    (tmp_path / "broken").unlink()
    assert made(tmp_path, *changed) == "2 a\n"
    (tmp_path / "first").write_text("b")
    (tmp_path / "broken").touch()
    snakemake(*CALL, "--keep-going", *changed, cwd=tmp_path).checked(False)
    (tmp_path / "broken").unlink()
    assert made(tmp_path, *changed) == "2 b\n"
