"""Fetch: corpora and models, each file verified. The only stage that needs the network; it runs where
Snakemake runs (a cluster's nodes often have none)."""

localrules: fetch


rule fetch:
    """All corpora and models of the study."""
    input:
        [fetched_files(source) for source in USED_SOURCES],
        [model_paths(model) for model in USED_MODELS if "mlm" not in MODELS[model]],


# One rule a source, since each has files of its own. The hashes of the files used are the only parameter of a download:
# a new URL, a new licence or a better downloader fetches nothing. What is made here depends on the code that makes it.
for source in SOURCES:
    if "local" in SOURCES[source]:
        continue

    if "sample" in SOURCES[source]:

        rule:
            name: f"fetch_{source}"
            output: fetched_files(source)
            params:
                code=fingerprint(f"scripts.fetch.samples.{SOURCES[source]['sampler']}"),
                program=f"scripts.fetch.samples.{SOURCES[source]['sampler']}",
                arguments=" ".join(f"--{key} {value}" for key, value in SOURCES[source]["sample"].items()),
                folder=f"results/fetch/{source}",
            log: f"results/logs/fetch/{source}.log"
            benchmark: f"results/benchmarks/fetch/{source}.jsonl"
            message: f"Writing the sample corpus {source}"
            localrule: True
            conda: "../envs/data.yaml"
            shell: "python -m {params.program} {params.arguments} --output {params.folder} --log {log}"

    else:

        rule:
            name: f"fetch_{source}"
            output: fetched_files(source)
            params:
                hashes=as_json(fetched_hashes(source)),
                source=source,
                folder=f"results/fetch/{source}",
            log: f"results/logs/fetch/{source}.log"
            benchmark: f"results/benchmarks/fetch/{source}.jsonl"
            message: f"Fetching {SOURCES[source]['title']}"
            localrule: True
            conda: "../envs/data.yaml"
            shell:
                "python -m scripts.fetch.source --source {params.source} --sources {ROOT}/resources/sources.yaml"
                " --mirror={MIRROR:q} --output {params.folder} --log {log}"


for model in MODELS:
    if "mlm" in MODELS[model]:  # made by a run (rules/train.smk)
        continue

    rule:
        name: f"fetch_model_{model}"
        input:
            [MODELS[model]["vocabulary"]] if "vocabulary" in MODELS[model] else [],
            model_paths(MODELS[model]["encoder"]) if "encoder" in MODELS[model] else [],
        output: model_paths(model)
        params:
            code=fingerprint("scripts.fetch.model") if {"init", "esim"} & set(MODELS[model]) else "",
            entry=as_json({key: value for key, value in MODELS[model].items() if key not in ("licence", "title")}),
            model=model,
            folder=f"results/fetch/models/{model}",
        log: f"results/logs/fetch/models/{model}.log"
        benchmark: f"results/benchmarks/fetch/models/{model}.jsonl"
        message: f"Fetching the model {model}"
        localrule: True
        conda: "../envs/train.yaml"
        shell:
            "python -m scripts.fetch.model --model {params.model} --models {ROOT}/resources/models.yaml"
            " --mirror={MIRROR:q} --output {params.folder} --log {log}"
