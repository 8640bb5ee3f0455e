"""Rehearse: try each kind of run before anything is fetched. Not part of the stages: a user asks for it by name.

Writes results/rehearse/<name>.json   the files that cannot be fetched, and the configurations of the models
"""


rule rehearse_files:
    """Check that every file of the study can be fetched, and read the configurations of its models."""
    output:
        files=f"results/rehearse/{WORK.name}.json",
    log:
        f"results/logs/rehearse/{WORK.name}.files.log",
    localrule: True
    conda:
        "../envs/train.yaml"
    resources:
        mem_mb=2000,
    params:
        study=uncompared(lambda w: as_json(rehearsal.files_to_ask_for(WORK))),
        mirror=uncompared(WORK.mirror),
    message:
        "Asking for every file"
    shell:
        "python -m scripts.fetch.reachable --study /dev/stdin --mirror={params.mirror:q} --output {output.files:q}"
        " --log {log:q} <<< {params.study:q}"


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
        study=lambda w: as_json(rehearsal.steps_to_take(WORK)),
        folder=uncompared(f"results/rehearse/{WORK.name}"),
        device=uncompared(WORK.config.device),
        devices=uncompared(WORK.config.devices_per_run),
        runs_per_gpu=uncompared(WORK.config.runs_per_gpu),
        micro_batch_tokens=uncompared(option("--micro-batch-tokens", WORK.config.micro_batch_tokens)),
        not_deterministic=uncompared(option("--not-deterministic", not WORK.config.deterministic)),
    message:
        f"Rehearsing {WORK.name}"
    shell:
        "python -m scripts.train.rehearse --study /dev/stdin --files {input.files:q} --folder {params.folder:q}"
        " --device {params.device:q} --devices {params.devices:q} --runs-per-gpu {params.runs_per_gpu:q} --threads {threads}"
        " {params.micro_batch_tokens:q} {params.not_deterministic:q} --log {log:q} <<< {params.study:q}"
