"""What the jobs take that fetch a corpus or a model, clean a corpus or build a dataset.

A field that changes no result is left out of what Snakemake compares: a URL, a licence of a model.
"""

import os
from pathlib import Path

from scripts.data.files import sha256_of
from scripts.data.plain_json import hashes_of
from scripts.data.yaml_files import read_yaml
from scripts.plan.plan import OF_ENTRY
from scripts.plan.grid import Dataset
from scripts.plan.workplan import Workplan, cleaned, spans

# the keys of a source that say where questions with options stand
LAYOUT = ["columns", "answers_are", "labels", "header", "lines", "patterns", "empty", "files"]


def deciding_fields(work: Workplan, model: str) -> dict:
    """Return the fields of a model's entry that decide its files, and the hashes of its
    vocabulary, its vectors and the files of its folder.
    """
    entry = work.models[model]
    others = ("licence", "title", *OF_ENTRY)
    found = {key: value for key, value in entry.items() if key not in others}
    if "vocabulary" in entry:
        found["vocabulary"] = sha256_of(work.root / entry["vocabulary"])
    if files := work.folder_hashes(model):
        found["files of its folder"] = files
    if entry.get("vectors", {}).get("sha256"):  # the URL does not matter
        found["vectors"] = {key: entry["vectors"][key] for key in ("file", "sha256")}
    return found


def with_absolute_paths(work: Workplan, model: str) -> dict:
    entry = work.models[model]
    return entry | {
        key: str(work.root / os.path.expanduser(entry[key]))
        for key in ("vocabulary", "folder")
        if key in entry
    }


def patterns(work: Workplan) -> str:
    """Return a hash of what the rules of temporal expressions say, without their comments."""
    rules = read_yaml(work.root / "resources/temporal_patterns.yaml")
    return hashes_of({"temporal_patterns.yaml": rules})


def fetched_folder(work: Workplan, source: str) -> str:
    """Return the folder of a source's files; a local folder is that itself."""
    fetched = Path(work.fetched(source))
    return str(fetched if fetched.is_dir() else fetched.parent)


def provenance_of(work: Workplan, source: str) -> dict:
    """Return what the tables of a source carry: its terms and the hashes of its files."""
    entry = work.sources[source]
    kept = {
        key: entry[key] for key in ("licence", "citation", "sample", "language") if key in entry
    }
    return kept | {"sha256": work.fetched_hashes(source)}


def columns_of(work: Workplan, source: str) -> dict | None:
    """Return the columns of a source's files. Of questions with options: all that says where they
    stand (scripts/clean/choices.py).
    """
    entry = work.sources[source]
    if "answers_are" not in entry:
        return entry.get("columns")
    return {key: entry[key] for key in LAYOUT if key in entry}


def tables_of_corpus(work: Workplan, source: str) -> list[str]:
    """Return the files of a source's cleaner: for each split a table, or the manifest of its
    shards, and the counts. A sharded source also has a table of videos.
    """
    splits = work.cleaned_splits(source)
    if work.sources[source].get("sharded"):
        return [*(f"{split}/manifest.json" for split in splits), "cleaning.csv", "videos.parquet"]
    return [*(f"{split}.parquet" for split in splits), "cleaning.csv"]


def tables_of_dataset(work: Workplan, dataset: Dataset) -> list[str]:
    """Return the files of a dataset: its splits, and leakage.csv (the counts of removed items) if
    the study has it.
    """
    study = work.studies[dataset.study]
    learn, *measure = work.splits(dataset.source)
    splits = filter(None, [learn, study.get("held_out"), *measure])
    names = [f"{split}.parquet" for split in splits]
    return [*names, "leakage.csv"] if study.get("leakage") else names


def dataset_of(work: Workplan, study: str, source: str, dataset: str) -> Dataset:
    return work.datasets[f"results/build/{study}/{source}/{dataset}"]


def read_by(work: Workplan, dataset: Dataset) -> list[str]:
    """Return the cleaned tables of a dataset's sources. If the study uses temporal expressions,
    return their files too.
    """
    sources = dict.fromkeys([dataset.source, *work.beside(dataset).values()])
    places = (cleaned, spans) if work.studies[dataset.study].get("spans") else (cleaned,)
    return [place(one) for place in places for one in sources]


def splits_of(work: Workplan, dataset: Dataset) -> list[str]:
    """Return the splits of a dataset, the one to learn from first."""
    source = dataset.source
    if work.measured_on(source) == source:
        return work.splits(source)
    return [work.sources[source]["train"], work.studies[dataset.study]["held_out"]]


def sources_beside(work: Workplan, dataset: Dataset) -> dict[str, dict]:
    """Return the other sources from which a dataset is built: their folders and splits, by name."""
    return {
        name: {
            "cleaned": f"results/clean/{other}",
            "spans": f"results/build/temporal_spans/{other}",
            "train": work.sources[other].get("train"),
            "evaluate": work.sources[other]["evaluate"],
        }
        for name, other in work.beside(dataset).items()
    }
