"""With an unknown version of Snakemake, the workflow runs without changes to Snakemake."""

from tests.workflow.conftest import checkout


def test_an_unknown_version_is_used_as_it_comes(tmp_path):
    study = checkout(tmp_path / "study")
    study.edit("scripts/running/snakemake_internals.py", 'KNOWN = ("9.27.",)', 'KNOWN = ("0.1.",)')
    done = study.snakemake("--cores", "1", "results/fetch/sample_activitynet/manifest.json")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert said.count("timestride does not know Snakemake") == 1
    assert "Using workflow specific profile" in said, "Snakemake's own output"
    assert not (study.folder / ".snakemake/metadata").is_symlink()
    assert (
        study.snakemake("--cores", "1", "results/fetch/sample_activitynet/manifest.json").returncode
        == 0
    )
