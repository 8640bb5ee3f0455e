"""Evaluate: every number of the study called <name>, with its interval.

Reads  results/train/<study>/<run>/, the datasets where a study's evaluation needs them, people's answers where there are any,
       results/external/<study>/<source>/<dataset>/<split>/<name>/: predictions made elsewhere (docs/add.md)
Writes results/evaluate/<name>/<study>/<experiment>.parquet   the numbers of one experiment
       results/evaluate/<name>/<study>.parquet                the numbers of a study in one table
       results/evaluate/<name>/metrics.parquet                the numbers of all studies in one table
"""


rule evaluate:
    """All metrics of the study."""
    input:
        JOBS.metrics,
        [JOBS.metrics_of(study) for study in WORK.used_studies],
    localrule: True


rule evaluate_experiment:
    """The numbers of an experiment, by scripts/studies/<study>/evaluate.py."""
    input:
        read=lambda wildcards: JOBS.read_by_evaluation(wildcards.experiment),
        people=lambda wildcards: WORK.people[wildcards.experiment],
    output:
        metrics=f"{WORK.evaluated}/{{study}}/{{experiment}}.parquet",
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
        **START.parameters("evaluate_experiment"),
    message:
        "Evaluating {wildcards.experiment}"
    shell:
        "python -m {params.program} {params.arguments} --log {log:q}"


rule evaluate_study:
    """The numbers of a study's experiments in one table."""
    input:
        experiments=lambda wildcards: JOBS.metrics_of_experiments(**wildcards),
    output:
        metrics=f"{WORK.evaluated}/{{study}}.parquet",
        manifest=f"{WORK.evaluated}/{{study}}.manifest.json",
    log:
        f"results/logs/evaluate/{WORK.name}/{{study}}.log",
    benchmark:
        f"results/benchmarks/evaluate/{WORK.name}/{{study}}.jsonl"
    localrule: True
    conda:
        "../envs/data.yaml"
    params:
        **START.parameters("evaluate_study"),
    message:
        "Collecting the metrics of {wildcards.study}"
    shell:
        "python -m {params.program} {params.arguments} --log {log:q}"


rule evaluate_metrics:
    """The numbers of all studies in one table."""
    input:
        studies=[JOBS.metrics_of(study) for study in WORK.used_studies],
    output:
        metrics=JOBS.metrics,
        manifest=f"{WORK.evaluated}/metrics.manifest.json",
    log:
        f"results/logs/evaluate/{WORK.name}/metrics.log",
    benchmark:
        f"results/benchmarks/evaluate/{WORK.name}/metrics.jsonl"
    localrule: True
    conda:
        "../envs/data.yaml"
    params:
        **START.parameters("evaluate_metrics"),
    message:
        "Collecting all metrics"
    shell:
        "python -m {params.program} {params.arguments} --log {log:q}"
