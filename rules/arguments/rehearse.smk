"""What a rehearsal is told: the files of the study, and one run of each kind."""

# The settings by which a step takes another time.
COUNTED = ("batch_size", "max_length", "precision", "adapter", "rank", "target", "gradient_checkpointing", "compile", "dropout",
           "objectives", "shots")


def kinds_of_run():
    """Of the runs that differ in what a step takes (model, method, batch) one each, with the experiments of all alike."""
    named = {}
    for experiment, names in PLAN.experiments.items():
        for name in names:
            named.setdefault(name, []).append(experiment)
    kinds = {}
    for run in PLAN.runs.values():
        if run.name in CONTROLS:
            continue
        settings, method = json.loads(run.settings), json.loads(method_of(run))
        key = as_json([run.study, run.model, method["paradigm"], method["learns"], {name: settings["training"].get(name) for name in COUNTED}])
        kind = kinds.setdefault(key, {"run": run.name, "experiments": [], "model": run.model, "settings": settings, "method": method,
                                      "splits": splits(run.dataset.source)})
        kind["experiments"] = list(dict.fromkeys([*kind["experiments"], *named.get(run.name, [f"stage of {run.model}"])]))
    return list(kinds.values())


def models_told():
    """The entries of the models that the study uses, and of those that these stand on."""
    names = with_base_models(USED_MODELS)
    return {name: MODELS[name] for name in sorted(names | {MODELS[name]["encoder"] for name in names if "encoder" in MODELS[name]})
            if "control" not in MODELS[name]}


def files_told():
    """The file of what the study is to have (scripts/fetch/reachable.py)."""
    sources = {name: SOURCES[name] for name in USED_SOURCES if "downloads" in SOURCES[name]}
    there = [name for name in sources if Path(fetched(name)).exists()]
    return f"{hand_over({'files.json': as_json({'models': models_told(), 'sources': sources, 'fetched': there})})}/files.json"


def rehearsal_told(wildcards, output, threads, resources):
    """The file of what is rehearsed (scripts/train/rehearse.py)."""
    jobs = kinds_of_run()
    options = {"device": config["device"], "devices": config["devices_per_run"], "runs-per-gpu": config["runs_per_gpu"], "threads": threads,
               "micro-batch-tokens": config["micro_batch_tokens"]}
    flags = [] if config["deterministic"] else ["--not-deterministic"]
    told = {"jobs": jobs, "models": models_told(), "vocabulary": str(ROOT / "resources/sample_vocabulary.txt"), "scored": 128,
            "options": flags + [str(part) for name, value in options.items() if value is not None for part in (f"--{name}", value)]}
    return f"{hand_over({'rehearsal.json': as_json(told)})}/rehearsal.json"
