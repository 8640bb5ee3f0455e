"""Build: each study's datasets from cleaned corpora, as results/build/<study>/<source>/<dataset>/<split>.parquet."""


rule build:
    """All datasets of the study."""
    input:
        [dataset_splits(dataset) for dataset in PLAN.datasets.values()],
    localrule: True


for dataset in PLAN.datasets.values():

    rule:
        name: f"build_{dataset.study}_{dataset.source}_{dataset.name}"
        input: [cleaned_file(dataset.source, split) for split in splits(dataset.source)]
        output: dataset_splits(dataset)
        params:
            code=fingerprint(f"scripts.build.{dataset.study}"),
            program=f"scripts.build.{dataset.study}",
            options=dataset.options,
            splits=splits(dataset.source),
            cleaned=f"results/clean/{dataset.source}",
            folder=dataset.folder,
        log: f"results/logs/build/{dataset.study}/{dataset.source}/{dataset.name}.log"
        benchmark: f"results/benchmarks/build/{dataset.study}/{dataset.source}/{dataset.name}.jsonl"
        message: f"Building {dataset.folder}"
        resources: mem_mb=4000
        conda: "../envs/data.yaml"
        shell:
            "python -m {params.program} --cleaned {params.cleaned} --splits {params.splits}"
            " --options {params.options:q} --output {params.folder} --log {log}"
