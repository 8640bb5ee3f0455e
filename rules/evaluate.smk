"""Evaluate: every number of the study called <name>, with its interval.

Reads  results/train/<study>/<run>/, the datasets where a study's evaluation needs them, people's answers where there are any,
       results/external/<study>/<source>/<dataset>/<split>/<name>/: predictions made elsewhere (docs/add_data.md)
Writes results/evaluate/<name>/<study>/<experiment>.parquet   the numbers of one experiment
       results/evaluate/<name>/<study>.parquet                the numbers of a study in one table
       results/evaluate/<name>/metrics.parquet                the numbers of all studies in one table
       results/evaluate/<name>/comparisons.parquet            models beside controls: differences and verdicts (and <study>.comparisons.parquet)
"""


rule evaluate:
    """All metrics of the study."""
    input:
        WORK.metrics,
        WORK.comparisons,
        [WORK.metrics_of(study) for study in WORK.used_studies],
    localrule: True


rule evaluate_experiment:
    """The numbers of an experiment, by scripts/studies/<study>/evaluate.py."""
    input:
        read=lambda w: evaluation.read_by(WORK, w.experiment),
        people=lambda w: WORK.people[w.experiment],
    output:
        metrics=f"{WORK.evaluated}/{{study}}/{{experiment}}.parquet",
        comparisons=f"{WORK.evaluated}/{{study}}/{{experiment}}.comparisons.parquet",
        manifest=f"{WORK.evaluated}/{{study}}/{{experiment}}.manifest.json",
    log:
        f"results/logs/evaluate/{WORK.name}/{{study}}/{{experiment}}.log",
    benchmark:
        f"results/benchmarks/evaluate/{WORK.name}/{{study}}/{{experiment}}.jsonl"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
    params:
        resamples=option("--resamples", WORK.config.bootstrap_resamples),
        untrained=lambda w: option("--without-pretraining", evaluation.without_pretraining(WORK, w.experiment)),
        sources=lambda w: as_json(evaluation.sources_of(WORK, w.study)),
        contest=lambda w: as_json(evaluation.contest_of(WORK, w.study)),
        declared=lambda w: as_json(evaluation.declared_of(WORK, w.study)),  # which methods are blind, see all or learn, for its code
        rows_of_others=lambda w: WORK.released_rows([w.experiment]),
        code=lambda w: code(f"evaluate/{w.study}"),
        runs=uncompared(lambda w: "\n".join(WORK.plan.experiments[w.experiment])),
        fetched=uncompared(
            lambda w: option("--fetched", "results/fetch" if evaluation.judged_sources(WORK, w.experiment) else None)
        ),
        released=uncompared(
            lambda w: option("--released", WORK.released[w.experiment] and f"{folder_of(w.study, ROOT)}/released.csv")
        ),
        of_others=uncompared(lambda w: option("--released-sources", WORK.released[w.experiment])),
        external=uncompared(lambda w: option("--external", WORK.external[w.experiment])),
        people=uncompared(lambda w: option("--people", WORK.people[w.experiment])),
        others=uncompared(
            lambda w: option("--others", WORK.people[w.experiment] and evaluation.datasets_of(WORK, w.study))
        ),
    message:
        "Evaluating {wildcards.experiment}"
    shell:
        "python -m scripts.studies.{wildcards.study}.evaluate --experiment {wildcards.experiment} --runs -"
        " --trained results/train/{wildcards.study} --build results/build/{wildcards.study}"
        " --sources={params.sources:q} --contest={params.contest:q} {params.fetched:q} {params.released:q} {params.of_others:q}"
        " {params.external:q} {params.people:q} {params.others:q}"
        " {params.untrained:q} {params.resamples:q} --output {output.metrics:q} --log {log:q} <<< {params.runs:q}"


rule evaluate_study:
    """The numbers of a study's experiments in one table."""
    input:
        experiments=lambda w: WORK.metrics_of_experiments(w.study),
    output:
        metrics=f"{WORK.evaluated}/{{study}}.parquet",
        comparisons=f"{WORK.evaluated}/{{study}}.comparisons.parquet",
        manifest=f"{WORK.evaluated}/{{study}}.manifest.json",
    log:
        f"results/logs/evaluate/{WORK.name}/{{study}}.log",
    benchmark:
        f"results/benchmarks/evaluate/{WORK.name}/{{study}}.jsonl"
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
    params:
        code=lambda w: code("measure/collect"),
    message:
        "Collecting the metrics of {wildcards.study}"
    shell:
        "python -m scripts.measure.collect {input.experiments:q} --output {output.metrics:q} --log {log:q}"


rule evaluate_metrics:
    """The numbers of all studies in one table."""
    input:
        studies=[WORK.metrics_of(study) for study in WORK.used_studies],
    output:
        metrics=WORK.metrics,
        manifest=f"{WORK.evaluated}/metrics.manifest.json",
        comparisons=WORK.comparisons,
        manifest_of_comparisons=f"{WORK.evaluated}/comparisons.manifest.json",
    log:
        f"results/logs/evaluate/{WORK.name}/metrics.log",
    benchmark:
        f"results/benchmarks/evaluate/{WORK.name}/metrics.jsonl"
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
    params:
        code=lambda w: code("measure/collect"),
    message:
        "Collecting all metrics"
    shell:
        "python -m scripts.measure.collect {input.studies:q} --output {output.metrics:q} --log {log:q}"
