"""What the program of a figure or table, and Snakemake's report, are told beside its files."""

# What figures, tables and the page say of corpora, models and papers: of those entries that are used, the fields shown.
CLAIM = ["study", "table", "row", "model", "setting", "metric", "value", "unit", "note"]
try:
    PAPERS = csv_rows((ROOT / "resources/published.csv").read_text(encoding="utf-8"), CLAIM, f"{ROOT}/resources/published.csv")
except UserError as error:
    raise WorkflowError(str(error)) from None
OF_SOURCES = ("title", "evaluate", "splits", "measured_on", "domain", "sample", "predictions")
OF_MODELS = ("title", "init", "esim", *STAGES, "control")


def with_base_models(models):
    """These models, and those that an MLM or CLM stage began with."""
    stages = filter(None, (stage_of(MODELS[model]) for model in models))
    return {*models, *(entry["model"] for _, entry in stages)}


def studies_shown(names, *fields):
    """These fields of these studies, and of each method whether it learns; altered: the experiments whose models are not as they came."""
    return {name: entry | {"methods": {method: {"learns": how["learns"]} for method, how in STUDIES[name]["methods"].items()}}
            | ({"altered": ALTERED[name]} if "altered" in fields and name in ALTERED else {})
            for name, entry in fields_of(STUDIES, names, ("title", "headline", "probe", *fields)).items()}


def shown_by_item(wildcards):
    """What a figure or table says beside its numbers, as JSON: {file of resources/: text}."""
    study = PUBLISHED[wildcards.item]["study"]
    sources = presence_of(fields_of(SOURCES, measured_sources(study), OF_SOURCES), ("sample",))
    models = fields_of(MODELS, with_base_models({run.model for run in measured_runs(study)}), OF_MODELS)
    studies = {run.study for run in measured_runs(study)}
    shown = {"sources.yaml": json.dumps(sources), "models.yaml": json.dumps(presence_of(models, ("init", "esim", "control"))),
             "published.csv": rows_of(PAPERS, "study", studies)}
    if PUBLISHED[wildcards.item].get("show") in ("verdicts", "published"):
        shown["studies.yaml"] = json.dumps({study: fields_of(STUDIES, [study], ("extensions", "named_options"))[study] | {"altered": ALTERED.get(study, [])}})
    if "claims" in PUBLISHED[wildcards.item]["reads"]:
        shown["claims.yaml"] = claims_of(study)
    if study == "all":
        begun = {one["begun_with"]["study"] for one in TRANSFERS}  # which need not be measured
        told = studies_shown(studies | begun, "headline_methods", "extensions", "learnt", "altered")
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
