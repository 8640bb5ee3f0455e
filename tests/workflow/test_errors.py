"""Wrong input through the workflow gives one clear sentence and a failed exit; a file or a folder
is asked for by its name.
"""


def test_what_no_rule_makes_is_told_with_its_remedy(study):
    """The message names a remedy for a file under a manifest, a run in a batch and a
    misspelt rule.
    """
    built = "results/build/strided_sop/mini/stride-0"
    [run, *_] = sorted(study.folder.glob("results/train/strided_sop/mini-stride-0-tiny_bert-*"))
    for target, said in (
        (f"{built}/tset.parquet", f"{built}/manifest.json does not list this file; correct its"),
        (
            f"{run.relative_to(study.folder)}/predictions.csv",
            "`snakemake results/train/strided_sop/t",
        ),
        ("evalute", "evalute: is not a rule; did you mean evaluate?"),
        ("results/nothing", "results/nothing: no rule makes this file"),
    ):
        done = study.snakemake("--dry-run", target)
        assert done.returncode and said in done.stdout + done.stderr, done.stdout + done.stderr


def test_a_file_or_a_folder_is_asked_for_by_its_name(study):
    """A manifest stands for it: a file of a batch, a table of a dataset, a folder."""
    [run, *_] = sorted(study.folder.glob("results/train/strided_sop/mini-stride-0-tiny_bert-*"))
    (run / "predictions.parquet").unlink()
    asked = f"{run.relative_to(study.folder)}/predictions.parquet"
    manifests = sorted(study.folder.rglob("*manifest.json"))
    for question in ("--summary", "--list-rules", "--lint", "--rulegraph"):
        study.snakemake(question).checked()
    assert sorted(study.folder.rglob("*manifest.json")) == manifests, "a question removes nothing"
    study.run(asked)
    assert (run / "predictions.parquet").exists()
    for folder in ("results/publish/default", "results/evaluate/default/"):
        assert study.jobs(folder) == {}
    for folder in ("results/build/strided_sop/mini/stride-0", "results/clean/mini/"):
        assert study.jobs(folder) == {}
        assert study.jobs(f"{folder.rstrip('/')}/train.parquet") == {}


def test_what_is_missing_is_said_before_work_begins(study):
    """A dry run names a missing mirror, a missing folder of a model and a missing local file.

    Missing files that nothing uses cause no error.
    """
    for file in study.folder.glob("results/fetch/mini/*"):
        file.unlink()
    study.snakemake("--dry-run", TIMESTRIDE_MIRROR=str(study / "no-mirror")).refused(
        "no-mirror is not there"
    )
    study.change(
        "resources/models.yaml",
        lambda models: models.update(mine={"folder": "models/mine", "licence": "MIT"}),
    )
    study.change(
        "resources/sources.yaml",
        lambda sources: sources.update(
            mine=sources["event_templates"] | {"local": "no-such.csv", "cleaner": "event_templates"}
        ),
    )
    assert "fetch_source" in study.jobs("fetch")
    study.change(
        "config.yaml", lambda config: config["experiments"]["other_sop"].update(models=["mine"])
    )
    study.snakemake("--dry-run").refused("models/mine was not found")
    study.change(
        "config.yaml",
        lambda config: config["experiments"]["other_sop"].update(
            study="temporal_nli",
            data={"source": "mine", "challenge_set": "temp_order"},
            models=["tiny_bert"],
        ),
    )
    study.snakemake("--dry-run").refused("no-such.csv cannot be read")
