"""Publish: the figures, the tables and the page of the study called <name>, as resources/figures.yaml lists them.

Reads  results/evaluate/<name>/metrics.parquet, and what an item's `reads` says: runs, datasets, temporal expressions
Writes results/publish/<name>/figures/<item>.{svg,dark.svg,png,pdf,csv}
       results/publish/<name>/tables/<item>.{csv,md,tex}
       results/publish/<name>/leaderboard/<model>.json         its numbers of one model, as leaderboards read them
       results/publish/<name>/index.html                       the page, one file that opens from disk
       results/publish/<name>/findings.json                    what its first screen says
       results/publish/index.html                              the studies that are there, with their findings
       docs/record/<name>/                                     when `record` is asked for: what is kept with the project
"""

include: "arguments/publish.smk"
include: "arguments/page.smk"


rule publish:
    """All figures and tables, the page, and the list of studies."""
    input:
        [published_files(item) for item in PUBLISHED.values()],
        f"{PAGES}/index.html",
        [f"{PAGES}/leaderboard/{model}.json" for model in ranked_models()],
        "results/publish/index.html",
    localrule: True


rule publish_figure:
    """A figure and its points, by the program that resources/figures.yaml names."""
    input:
        metrics=f"{EVALUATED}/metrics.parquet",
        read=read_by_item,
    output:
        report(f"{PAGES}/figures/{{item}}.svg", caption="../report/item.rst", category=study_title,
               labels=item_label),
        multiext(f"{PAGES}/figures/{{item}}", ".dark.svg", ".png", ".pdf", ".csv"),
    wildcard_constraints:
        item=one_of(name for name, item in PUBLISHED.items() if item["kind"] == "figure"),
    params:
        **made_by(lambda wildcards: PUBLISHED[wildcards.item]["program"]),
        shown=shown_by_item,
        arguments=item_arguments,
        caption=caption_of,
        prefix=lambda wildcards, output: Path(output[0]).with_suffix(""),
    log: f"results/logs/publish/{NAME}/{{item}}.log"
    benchmark: f"results/benchmarks/publish/{NAME}/{{item}}.jsonl"
    message: "Publishing {wildcards.item}"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program:q} --metrics {input.metrics:q} @{params.arguments} --output {params.prefix:q} --log {log:q}"


localrules: publish_table  # which `use rule` does not hand on


use rule publish_figure as publish_table with:
    output:
        report(f"{PAGES}/tables/{{item}}.csv", caption="../report/item.rst", category=study_title,
               labels=item_label),
        multiext(f"{PAGES}/tables/{{item}}", ".md", ".tex"),
    wildcard_constraints:
        item=one_of(name for name, item in PUBLISHED.items() if item["kind"] == "table"),


rule publish_leaderboard:
    """The numbers of each model in a file of its own, as lm-evaluation-harness writes them and leaderboards read them."""
    input:
        metrics=f"{EVALUATED}/metrics.parquet",
    output:
        [f"{PAGES}/leaderboard/{model}.json" for model in ranked_models()],
    params:
        **made_by("scripts.publish.leaderboard"),
        told=told_to_leaderboards(),
        arguments=leaderboard_arguments,
    log: f"results/logs/publish/{NAME}/leaderboard.log"
    benchmark: f"results/benchmarks/publish/{NAME}/leaderboard.jsonl"
    message: "Writing the numbers of each model"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} @{params.arguments} --log {log:q}"


rule publish_page:
    """The page of the study: what was asked, what was found, how each figure was made."""
    input:
        metrics=f"{EVALUATED}/metrics.parquet",
        published=[published_files(item) for item in PUBLISHED.values()],
        cleaning=[f"results/clean/{source}/cleaning.csv" for source in USED_SOURCES],
        runs=list(dict.fromkeys(run_outputs(run)[-1] for run in PLAN.runs)),
    output:
        page=report(f"{PAGES}/index.html", caption="../report/workflow.rst", category="The page"),
        findings=f"{PAGES}/findings.json",
    params:
        **made_by("scripts.publish.site"),
        template=page_templates(),
        texts=as_json(page_texts()),
        configuration=page_configuration(),
        provenance=page_provenance(),
        arguments=page_arguments,
        folder=lambda wildcards, output: Path(output.page).parent,
    log: f"results/logs/publish/{NAME}/page.log"
    benchmark: f"results/benchmarks/publish/{NAME}/page.jsonl"
    message: "Publishing the page"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} --metrics {input.metrics:q} @{params.arguments} --publish {params.folder:q}"
        " --output {output.page:q} --log {log:q}"


rule publish_index:
    """The list of the studies that are there, with what each found."""
    input:
        metrics=[f"results/evaluate/{name}/metrics.parquet" for name in studies_there()],
        findings=findings_there(),
    output:
        index="results/publish/index.html",
    params:
        **made_by("scripts.publish.index"),
        template=page_templates(),
        arguments=lambda wildcards, input: argument_file([*input.metrics, "--findings", *input.findings]),
    log: "results/logs/publish/index.log"
    benchmark: "results/benchmarks/publish/index.jsonl"
    message: "Listing the studies"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} @{params.arguments} --output {output.index:q} --log {log:q}"


# Without output, so that a record which could not be written takes none away; it is made anew whenever it is asked for.
rule record:
    """The record of the study, to be kept with the project: docs/record/<name>/ (scripts/publish/record.py)."""
    input:
        rules.publish.input,
        metrics=f"{EVALUATED}/metrics.parquet",
        runs=outputs_of_runs(PLAN.runs),
    params:
        told=lambda wildcards, input, output: record_arguments(wildcards, input, output),
        folder=f"docs/record/{NAME}",
    log: f"results/logs/publish/{NAME}/record.log"
    message: "Recording the study {params.folder}"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m scripts.publish.record --study {params.told:q} --output {params.folder:q} --log {log:q}"
