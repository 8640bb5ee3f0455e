"""Train: one job a run, and one for all controls of a dataset. A run that is finished is not trained again; a killed one resumes
(scripts/train/run.py).

Reads  results/build/<study>/<source>/<dataset>/, and the model's files
Writes results/train/<study>/<run>/predictions.parquet   scores for every example of every split measured on
       results/train/<study>/<run>/history.parquet       loss and accuracy by epoch
       results/train/<study>/<run>/run.json              settings, versions, hardware, hashes, times
       results/train/<study>/<run>/model/                the weights that others begin with: of an MLM or CLM stage instead of
                                                         predictions, of other runs (`initial:`) beside them
       results/train/<study>/<controls>.manifest.json    of a dataset's controls: which of these files they left
       results/train/<study>/<run>/work/                 no output of a rule: checkpoint and finished work, which stay
       results/train/kept/<weights>/                     no output of a rule either: trained weights, where `keep` says so
"""

include: "arguments/train.smk"
include: "arguments/rehearse.smk"


rule train:
    """All runs of the study."""
    input:
        outputs_of_runs(PLAN.runs),
    localrule: True


rule train_run:
    """A run of an experiment: what it learns from, its model and its settings give its name."""
    input:
        data=lambda wildcards: built(PLAN.runs[wildcards.run].dataset),
        model=lambda wildcards: start_of(PLAN.runs[wildcards.run]),
    output:
        result="results/train/{study}/{run}/predictions.parquet",
        history="results/train/{study}/{run}/history.parquet",
        facts="results/train/{study}/{run}/run.json",
    wildcard_constraints:
        run=one_of(set(PLAN.runs) - MAKERS - STARTS - CONTROLS),
    params:
        **made_by("scripts.train.run", "scripts.train.process",
                  lambda wildcards: f"scripts.train.paradigms.{paradigm_of(PLAN.runs[wildcards.run])}"),
        settings=lambda wildcards: PLAN.runs[wildcards.run].settings,
        method=lambda wildcards: method_of(PLAN.runs[wildcards.run]),
        splits=lambda wildcards: splits(PLAN.runs[wildcards.run].dataset.source),
        data=lambda wildcards, input: Path(input.data).parent,
        model=lambda wildcards, output: start_folder(PLAN.runs[wildcards.run]),
        folder=lambda wildcards, output: Path(output.facts).parent,
        model_files=lambda wildcards, output: names_in_start(PLAN.runs[wildcards.run]),
        how=how_to_train,
        keep=config["keep"],
        state=run_state,
    log: "results/logs/train/{study}/{run}.log"
    benchmark: "results/benchmarks/train/{study}/{run}.jsonl"
    message: "{params.state} {wildcards.run}"
    threads: THREADS_PER_RUN
    group: gpu_group if SHARED_GPU else None
    # With more memory and time each time; what failed for another reason says so at once, and is not tried again.
    retries: 0 if workflow.remote_exec else 2
    resources:
        attempt=lambda wildcards, attempt: attempt,
        cpus_per_task=4,
        mem_mb=lambda wildcards, attempt: 16000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
        **GPU_REQUEST,
    conda: "../envs/train.yaml"
    shell:
        "python -m {params.program} --run {wildcards.run} --settings {params.settings:q} --method {params.method:q}"
        " --splits {params.splits:q} --data {params.data:q} --model {params.model:q} --model-files {params.model_files:q}"
        " {params.how:q} --attempt {resources.attempt} --output {params.folder:q} --log {log:q}"


# Rules of their own, since their outputs are others; all else is as above.
use rule train_run as train_model with:
    output:
        result=[f"results/train/{{study}}/{{run}}/{name}" for name in MADE_MODEL],
        history="results/train/{study}/{run}/history.parquet",
        facts="results/train/{study}/{run}/run.json",
    wildcard_constraints:
        run=one_of(MAKERS),


use rule train_run as train_start with:
    output:
        result=[f"results/train/{{study}}/{{run}}/{name}" for name in ("predictions.parquet", *MADE_MODEL)],
        history="results/train/{study}/{run}/history.parquet",
        facts="results/train/{study}/{run}/run.json",
    wildcard_constraints:
        run=one_of(STARTS),


rule train_controls:
    """The controls of a dataset: what models without any understanding of time reach. Each takes a moment, so one job fits them all."""
    input:
        data=lambda wildcards: built(first_control(wildcards).dataset),
    output:
        manifest="results/train/{study}/{controls}.manifest.json",
    wildcard_constraints:
        controls=one_of(controls.split("/")[1] for controls in CONTROL_SETS),
    params:
        **made_by("scripts.train.control"),
        controls=controls_of,
        arguments=lambda wildcards, output: argument_file(["--controls", *controls_of(wildcards)]),
        method=lambda wildcards: method_of(first_control(wildcards)),
        splits=lambda wildcards: splits(first_control(wildcards).dataset.source),
        data=lambda wildcards, input: Path(input.data).parent,
        folder=lambda wildcards, output: Path(output.manifest).parent,
    log: "results/logs/train/{study}/{controls}.log"
    benchmark: "results/benchmarks/train/{study}/{controls}.jsonl"
    message: "Measuring {wildcards.controls}"
    resources: mem_mb=4000
    conda: "../envs/train.yaml"
    shell:
        "python -m {params.program} @{params.arguments} --method {params.method:q} --splits {params.splits:q}"
        " --data {params.data:q} --folder {params.folder:q} --output {output.manifest:q} --log {log:q}"


# Rules without a place in the chain of stages: they are asked for by name, before a study.
rule rehearse_files:
    """Whether every file of the study can be had, and the configurations of its models."""
    output:
        files=f"results/rehearse/{NAME}.json",
    params:
        study=lambda wildcards, output: files_told(),
        mirror=lambda wildcards, output: MIRROR,
    log: f"results/logs/rehearse/{NAME}.files.log"
    message: "Asking for every file"
    localrule: True
    conda: "../envs/train.yaml"
    shell:
        "python -m scripts.fetch.reachable --study {params.study:q} --mirror={params.mirror:q} --output {output.files:q} --log {log:q}"


rule rehearse:
    """One step of learning, and a batch of scores, of each kind of run (scripts/train/rehearse.py)."""
    input:
        files=f"results/rehearse/{NAME}.json",
    params:
        study=lambda wildcards, input, output, threads, resources: rehearsal_told(wildcards, output, threads, resources),
        folder=lambda wildcards, input: Path(input.files).with_suffix(""),
    log: f"results/logs/rehearse/{NAME}.log"
    message: "Rehearsing {params.folder}"
    threads: workflow.cores or 1
    resources:
        cpus_per_task=4,
        mem_mb=32000,
        runtime=240,
        **GPU_REQUEST,
    conda: "../envs/train.yaml"
    shell:
        "python -m scripts.train.rehearse --study {params.study:q} --files {input.files:q} --folder {params.folder:q} --log {log:q}"
