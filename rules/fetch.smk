"""Fetch: corpora and models, each file verified. The only stage that needs the network, so it runs where Snakemake runs.

Reads  the internet or a mirror, as resources/sources.yaml and resources/models.yaml say
Writes results/fetch/<source>/         the files of a corpus as its authors published them, or of a sample
       results/fetch/models/<model>/   the files of a model
       …/manifest.json                 their names, lengths and hashes: what the next rules depend on
"""

include: "arguments/fetch.smk"


rule fetch:
    """All corpora and models of the study."""
    input:
        [fetched(source) for source in USED_SOURCES],
        [model_of(model) for model in USED_MODELS if not stage_of(MODELS[model])],
    localrule: True


# The hashes of the files are the only parameter: a new URL, a new licence or a better downloader fetches nothing.
rule fetch_source:
    """The files of a corpus, from a mirror or from their URLs."""
    output:
        manifest="results/fetch/{source}/manifest.json",
    wildcard_constraints:
        source=one_of(name for name, entry in SOURCES.items() if "downloads" in entry),
    params:
        hashes=lambda wildcards: as_json(fetched_hashes(wildcards.source)),
        program=lambda wildcards, output: "scripts.fetch.source",
        manifest=lambda wildcards, output: "scripts.data.manifest",
        files=lambda wildcards: fetched_names(wildcards.source),
        sources=sources_file,
        place=lambda wildcards, output: place_of("sources", wildcards.source),
        mirror=lambda wildcards, output: MIRROR,
        folder=lambda wildcards, output: Path(output.manifest).parent,
    log: "results/logs/fetch/{source}.log"
    benchmark: "results/benchmarks/fetch/{source}.jsonl"
    message: "Fetching the corpus {wildcards.source}"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} --source {wildcards.source} --sources {params.sources:q} --place {params.place:q}"
        " --mirror={params.mirror:q} --output {params.folder:q} --log {log:q}"
        " && python -m {params.manifest} --folder {params.folder:q} {params.files:q} --output {output.manifest:q}"


rule fetch_sample:
    """A small corpus of our own sentences, in the layout of a real one."""
    output:
        manifest="results/fetch/{source}/manifest.json",
    wildcard_constraints:
        source=one_of(name for name, entry in SOURCES.items() if "sample" in entry),
    params:
        **made_by(sampler_of),
        texts=sample_texts,
        options=sample_options,
        files=lambda wildcards: fetched_names(wildcards.source),
        folder=lambda wildcards, output: Path(output.manifest).parent,
    log: "results/logs/fetch/{source}.log"
    benchmark: "results/benchmarks/fetch/{source}.jsonl"
    message: "Writing the sample corpus {wildcards.source}"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program:q} {params.options:q} --output {params.folder:q} --log {log:q}"
        " && python -m {params.manifest} --folder {params.folder:q} {params.files:q} --output {output.manifest:q}"


# An ESIM over the vectors of an encoder waits for that encoder.
rule fetch_model:
    """The files of a model: from the hub, from a folder, or written from its architecture."""
    input:
        encoder=lambda wildcards: model_of(MODELS[wildcards.model]["encoder"]) if "encoder" in MODELS[wildcards.model] else [],
    output:
        manifest="results/fetch/models/{model}/manifest.json",
    wildcard_constraints:
        # Those of stages are made by train_model, and a control has no file.
        model=one_of(name for name, entry in MODELS.items() if not {*STAGES, "control"} & set(entry)),
    params:
        code=code_of_model,
        program=lambda wildcards, output: "scripts.fetch.model",
        entry=model_entry,
        models=models_file,
        place=lambda wildcards, output: place_of("models", wildcards.model),
        mirror=lambda wildcards, output: MIRROR,
        folder=lambda wildcards, output: Path(output.manifest).parent,
    log: "results/logs/fetch/models/{model}.log"
    benchmark: "results/benchmarks/fetch/models/{model}.jsonl"
    message: "Fetching the model {wildcards.model}"
    localrule: True
    conda: "../envs/train.yaml"
    shell:
        "python -m {params.program} --model {wildcards.model} --models {params.models:q} --place {params.place:q}"
        " --mirror={params.mirror:q} --output {params.folder:q} --manifest {output.manifest:q} --log {log:q}"
