"""Build: each study's datasets from cleaned corpora.

Reads  results/clean/<source>/
Writes results/build/<study>/<source>/<dataset>/<split>.parquet    for pandas.read_parquet or datasets.load_dataset
       results/build/<study>/<source>/<dataset>/leakage.csv        training data removed because they are in evaluation splits
       results/build/temporal_spans/<source>/<split>.parquet       temporal expressions in dialogs
       …/manifest.json                                             the names, lengths and hashes of these files
       results/build/<study>/README.md                             describes the datasets; each call that ran jobs writes it
"""


rule build:
    """All datasets of the study."""
    input:
        [built(dataset) for dataset in WORK.datasets.values()],
    localrule: True


rule build_dataset:
    """A dataset of a study, by scripts/studies/<study>/build.py; study.yaml in the same folder lists its options."""
    input:
        cleaned=lambda wildcards: JOBS.read_by_dataset(**wildcards),
    output:
        manifest="results/build/{study}/{source}/{dataset}/manifest.json",
    log:
        "results/logs/build/{study}/{source}/{dataset}.log",
    benchmark:
        "results/benchmarks/build/{study}/{source}/{dataset}.jsonl"
    wildcard_constraints:
        # Only the datasets that this configuration plans.
        study=f"(?=(?:{one_of(f'{dataset.study}/{dataset.source}/{dataset.name}' for dataset in WORK.datasets.values())})/)[^/]+",
    priority: 2
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
    params:
        **START.parameters("build_dataset"),
    message:
        "Building {wildcards.study}: {wildcards.source}, {wildcards.dataset}"
    shell:
        'rm -rf "$(dirname {output.manifest:q})"' " && python -m {params.program} {params.arguments} --log {log:q}"


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
    priority: 2
    conda:
        "../envs/data.yaml"
    threads: lambda wildcards: 1 if "sample" in WORK.sources[wildcards.source] else 2
    resources:
        mem_mb=4000,
    params:
        **START.parameters("build_temporal_spans"),
    message:
        "Finding temporal expressions in {wildcards.source}"
    shell:
        'rm -rf "$(dirname {output.manifest:q})"'
        " && python -m {params.program} {params.arguments} --processes {threads} --log {log:q}"
