"""Train: each job trains, asks or measures a list of runs, often a list of one. Runs that ask one model share a job, and
so do the controls of a study and the runs of a tiny model: the imports, or the model, are loaded once.
A run that is finished is not trained again; a killed run resumes (scripts/train/run.py).

Reads  results/build/<study>/<source>/<dataset>/, and the model's files
Writes results/train/<study>/<job>.manifest.json         the files that the runs of a job wrote; a job of one run has its name
       results/train/<study>/<run>/predictions.parquet   scores for every example of every evaluation split
       results/train/<study>/<run>/history.parquet       loss and accuracy by epoch
       results/train/<study>/<run>/run.json              settings, versions, hardware, hashes, times
       results/train/<study>/<run>/model/                weights from which other runs start. An MLM or CLM stage writes them
                                                         instead of predictions, other runs (`initial:`) beside predictions
       results/train/<study>/<run>/work/                 checkpoint and finished work; they stay (no output of a rule)
       results/train/kept/<weights>/                     trained weights, if `keep` says so (no output of a rule)
"""


rule train:
    """All runs of the study."""
    input:
        WORK.manifests_of(WORK.runs),
    localrule: True


# The runs are the program's standard input: a line of JSON each, with the settings. Hundreds fit, and no name of a run is cut.
rule train_run:
    """Runs of a model, one after the other in one process. Data, model and settings of a run decide its name."""
    input:
        read=lambda w: training.read_by(WORK, w.study, w.job),
    output:
        manifest="results/train/{study}/{job}.manifest.json",
    log:
        "results/logs/train/{study}/{job}.log",
    benchmark:
        "results/benchmarks/train/{study}/{job}.jsonl"
    wildcard_constraints:
        job=one_hashed(WORK.training_jobs_of("model")),
    # Training, which takes longest, starts as soon as possible: after data (priority 2), before evaluation and publishing (0).
    priority: 1
    # Each attempt has more memory and time. If a job failed for another reason, the next attempts fail at once with the same error.
    retries: 0 if workflow.remote_exec else 2
    group:
        GPUS.group if GPUS.shared else None
    conda:
        "../envs/train.yaml"
    threads: lambda w: WORK.threads_of(f"{w.study}/{w.job}", START.threads_per_run)
    resources:
        **GPUS.request,
        attempt=lambda wildcards, attempt: attempt,
        cpus_per_task=4,
        mem_mb=lambda w, attempt: (3000 if WORK.trains_tiny(f"{w.study}/{w.job}") else 16000) * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        runs=lambda w: training.lines_of(WORK, w.study, w.job),
        keep=option("--keep", WORK.config.keep),
        code=lambda w: code(*training.programs_of(WORK, w.study, w.job)),
        device=uncompared(WORK.config.device),
        devices=uncompared(WORK.config.devices_per_run),
        runs_per_gpu=uncompared(WORK.config.runs_per_gpu),
        micro_batch_tokens=uncompared(option("--micro-batch-tokens", WORK.config.micro_batch_tokens)),
        not_deterministic=uncompared(option("--not-deterministic", not WORK.config.deterministic)),
        checkpoint_seconds=uncompared(WORK.config.checkpoint_seconds),
        report_to=uncompared(WORK.config.report_to),
        merge_adapter=uncompared(option("--merge-adapter", WORK.config.merge_adapter)),
        cards=uncompared(lambda w: as_json(training.cards_of(WORK, w.study, w.job))),
        threads=lambda w, output, threads, resources: WORK.threads_of(
            f"{w.study}/{w.job}", GPUS.threads(threads, resources.cpus_per_task)
        ),
        message=START.training_message("train_run"),
        again=START.again("train_run"),
    message:
        "{params.message}"
    shell:
        "python -m scripts.train.runs --folder results/train/{wildcards.study} --output {output.manifest:q}"
        " {params.keep:q} --cards={params.cards:q} --tokens results/train/tokens"
        " --device {params.device:q} --devices {params.devices:q} --runs-per-gpu {params.runs_per_gpu:q}"
        " --threads {params.threads:q} {params.micro_batch_tokens:q} {params.not_deterministic:q} {params.merge_adapter:q}"
        " --checkpoint-seconds {params.checkpoint_seconds:q} --report-to {params.report_to:q}"
        " --attempt {resources.attempt} {params.again:q} --log {log:q} <<< {params.runs:q}"


rule train_no_model:
    """Runs that load no model: the controls of a study, those that ask an API, and those on record (`recorded: true`)."""
    input:
        read=lambda w: training.read_by(WORK, w.study, w.job),
    output:
        manifest="results/train/{study}/{job}.manifest.json",
    log:
        "results/logs/train/{study}/{job}.log",
    benchmark:
        "results/benchmarks/train/{study}/{job}.jsonl"
    wildcard_constraints:
        job=one_hashed(WORK.training_jobs_of("control", "api", "recorded")),
    # As training. Otherwise a long job would be left for the end.
    priority: 1
    conda:
        "../envs/train.yaml"
    resources:
        mem_mb=4000,
    params:
        runs=lambda w: training.lines_of(WORK, w.study, w.job),
        code=lambda w: code(*training.programs_of(WORK, w.study, w.job)),
        key=uncompared(lambda w: option("--key", training.key_of(WORK, w.study, w.job))),
        record=uncompared(lambda w: option("--record", training.record_of(WORK, w.study, w.job))),
        message=START.training_message("train_no_model"),
        again=START.again("train_no_model"),
    message:
        "{params.message}"
    shell:
        "python -m scripts.train.runs --folder results/train/{wildcards.study} --output {output.manifest:q}"
        " {params.key:q} {params.record:q} {params.again:q} --log {log:q} <<< {params.runs:q}"
