"""What a training run, and the job of a dataset's controls, are told beside their files."""

from functools import cache


def paradigm_of(run):
    """The module of scripts/train/ that a run learns and scores by."""
    paradigm = STUDIES[run.study]["methods"][run.method].get("paradigm", "classify")
    if json.loads(run.settings)["training"].get("objectives"):
        return "objectives"
    return "esim" if paradigm == "classify" and "esim" in MODELS[run.model] else paradigm


@cache
def prompts_by_wording(study, method):
    """What a method's runs put to a language model, by wording (resources/prompts/<study>.yaml, `prompts:` laid over)."""
    return prompts_of(study, STUDIES[study], method, own=config["prompts"])


def method_of(run):
    """What the training loop must know of a run's study and method, as JSON."""
    study, options = STUDIES[run.study], json.loads(run.dataset.options)
    labels = labels_of(STUDIES[run.study]["labels"], options)
    if run.method == "control":
        return as_json({"columns": study["columns"], "labels": labels} | {
            "exchangeable": study.get("exchangeable", False) and not options.get("predict"), "inputs": study["methods"]["control"]["inputs"]})
    known = {key: study.get(key) for key in ("columns", "merged_labels", "held_out", "peak")} | {"labels": labels}
    decides_no_number = ("fits", "probe", "objectives", "only_where")
    how = {key: value for key, value in study["methods"][run.method].items() if key not in decides_no_number}
    prompt = {"prompt": prompts_by_wording(run.study, run.method)[run.wording]} if run.wording else {}
    return as_json(known | {"makes_model": False} | how | {"paradigm": paradigm_of(run)} | prompt)


def first_control(wildcards):
    """One of the controls that a job measures: they share the study and the dataset."""
    return PLAN.runs[CONTROL_SETS[f"{wildcards.study}/{wildcards.controls}"][0]]


def controls_of(wildcards):
    """The controls that a job measures, each as JSON."""
    runs = [PLAN.runs[name] for name in CONTROL_SETS[f"{wildcards.study}/{wildcards.controls}"]]
    return [as_json({"run": run.name, "settings": json.loads(run.settings), "control": MODELS[run.model]["control"]}) for run in runs]


def run_state(wildcards, output):
    """Whether a run's work was finished before: then its job looks, in seconds, whether data, model and code are the same."""
    finished = Path(f"results/train/{wildcards.study}/{wildcards.run}/work/finished.json").exists()
    return "Already trained, if data and code are the same:" if finished else "Training"


def names_in_start(run):
    """The files to read in the folder of weights that a run learnt; those of a fetched model stand in its manifest, since only the
    fetch learns which it has (weights whole or in shards)."""
    return [Path(file).name for file in MADE_MODEL] if run.begins_with else []


def card_of(run):
    """What the card of kept weights says of the model and the data, as JSON."""
    model = MODELS[run.model]
    base = MODELS[stage_of(model)[1]["model"]] if stage_of(model) else model
    sources = {name: {key: SOURCES[name][key] for key in ("title", "licence", "citation") if key in SOURCES[name]}
               for name in sorted({run.dataset.source, MEASURED_ON[run.dataset.source]})}
    known = {key: model.get(key, base.get(key)) for key in ("title", "licence", "hub", "revision")}
    return as_json({key: value for key, value in known.items() if value} | {"sources": sources})


def how_to_train(wildcards, output, threads, resources):
    """The options of training that are no part of what is learnt: where and how it runs."""
    allotted = os.environ.get("SLURM_CPUS_PER_TASK") if workflow.remote_exec else None  # inside a job that Snakemake sent
    if allotted and SHARED_GPU and resources.cpus_per_task > 0:
        allotted = resources.cpus_per_task  # the job's are those of all runs in it
    options = {"device": config["device"], "devices": config["devices_per_run"], "runs-per-gpu": config["runs_per_gpu"],
               "threads": allotted or threads, "checkpoint-seconds": config["checkpoint_seconds"],
               "micro-batch-tokens": config["micro_batch_tokens"], "report-to": config["report_to"], "tokens": "results/train/tokens"}
    if config["keep"] != "none":
        options |= {"keep": config["keep"], "card": card_of(PLAN.runs[wildcards.run])}
    flags = [*([] if config["deterministic"] else ["--not-deterministic"]), *(["--hands-on"] if wildcards.run in STARTS else []),
             *(["--merge-adapter"] if config["merge_adapter"] else [])]
    return flags + [str(part) for name, value in options.items() if value is not None for part in (f"--{name}", value)]
