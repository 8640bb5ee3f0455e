"""Train: one job for each run. Some runs share a job: the controls of a study, runs that ask one model, runs of a tiny model.
A run that is finished is not trained again; a killed run resumes (scripts/train/run.py).

Reads  results/build/<study>/<source>/<dataset>/, and the model's files
Writes results/train/<study>/<run>/predictions.parquet   scores for every example of every evaluation split
       results/train/<study>/<run>/history.parquet       loss and accuracy by epoch
       results/train/<study>/<run>/run.json              settings, versions, hardware, hashes, times
       results/train/<study>/<run>/model/                weights from which other runs start. An MLM or CLM stage writes them
                                                         instead of predictions, other runs (`initial:`) beside predictions
       results/train/<study>/<batch>.manifest.json       for runs that share a job: the list of the files that they wrote
       results/train/<study>/<run>/work/                 checkpoint and finished work; they stay (no output of a rule)
       results/train/kept/<weights>/                     trained weights, if `keep` says so (no output of a rule)
"""


rule train:
    """All runs of the study."""
    input:
        WORK.outputs_of_runs(WORK.runs),
    localrule: True


rule train_run:
    """A run of an experiment. Its data, its model and its settings decide its name."""
    input:
        data=lambda wildcards: built(WORK.runs[wildcards.run].dataset),
        model=lambda wildcards: WORK.start_files(WORK.runs[wildcards.run]),
    output:
        result="results/train/{study}/{run}/predictions.parquet",
        history="results/train/{study}/{run}/history.parquet",
        facts="results/train/{study}/{run}/run.json",
    log:
        "results/logs/train/{study}/{run}.log",
    benchmark:
        "results/benchmarks/train/{study}/{run}.jsonl"
    wildcard_constraints:
        run=one_hashed(set(WORK.runs) - WORK.makers - WORK.starts - set(WORK.batch_manifests)),
    # Training, which takes longest, starts as soon as possible: after data (priority 2), before evaluation and publishing (0).
    priority: 1
    # Each attempt has more memory and time. If a job failed for another reason, the next attempts fail at once with the same error.
    retries: 0 if workflow.remote_exec else 2
    group:
        GPUS.group if GPUS.shared else None
    conda:
        "../envs/train.yaml"
    threads: START.threads_per_run
    resources:
        **GPUS.request,
        attempt=lambda wildcards, attempt: attempt,
        cpus_per_task=4,
        mem_mb=lambda wildcards, attempt: 16000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        **START.parameters("train_run"),
        message=lambda wildcards, output: JOBS.message(wildcards.study, [wildcards.run]),
        threads=lambda wildcards, output, threads, resources: GPUS.threads(threads, resources.cpus_per_task),
    message:
        "{params.message}"
    shell:
        "python -m {params.program} {params.arguments} --threads {params.threads} --attempt {resources.attempt} --log {log:q}"


# These rules are separate only because their outputs differ. Everything else is the same as above.
use rule train_run as train_model with:
    """A run that makes a model, from which other runs start."""
    output:
        result=[f"results/train/{{study}}/{{run}}/{name}" for name in MADE_MODEL],
        history="results/train/{study}/{run}/history.parquet",
        facts="results/train/{study}/{run}/run.json",
    wildcard_constraints:
        run=one_hashed(WORK.makers),


use rule train_run as train_start with:
    """A measured run whose weights other runs start from."""
    output:
        result=[f"results/train/{{study}}/{{run}}/{name}" for name in ("predictions.parquet", *MADE_MODEL)],
        history="results/train/{study}/{run}/history.parquet",
        facts="results/train/{study}/{run}/run.json",
    wildcard_constraints:
        run=one_hashed(WORK.starts),


use rule train_run as train_batch with:
    """Runs of one model of a study, one after the other in one process."""
    input:
        lambda wildcards: JOBS.read_by_batch(**wildcards),
    output:
        manifest="results/train/{study}/{batch}.manifest.json",
    log:
        "results/logs/train/{study}/{batch}.log",
    benchmark:
        "results/benchmarks/train/{study}/{batch}.jsonl"
    wildcard_constraints:
        batch=one_hashed(WORK.batches_of("model")),
    params:
        **START.batch_parameters(),
        threads=lambda wildcards, output, threads, resources: GPUS.threads(threads, resources.cpus_per_task),
    message:
        "{params.message}"


rule train_controls:
    """The controls of a study, one after the other: each takes a moment."""
    input:
        lambda wildcards: JOBS.read_by_batch(**wildcards),
    output:
        manifest="results/train/{study}/{batch}.manifest.json",
    log:
        "results/logs/train/{study}/{batch}.log",
    benchmark:
        "results/benchmarks/train/{study}/{batch}.jsonl"
    wildcard_constraints:
        batch=one_hashed(WORK.batches_of("control")),
    conda:
        "../envs/train.yaml"
    resources:
        mem_mb=4000,
    params:
        **START.batch_parameters(),
    message:
        "{params.message}"
    shell:
        "python -m {params.program} {params.arguments} --log {log:q}"


use rule train_controls as train_api with:
    """Runs that ask a model behind an API, which needs no GPU."""
    wildcard_constraints:
        batch=one_hashed(WORK.batches_of("api")),


use rule train_controls as train_recorded with:
    """Runs taken from the record (`recorded: true`), which need no model."""
    wildcard_constraints:
        batch=one_hashed(WORK.batches_of("recorded")),


# These rules are not part of the stages. A user runs them by name, before a study.
rule rehearse_files:
    """Check that every file of the study can be fetched, and read the configurations of its models."""
    output:
        files=f"results/rehearse/{WORK.name}.json",
    log:
        f"results/logs/rehearse/{WORK.name}.files.log",
    localrule: True
    conda:
        "../envs/train.yaml"
    params:
        **START.parameters("rehearse_files"),
    message:
        "Asking for every file"
    shell:
        "python -m {params.program} {params.arguments} --log {log:q}"


rule rehearse:
    """One training step, and one batch of scores, for each kind of run (scripts/train/rehearse.py)."""
    input:
        files=f"results/rehearse/{WORK.name}.json",
    log:
        f"results/logs/rehearse/{WORK.name}.log",
    conda:
        "../envs/train.yaml"
    threads: workflow.cores or 1
    resources:
        **GPUS.request,
        cpus_per_task=4,
        mem_mb=32000,
        runtime=240,
    params:
        arguments=lambda wildcards, input, threads: f"@{JOBS.rehearse(threads).arguments()}",
    message:
        f"Rehearsing {WORK.name}"
    shell:
        "python -m scripts.train.rehearse {params.arguments} --log {log:q}"
