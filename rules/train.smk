"""Train: one job a run. A run that is finished is not trained again; a killed one resumes (scripts/train/run.py)."""


rule train:
    """All runs of the study."""
    input:
        [run_outputs(run) for run in PLAN.runs],
    localrule: True


# Runs that leave predictions, and runs that make a model for others (an MLM stage).
for rule_name, runs, made in (
    ("train_run", [run for run in PLAN.runs if run not in PLAN.made.values()], ["predictions.parquet"]),
    ("train_model", list(PLAN.made.values()), MADE_MODEL),
):

    rule:
        name: rule_name
        input:
            data=lambda wildcards: dataset_splits(PLAN.runs[wildcards.run].dataset),
            model=lambda wildcards: model_paths(PLAN.runs[wildcards.run].model),
        output:
            made=[f"results/train/{{study}}/{{run}}/{name}" for name in made],
            history="results/train/{study}/{run}/history.parquet",
            facts="results/train/{study}/{run}/run.json",
        wildcard_constraints: run="|".join(runs) or "none"
        params:
            code=lambda wildcards: fingerprint(
                "scripts.train.run", "scripts.train.loop", f"scripts.train.{paradigm_of(PLAN.runs[wildcards.run])}"),
            settings=lambda wildcards: PLAN.runs[wildcards.run].settings,
            method=lambda wildcards: method_of(PLAN.runs[wildcards.run]),
            splits=lambda wildcards: splits(PLAN.runs[wildcards.run].dataset.source),
            data=lambda wildcards: PLAN.runs[wildcards.run].dataset.folder,
            model=lambda wildcards: model_folder(PLAN.runs[wildcards.run].model),
        log: "results/logs/train/{study}/{run}.log"
        benchmark: "results/benchmarks/train/{study}/{run}.jsonl"
        message: "Training {wildcards.run}"
        threads: THREADS_PER_RUN
        retries: 0 if workflow.remote_exec else 2
        resources:
            gpu=GPUS_PER_RUN,
            cpus_per_task=4,
            nodes=1,
            mem_mb=lambda wildcards, attempt: 16000 * attempt,
            runtime=lambda wildcards, attempt: 240 * attempt,
        conda: "../envs/train.yaml"
        shell:
            "python -m scripts.train.run --run {wildcards.run} --settings {params.settings:q} --method {params.method:q}"
            " --splits {params.splits} --data {params.data} --model {params.model}"
            " --device {config[device]} --devices {config[devices_per_run]} --threads {threads}"
            " --checkpoint-seconds {config[checkpoint_seconds]}"
            " --output results/train/{wildcards.study}/{wildcards.run} --log {log}"
