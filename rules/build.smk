"""Build: each study's datasets from cleaned corpora, as results/build/<study>/<source>/<dataset>/<split>.parquet."""


rule build:
    """All datasets of the study."""
    input:
        [dataset_splits(dataset) for dataset in PLAN.datasets.values()],
    localrule: True


def beside(dataset):
    """What a dataset of dialogs is built from beside its source: temporal expressions, and the source that it is measured on."""
    if SOURCES[dataset.source]["kind"] != "dialogs":
        return []
    challenge = MEASURED_ON[dataset.source]
    return [
        *(f"results/build/temporal_spans/{source}/{split}.parquet"
          for source in (dataset.source, challenge) for split in cleaned_splits(source)),
        *(cleaned_file(challenge, split) for split in cleaned_splits(challenge)),
    ]


def beside_arguments(dataset):
    """The same as arguments of the build program."""
    if SOURCES[dataset.source]["kind"] != "dialogs":
        return ""
    challenge = MEASURED_ON[dataset.source]
    return (f"--spans results/build/temporal_spans/{dataset.source} --challenge results/clean/{challenge}"
            f" --challenge-spans results/build/temporal_spans/{challenge} --measured {' '.join(SOURCES[challenge]['evaluate'])}")


def read_splits(dataset):
    """The splits of its source that a dataset is built from."""
    if SOURCES[dataset.source]["kind"] != "dialogs":
        return splits(dataset.source)
    return [SOURCES[dataset.source]["train"], STUDIES[dataset.study]["held_out"]]


for dataset in PLAN.datasets.values():

    rule:
        name: f"build_{dataset.study}_{dataset.source}_{dataset.name}"
        input:
            cleaned=[cleaned_file(dataset.source, split) for split in read_splits(dataset)],
            beside=beside(dataset),
        output:
            splits=dataset_splits(dataset),
            tables=[f"{dataset.folder}/leakage.csv"] if beside(dataset) else [],
        params:
            code=fingerprint(f"scripts.build.{dataset.study}"),
            program=f"scripts.build.{dataset.study}",
            options=dataset.options,
            splits=read_splits(dataset),
            cleaned=f"results/clean/{dataset.source}",
            beside=beside_arguments(dataset),
            folder=dataset.folder,
        log: f"results/logs/build/{dataset.study}/{dataset.source}/{dataset.name}.log"
        benchmark: f"results/benchmarks/build/{dataset.study}/{dataset.source}/{dataset.name}.jsonl"
        message: f"Building {dataset.folder}"
        resources: mem_mb=4000
        conda: "../envs/data.yaml"
        shell:
            "python -m {params.program} --cleaned {params.cleaned} --splits {params.splits} {params.beside}"
            " --options {params.options:q} --output {params.folder} --log {log}"


for source in SOURCES:
    if SOURCES[source]["kind"] not in ("dialogs", "challenge"):
        continue

    rule:
        name: f"build_temporal_spans_{source}"
        input: [cleaned_file(source, split) for split in cleaned_splits(source)]
        output: [f"results/build/temporal_spans/{source}/{split}.parquet" for split in cleaned_splits(source)]
        params:
            code=fingerprint("scripts.build.temporal_spans"),
            patterns=sha256_of(ROOT / "resources/temporal_patterns.yaml"),
            source=source,
            splits=cleaned_splits(source),
            pipeline=f"--spacy-model {config['spacy_pipeline']}" if config["spacy_pipeline"] else "",
        log: f"results/logs/build/temporal_spans/{source}.log"
        benchmark: f"results/benchmarks/build/temporal_spans/{source}.jsonl"
        message: f"Finding temporal expressions in {SOURCES[source]['title']}"
        threads: 2
        resources: mem_mb=4000
        conda: "../envs/data.yaml"
        shell:
            "python -m scripts.build.temporal_spans --cleaned results/clean/{params.source} --splits {params.splits}"
            " {params.pipeline} --processes {threads} --output results/build/temporal_spans/{params.source} --log {log}"
