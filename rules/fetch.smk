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
        [WORK.model_files(model) for model in WORK.used_models],
    localrule: True


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
    params:
        **START.parameters("fetch_source"),
    message:
        "Fetching the corpus {wildcards.source}"
    shell:
        "python -m {params.program} {params.arguments} --log {log:q}"


# An ESIM that reads the vectors of an encoder waits until that encoder is fetched.
rule fetch_model:
    """The files of a model: from the hub, from a folder, or written from its architecture."""
    input:
        encoder=lambda wildcards: WORK.encoder_files(wildcards.model),
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
    params:
        **START.parameters("fetch_model"),
    message:
        "Fetching the model {wildcards.model}"
    shell:
        "python -m {params.program} {params.arguments} --log {log:q}"
