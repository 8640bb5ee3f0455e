"""What a rule's program is told beside its files.

What decides a result is a parameter that is a text, so that a change shows in `snakemake -n`. What goes to the program by
file (scripts/common/handed.py) is named by functions that also take `output`: Snakemake compares no such parameter, so a
path of this machine reruns nothing.
"""

from functools import cache

from snakemake.iocontainers import Wildcards


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
    how = {key: value for key, value in study["methods"][run.method].items() if key not in ("fits", "probe", "objectives", "only_where")}  # which decide no number
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
    flags = [*([] if config["deterministic"] else ["--not-deterministic"]), *(["--hands-on"] if wildcards.run in STARTS else []), *(["--merge-adapter"] if config["merge_adapter"] else [])]
    return flags + [str(part) for name, value in options.items() if value is not None for part in (f"--{name}", value)]


COUNTED = ("batch_size", "max_length", "precision", "adapter", "rank", "target", "gradient_checkpointing", "compile", "dropout", "objectives", "shots")


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


def sampler_of(wildcards):
    """The program that writes a sample source."""
    return f"scripts.fetch.samples.{SOURCES[wildcards.source]['sampler']}"


def sample_options(wildcards):
    """The options of a sample source."""
    return [part for key, value in SOURCES[wildcards.source]["sample"].items() for part in (f"--{key}", str(value))]


def model_entry(wildcards):
    """What decides the files of a model: its entry without the words about it, the hashes of its vocabulary and vectors."""
    entry = {key: value for key, value in MODELS[wildcards.model].items() if key not in ("licence", "title")}
    if "vocabulary" in entry:
        entry["vocabulary"] = sha256_of(ROOT / entry["vocabulary"])
    if entry.get("vectors", {}).get("sha256"):  # wherever they come from, it is this file
        entry["vectors"] = {key: entry["vectors"][key] for key in ("file", "sha256")}
    return as_json(entry)


def sources_file(wildcards, output):
    """resources/sources.yaml; for a source of the configuration a file with its entry."""
    if wildcards.source not in OWN["sources"]:
        return str(ROOT / "resources/sources.yaml")
    return f"{hand_over({'sources.yaml': json.dumps({wildcards.source: SOURCES[wildcards.source]})})}/sources.yaml"


def models_file(wildcards, output):
    """resources/models.yaml; for a model of the configuration, and elsewhere than in the project's folder, a file with its entry,
    in which paths are absolute."""
    entry = MODELS[wildcards.model]
    paths = {key: str(ROOT / os.path.expanduser(entry[key])) for key in ("vocabulary", "folder") if key in entry}
    if wildcards.model not in OWN["models"] and (not paths or ROOT == Path.cwd()):
        return str(ROOT / "resources/models.yaml")
    return f"{hand_over({'models.yaml': json.dumps({wildcards.model: entry | paths})})}/models.yaml"


def code_of_model(wildcards):
    """The code that decides a model's files: none where they are only brought here."""
    return fingerprint("scripts.fetch.model") if {"init", "esim"} & set(MODELS[wildcards.model]) else ""


def cleaner_of(wildcards):
    """The program that cleans a source."""
    return f"scripts.clean.{SOURCES[wildcards.source].get('cleaner', wildcards.source)}"


def provenance_of(wildcards):
    """What the tables of a source carry: its terms and the hashes of its files."""
    entry = SOURCES[wildcards.source]
    return as_json({key: entry[key] for key in ("licence", "citation")} | {"sha256": fetched_hashes(wildcards.source)})


def expected_of(wildcards):
    """What the cleaner must find, and what it keeps, as options; nothing where the source does not say."""
    entry = SOURCES[wildcards.source]
    expected = ["--expect", as_json(entry["expect"])] if "expect" in entry else []
    return [*expected, *(["--keep-rolling-repeats"] if entry.get("keep_rolling_repeats") else [])]


def read_splits(wildcards):
    """The splits of its source that a dataset is built from."""
    if has_spans(wildcards.source):
        return [SOURCES[wildcards.source]["train"], STUDIES[wildcards.study]["held_out"]]
    return splits(wildcards.source)


def dialog_options(wildcards):
    """What a dataset of dialogs, of endings, or of another corpus' training split is built from beside its source, as options."""
    if captions := SOURCES[wildcards.source].get("videos_of"):
        return ["--captions", f"results/clean/{captions}", "--learnt", SOURCES[captions]["train"], "--measured", *SOURCES[captions]["evaluate"]]
    if not has_spans(wildcards.source):
        return [part for source in learnt_elsewhere(dataset_of(wildcards))
                for part in ("--learn-from", f"results/clean/{source}", SOURCES[source]["train"])]
    challenge = MEASURED_ON[wildcards.source]
    return ["--spans", f"results/build/temporal_spans/{wildcards.source}", "--challenge", f"results/clean/{challenge}",
            "--challenge-spans", f"results/build/temporal_spans/{challenge}", "--measured", *SOURCES[challenge]["evaluate"]]


def card_arguments(wildcards, output):
    """The file of the arguments of the card of a study's datasets."""
    study = as_json({"name": wildcards.study} | {key: STUDIES[wildcards.study][key] for key in ("title", "paper", "labels")})
    folder = Path(output[0]).parent
    return argument_file(["--build", folder, "--output", folder, "--columns", ROOT / "resources/columns.yaml", "--study", study,
                          *datasets_there(wildcards.study)])


def told_to_leaderboards():
    """The models that are told to leaderboards, and the metric that each study tells first, as JSON."""
    models = fields_of(MODELS, ranked_models(), ("hub", "revision"))
    return as_json({"models": models, "headlines": {study: STUDIES[study]["headline"] for study in USED_STUDIES}})


def leaderboard_arguments(wildcards, input, output):
    """The file of the arguments of the files for leaderboards."""
    return argument_file(["--metrics", input.metrics, "--told", told_to_leaderboards(), "--output", Path(output[0]).parent])


def measured_sources(study):
    """The sources that a study's runs learn from and are measured on."""
    learnt = {source for run in measured_runs(study) for source in (run.dataset.source, *learnt_elsewhere(run.dataset))}
    return learnt | {MEASURED_ON[source] for source in learnt}


def evaluated_sources(wildcards):
    """What an evaluation reads of its sources, as JSON."""
    entries = fields_of(SOURCES, measured_sources(wildcards.study), ("evaluate", "measured_on", "domain", "sample", "predictions"))
    return as_json(presence_of(entries, ("sample",)))


def evaluation_arguments(wildcards, output):
    """The file of the arguments of an evaluation whose number depends on the experiment."""
    build = ["--build", f"results/build/{wildcards.study}"] if "datasets" in STUDIES[wildcards.study]["evaluation_reads"] else []
    people = answers_of_people(wildcards.experiment)
    released = ["--fetched", "results/fetch"] if read_released(wildcards) else []
    external = ["--external", *external_systems(wildcards)] if external_systems(wildcards) else []
    answered = [f"{dataset.source}/{dataset.name}" for dataset in PLAN.datasets.values() if dataset.study == wildcards.study]
    options = ["--people", *people, "--others", *answered] if people else []
    return argument_file(["--runs", *PLAN.experiments[wildcards.experiment], *build, *released, *external, *options,
                          "--sources", f"{hand_over({'sources.yaml': evaluated_sources(wildcards)})}/sources.yaml"])


# What figures, tables and the page say of corpora, models and papers: of those entries that are used, the fields shown.

PAPERS = (ROOT / "resources/published.csv").read_text(encoding="utf-8")
OF_SOURCES = ("title", "evaluate", "splits", "measured_on", "domain", "sample", "predictions")
OF_MODELS = ("title", "init", "esim", *STAGES, "control")


def with_base_models(models):
    """These models, and those that an MLM or CLM stage began with."""
    return {*models, *(made[1]["model"] for model in models if (made := stage_of(MODELS[model])))}


def shown_by_item(wildcards):
    """What a figure or table says beside its numbers, as JSON: {file of resources/: text}."""
    study = PUBLISHED[wildcards.item]["study"]
    sources = presence_of(fields_of(SOURCES, measured_sources(study), OF_SOURCES), ("sample",))
    models = fields_of(MODELS, with_base_models({run.model for run in measured_runs(study)}), OF_MODELS)
    studies = {run.study for run in measured_runs(study)}
    shown = {"sources.yaml": json.dumps(sources), "models.yaml": json.dumps(presence_of(models, ("init", "esim", "control"))),
             "published.csv": rows_of(PAPERS, "study", studies)}
    if PUBLISHED[wildcards.item].get("show") in ("verdicts", "published") and study in ALTERED:
        shown["altered.yaml"] = json.dumps(ALTERED[study])
    if "claims" in PUBLISHED[wildcards.item]["reads"]:
        shown["claims.yaml"] = claims_of(study)
    if study == "all":
        told = {name: {"title": STUDIES[name]["title"], "headline": STUDIES[name]["headline"],
                       "headline_methods": STUDIES[name].get("headline_methods", []), "methods": {method: {"learns": how["learns"]} for method, how in STUDIES[name]["methods"].items()}}
                       | ({"altered": ALTERED[name]} if name in ALTERED else {})
                for name in STUDIES if name in studies}
        shown |= {"studies.yaml": json.dumps(told), "left_out.yaml": left_out()}
    if compared := PUBLISHED[wildcards.item].get("compares"):
        shown["compared.yaml"] = json.dumps(COMPARED[compared])
    return json.dumps(shown)


def claims_of(study):
    """What a study's paper claims, as JSON: resources/claims.yaml without the claims of others."""
    whole = read_yaml(ROOT / "resources/claims.yaml")
    return json.dumps(whole | {"claims": [claim for claim in whole["claims"] if claim["study"] == study]})


def left_out():
    """What was not asked, and why, as JSON."""
    return json.dumps([vars(one) for one in PLAN.left_out])


def item_arguments(wildcards, output):
    """The file of the arguments of a figure or table."""
    item = PUBLISHED[wildcards.item]
    folder, runs = hand_over(json.loads(shown_by_item(wildcards))), runs_read(item)
    dialogs, challenges = dialog_sources(item["study"])
    of_all = item["study"] == "all"  # then a run is named with its study
    options = {
        "runs": ["--train", "results/train" if of_all else f"results/train/{item['study']}",
                 "--runs", *(f"{run.study}/{run.name}" if of_all else run.name for run in runs)],
        "datasets": ["--build", f"results/build/{item['study']}"],
        "released": ["--fetched", "results/fetch"],
        "cleaned": ["--cleaned", "results/clean"],
        "human": ["--human", *human_files(item["study"])],
        "spans": ["--cleaned", "results/clean", "--spans", "results/build/temporal_spans", "--dialogs", *dialogs,
                  "--challenges", *challenges],
    }
    return argument_file(["--sources", f"{folder}/sources.yaml", "--models", f"{folder}/models.yaml",
                          *(part for name, parts in options.items() if name in item["reads"] for part in parts)])


def item_code(wildcards):
    """The code of a figure or table."""
    return fingerprint(f"scripts.publish.{PUBLISHED[wildcards.item]['program']}")


def text_of(path):
    """A text of the project. Raises WorkflowError where it is missing."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise WorkflowError(f"{path}: no such file; write the caption there in plain paragraphs") from None


def caption_of(wildcards, output):
    """The caption of a figure or table, for Snakemake's report."""
    return text_of(PUBLISHED[wildcards.item]["caption"])


def study_title(wildcards):
    """The title of an item's study: its category in Snakemake's report."""
    study = PUBLISHED[wildcards.item]["study"]
    return "All studies" if study == "all" else STUDIES[study]["title"]


def item_label(wildcards):
    """An item's name in Snakemake's report."""
    return {"what": wildcards.item.replace("_", " ")}


def page_texts():
    """What the page says beside its numbers: {path as in the project: text}."""
    sources = fields_of(SOURCES, USED_SOURCES, (*OF_SOURCES, "short", "licence", "citation", "homepage"))
    for source, entry in sources.items():
        if "sample" not in entry:  # of a download its files are told, not where they were
            entry["downloads"] = [{"file": file, "sha256": digest} for file, digest in fetched_hashes(source).items()]
    models = fields_of(MODELS, with_base_models(USED_MODELS), (*OF_MODELS, "licence", "hub", "revision", "folder"))
    studies = fields_of(STUDIES, USED_STUDIES, ("title", "short", "counted", "paper", "headline"))
    for study, entry in studies.items():
        entry["methods"] = {method: {"learns": how["learns"]} for method, how in STUDIES[study]["methods"].items()}
    shown = ("name", "title", "study", "program", "kind", "heads", "show", "needs", "needs_model", "needs_wordings", "needs_people", "compares", "caption")
    items = [{key: item[key] for key in shown if key in item} for item in PUBLISHED.values()]
    resources = {"sources": sources, "models": presence_of(models, ("init", "esim", "control")), "studies": studies, "figures": items}
    captions = ["report/workflow.rst", *(f"report/{study}.rst" for study in (*USED_STUDIES, "all")), *(item["caption"] for item in items)]
    return {**{f"resources/{name}.yaml": json.dumps(value) for name, value in resources.items()},
            "resources/published.csv": rows_of(PAPERS, "study", {*USED_STUDIES, "study"}), "resources/left_out.yaml": left_out(),
            **{path: text_of(path) for path in captions}}


def page_configuration():
    """What decides the numbers, as JSON; where and how fast they are found does not stand on the page."""
    return as_json({key: config[key] for key in ("name", "run", "seeds", "bootstrap_resamples", "training", "limit", "fine_tune")}
                   | {"model": PROBED}
                   | {"experiments": {name: config["experiments"][name] for name in (*config["run"], *sorted(PLAN.initials))}})


def page_provenance():
    """By figure or table the rule and the code that made it, as JSON."""
    return as_json({name: {"rule": f"publish_{item['kind']}", "code": fingerprint(f"scripts.publish.{item['program']}")}
                    for name, item in PUBLISHED.items()})


def page_templates():
    """JSON: the hash of each template of the page and of its styles."""
    return as_json({file.name: sha256_of(file) for file in (ROOT / "scripts/publish/templates").iterdir() if file.is_file()})


def page_arguments(wildcards, output):
    """The file of the arguments of the page."""
    return argument_file(["--resources", f"{hand_over(page_texts())}/resources",
                          "--cleaning", *(f"results/clean/{source}/cleaning.csv" for source in USED_SOURCES),
                          "--runs", *map(run_facts, PLAN.runs),
                          "--configuration", page_configuration(), "--provenance", page_provenance()])


def command_line():
    """The command that makes this study, with its configuration files as seen from the project's folder and the values given beside them."""
    given = workflow.config_settings
    files = [os.path.relpath(file, ROOT) if Path(file).resolve().is_relative_to(ROOT) else Path(file).name for file in given.configfiles or []]
    values = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in (given.config or {}).items()]
    return shlex.join(["snakemake", "--cores", "all", *(["--configfile", *files] if files else []), *(["--config", *values] if values else [])])


def code_of_run(run):
    """The modules whose code a run tells in its run.json."""
    return ["scripts.train.control"] if run.name in CONTROLS else ["scripts.train.loop", f"scripts.train.{paradigm_of(run)}"]


def record_arguments(wildcards, input, output):
    """The file of what a record is made from (scripts/publish/record.py)."""
    figures = {name: {key: item[key] for key in ("title", "study", "program", "reads")} | {
        "runs": [f"{run.study}/{run.name}" if item["study"] == "all" else run.name for run in runs_read(item)] if "runs" in item["reads"] else [],
        "resources": json.loads(shown_by_item(Wildcards(fromdict={"item": name})))}
        for name, item in PUBLISHED.items() if item["kind"] == "figure"}
    programs = {f"scripts.{stage}.{study}" for stage in ("build", "evaluate") for study in built_studies()}
    programs |= {cleaner_of(Wildcards(fromdict={"source": source})) for source in USED_SOURCES}
    told = {"name": NAME, "command": command_line(), "configuration": json.loads(page_configuration()), "metrics": input.metrics,
            "publish": PAGES, "train": "results/train", "figures": figures, "tables": {name: item["title"] for name, item in PUBLISHED.items() if is_without_texts(item)},
            "runs": {f"{run.study}/{run.name}": code_of_run(run) for run in PLAN.runs.values()}, "programs": sorted(programs)}
    return f"{hand_over({'told.json': as_json(told)})}/told.json"


def check_programs():
    """Say in one line, before the rules ask, that a program which an entry of resources/ names is not there."""
    used = [Wildcards(fromdict={"source": source}) for source in USED_SOURCES]
    programs = [*map(cleaner_of, used), *(sampler_of(wildcards) for wildcards in used if "sample" in SOURCES[wildcards.source]),
                *(f"scripts.publish.{item['program']}" for item in PUBLISHED.values())]
    try:
        for program in programs:
            fingerprint(program)
    except UserError as error:
        raise WorkflowError(str(error)) from None


if is_main_process():
    check_programs()
