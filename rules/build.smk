"""Build: each study's datasets from cleaned corpora.

Reads  results/clean/<source>/
Writes results/build/<study>/<source>/<dataset>/<split>.parquet    for pandas.read_parquet or datasets.load_dataset
       results/build/<study>/<source>/<dataset>/leakage.csv        of dialogs: what was taken out, since it is measured on
       results/build/temporal_spans/<source>/<split>.parquet       temporal expressions in dialogs
       …/manifest.json                                             the names, lengths and hashes of these files
       results/build/<study>/README.md, croissant.json             what the datasets hold, for datasets.load_dataset and others
"""


rule build:
    """All datasets of the study, and their cards."""
    input:
        [built(dataset) for dataset in WORK.plan.datasets.values()],
        [f"results/build/{study}/README.md" for study in WORK.built_studies],
    localrule: True


rule build_dataset:
    """A dataset of a study, by scripts/studies/<study>/build.py; its options stand in scripts/studies/<study>/study.yaml."""
    input:
        cleaned=lambda wildcards: JOBS.read_by_dataset(**wildcards),
    output:
        manifest="results/build/{study}/{source}/{dataset}/manifest.json",
    log:
        "results/logs/build/{study}/{source}/{dataset}.log",
    benchmark:
        "results/benchmarks/build/{study}/{source}/{dataset}.jsonl"
    wildcard_constraints:
        # Only what this configuration plans: what another one left there is a file like any other (for the cards).
        study=f"(?=(?:{one_of(f'{dataset.study}/{dataset.source}/{dataset.name}' for dataset in WORK.plan.datasets.values())})/)[^/]+",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
    params:
        **START.parameters("build_dataset"),
    message:
        "Building {wildcards.study}: {wildcards.source}, {wildcards.dataset}"
    shell:
        "rm -rf {params.folder:q}"
        " && python -m {params.program} {params.arguments} --log {log:q}"
        " && python -m {params.manifest}"


rule build_card:
    """The card of a study's datasets: those built here and those that another configuration left there."""
    input:
        datasets=lambda wildcards: [
            f"results/build/{wildcards.study}/{name}/manifest.json" for name in WORK.dataset_folders(wildcards.study)
        ],
    output:
        card="results/build/{study}/README.md",
        croissant="results/build/{study}/croissant.json",
    log:
        "results/logs/build/{study}.log",
    benchmark:
        "results/benchmarks/build/{study}.jsonl"
    localrule: True
    conda:
        "../envs/data.yaml"
    params:
        **START.parameters("build_card"),
    message:
        "Describing the datasets of {wildcards.study}"
    shell:
        "python -m {params.program} {params.arguments} --log {log:q}"


rule build_temporal_spans:
    """The temporal expressions in a source of dialogs, by the rules of resources/temporal_patterns.yaml."""
    input:
        cleaned=lambda wildcards: cleaned(wildcards.source),
    output:
        manifest="results/build/temporal_spans/{source}/manifest.json",
    log:
        "results/logs/build/temporal_spans/{source}.log",
    benchmark:
        "results/benchmarks/build/temporal_spans/{source}.jsonl"
    conda:
        "../envs/data.yaml"
    threads: 2
    resources:
        mem_mb=4000,
    params:
        **START.parameters("build_temporal_spans"),
    message:
        "Finding temporal expressions in {wildcards.source}"
    shell:
        "rm -rf {params.folder:q}"
        " && python -m {params.program} {params.arguments} --processes {threads} --log {log:q}"
        " && python -m {params.manifest}"
