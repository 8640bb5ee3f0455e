"""Which files stand where. A file that stands for a folder is its manifest.json."""

EVALUATED, PAGES = f"results/evaluate/{NAME}", f"results/publish/{NAME}"


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
    tells_leakage = has_spans(dataset.source) or "videos_of" in SOURCES[dataset.source]
    return [*(f"{split}.parquet" for split in dataset_splits(dataset)), *(["leakage.csv"] if tells_leakage else [])]
