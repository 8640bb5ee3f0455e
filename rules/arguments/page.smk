"""What the page, the files for leaderboards and a record are told beside their files."""

from snakemake.iocontainers import Wildcards


def page_texts():
    """What the page says beside its numbers: {path as in the project: text}."""
    sources = fields_of(SOURCES, USED_SOURCES, (*OF_SOURCES, "short", "licence", "citation", "homepage"))
    for source, entry in sources.items():
        if "sample" not in entry:  # of a download its files are told, not where they were
            entry["downloads"] = [{"file": file, "sha256": digest} for file, digest in fetched_hashes(source).items()]
    models = fields_of(MODELS, with_base_models(USED_MODELS), (*OF_MODELS, "licence", "hub", "revision", "folder"))
    studies = studies_shown(USED_STUDIES, "short", "counted", "paper", "chance", "extensions")
    shown = ("name", "title", "study", "program", "kind", "heads", "show", "caption")
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
    return as_json({name: {"rule": f"publish_{item['kind']}", "code": identity(item["program"])}
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


def told_to_leaderboards():
    """The models that are told to leaderboards, and the metric that each study tells first, as JSON."""
    models = fields_of(MODELS, ranked_models(), ("hub", "revision"))
    return as_json({"models": models, "headlines": {study: STUDIES[study]["headline"] for study in USED_STUDIES}})


def leaderboard_arguments(wildcards, input, output):
    """The file of the arguments of the files for leaderboards."""
    return argument_file(["--metrics", input.metrics, "--told", told_to_leaderboards(), "--output", Path(output[0]).parent])


def command_line():
    """The command that makes this study, with its configuration files as seen from the project's folder and the values given beside them."""
    given = workflow.config_settings
    files = [os.path.relpath(file, ROOT) if Path(file).resolve().is_relative_to(ROOT) else Path(file).name for file in given.configfiles or []]
    values = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in (given.config or {}).items()]
    return shlex.join(["snakemake", "--cores", "all", *(["--configfile", *files] if files else []), *(["--config", *values] if values else [])])


def record_arguments(wildcards, input, output):
    """The file of what a record is made from (scripts/publish/record.py)."""
    figures = {name: {key: item[key] for key in ("title", "study", "program", "reads")} | {
        "runs": [f"{run.study}/{run.name}" if item["study"] == "all" else run.name for run in runs_read(item)] if "runs" in item["reads"] else [],
        "resources": json.loads(shown_by_item(Wildcards(fromdict={"item": name})))}
        for name, item in PUBLISHED.items() if item["kind"] == "figure"}
    programs = {f"{stage}/{study}" for stage in ("build", "evaluate") for study in built_studies()}
    programs |= {f"clean/{SOURCES[source].get('cleaner', source)}" for source in USED_SOURCES}
    told = {"name": NAME, "command": command_line(), "configuration": json.loads(page_configuration()), "metrics": input.metrics,
            "publish": PAGES, "train": "results/train", "figures": figures, "drawn": [name for name in STUDIES if STUDIES[name].get("compares_draws")],
            "tables": {name: item["title"] for name, item in PUBLISHED.items() if is_without_texts(item)},
            "runs": {f"{run.study}/{run.name}": "control" if run.name in CONTROLS else paradigm_of(run) for run in PLAN.runs.values()}, "programs": sorted(programs)}
    return f"{hand_over({'told.json': as_json(told)})}/told.json"
