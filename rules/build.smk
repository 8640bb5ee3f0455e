"""Build: each study's datasets from cleaned corpora.

Reads  results/clean/<source>/
Writes results/build/<study>/<source>/<dataset>/<split>.parquet    for pandas.read_parquet or datasets.load_dataset
       results/build/<study>/<source>/<dataset>/leakage.csv        training data removed because they are in evaluation splits
       results/build/temporal_spans/<source>/<split>.parquet       temporal expressions in dialogs
       …/manifest.json                                             the names, lengths and hashes of these files
       results/build/<study>/README.md                             describes the datasets; each call that may run jobs writes it
"""


rule build:
    """All datasets of the study."""
    input:
        [built(dataset) for dataset in WORK.datasets.values()],
    localrule: True


rule build_dataset:
    """A dataset of a study, by scripts/studies/<study>/build.py; study.yaml in the same folder lists its options."""
    input:
        cleaned=lambda w: sources.read_by(WORK, sources.dataset_of(WORK, **w)),
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
        splits=lambda w: sources.splits_of(WORK, sources.dataset_of(WORK, **w)),
        options=lambda w: as_json(sources.dataset_of(WORK, **w).data),
        beside=lambda w: as_json(sources.sources_beside(WORK, sources.dataset_of(WORK, **w))),
        spans=lambda w: option(
            "--spans", WORK.studies[w.study].get("spans") and f"results/build/temporal_spans/{w.source}"
        ),
        tables=lambda w: sources.tables_of_dataset(WORK, sources.dataset_of(WORK, **w)),  # the names that the next rules read
        code=lambda w: code(f"build/{w.study}"),
    message:
        "Building {wildcards.study}: {wildcards.source}, {wildcards.dataset}"
    shell:
        "python -m scripts.studies.{wildcards.study}.build --cleaned results/clean/{wildcards.source} {params.spans:q}"
        " --splits {params.splits:q} --options={params.options:q} --beside={params.beside:q}"
        " --output results/build/{wildcards.study}/{wildcards.source}/{wildcards.dataset:q} --manifest {output.manifest:q}"
        " --log {log:q}"


rule build_temporal_spans:
    """The temporal expressions in a source of dialogs, by the rules of resources/temporal_patterns.yaml."""
    input:
        cleaned=lambda w: cleaned(w.source),
    output:
        manifest="results/build/temporal_spans/{source}/manifest.json",
    log:
        "results/logs/build/temporal_spans/{source}.log",
    benchmark:
        "results/benchmarks/build/temporal_spans/{source}.jsonl"
    priority: 2
    conda:
        "../envs/data.yaml"
    threads: lambda w: 1 if "sample" in WORK.sources[w.source] else 2
    resources:
        mem_mb=4000,
    params:
        splits=lambda w: WORK.cleaned_splits(w.source),
        spacy=lambda w: option("--spacy-model", WORK.config.spacy_pipeline),
        patterns=lambda w: sources.patterns(WORK),
        code=lambda w: code("text/temporal_spans"),
    message:
        "Finding temporal expressions in {wildcards.source}"
    shell:
        "python -m scripts.text.temporal_spans --cleaned results/clean/{wildcards.source} --splits {params.splits:q}"
        " {params.spacy:q} --output results/build/temporal_spans/{wildcards.source} --manifest {output.manifest}"
        " --processes {threads} --log {log:q}"
