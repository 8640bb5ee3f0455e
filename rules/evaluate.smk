"""Evaluate: every number of the study called <name>, with its interval.

Reads  results/train/<study>/<run>/, the datasets where a study's evaluation needs them, people's answers where there are any,
       results/external/<study>/<source>/<dataset>/<split>/<name>/: predictions made elsewhere (docs/add.md)
Writes results/evaluate/<name>/<study>/<experiment>.parquet   the numbers of one experiment
       results/evaluate/<name>/metrics.parquet                all of them in one table
"""


rule evaluate:
    """All metrics of the study."""
    input:
        JOBS.metrics,
    localrule: True


rule evaluate_experiment:
    """The numbers of an experiment, by scripts/studies/<study>/evaluate.py."""
    input:
        read=lambda wildcards: JOBS.read_by_evaluation(**wildcards),
        people=lambda wildcards: WORK.people[wildcards.experiment],
    output:
        metrics=f"{WORK.evaluated}/{{study}}/{{experiment}}.parquet",
    params:
        **START.parameters("evaluate_experiment"),
    log: f"results/logs/evaluate/{WORK.name}/{{study}}/{{experiment}}.log"
    benchmark: f"results/benchmarks/evaluate/{WORK.name}/{{study}}/{{experiment}}.jsonl"
    message: "Evaluating {wildcards.experiment}"
    resources: mem_mb=4000
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} {params.arguments:q} --log {log:q}"


rule evaluate_metrics:
    """The numbers of all experiments in one table."""
    input:
        experiments=JOBS.metrics_of_experiments(),
    output:
        metrics=JOBS.metrics,
    params:
        **START.parameters("evaluate_metrics"),
    log: f"results/logs/evaluate/{WORK.name}/metrics.log"
    benchmark: f"results/benchmarks/evaluate/{WORK.name}/metrics.jsonl"
    message: "Collecting all metrics"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} {params.arguments:q} --log {log:q}"
