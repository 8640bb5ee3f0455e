"""Evaluate: every number of the study, with its interval, in results/evaluate/metrics.parquet."""


rule evaluate:
    """All metrics of the study."""
    input:
        "results/evaluate/metrics.parquet",
    localrule: True


# One rule a study, since each has a program of its own.
for study in STUDIES:

    rule:
        name: f"evaluate_{study}"
        input:
            runs=lambda wildcards: [file for run in PLAN.experiments[wildcards.experiment] for file in run_outputs(run)],
            data=lambda wildcards: read_by_evaluation(wildcards.experiment),
            human=lambda wildcards: config["experiments"][wildcards.experiment].get("human_labels") or [],
        output: f"results/evaluate/{study}/{{experiment}}.parquet"
        params:
            code=fingerprint(f"scripts.evaluate.{study}"),
            program=f"scripts.evaluate.{study}",
            study=study,
            runs=lambda wildcards: PLAN.experiments[wildcards.experiment],
            resamples=config["bootstrap_resamples"],
            build=f"--build results/build/{study}" if "datasets" in STUDIES[study]["evaluation_reads"] else "",
            human=lambda wildcards, input: f"--human {input.human}" if input.human else "",
        log: f"results/logs/evaluate/{study}/{{experiment}}.log"
        benchmark: f"results/benchmarks/evaluate/{study}/{{experiment}}.jsonl"
        message: f"Evaluating {STUDIES[study]['title']}: {{wildcards.experiment}}"
        resources: mem_mb=4000
        conda: "../envs/data.yaml"
        shell:
            "python -m {params.program} --experiment {wildcards.experiment} --runs {params.runs}"
            " --trained results/train/{params.study} --sources {ROOT}/resources/sources.yaml"
            " --resamples {params.resamples} {params.build} {params.human} --output {output} --log {log}"


rule evaluate_metrics:
    input: [f"results/evaluate/{PLAN.runs[runs[0]].study}/{name}.parquet" for name, runs in PLAN.experiments.items()]
    output: "results/evaluate/metrics.parquet"
    params: code=fingerprint("scripts.evaluate.metrics")
    log: "results/logs/evaluate/metrics.log"
    benchmark: "results/benchmarks/evaluate/metrics.jsonl"
    message: "Collecting all metrics"
    localrule: True
    conda: "../envs/data.yaml"
    shell: "python -m scripts.evaluate.metrics {input} --output {output} --log {log}"
