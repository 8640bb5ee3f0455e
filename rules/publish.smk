"""Publish: the figures, the tables and the page of the study called <name>. scripts/studies/<study>/figures.yaml lists the items of a
study, resources/figures.yaml those of every study and of all studies together.

Reads  results/evaluate/<name>/{metrics,comparisons}.parquet, and the inputs that an item's `reads` names: runs, datasets, …
Writes results/publish/<name>/figures/<item>.{svg,dark.svg,png,pdf,csv}, and .column.pdf with `columns: 1`
       results/publish/<name>/tables/<item>.{csv,md,tex}
       results/publish/<name>/<study>.manifest.json            the names, lengths and hashes of a study's figures and tables
       results/publish/<name>/leaderboard/<model>.json         the numbers of one model, in the form of leaderboards
       results/publish/<name>/leaderboard/every_eval_ever/     the same numbers in the form of every_eval_ever
       results/publish/<name>/index.html                       the page, one file that opens from disk
       results/publish/<name>/findings.json                    the findings on its first screen
       results/publish/index.html                              links to all studies; each call that may run jobs writes it
       docs/record/                                            by `snakemake record`: the results kept with the project
       results/harness/<name>/                                 by `snakemake harness`: tasks for lm-evaluation-harness
"""


rule publish:
    """All figures and tables, and the page."""
    input:
        [PUBLISHED.files(name) for name in PUBLISHED.items],
        f"{WORK.pages}/index.html",
        [f"{WORK.pages}/leaderboard/{model}.json" for model in WORK.ranked_models],
    localrule: True


for OF in PUBLISHED.studies:

    rule:
        """The figures and tables of one study, or those about all studies, by the programs that figures.yaml names."""
        name:
            f"publish_{OF}"
        input:
            metrics=WORK.metrics_of(OF),
            comparisons=WORK.comparisons_of(OF),
            read=PUBLISHED.read_by(OF),
        output:
            [report(PUBLISHED.files(name)[0], **PUBLISHED.in_report(name)) for name in PUBLISHED.of_study(OF)],
            PUBLISHED.other_files(OF),
            manifest=PUBLISHED.manifest(OF),
        log:
            f"results/logs/publish/{WORK.name}/{OF}.log",
        benchmark:
            f"results/benchmarks/publish/{WORK.name}/{OF}.jsonl"
        # the figures of single studies first: they take longest
        priority: -1 if OF == ALL else 0
        localrule: True
        conda:
            "../envs/data.yaml"
        resources:
            mem_mb=2000,
        params:
            shown=lambda w, of=OF: as_json(PUBLISHED.shown(of)),
            papers=lambda w, of=OF: PUBLISHED.hashes_of_papers(of),
            code=lambda w, of=OF: code(*PUBLISHED.programs_of(of), "publish/items"),
            pages=uncompared(WORK.pages),
        message:
            f"Publishing {PUBLISHED.count(OF)}"
        shell:
            "python -m scripts.publish.items --metrics {input.metrics:q} --output {output.manifest:q}"
            " --folder {params.pages:q}"
            " --log {log:q} <<< {params.shown:q}"


rule publish_leaderboard:
    """The numbers of each model, in the forms of lm-evaluation-harness and every_eval_ever."""
    input:
        metrics=WORK.metrics,
    output:
        [f"{WORK.pages}/leaderboard/{model}.json" for model in WORK.ranked_models],
        [f"{WORK.pages}/leaderboard/every_eval_ever/{model}.json" for model in WORK.ranked_models],
    log:
        f"results/logs/publish/{WORK.name}/leaderboard.log",
    benchmark:
        f"results/benchmarks/publish/{WORK.name}/leaderboard.jsonl"
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
    params:
        facts=lambda w: as_json(PUBLISHED.leaderboard),
        code=lambda w: code("publish/leaderboard"),
        folder=uncompared(f"{WORK.pages}/leaderboard"),
    message:
        "Writing the numbers of each model"
    shell:
        "python -m scripts.publish.leaderboard --metrics {input.metrics:q} --facts={params.facts:q}"
        " --output {params.folder:q} --log {log:q}"


rule publish_page:
    """The page of the study: what was asked, what was found, how each figure was made."""
    input:
        metrics=WORK.metrics,
        comparisons=WORK.comparisons,
        published=[PUBLISHED.manifest(study) for study in PUBLISHED.studies],
        cleaning=[f"results/clean/{source}/cleaning.csv" for source in WORK.used_sources],
        runs=WORK.manifests_of(WORK.runs),
    output:
        page=report(f"{WORK.pages}/index.html", caption="../report/workflow.rst", category="The page"),
        findings=f"{WORK.pages}/findings.json",
    log:
        f"results/logs/publish/{WORK.name}/page.log",
    benchmark:
        f"results/benchmarks/publish/{WORK.name}/page.jsonl"
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
    params:
        texts=lambda w: as_json(PUBLISHED.page),
        papers=lambda w: PUBLISHED.hashes_of_papers(ALL),
        configuration=lambda w: as_json(PUBLISHED.page_configuration),
        provenance=lambda w: as_json(PUBLISHED.page_provenance),
        templates=lambda w: as_json(PUBLISHED.page_templates),
        code=lambda w: code("publish/site"),
        pages=uncompared(WORK.pages),
        runs=uncompared(lambda w: [f"{run.folder}/run.json" for run in WORK.runs.values()]),
    message:
        "Publishing the page"
    shell:
        "python -m scripts.publish.site --metrics {input.metrics:q} --texts /dev/stdin --publish {params.pages:q}"
        " --cleaning {input.cleaning:q} --runs {params.runs:q} --configuration={params.configuration:q}"
        " --provenance={params.provenance:q} --output {output.page:q} --log {log:q} <<< {params.texts:q}"


# This rule has no output, because Snakemake would remove an output if the rule failed. The rule runs each time that a user names it.
rule record:
    """Add the runs and numbers of the study to the record, which is kept with the project (scripts/publish/record.py)."""
    input:
        rules.publish.input,
        published=rules.publish_page.input.published,
        metrics=WORK.metrics,
        comparisons=WORK.comparisons,
        runs=WORK.manifests_of(WORK.runs),
    log:
        f"results/logs/publish/{WORK.name}/record.log",
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
    params:
        study=lambda w: as_json(recording.recorded_study(WORK, PUBLISHED.recorded(), workflow.config_settings)),
    message:
        f"Recording the study {WORK.name} in docs/record"
    shell:
        "python -m scripts.publish.record --study /dev/stdin --output docs/record --log {log:q} <<< {params.study:q}"


rule harness:
    """The study's datasets as tasks for lm-evaluation-harness (scripts/publish/harness_tasks.py)."""
    input:
        [built(dataset) for dataset in WORK.measured_datasets],
    log:
        f"results/logs/publish/{WORK.name}/harness.log",
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
    params:
        study=lambda w: as_json(recording.harness_datasets(WORK)),
        folder=uncompared(f"results/harness/{WORK.name}"),
    message:
        f"Writing the tasks results/harness/{WORK.name}"
    shell:
        "python -m scripts.publish.harness_tasks --study /dev/stdin --output {params.folder:q} --log {log:q}"
        " <<< {params.study:q}"
