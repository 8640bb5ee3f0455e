"""Publish: figures, tables and the page, from results/evaluate/metrics.parquet and the runs."""

SUFFIXES = {"figure": ["svg", "png", "pdf", "csv"], "table": ["csv", "md", "tex"]}
PUBLISHED = [item for item in FIGURES if item["study"] in USED_STUDIES]


def published_files(item):
    """The files of a figure or table; the first is the one that the page and the report show."""
    return [f"results/publish/{item['kind']}s/{item['name']}.{suffix}" for suffix in SUFFIXES[item["kind"]]]


def study_runs(study):
    """The names of a study's runs."""
    return [name for name, run in PLAN.runs.items() if run.study == study]


rule publish:
    """All figures and tables, and the page."""
    input:
        [published_files(item) for item in PUBLISHED],
    localrule: True


for item in PUBLISHED:

    rule:
        name: f"publish_{item['name']}"
        input:
            metrics="results/evaluate/metrics.parquet",
            runs=[file for run in study_runs(item["study"]) for file in run_outputs(run)],
            sources="resources/sources.yaml",
            models="resources/models.yaml",
        output:
            report(published_files(item)[0], caption=f"../{item['caption']}",
                   category=STUDIES[item["study"]]["title"], labels={"what": item["name"].replace("_", " ")}),
            published_files(item)[1:],
        params:
            code=fingerprint(f"scripts.publish.{item['program']}"),
            program=f"scripts.publish.{item['program']}",
            trained=f"results/train/{item['study']}",
            runs=study_runs(item["study"]),
            prefix=f"results/publish/{item['kind']}s/{item['name']}",
        log: f"results/logs/publish/{item['name']}.log"
        benchmark: f"results/benchmarks/publish/{item['name']}.jsonl"
        message: f"Publishing the {item['kind']} {item['name']}"
        localrule: True
        conda: "../envs/data.yaml"
        shell:
            "python -m {params.program} --metrics {input.metrics} --sources {input.sources} --models {input.models}"
            " --output {params.prefix} --log {log}"
