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
