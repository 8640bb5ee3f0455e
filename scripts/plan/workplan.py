"""A configuration with everything that it names, checked and resolved. The rules, the jobs and the
page are made from it.

This module does not use Snakemake. Reading it writes nothing, except the facts of models that were
needed.
"""

import os
import re
from collections.abc import Iterable
from functools import cached_property
from glob import glob
from pathlib import Path

from scripts.data.files import Hashes
from scripts.data.studies import ALL, read_figures, read_published, read_released, read_studies
from scripts.data.yaml_files import read_yaml
from scripts.plan.configuration import resolve
from scripts.plan.grid import Dataset, without
from scripts.plan.model_facts import facts_reader, folder_files
from scripts.plan.models import STAGES, UNTRAINED, files_of_run, stage_of
from scripts.plan.plan import CONTROL, RECORDED, Run, batches, run_of
from scripts.plan.schemas import check_figures, check_study, checked, shown
from scripts.plan.settings import Configuration
from scripts.plan.user_entries import (
    STANDS_ON,
    from_command_line,
    merge_entries,
    of_study,
    probed_models,
    with_probes,
)
from scripts.data.csv_rows import rows_of
from scripts.running.code_lock import is_todays
from scripts.running.program import UserError, closest


TRAIN = "train"  # the training split of a dataset whose source is a test alone


def laid_over(base: dict, over: dict) -> dict:
    """Return a configuration with another configuration laid over it, key by key."""
    return base | {
        key: laid_over(base.get(key) or {}, value)
        if isinstance(value, dict) and isinstance(base.get(key), dict | None)
        else value
        for key, value in over.items()
    }


def name_of(file: Path) -> str:
    """Return the name of a study whose file has none. Otherwise the study would replace the default
    study.
    """
    return re.sub("[^a-z0-9_-]+", "-", file.stem.lower()).strip("-_") or file.stem


def laid_over_default(given: dict, root: Path, configfiles: tuple[Path, ...]) -> tuple[dict, bool]:
    """Return a configuration laid over config.yaml, and whether it has the name of its file because
    it has no `name`. Raises UserError for a file that cannot be read, and for a name that is the
    default study's.
    """
    for file in configfiles:
        read_yaml(file)  # Snakemake reads it too, but accepts a repeated key
    default = read_yaml(root / "config.yaml")
    is_nameless = bool(configfiles) and "name" not in given
    if is_nameless:
        given = given | {"name": name_of(configfiles[0])}
        if given["name"] == default["name"]:
            raise UserError(
                f"{configfiles[0]}: has no `name`, and the name of its file is that of the default "
                "study, which it would replace; write `name: …`"
            )
    return from_command_line(laid_over(default, given)), is_nameless


class Workplan:
    """The runs, files and settings that one configuration asks for. given: laid over config.yaml of
    the project's folder `root`; configfiles: the files given by name. Raises UserError for any
    fault in the configuration, or in the entries of resources/ that it uses.
    """

    def __init__(self, given: dict, root: Path, configfiles: Iterable[Path] = ()):
        self.root, self.configfiles = root, tuple(configfiles)
        laid, is_nameless = laid_over_default(given, root, self.configfiles)
        self.studies = {
            study: check_study(study, entry) for study, entry in read_studies(root).items()
        }
        self.config = of_study(with_probes(checked(Configuration, laid), self.studies))
        self.name = self.config.name
        self.mirror = self.config.mirror or os.environ.get("TIMESTRIDE_MIRROR") or ""
        self.notes = self._read_entries()
        if is_nameless:
            self.notes.append(
                f"{self.configfiles[0]}: has no `name`, so its study is {self.name} and its page "
                f"{self.pages}/index.html"
            )
        read_published(self.studies, root)  # raises UserError for a broken file
        # Expand: grids, runs, experiments
        self.plan = resolve(
            self.config,
            self.sources,
            self.models,
            self.studies,
            self.probed,
            facts_reader(root, self.mirror, lambda name: self.place_of("models", name)),
        )
        # Files
        self.figures = check_figures(read_figures(self.studies, root, self.used_studies))
        self.hashes = Hashes(Path("results/fetch/.hashes.json"))
        if self.config.recorded:
            left = [run for name, run in self.runs.items() if name not in self.recorded]
            controls = sum(run.method == "control" for run in left)
            self.notes.append(
                f"{len(self.recorded)} of {len(self.runs)} runs are taken from the record; "
                f"{controls} controls are made again (seconds each), "
                f"{len(left) - controls} models are trained"
            )
        self.people = {name: self._answers(name) for name in self.plan.experiments}
        self.released = {name: self._released(name) for name in self.plan.experiments}
        self.external = {name: self._external(name) for name in self.plan.experiments}
        self.local_hashes = {
            name: self._local_hash(name)
            for name in self.fetched_sources
            if "local" in self.sources[name]
        }

    def _read_entries(self) -> list[str]:
        """Read the sources and models: those of the configuration are laid over those of
        resources/. Return what a user should know of them.
        """
        self.configured = {"sources": self.config.sources, "models": self.config.models}
        self.tracked = {
            kind: read_yaml(self.root / f"resources/{kind}.yaml") for kind in ("sources", "models")
        }
        (self.sources, on_sources), (models, on_models) = (
            merge_entries(kind, self.configured[kind], tracked, self.root, Path.cwd())
            for kind, tracked in self.tracked.items()
        )
        self.probed, self.models, on_probed = probed_models(
            self.config.model, models, self.root, Path.cwd()
        )
        return [*on_sources, *on_models, *on_probed]

    def _local_hash(self, source: str) -> str:
        """Return the sha256 of a source's local file."""
        path = self.sources[source]["local"]
        try:
            return self.hashes.sha256(self.root / os.path.expanduser(path))
        except OSError as error:
            raise UserError(
                f"{self.place_of('sources', source)}: {path} cannot be read ({error.strerror}); "
                "put the file there, or correct the entry"
            ) from None

    def folder_hashes(self, model: str) -> dict[str, str]:
        """Return the sha256 of each file that a model's folder gives, by name; empty for a model of
        another kind.
        """
        files = folder_files(self.models[model], self.root)
        return {name: self.hashes.sha256(file) for name, file in files.items()}

    def bases_of(self, model: str) -> dict[str, str]:
        """Return the models whose files a model takes, by the key of its entry that names them."""
        return {key: name for key, name in self.models[model].items() if key in STANDS_ON["models"]}

    def known_files(self, model: str) -> dict[str, str | None]:
        """Return the sha256 of a model's files, by name: those that its entry pins, those of its
        folder, and those of the model that it stands on. Files that it makes are left out.
        """
        entry = self.models[model]
        found = dict(entry.get("files") or {}) | self.folder_hashes(model)
        if vectors := entry.get("vectors"):
            found[vectors["file"]] = vectors["sha256"]
        for key, base in self.bases_of(model).items():
            folder = "encoder/" if key == "encoder" else ""
            known = self.known_files(base)
            found |= {f"{folder}{name}": sha256 for name, sha256 in known.items()}
        return found

    def made_from(self, model: str) -> dict:
        """Return what an entry says of a model whose files it makes; empty for other models, and
        for a control, whose entry is compared itself.
        """
        if CONTROL in self.models[model]:
            return {}
        return {
            f"{name}.{key}": self.models[name][key]
            for name in {*self.with_base_models([model]), *self.bases_of(model).values()}
            for key in ("init", "esim", "without_pretraining")
            if key in self.models[name]
        }

    def has_files(self, model: str, files: dict[str, str]) -> bool:
        """Return whether a model's files are those of a run on record. Only an entry of the project
        may have unknown files: it makes them, or its folder is not here.
        """
        entry, known = self.models[model], self.known_files(model)
        if any(known.get(name) not in (None, sha256) for name, sha256 in files.items()):
            return False
        if all(map(known.get, files)) and (files or CONTROL in entry):
            return True
        names = {model, *self.bases_of(model).values()}
        is_own = not names <= set(self.tracked["models"]) - set(self.config.models)
        return not is_own and "hub" not in entry and not self.folder_hashes(model)

    def _answers(self, experiment: str) -> list[str]:
        """Return the files of people's answers that an experiment names, or that its patterns
        match.
        """
        files = []
        for pattern in self.config.experiments[experiment].people or []:
            found = [pattern] if Path(pattern).exists() else sorted(glob(pattern))
            if not found:
                raise UserError(
                    f"experiments: {experiment}: people: there is no file {pattern}; put the "
                    "answers there, or correct the name"
                )
            files += found
        if wrong := [file for file in files if re.search("^-|[{}]", file)]:
            raise UserError(
                f"experiments: {experiment}: people: {wrong[0]} begins with - or holds a brace; "
                "rename the file"
            )
        return list(dict.fromkeys(files))

    def _released(self, experiment: str) -> list[str]:
        """Return the sources of released judgements that an experiment names. Raises UserError for
        a source that is not in released.csv, or that answers another corpus than the experiment
        measures.
        """
        asked = self.config.experiments[experiment]
        _, *rows = read_released(asked.study, self.root)
        corpora = {source: corpus for source, corpus, *_ in rows if source in self.sources}
        measured = {self.runs[run].dataset.source for run in self.plan.experiments[experiment]}
        for name in asked.released or []:
            where = f"configuration: experiments.{experiment}.released"
            if name not in corpora:
                raise UserError(
                    f"{where}: {asked.study} has no source {shown(name)} of released "
                    f"judgements{closest(name, corpora)}"
                )
            if corpora[name] not in measured:
                raise UserError(
                    f"{where}: {name} holds answers to {corpora[name]}, which this experiment does "
                    "not measure; name it in data, or leave released out"
                )
        return asked.released or []

    def released_rows(self, experiments: Iterable[str]) -> str:
        """Return the rows of released.csv that experiments of one study name, as a CSV; empty if
        they name none.
        """
        names = [name for name in experiments if self.released[name]]
        if not names:
            return ""
        sources = {source for name in names for source in self.released[name]}
        study = self.config.experiments[names[0]].study
        return rows_of(read_released(study, self.root), "source", sources)

    # ---- Runs

    @property
    def runs(self) -> dict[str, Run]:
        return self.plan.runs

    @cached_property
    def controls(self) -> set[str]:
        return {run.name for run in self.runs.values() if run.method == CONTROL}

    def record_of(self, study: str) -> Path:
        return self.root / "docs/record" / study

    def on_record(self, run: Run) -> Run:
        """Return the run whose scores the record may hold for a run. This is usually the run
        itself. For a control on splits that `limit` cuts, it is the same control on the whole
        splits.
        """
        if run.name not in self.controls or not run.dataset.data.get("limit"):
            return run
        whole = without(run.dataset, "limit", self.sources[run.dataset.source]["kind"])
        how = self.studies[run.study]["methods"][CONTROL]
        return run_of(how, whole, run.model, CONTROL, {}, 0)

    def learnt(self, run: Run) -> Dataset:
        """Return the dataset with the training split of a run. This is usually the run's own. A
        control with `learns_without` learns from the dataset without this option.
        """
        option = self.models[run.model].get("learns_without")
        if not option:
            return run.dataset
        return without(run.dataset, option, self.sources[run.dataset.source]["kind"])

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets of all runs, of the runs on record, and of what controls learn from, by
        folder.
        """
        kept = [self.on_record(self.runs[name]) for name in self.recorded]
        learning = [*kept, *(self.runs[name] for name in self.controls - self.recorded)]
        read = [*(run.dataset for run in kept), *(self.learnt(run) for run in learning)]
        return self.plan.datasets | {dataset.folder: dataset for dataset in read}

    @cached_property
    def recorded(self) -> set[str]:
        """The runs that are taken from the record. The record has their scores, from the current
        training code, model files, and entry of a control or of a model that is made. If other runs
        start from a run, it is taken only if all these runs are taken too.
        """
        if not self.config.recorded:
            return set()
        # imported late: pandas is slow to import
        from scripts.data.record import read_runs

        lines = {study: read_runs(self.record_of(study)) for study in self.used_studies}
        others: set[str] = set()

        def is_there(run: Run) -> bool:
            line = lines[run.study].get(self.on_record(run).name)
            if not (
                line
                and is_todays(f"train/{line['paradigm']}", line["version"])
                and line["run"].get("control") == self.models[run.model].get("control")
                and line.get("made_from", {}) == self.made_from(run.model)
            ):
                return False
            if run.start:  # its weights are those of another run
                return is_there(run.start.run)
            if self.has_files(run.model, line["run"].get("model_files", {})):
                return True
            others.add(run.model)
            return False

        found = {run.name for run in self.runs.values() if is_there(run)}
        while (
            needed := {run.begins_with for run in self.runs.values() if run.name not in found}
            & found
        ):
            found -= needed
        if others:
            self.notes.append(
                f"models: {', '.join(sorted(others))}: not the files on record, or no `files` "
                "that say which they are; their runs are trained"
            )
        return found

    @cached_property
    def tiny(self) -> set[str]:
        """The models that are made from an architecture, and their further stages."""
        return {
            model
            for model in {run.model for run in self.runs.values()}
            if any("init" in self.models[name] for name in self.with_base_models([model]))
        }

    def trains_tiny(self, job: str) -> bool:
        """Return whether a training job, `<study>/<job>`, has runs of tiny models alone."""
        return {self.runs[run].model for run in self.training_jobs[job]} <= self.tiny

    def threads_of(self, job: str, given: int | str) -> int | str:
        """Return the threads of a training job: one for tiny models, so that their numbers do not
        depend on the machine's or the cluster's cores. given: for other models.
        """
        return 1 if self.trains_tiny(job) else given

    @cached_property
    def batches(self) -> dict[str, list[str]]:
        """The runs that share a process, by the name of their batch: recorded runs, controls, runs
        that ask a model, and runs of a tiny model or a first look. Runs that ask a model load it
        once. The imports take most of the time of a short run.
        """
        is_alone = self.makers | self.starts
        many, tiny, quick = self.config.devices_per_run > 1, self.tiny, self.config.quick
        shared = (
            run
            for run in self.runs.values()
            if run.name in self.controls | self.recorded
            or (
                run.name not in is_alone
                and not many
                and (
                    run.model in tiny
                    or quick
                    or not self.studies[run.study]["methods"][run.method]["learns"]
                )
            )
        )
        return batches(shared, self.recorded, tiny)

    @cached_property
    def training_jobs(self) -> dict[str, list[str]]:
        """The runs of each training job, by `<study>/<job>`. The job of a single run has its
        name.
        """
        shared = {run for names in self.batches.values() for run in names}
        alone = (run for run in self.runs.values() if run.name not in shared)
        return self.batches | {f"{run.study}/{run.name}": [run.name] for run in alone}

    def kind_of_run(self, run: str) -> str:
        """Return how a run is made: from the record (`recorded`), as a `control`, by an `api`, or
        by another `model`.
        """
        entry = self.models[self.runs[run].model]
        of = next((key for key in (CONTROL, "api") if key in entry), "model")
        return RECORDED if run in self.recorded else of

    def training_jobs_of(self, *kinds: str) -> list[str]:
        """Return the names, without their study, of the training jobs of some kinds of runs."""
        return [
            job.split("/")[1]
            for job, (run, *_) in self.training_jobs.items()
            if self.kind_of_run(run) in kinds
        ]

    @cached_property
    def makers(self) -> set[str]:
        """The runs of stages, which make a model and measure nothing."""
        return {run.name for run in self.runs.values() if run.method in STAGES}

    @cached_property
    def starts(self) -> set[str]:
        """The measured runs whose weights other runs start from."""
        return {run.begins_with for run in self.runs.values() if run.begins_with} - self.makers

    def experiments_of(self, study: str) -> list[str]:
        entries = self.config.experiments
        return [name for name in self.plan.experiments if entries[name].study == study]

    @cached_property
    def measured(self) -> set[str]:
        return {run for runs in self.plan.experiments.values() for run in runs}

    @cached_property
    def altered(self) -> dict[str, list[str]]:
        """The experiments whose models are altered, by study: the models start from other weights
        (`initial`), or learn a second objective.
        """
        found: dict[str, list[str]] = {}
        for name, runs in self.plan.experiments.items():
            entry = self.config.experiments[name]
            objectives = [self.runs[run].training.get("objectives") for run in runs]
            if entry.initial or any(objectives):
                found.setdefault(entry.study, []).append(name)
        return found

    def measured_runs(self, study: str) -> list[Run]:
        """Return the measured runs of a study, or of all studies."""
        return [
            run
            for run in self.runs.values()
            if study in (run.study, "all") and run.name in self.measured
        ]

    def model_runs(self, study: str) -> list[Run]:
        """Return measured_runs() without the controls."""
        return [run for run in self.measured_runs(study) if run.name not in self.controls]

    @cached_property
    def measured_datasets(self) -> list[Dataset]:
        return list(dict.fromkeys(run.dataset for run in self.measured_runs("all")))

    # ---- What is used

    @cached_property
    def used_studies(self) -> list[str]:
        return sorted({run.study for run in self.runs.values()})

    @cached_property
    def used_models(self) -> list[str]:
        return sorted({run.model for run in self.runs.values()})

    @cached_property
    def models_read(self) -> list[str]:
        """The models of the runs that are not taken from the record, which reads no model."""
        return sorted({run.model for run in self.runs.values() if run.name not in self.recorded})

    @cached_property
    def ranked_models(self) -> list[str]:
        """The models whose numbers the leaderboards read."""
        return sorted({run.model for run in self.measured_runs("all")})

    @cached_property
    def used_sources(self) -> list[str]:
        return sorted(set().union(*map(self.sources_of, self.plan.datasets.values())))

    @cached_property
    def fetched_sources(self) -> list[str]:
        """The used sources, and the sources that others released."""
        others = {source for names in self.released.values() for source in names}
        return sorted({*self.used_sources, *others})

    def measured_on(self, source: str) -> str:
        return self.sources[source].get("measured_on", source)

    def sources_of(self, dataset: Dataset) -> list[str]:
        """Return the sources of a dataset: its own, the source that it is measured on, and the
        other sources from which it is built.
        """
        return [dataset.source, self.measured_on(dataset.source), *self.beside(dataset).values()]

    def beside(self, dataset: Dataset) -> dict[str, str]:
        """Return the other sources from which a dataset is built, by name (`reads_beside` of
        study.yaml).
        """
        options, entry = dataset.data, self.sources[dataset.source]
        named = {
            name: options.get(key) or entry.get(key)
            for name, key in self.studies[dataset.study].get("reads_beside", {}).items()
        }
        return {name: source for name, source in named.items() if source}

    def measured_sources(self, study: str) -> set[str]:
        return {
            source for run in self.measured_runs(study) for source in self.sources_of(run.dataset)
        }

    def with_base_models(self, models: Iterable[str]) -> set[str]:
        stages = filter(None, (stage_of(self.models[model]) for model in models))
        return {*models, *(entry["model"] for _, entry in stages)}

    def place_of(self, kind: str, name: str) -> str:
        """Return the place of an entry (kind: models, sources), for messages."""
        if name in self.configured[kind]:
            return f"`{kind}:` of the configuration ({name})"
        if name in self.tracked[kind]:
            return f"{self.root}/resources/{kind}.yaml ({name})"
        return f"`model:` of the configuration ({name})"

    def has_no_files(self, model: str) -> bool:
        """Return whether a model is not fetched: it is a control, a run makes it, or it is behind
        an API.
        """
        return bool({*STAGES, "control", "api"} & set(self.models[model]))

    # ---- Files. A folder is represented by its manifest.json.

    @property
    def evaluated(self) -> str:
        return f"results/evaluate/{self.name}"

    @property
    def metrics(self) -> str:
        return f"{self.evaluated}/metrics.parquet"

    @property
    def comparisons(self) -> str:
        return f"{self.evaluated}/comparisons.parquet"

    def metrics_of(self, study: str) -> str:
        return self.metrics if study == ALL else f"{self.evaluated}/{study}.parquet"

    def comparisons_of(self, study: str) -> str:
        return self.comparisons if study == ALL else f"{self.evaluated}/{study}.comparisons.parquet"

    def metrics_of_experiments(self, study: str) -> list[str]:
        return [f"{self.evaluated}/{study}/{name}.parquet" for name in self.experiments_of(study)]

    @property
    def pages(self) -> str:
        return f"results/publish/{self.name}"

    def project_path(self, path: str) -> str:
        """Return a file of the project relative to the working directory; absolute if it lies
        outside.
        """
        place = self.root / os.path.expanduser(path)
        return str(place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place)

    def fetched(self, source: str) -> str:
        """Return the file that represents a source's files: its manifest, or a local file."""
        entry = self.sources[source]
        if "local" in entry:
            return self.project_path(entry["local"])
        return f"results/fetch/{source}/manifest.json"

    def model_files(self, model: str) -> list[str]:
        """Return the manifest of a model that is fetched; an empty list for other models."""
        return [] if self.has_no_files(model) else [f"results/fetch/models/{model}/manifest.json"]

    def base_files(self, model: str) -> list[str]:
        """Return the manifest of the model whose files another model takes: the encoder of an ESIM,
        or the model that is left without pretraining. An empty list for others.
        """
        keys = {"encoder", UNTRAINED} & set(self.models[model])
        return [file for key in keys for file in self.model_files(self.models[model][key])]

    def vectors_files(self, control: str) -> list[str]:
        """The manifest of the model whose word vectors a control reads; nothing for others."""
        name = self.models[control].get("vectors_of")
        return self.model_files(name) if name else []

    def start_folder(self, run: Run) -> str:
        """Return the folder of the weights that a run starts from."""
        return f"{run.start.run.folder}/model" if run.start else f"results/fetch/models/{run.model}"

    def start_files(self, run: Run) -> list[str]:
        return [self.manifests[run.begins_with]] if run.begins_with else self.model_files(run.model)

    @cached_property
    def manifests(self) -> dict[str, str]:
        """The manifest of the training job of each run: the file that represents a finished run."""
        return {
            name: f"results/train/{job}.manifest.json"
            for job, names in self.training_jobs.items()
            for name in names
        }

    def manifests_of(self, runs: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(self.manifests[run] for run in runs))

    def files_of_run(self, run: str) -> list[str]:
        return files_of_run(run in self.makers, run in self.starts)

    def fetched_hashes(self, source: str) -> dict:
        """Return the required hashes of a source's files: {file: sha256}. A local folder counts as
        one file, with / at its end.
        """
        entry = self.sources[source]
        if "local" in entry:
            end = "/" if Path(self.project_path(entry["local"])).is_dir() else ""
            return {f"{Path(entry['local']).name}{end}": self.local_hashes.get(source)}
        return {
            file: fact["sha256"]
            for download in entry["downloads"]
            for file, fact in (download.get("members") or {download.get("file"): download}).items()
        }

    def _external(self, experiment: str) -> list[str]:
        """Return the folders of predictions made elsewhere on the datasets of an experiment. Raises
        UserError for predictions with the name of a model.
        """
        runs = [self.runs[run] for run in self.plan.experiments[experiment]]
        splits = {
            Path("results/external", run.study, run.dataset.source, run.dataset.name, split)
            for run in runs
            for split in self.evaluated_splits(run.dataset.source)
        }
        folders = sorted(file.parent for split in splits for file in split.glob("*/run.json"))
        if known := [folder for folder in folders if folder.name in self.models]:
            raise UserError(
                f"{known[0]}: these predictions have the name of a model in "
                f"{self.place_of('models', known[0].name)}; remove the folder, and give them "
                "another --name"
            )
        return [str(folder) for folder in folders]

    # ---- Splits

    def splits(self, source: str) -> list[str]:
        """Return the training split of a source, then the splits to measure on. From a test alone
        the study's builder makes the training split.
        """
        return [self.sources[source].get("train", TRAIN), *self.evaluated_splits(source)]

    def evaluated_splits(self, source: str) -> list[str]:
        return self.sources[self.measured_on(source)]["evaluate"]

    def cleaned_splits(self, source: str) -> list[str]:
        entry = self.sources[source]
        learnt = [entry["train"]] if "train" in entry else []
        return entry.get("splits") or learnt + self.evaluated_splits(source)


def cleaned(source: str) -> str:
    """Return the manifest of a source's cleaned tables."""
    return f"results/clean/{source}/manifest.json"


def spans(source: str) -> str:
    """Return the manifest of a source's temporal expressions."""
    return f"results/build/temporal_spans/{source}/manifest.json"


def built(dataset: Dataset) -> str:
    """Return the manifest of a dataset's tables."""
    return f"{dataset.folder}/manifest.json"
