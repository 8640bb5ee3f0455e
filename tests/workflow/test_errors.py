"""Wrong input through the workflow gives one clear sentence and a failed exit; a file or a folder
is asked for by its name.
"""


def test_what_no_rule_makes_is_told_with_its_remedy(study):
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
