"""Which files a rule reads, where that depends on what the study asks for."""

from glob import glob, has_magic


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
    """The folders of predictions made elsewhere (scripts/measure/external.py) on the datasets of an experiment."""
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
