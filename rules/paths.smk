"""Which files stand where, and which of them a rule reads. A file that stands for a folder is its manifest.json."""

from glob import glob, has_magic

# A local source whose path is not absolute begins at the project's folder.
def project_path(path):
    """A file of the project as seen from the working directory: relative where it is inside, absolute elsewhere."""
    place = ROOT / os.path.expanduser(path)
    return str(place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place)


def splits(source):
    """The split of a source to learn from, then those to measure on (of the source that it is measured on)."""
    return [SOURCES[source]["train"], *SOURCES[MEASURED_ON[source]]["evaluate"]]


def cleaned_splits(source):
    """Every split that a source's cleaner writes."""
    return SOURCES[source].get("splits") or splits(source)


def has_spans(source):
    """Whether temporal expressions are looked for in a source."""
    return SOURCES[source]["kind"] in ("dialogs", "challenge")


# What a stage leaves for a source, a dataset, a model or a run.


def fetched(source):
    """What stands for a source's files: the manifest of results/fetch/<source>/, or a local file itself."""
    return project_path(SOURCES[source]["local"]) if "local" in SOURCES[source] else f"results/fetch/{source}/manifest.json"


def cleaned(source):
    """What stands for a source's tables."""
    return f"results/clean/{source}/manifest.json"


def spans(source):
    """What stands for the temporal expressions of a source."""
    return f"results/build/temporal_spans/{source}/manifest.json"


def built(dataset):
    """What stands for a dataset's tables."""
    return f"{dataset.folder}/manifest.json"


def model_of(model):
    """What stands for the files of a model that is fetched: their manifest; nothing for a control, or what a run makes."""
    return [] if {*STAGES, "control"} & set(MODELS[model]) else [f"results/fetch/models/{model}/manifest.json"]


def start_folder(run):
    """Where the weights are that a run begins with: of the run that learnt them, or of the model as it was fetched."""
    start = PLAN.runs.get(run.begins_with)
    return f"results/train/{start.study}/{start.name}/model" if start else f"results/fetch/models/{run.model}"


def start_of(run):
    """What stands for the weights that a run begins with."""
    return [f"{start_folder(run)}/{Path(name).name}" for name in MADE_MODEL] if run.begins_with else model_of(run.model)


MANIFEST_OF = {name: f"results/train/{controls}.manifest.json" for controls, names in CONTROL_SETS.items() for name in names}


def run_outputs(run):
    """What stands for a finished run: predictions, or the model that it made, or both where others begin with it; of a control
    the manifest of its dataset's controls."""
    if run in CONTROLS:
        return [MANIFEST_OF[run]]
    result = [*([] if run in MAKERS else ["predictions.parquet"]), *(MADE_MODEL if run in MAKERS | STARTS else [])]
    return [*(f"{run_folder(run)}/{name}" for name in (*result, "history.parquet")), run_facts(run)]


def run_folder(run):
    """Where a run leaves what it found, or made."""
    return f"results/train/{PLAN.runs[run].study}/{run}"


def run_facts(run):
    """Where a run says what it was."""
    return f"{run_folder(run)}/run.json"


def outputs_of_runs(names):
    """What stands for these finished runs, each file once."""
    return list(dict.fromkeys(file for name in names for file in run_outputs(name)))


# The files inside, by name.


def fetched_hashes(source):
    """What a source's files must hash to, as `{file: sha256}`; a sample's recipe for a sample."""
    entry = SOURCES[source]
    if "sample" in entry:
        return {"sample": entry["sample"]}
    if "local" in entry:
        return {Path(entry["local"]).name: LOCAL_HASHES.get(source)}
    return {
        file: fact["sha256"]
        for download in entry["downloads"]
        for file, fact in (download.get("members") or {download.get("file"): download}).items()
    }


def fetched_names(source):
    """The files of a fetched source."""
    names = SOURCES[source]["files"] if "sample" in SOURCES[source] else fetched_hashes(source)
    return [Path(name).name for name in names]


def cleaned_names(source):
    """The files that a source's cleaner writes: a table a split, or the manifest of its shards, and what it counted."""
    if SOURCES[source].get("sharded"):
        return [*(f"{split}/manifest.json" for split in cleaned_splits(source)), "cleaning.csv", "videos.parquet"]
    return [*(f"{split}.parquet" for split in cleaned_splits(source)), "cleaning.csv"]


def dataset_splits(dataset):
    """The splits of a dataset: to learn from, held out where the study says so, to measure on."""
    held_out = STUDIES[dataset.study].get("held_out")
    learn, *measure = splits(dataset.source)
    return [learn, *([held_out] if held_out else []), *measure]


def dataset_names(dataset):
    """The files of a dataset."""
    return [*(f"{split}.parquet" for split in dataset_splits(dataset)), *(["leakage.csv"] if has_spans(dataset.source) or "videos_of" in SOURCES[dataset.source] else [])]


# What a rule reads.


def dataset_of(wildcards):
    """The dataset that the wildcards study, source and dataset name."""
    return PLAN.datasets[f"results/build/{wildcards.study}/{wildcards.source}/{wildcards.dataset}"]


def read_by_dataset(wildcards):
    """Cleaned tables; for dialogs also the source that they are measured on, and the temporal expressions of both; for endings the
    captions of their videos."""
    if "videos_of" in SOURCES[wildcards.source]:
        return [cleaned(wildcards.source), cleaned(SOURCES[wildcards.source]["videos_of"])]
    challenge = MEASURED_ON[wildcards.source]
    if not has_spans(wildcards.source):
        return [cleaned(wildcards.source), *map(cleaned, learnt_elsewhere(dataset_of(wildcards)))]
    return [cleaned(wildcards.source), cleaned(challenge), spans(wildcards.source), spans(challenge)]


def read_released(wildcards):
    """The corpora of an experiment that come with judgements which the paper's authors released."""
    sources = {PLAN.runs[run].dataset.source for run in PLAN.experiments[wildcards.experiment]}
    return [fetched(source) for source in sorted(sources) if "predictions" in SOURCES[source]]


def external_systems(wildcards):
    """The folders of predictions made elsewhere (scripts/evaluate/external.py) on the datasets of an experiment."""
    datasets = {PLAN.runs[run].dataset for run in PLAN.experiments[wildcards.experiment]}
    splits = [Path("results/external", wildcards.study, dataset.source, dataset.name, split)
              for dataset in datasets for split in SOURCES[MEASURED_ON[dataset.source]]["evaluate"]]
    return sorted(str(file.parent) for split in splits for file in split.glob("*/run.json"))


def read_by_evaluation(wildcards):
    """The runs of an experiment, the datasets of these where the study's evaluation reads them, released judgements, and
    predictions made elsewhere."""
    runs = [PLAN.runs[run] for run in PLAN.experiments[wildcards.experiment]]
    datasets = {built(run.dataset) for run in runs} if "datasets" in STUDIES[wildcards.study]["evaluation_reads"] else set()
    return [*outputs_of_runs(run.name for run in runs), *sorted(datasets), *read_released(wildcards),
            *(f"{folder}/{name}" for folder in external_systems(wildcards) for name in ("predictions.parquet", "run.json"))]


def answers_of_people(experiment):
    """The files of people's answers that an experiment names, or that its patterns stand for. Raises WorkflowError where a pattern stands
    for none."""
    files = []
    for pattern in config["experiments"][experiment].get("people") or []:
        found = sorted(glob(pattern)) if has_magic(pattern) and not Path(pattern).exists() else [pattern]
        if not found:
            raise WorkflowError(f"experiments: {experiment}: people: there is no file {pattern}; put the answers there, or correct the pattern")
        files += found
    return list(dict.fromkeys(files))


ANSWERED_EXPERIMENTS = [name for name in PLAN.experiments if answers_of_people(name)]


def human_files(study):
    """The people's answers that the experiments of a study name."""
    return sorted({file for name in ANSWERED_EXPERIMENTS if config["experiments"][name]["study"] == study for file in answers_of_people(name)})


def measured_runs(study):
    """The runs of a study (or of all) that were measured."""
    return [run for run in PLAN.runs.values() if study in (run.study, "all") and run.name in MEASURED]


def model_runs(study):
    """The runs of a study (or of all) that were measured, of models that may understand: none of a control."""
    return [run for run in measured_runs(study) if run.name not in CONTROLS]


def runs_read(item):
    """The runs that a figure or table reads."""
    return measured_runs(item["study"]) if "controls" in item["reads"] else model_runs(item["study"])


def dialog_sources(study):
    """The dialogs that a study learns from, and the challenges that it is measured on."""
    learnt = sorted({run.dataset.source for run in measured_runs(study)})
    return learnt, sorted({MEASURED_ON[source] for source in learnt})


def in_several_wordings(runs):
    """Those of the runs whose model is asked in another wording, too, by the same method on the same data."""
    wordings = {}
    for run in runs:
        wordings.setdefault((run.dataset.folder, run.model, run.method), set()).add(run.wording)
    return [run for run in runs if len(wordings[run.dataset.folder, run.model, run.method]) > 1]


def is_published(item):
    """Whether a figure or table of resources/figures.yaml is made: a run of its study is what it needs; what is about all studies
    is made where there is something to set side by side, and in a probe."""
    if "compares" in item:
        return any(item["study"] in (one["study"], "all") for one in COMPARED[item["compares"]])
    runs = model_runs(item["study"]) if item.get("needs_model") else measured_runs(item["study"])
    if item.get("needs_people"):
        answered = {run for name in ANSWERED_EXPERIMENTS for run in PLAN.experiments[name]}
        return any(run.name in answered for run in measured_runs(item["study"]))
    if item["study"] == "all":
        plain = {run for name, names in PLAN.experiments.items() if name not in sum(ALTERED.values(), []) for run in names}
        runs = [run for run in runs if run.name in plain]
    if item["study"] == "all" and not PROBED and max(len({run.study for run in runs}), len({run.model for run in runs})) < 2:
        return False
    if item.get("needs_wordings"):
        runs = in_several_wordings(runs)
    return any(has_options(json.loads(run.dataset.options), item.get("needs", {})) for run in runs)


COMPARED = {"transfers": TRANSFERS, "objectives": OBJECTIVES}
SUFFIXES = {"figure": ["svg", "dark.svg", "png", "pdf", "csv"], "table": ["csv", "md", "tex"]}
PUBLISHED = {item["name"]: item for item in FIGURES if is_published(item)}
EVALUATED, PAGES = f"results/evaluate/{NAME}", f"results/publish/{NAME}"


def published_files(item):
    """The files of a figure or table; the first is the one that Snakemake's report shows."""
    return [f"{PAGES}/{item['kind']}s/{item['name']}.{suffix}" for suffix in SUFFIXES[item["kind"]]]


def is_without_texts(item):
    """Whether an item is a table that shows no texts of a corpus, which have terms of their own: it reads no datasets and no expressions."""
    return item["kind"] == "table" and item.get("show", "table") == "table" and not {"datasets", "spans"} & set(item["reads"])


def read_by_item(wildcards):
    """What a figure or table is made from beside the metrics, as its `reads` in resources/figures.yaml says."""
    item = PUBLISHED[wildcards.item]
    runs, sources = runs_read(item), sum(dialog_sources(item["study"]), [])
    learnt = sorted({run.dataset.source for run in measured_runs(item["study"])})
    files = {
        "runs": outputs_of_runs(run.name for run in runs),
        "released": [fetched(source) for source in learnt if "predictions" in SOURCES[source]],
        "cleaned": [cleaned(source) for source in learnt],
        "datasets": sorted({built(run.dataset) for run in measured_runs(item["study"])}),
        "human": human_files(item["study"]),
        "spans": [place(source) for source in sources for place in (spans, cleaned) if has_spans(source)],
    }
    return list(dict.fromkeys(file for name, read in files.items() if name in item["reads"] for file in read))


def studies_there():
    """The names of the studies that have a page, this one included."""
    pages = Path("results/publish").glob("*/index.html")
    there = {page.parent.name for page in pages if Path(f"results/evaluate/{page.parent.name}/metrics.parquet").exists()}
    return sorted(there | {NAME})


def findings_there():
    """The findings of the studies that have a page, this one included; a page of an earlier version has none beside it."""
    files = [f"results/publish/{name}/findings.json" for name in studies_there()]
    return [file for file in files if file.startswith(f"{PAGES}/") or Path(file).exists()]


def built_studies():
    """The studies that this configuration builds datasets of."""
    return sorted({dataset.study for dataset in PLAN.datasets.values()})


def datasets_there(study):
    """The datasets of a study that are there whole, as <source>/<dataset>, and those that this configuration builds."""
    folder = Path(f"results/build/{study}")
    there = {manifest.parent for manifest in folder.glob("*/*/manifest.json") if not lost_files(manifest)}
    planned = {Path(dataset.folder) for dataset in PLAN.datasets.values() if dataset.study == study}
    return sorted(str(place.relative_to(folder)) for place in there | planned)


def ranked_models():
    """The models that are told to leaderboards: those of runs that were measured."""
    return sorted({run.model for run in PLAN.runs.values() if run.name in MEASURED})


def forget_lost_files():
    """Take away the manifest of a folder that no longer holds what it lists, so that its rule runs again."""
    manifests = {*map(fetched, USED_SOURCES), *map(cleaned, USED_SOURCES), *map(spans, USED_SOURCES),
                 *map(built, PLAN.datasets.values()), *(file for model in USED_MODELS for file in model_of(model)), *MANIFEST_OF.values()}
    for manifest in sorted(name for name in manifests if name.endswith("manifest.json") and Path(name).exists()):
        if lost := lost_files(Path(manifest)):
            logger.warning(f"{Path(manifest).parent}: {', '.join(lost)} is gone, or not as long as it was: it is written again")
            Path(manifest).unlink()


def not_fetched(names, place):
    """Those of these sources or models whose manifest is not there yet."""
    return [name for name in names if not Path(place(name)).exists()]


def check_places():
    """Say before hours of work what will be missing: a folder, a file, the mirror, room on the disk."""
    sources = not_fetched(USED_SOURCES, fetched)
    models = not_fetched((name for name in USED_MODELS if not {*STAGES, "control"} & set(MODELS[name])), lambda name: model_of(name)[0])
    wanted = [(place_of("models", name), MODELS[name]["folder"]) for name in models if "folder" in MODELS[name]]
    wanted += [(place_of("sources", name), SOURCES[name]["local"]) for name in sources if "local" in SOURCES[name]]
    for where, path in wanted:
        if not Path(project_path(path)).exists():
            raise WorkflowError(f"{where}: {path} is not there; put it there, or correct the entry")
    downloads = [download for name in sources for download in SOURCES[name].get("downloads", [])]
    from_afar = bool(downloads) or any("hub" in MODELS[name] for name in models)
    if from_afar and MIRROR and "://" not in MIRROR and not Path(MIRROR).is_dir():
        raise WorkflowError(f"mirror {MIRROR} is not there: correct mirror: in the configuration or TIMESTRIDE_MIRROR, "
                            "or take it away to fetch from the files' own URLs")
    declared = [fact.get("bytes") or 0 for download in downloads for fact in download.get("members", {"": download}).values()]
    needed = 3 * sum(declared) + 500_000_000  # fetched, opened and cleaned, and room for the runs
    free = shutil.disk_usage(".").free
    weights = {name: (kept_facts(name, MODELS[name], ROOT) or {}).get("bytes") or 0 for name in models}
    if sum(weights.values()) > free:
        largest = max(weights, key=weights.get)
        raise WorkflowError(f"{place_of('models', largest)}: the weights that are to be fetched have {sum(weights.values()) / 1e9:.1f} GB "
                            f"({largest} {weights[largest] / 1e9:.1f} GB), but the disk has {free / 1e9:.1f} GB free: make room, give "
                            "--directory a folder on another disk, or name a smaller model")
    needed += 2 * sum(weights.values())  # in the cache of the hub and here
    if (sources or models) and free < needed:
        logger.warning(f"The disk has {free / 1e9:.1f} GB free, but this study may take {needed / 1e9:.1f} GB and more: "
                       "make room first, or give --directory a folder on another disk")


if is_main_process():
    forget_lost_files()
    check_places()
