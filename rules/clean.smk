"""Clean: each corpus as tables of one schema (scripts/common/tables.py), and a count of what was changed."""


rule clean:
    """All corpora of the study, cleaned."""
    input:
        [cleaned_file(source, split) for source in USED_SOURCES for split in cleaned_splits(source)],
    localrule: True


for source in SOURCES:

    rule:
        name: f"clean_{source}"
        input: fetched_files(source)
        output:
            splits=[cleaned_file(source, split) for split in cleaned_splits(source)],
            tables=[f"results/clean/{source}/{name}" for name in
                    (["cleaning.csv", "videos.parquet"] if SOURCES[source].get("sharded") else ["cleaning.csv"])],
        params:
            code=fingerprint(f"scripts.clean.{SOURCES[source].get('cleaner', source)}"),
            program=f"scripts.clean.{SOURCES[source].get('cleaner', source)}",
            provenance=as_json({key: SOURCES[source][key] for key in ("title", "licence", "citation")}
                               | {"sha256": fetched_hashes(source)}),
            source=source,
            fetched=str(Path(fetched_files(source)[0]).parent),
            expect=f"--expect {shlex.quote(as_json(SOURCES[source]['expect']))}" if "expect" in SOURCES[source] else "",
            folder=f"results/clean/{source}",
        log: f"results/logs/clean/{source}.log"
        benchmark: f"results/benchmarks/clean/{source}.jsonl"
        message: f"Cleaning {SOURCES[source]['title']}"
        resources: mem_mb=4000
        conda: "../envs/data.yaml"
        shell:
            "python -m {params.program} --source {params.source} --fetched {params.fetched}"
            " --output {params.folder} --provenance {params.provenance:q} {params.expect} --log {log}"
