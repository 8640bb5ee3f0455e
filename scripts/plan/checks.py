"""Checks before hours of work: missing files and folders, and lost results that are made again."""

import importlib
import shutil
from pathlib import Path

from scripts.data.manifest import files_in, lost_files
from scripts.plan.audits import benchmarks_of
from scripts.plan.model_facts import cached_facts
from scripts.plan.models import ELSEWHERE
from scripts.plan.workplan import Workplan, built, cleaned, spans
from scripts.running.program import UserError

READ_BEFORE = 4_000_000  # bytes of a file of one's own that are read before a job runs


def manifests_of(work: Workplan) -> set[str]:
    """Return the manifests, or single files, that represent everything that a study makes before
    measuring.
    """
    return {
        *map(work.fetched, work.fetched_sources),
        *map(cleaned, work.used_sources),
        *map(spans, work.used_sources),
        *map(built, work.datasets.values()),
        *(file for model in work.used_models for file in work.model_files(model)),
        *work.manifests.values(),
    }


def manifest_of(work: Workplan, file: Path) -> str | None:
    """Return the manifest that stands for a file or a folder; None without one."""
    folders = {Path(name).parent: name for name in manifests_of(work) if "/manifest.json" in name}
    runs = {Path(work.runs[run].folder): name for run, name in work.manifests.items()}
    return next(
        (found for place in (file, *file.parents) if (found := (folders | runs).get(place))), None
    )


def manifest_with(work: Workplan, file: Path) -> str | None:
    """Return the manifest that a user asks for by a file or a folder, or the last file of a folder
    of pages or numbers; None without one, and for a file that is not listed there.
    """
    last = {work.pages: f"{work.pages}/index.html", work.evaluated: work.metrics}
    if str(file) in last:
        return last[str(file)]
    manifest = manifest_of(work, file)
    if manifest is None or str(file) == manifest:
        return manifest
    folder = Path(manifest).parent
    if run := work.runs.get(file.parts[3]) if len(file.parts) > 3 else None:
        folder, names = Path(run.folder), work.files_of_run(run.name)
    elif Path(manifest).exists():
        names = list(files_in(Path(manifest)))
    else:
        return manifest
    return manifest if file == folder or file in [folder / name for name in names] else None


def lost_outputs(work: Workplan) -> dict[Path, list[str]]:
    """Return the listed files that are missing or have another length, by manifest."""
    there = sorted(
        Path(name)
        for name in manifests_of(work)
        if name.endswith("manifest.json") and Path(name).exists()
    )
    return {manifest: lost for manifest in there if (lost := lost_files(manifest))}


def _check_disk(work: Workplan, sources: list[str], models: list[str], declared: int) -> list[str]:
    """Return warnings about the space on the disk. Raises UserError if the models to fetch need
    more space.
    """
    free = shutil.disk_usage(".").free
    weights = {
        name: (cached_facts(name, work.models[name], work.root) or {}).get("bytes") or 0
        for name in models
    }
    if sum(weights.values()) > free:
        largest = max(weights, key=lambda name: weights[name])
        raise UserError(
            f"{work.place_of('models', largest)}: the weights that are to be fetched have "
            f"{sum(weights.values()) / 1e9:.1f} GB ({largest} {weights[largest] / 1e9:.1f} GB), "
            f"but the disk has {free / 1e9:.1f} GB free: make room, give --directory a folder on "
            "another disk, or name a smaller model"
        )
    # Corpora exist as fetched, opened and cleaned files. Models exist in the hub's cache and here.
    # The runs need space too.
    needed = 3 * declared + 500_000_000 + 2 * sum(weights.values())
    if (sources or models) and free < needed:
        return [
            (
                f"The disk has {free / 1e9:.1f} GB free, but this study may take "
                f"{needed / 1e9:.1f} GB and more: make room first, or give --directory a folder on "
                "another disk"
            )
        ]
    return []


def _check_local_files(work: Workplan) -> None:
    """Raise UserError if a cleaner that can check a file of one's own (`check_source`) cannot read
    it. Tables say nothing of the declaration that they were made by, so each call reads the file
    again. Of large files of captions the beginning is read.
    """
    for name in sorted({*work.used_sources, *benchmarks_of(work)} & {*work.sources}):
        entry = work.sources[name]
        if "local" not in entry:
            continue
        place = Path(work.project_path(entry["local"]))
        try:  # imported here, because pandas takes a second
            program = importlib.import_module(f"scripts.clean.{entry['cleaner']}")
        except ModuleNotFoundError:  # the jobs have environments of their own, and check it there
            return
        if not hasattr(program, "check_source"):
            continue
        try:
            program.check_source(place, entry, READ_BEFORE)
        except UserError as error:
            raise UserError(f"{work.place_of('sources', name)}: {error}") from None


def _check_gpus(work: Workplan, models: list[str]) -> None:
    """Raise UserError for a model to fetch whose quantised weights need a GPU."""
    for name in models:
        facts = cached_facts(name, work.models[name], work.root) or {}
        if facts.get("quantised"):
            raise UserError(
                f"{work.place_of('models', name)}: its weights are quantised "
                f"({facts['quantised']}), and transformers reads them on a GPU only. No run may "
                f"use a GPU here: take a machine that has one, or {ELSEWHERE}"
            )


def check_places(work: Workplan, has_gpus: bool) -> list[str]:
    """Return warnings. Raises UserError if a folder, a file, the mirror, space on the disk or a GPU
    for quantised weights is missing, or if captions cannot be read. has_gpus: whether runs may use
    GPUs.
    """
    sources = [name for name in work.fetched_sources if not Path(work.fetched(name)).exists()]
    models = [
        name
        for name in work.models_read
        if not all(Path(file).exists() for file in work.model_files(name))
    ]
    folders = [
        ("models", name, work.models[name].get(key))
        for name in models
        for key in ("folder", "vocabulary")
    ]
    files = [("sources", name, work.sources[name].get("local")) for name in sources]
    for kind, name, path in folders + files:
        if path and not Path(work.project_path(path)).exists():
            raise UserError(
                f"{work.place_of(kind, name)}: {path} was not found; put it there, or correct the "
                "entry"
            )
    _check_local_files(work)
    if not has_gpus:
        _check_gpus(work, models)
    downloads = [
        download
        for name in sources
        if "sample" not in work.sources[name]  # these come with the project
        for download in work.sources[name].get("downloads", [])
    ]
    from_afar = downloads or any("hub" in work.models[name] for name in models)
    if from_afar and work.mirror and "://" not in work.mirror and not Path(work.mirror).is_dir():
        raise UserError(
            f"mirror {work.mirror} is not there: correct mirror: in the configuration or "
            "TIMESTRIDE_MIRROR, or remove it to fetch from the files' own URLs"
        )
    declared = sum(
        fact.get("bytes") or 0
        for download in downloads
        for fact in download.get("members", {"": download}).values()
    )
    return _check_disk(work, sources, models, declared)
