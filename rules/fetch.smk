"""Fetch: corpora and models, each file verified. The only stage that needs the network, so it runs where Snakemake runs.

Reads  the internet or a mirror, as resources/sources.yaml and resources/models.yaml say
Writes results/fetch/<source>/         the files of a corpus as its authors published them, or of a sample (resources/samples/)
       results/fetch/models/<model>/   the files of a model
       …/manifest.json                 their names, lengths and hashes; the next rules depend on this file
"""


rule fetch:
    """All corpora and models of the study."""
    input:
        [WORK.fetched(source) for source in WORK.fetched_sources],
        [WORK.model_files(model) for model in WORK.models_read],
    localrule: True


# Only the hashes of the files are compared: a new URL, licence or downloader does not fetch again.
rule fetch_source:
    """The files of a corpus, from a mirror or from their URLs."""
    output:
        manifest="results/fetch/{source}/manifest.json",
    log:
        "results/logs/fetch/{source}.log",
    benchmark:
        "results/benchmarks/fetch/{source}.jsonl"
    wildcard_constraints:
        source=one_of(name for name, entry in WORK.sources.items() if "downloads" in entry),
    priority: 2
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
    params:
        hashes=lambda w: WORK.fetched_hashes(w.source),
        entry=uncompared(lambda w: as_json(WORK.sources[w.source])),
        place=uncompared(lambda w: WORK.place_of("sources", w.source)),
        mirror=uncompared(lambda w: "" if "sample" in WORK.sources[w.source] else WORK.mirror),
    message:
        "Fetching the corpus {wildcards.source}"
    shell:
        "python -m scripts.fetch.source --source {wildcards.source} --entry={params.entry:q} --place={params.place:q}"
        " --mirror={params.mirror:q} --output results/fetch/{wildcards.source} --manifest {output.manifest} --log {log:q}"


# An ESIM over an encoder, or a model without pretraining, waits until the model whose files it takes is fetched.
rule fetch_model:
    """The files of a model: from the hub, from a folder, or written from its architecture."""
    input:
        base=lambda w: WORK.base_files(w.model),
    output:
        manifest="results/fetch/models/{model}/manifest.json",
    log:
        "results/logs/fetch/models/{model}.log",
    benchmark:
        "results/benchmarks/fetch/models/{model}.jsonl"
    wildcard_constraints:
        model=one_of(name for name in WORK.models if not WORK.has_no_files(name)),
    priority: 2
    localrule: True
    conda:
        "../envs/train.yaml"
    resources:
        mem_mb=2000,
    params:
        decides=lambda w: as_json(sources.deciding_fields(WORK, w.model)),
        code=lambda w: code(*["fetch/model"] * bool({"init", "esim"} & {*WORK.models[w.model]})),
        entry=uncompared(lambda w: as_json(sources.with_absolute_paths(WORK, w.model))),
        place=uncompared(lambda w: WORK.place_of("models", w.model)),
        mirror=uncompared(WORK.mirror),
    message:
        "Fetching the model {wildcards.model}"
    shell:
        "python -m scripts.fetch.model --model {wildcards.model} --entry={params.entry:q} --place={params.place:q}"
        " --mirror={params.mirror:q} --output results/fetch/models/{wildcards.model} --manifest {output.manifest}"
        " --log {log:q}"
