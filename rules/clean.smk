"""Clean: each corpus as tables of one schema (scripts/data/tables.py), and a count of what was changed.

Reads  results/fetch/<source>/
Writes results/clean/<source>/<split>.parquet   (<split>/manifest.json and shards for a large corpus)
       results/clean/<source>/cleaning.csv      what was read, changed and dropped, and why
       results/clean/<source>/manifest.json     the names, lengths and hashes of these files
"""


rule clean:
    """All corpora of the study, cleaned."""
    input:
        [cleaned(source) for source in WORK.used_sources],
    localrule: True


rule clean_corpus:
    """The tables of a corpus, by the cleaner that resources/sources.yaml names: scripts/clean/<cleaner>.py."""
    input:
        fetched=lambda wildcards: WORK.fetched(wildcards.source),
    output:
        manifest="results/clean/{source}/manifest.json",
        cleaning="results/clean/{source}/cleaning.csv",
    log:
        "results/logs/clean/{source}.log",
    benchmark:
        "results/benchmarks/clean/{source}.jsonl"
    priority: 2
    conda:
        "../envs/data.yaml"
    # A job of two threads waits until two cores are free together. So a small corpus takes one thread.
    threads: lambda wildcards: 2 if {"sharded", "sample"} & set(WORK.sources[wildcards.source]) == {"sharded"} else 1
    resources:
        mem_mb=4000,
    params:
        **START.parameters("clean_corpus"),
    message:
        "Cleaning {wildcards.source}"
    shell:
        'rm -rf "$(dirname {output.manifest:q})"'
        " && python -m {params.program} {params.arguments} --processes {threads} --log {log:q}"
