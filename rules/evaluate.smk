"""Evaluate: every number of the study called <name>, with its interval.

Reads  results/train/<study>/<run>/, the datasets where a study's evaluation needs them, people's answers where there are any,
       results/external/<study>/<source>/<dataset>/<split>/<name>/: predictions made elsewhere (docs/add.md)
Writes results/evaluate/<name>/<study>/<experiment>.parquet   the numbers of one experiment
       results/evaluate/<name>/metrics.parquet                all of them in one table
"""

include: "arguments/evaluate.smk"


rule evaluate:
    """All metrics of the study."""
    input:
        f"{EVALUATED}/metrics.parquet",
    localrule: True


rule evaluate_experiment:
    """The numbers of an experiment, by scripts/studies/<study>/evaluate.py."""
    input:
        read=read_by_evaluation,
        people=lambda wildcards: answers_of_people(wildcards.experiment),
    output:
        metrics=f"{EVALUATED}/{{study}}/{{experiment}}.parquet",
    params:
        **made_by(lambda wildcards: f"scripts.studies.{wildcards.study}.evaluate"),
        resamples=config["bootstrap_resamples"],
        sources=evaluated_sources,
        arguments=evaluation_arguments,
    log: f"results/logs/evaluate/{NAME}/{{study}}/{{experiment}}.log"
    benchmark: f"results/benchmarks/evaluate/{NAME}/{{study}}/{{experiment}}.jsonl"
    message: "Evaluating {wildcards.experiment}"
    resources: mem_mb=4000
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} --experiment {wildcards.experiment} @{params.arguments}"
        " --trained results/train/{wildcards.study} --resamples {params.resamples} --output {output.metrics:q} --log {log:q}"


rule evaluate_metrics:
    """The numbers of all experiments in one table."""
    input:
        experiments=[f"{EVALUATED}/{PLAN.runs[runs[0]].study}/{name}.parquet" for name, runs in PLAN.experiments.items()],
    output:
        metrics=f"{EVALUATED}/metrics.parquet",
    params:
        **made_by("scripts.measure.collect"),
        arguments=lambda wildcards, input: argument_file(input.experiments),
    log: f"results/logs/evaluate/{NAME}/metrics.log"
    benchmark: f"results/benchmarks/evaluate/{NAME}/metrics.jsonl"
    message: "Collecting all metrics"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m {params.program} @{params.arguments} --output {output.metrics:q} --log {log:q}"
