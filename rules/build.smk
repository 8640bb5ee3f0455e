"""Build: each study's datasets from cleaned corpora.

Reads  results/clean/<source>/
Writes results/build/<study>/<source>/<dataset>/<split>.parquet    for pandas.read_parquet or datasets.load_dataset
       results/build/<study>/<source>/<dataset>/leakage.csv        of dialogs: what was taken out, since it is measured on
       results/build/temporal_spans/<source>/<split>.parquet       temporal expressions in dialogs
       …/manifest.json                                             the names, lengths and hashes of these files
       results/build/<study>/README.md, croissant.json             what the datasets hold, for datasets.load_dataset and others
"""

include: "arguments/build.smk"


rule build:
    """All datasets of the study, and their cards."""
    input:
        [built(dataset) for dataset in PLAN.datasets.values()],
        [f"results/build/{study}/README.md" for study in built_studies()],
    localrule: True


rule build_dataset:
    """A dataset of a study, by scripts/studies/<study>/build.py; its options stand in resources/studies.yaml."""
    input:
        cleaned=read_by_dataset,
    output:
        manifest="results/build/{study}/{source}/{dataset}/manifest.json",
    wildcard_constraints:
        # Only what this configuration plans: what another one left there is a file like any other (for the cards).
        study=f"(?=(?:{one_of(f'{dataset.study}/{dataset.source}/{dataset.name}' for dataset in PLAN.datasets.values())})/)[^/]+",
    params:
        **made_by(lambda wildcards: f"scripts.studies.{wildcards.study}.build"),
        options=lambda wildcards: dataset_of(wildcards).options,
        splits=read_splits,
        dialogs=dialog_options,
        files=lambda wildcards: dataset_names(dataset_of(wildcards)),
        folder=lambda wildcards, output: Path(output.manifest).parent,
    log: "results/logs/build/{study}/{source}/{dataset}.log"
    benchmark: "results/benchmarks/build/{study}/{source}/{dataset}.jsonl"
    message: "Building {wildcards.study}: {wildcards.source}, {wildcards.dataset}"
    resources: mem_mb=4000
    conda: "../envs/data.yaml"
    shell:
        "rm -rf {params.folder:q}"
        " && python -m {params.program} --cleaned results/clean/{wildcards.source} --splits {params.splits:q}"
        " {params.dialogs:q} --options {params.options:q} --output {params.folder:q} --log {log:q}"
        " && python -m {params.manifest} --folder {params.folder:q} {params.files:q} --output {output.manifest:q}"


rule build_card:
    """The card of a study's datasets: those built here and those that another configuration left there."""
    input:
        datasets=lambda wildcards: [f"results/build/{wildcards.study}/{name}/manifest.json" for name in datasets_there(wildcards.study)],
    output:
        card="results/build/{study}/README.md",
        croissant="results/build/{study}/croissant.json",
    params:
        **made_by("scripts.data.card"),
        columns=as_json(read_yaml(ROOT / "resources/columns.yaml")),
        study=lambda wildcards: as_json(
            {"name": wildcards.study} | {key: STUDIES[wildcards.study][key] for key in ("title", "paper", "labels")}),
        arguments=card_arguments,
    log: "results/logs/build/{study}.log"
    benchmark: "results/benchmarks/build/{study}.jsonl"
    message: "Describing the datasets of {wildcards.study}"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} @{params.arguments} --log {log:q}"


rule build_temporal_spans:
    """The temporal expressions in a source of dialogs, by the rules of resources/temporal_patterns.yaml."""
    input:
        cleaned=lambda wildcards: cleaned(wildcards.source),
    output:
        manifest="results/build/temporal_spans/{source}/manifest.json",
    params:
        **made_by("scripts.text.temporal_spans"),
        patterns=sha256_of(ROOT / "resources/temporal_patterns.yaml"),
        pipeline=f"--spacy-model={config['spacy_pipeline']}" if config["spacy_pipeline"] else [],
        splits=lambda wildcards: cleaned_splits(wildcards.source),
        files=lambda wildcards: [f"{split}.parquet" for split in cleaned_splits(wildcards.source)],
        folder=lambda wildcards, output: Path(output.manifest).parent,
    log: "results/logs/build/temporal_spans/{source}.log"
    benchmark: "results/benchmarks/build/temporal_spans/{source}.jsonl"
    message: "Finding temporal expressions in {wildcards.source}"
    threads: 2
    resources: mem_mb=4000
    conda: "../envs/data.yaml"
    shell:
        "rm -rf {params.folder:q}"
        " && python -m {params.program} --cleaned results/clean/{wildcards.source} --splits {params.splits:q}"
        " {params.pipeline:q} --processes {threads} --output {params.folder:q} --log {log:q}"
        " && python -m {params.manifest} --folder {params.folder:q} {params.files:q} --output {output.manifest:q}"
