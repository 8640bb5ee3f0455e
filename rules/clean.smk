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
        # A local file or folder is compared by its content, which is in the provenance, and not by its time.
        fetched=lambda w: (ancient if "local" in WORK.sources[w.source] else str)(WORK.fetched(w.source)),
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
    resources:
        mem_mb=4000,
    params:
        cleaner=lambda w: WORK.sources[w.source]["cleaner"],
        provenance=lambda w: as_json(sources.provenance_of(WORK, w.source)),
        expect=lambda w: option("--expect", WORK.sources[w.source].get("expect")),
        repeats=lambda w: option("--keep-rolling-repeats", WORK.sources[w.source].get("keep_rolling_repeats")),
        cut=lambda w: option("--cut-rolling", WORK.sources[w.source].get("cut_rolling")),
        columns=lambda w: option("--columns", sources.columns_of(WORK, w.source)),
        encoding=lambda w: option("--encoding", WORK.sources[w.source].get("encoding")),
        tables=lambda w: sources.tables_of_corpus(WORK, w.source),  # the names that the next rules read
        code=lambda w: code(f"clean/{WORK.sources[w.source]['cleaner']}"),
        fetched=uncompared(lambda w: sources.fetched_folder(WORK, w.source)),
    message:
        "Cleaning {wildcards.source}"
    shell:
        "python -m scripts.clean.{params.cleaner} --source {wildcards.source} --fetched {params.fetched:q}"
        " --provenance={params.provenance:q} {params.expect:q} {params.repeats:q} {params.cut:q} {params.columns:q} {params.encoding:q}"
        " --output results/clean/{wildcards.source} --manifest {output.manifest} --log {log:q}"
