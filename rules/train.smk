"""Train: one job a run. A run that is finished is not trained again; a killed one resumes (scripts/train/run.py)."""


rule train:
    """All runs of the study."""
    input:
        [run_outputs(run) for run in PLAN.runs],
    localrule: True


rule train_run:
    input:
        data=lambda wildcards: dataset_splits(PLAN.runs[wildcards.run].dataset),
        model=lambda wildcards: model_paths(PLAN.runs[wildcards.run].model),
    output:
        predictions="results/train/{study}/{run}/predictions.parquet",
        history="results/train/{study}/{run}/history.parquet",
        facts="results/train/{study}/{run}/run.json",
    params:
        code=fingerprint("scripts.train.run", "scripts.train.loop"),
        settings=lambda wildcards: PLAN.runs[wildcards.run].settings,
        method=lambda wildcards: method_of(PLAN.runs[wildcards.run]),
        splits=lambda wildcards: splits(PLAN.runs[wildcards.run].dataset.source),
        data=lambda wildcards: PLAN.runs[wildcards.run].dataset.folder,
        model=lambda wildcards: f"results/fetch/models/{PLAN.runs[wildcards.run].model}",
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
