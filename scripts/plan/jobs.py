"""The job of each rule: one function for each rule, which takes the rule's wildcards.

Snakemake compares `options`, `watched`, `files` and the identity of the code. If one of them
changes, the job runs again. Snakemake does not compare `places`: paths, and values that do not
change a result.
"""

import json
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from scripts.data.files import sha256_of
from scripts.data.labels import labels_of
from scripts.data.plain_json import as_json
from scripts.data.studies import ALL
from scripts.plan.grid import Dataset, unmet
from scripts.plan.models import ASKED, ECHO, ECHOED, MADE_MODEL, paradigm_of_control, stage_of
from scripts.plan.plan import Run
from scripts.plan.probe import ANSWER, LIKELIHOOD, WORDED, does_fit
from scripts.plan.prompts import prompts_of
from scripts.plan.published import Published
from scripts.plan.user_entries import STANDS_ON
from scripts.plan.workplan import Workplan, built, cleaned, spans
from scripts.running.identity import identity
from scripts.running.job_files import argument_file, fields_of, hand_over, hand_over_json

# The settings that change what a training step computes. Runs that differ in one of them are
# rehearsed separately.
STEP_SETTINGS = (
    "batch_size",
    "max_length",
    "precision",
    "adapter",
    "rank",
    "target",
    "gradient_checkpointing",
    "compile",
    "dropout",
    "objectives",
    "shots",
)
# keys of a method that change no number
NOT_OF_TRAINING = ("fits", "probe", "objectives", "only_where")


@dataclass(frozen=True)
class Job:
    """The program of a job and its options. An option becomes `--key=value`. A list follows its
    key, a mapping becomes JSON, True becomes a flag, and the key "" makes positional arguments.
    """

    program: str
    options: dict = field(default_factory=dict)
    places: dict = field(default_factory=dict)
    watched: dict = field(default_factory=dict)
    files: tuple[str, ...] = ()  # the files that the manifest of the output lists
    code: tuple[str, ...] | None = None  # the code whose identity is compared; None: the program
    names_code: bool = False  # whether the identity names the programs, for a dry run's reason

    def decides(self) -> str:
        """Return the values that Snakemake compares, as JSON."""
        given = {key: value for key, value in self.options.items() if as_arguments({key: value})}
        return as_json({"options": given, "watched": self.watched, "files": self.files})

    def identity(self) -> str:
        entries = (self.program,) if self.code is None else self.code
        if self.names_code:
            return " ".join(f"{entry}@{identity(entry)}" for entry in entries)
        return identity(*entries) if entries else ""

    def arguments(self, inputs: Iterable[str] = ()) -> str:
        """Return the file of the arguments (@FILE). inputs: the rule's input files; the program
        checks that they have not changed since an earlier stage wrote them.
        """
        given = as_arguments(self.options | self.places)
        if self.files:
            given += [f"--manifest={self.places['output']}/manifest.json", "--listed", *self.files]
        read = sorted({file for file in inputs if file.startswith("results/")})
        return argument_file([*given, *(f"--verify={file}" for file in read)])


def as_arguments(options: dict) -> list[str]:
    """Return options as command-line arguments, as in Job; None and False are left out."""
    found = []
    for key, value in options.items():
        if isinstance(value, list | tuple):
            found += [f"--{key}"] if key else []
            found += [as_json(one) if isinstance(one, dict) else str(one) for one in value]
        elif value is True:
            found.append(f"--{key}")
        elif value is not None and value is not False:
            found.append(f"--{key}={as_json(value) if isinstance(value, dict) else value}")
    return found


def several(jobs: list[Job], folder: str, files: list[str], manifest: str) -> Job:
    """Return one job that runs these jobs in one process and writes the manifest of their files in
    a folder.
    """
    codes = dict.fromkeys(code for job in jobs for code in job.code or (job.program,))
    return Job(
        "scripts.running.several",
        options={"": [as_json(job.options) for job in jobs]},
        places={
            "": [f"{job.program}@{job.arguments()}" for job in jobs],
            "folder": folder,
            "files": files,
            "output": manifest,
        },
        watched={"watched": [job.watched for job in jobs]},
        code=tuple(codes),
    )


class Jobs:
    """The jobs of a configuration. A method with the name of a rule takes the rule's wildcards and
    returns a Job.
    """

    def __init__(self, workplan: Workplan, published: Published):
        self.work, self.published = workplan, published
        self.prompts_by_wording = cache(
            lambda study, method: prompts_of(
                study, workplan.studies[study], method, configured=workplan.config["prompts"]
            )
        )

    # ---- Fetch

    def fetch_source(self, source: str) -> Job:
        """Only the hashes of the files are compared: a new URL, licence or downloader does not
        fetch again.
        """
        work = self.work
        listing = f"{work.root}/resources/sources.yaml"
        if source in work.config["sources"]:
            listing = hand_over_json("sources.yaml", {source: work.sources[source]})
        return Job(
            "scripts.fetch.source",
            places={
                "source": source,
                "sources": listing,
                "place": work.place_of("sources", source),
                "mirror": None if "sample" in work.sources[source] else work.mirror,
                "output": f"results/fetch/{source}",
            },
            watched={"hashes": work.fetched_hashes(source)},
            files=tuple(work.fetched_names(source)),
            code=(),
        )

    def fetch_model(self, model: str) -> Job:
        """The compared values are the entry without licence and title, and the hashes of its
        vocabulary and vectors.
        """
        work, entry, folder = self.work, self.work.models[model], f"results/fetch/models/{model}"
        watched = {key: value for key, value in entry.items() if key not in ("licence", "title")}
        if "vocabulary" in entry:
            watched["vocabulary"] = sha256_of(work.root / entry["vocabulary"])
        if entry.get("vectors", {}).get("sha256"):  # the URL does not matter
            watched["vectors"] = {key: entry["vectors"][key] for key in ("file", "sha256")}
        absolute = {
            key: str(work.root / os.path.expanduser(entry[key]))
            for key in ("vocabulary", "folder")
            if key in entry
        }
        return Job(
            "scripts.fetch.model",
            places={
                "model": model,
                "models": hand_over_json("models.yaml", {model: entry | absolute}),
                "place": work.place_of("models", model),
                "mirror": work.mirror,
                "output": folder,
                "manifest": f"{folder}/manifest.json",
            },
            watched=watched,
            code=None if {"init", "esim"} & set(entry) else (),
        )

    # ---- Clean and build

    def clean_corpus(self, source: str) -> Job:
        """The tables carry the source's terms and the hashes of its files. `expect` is what the
        cleaner must find.
        """
        entry = self.work.sources[source]
        provenance = {
            key: entry[key] for key in ("licence", "citation", "sample") if key in entry
        } | {"sha256": self.work.fetched_hashes(source)}
        return Job(
            f"scripts.clean.{entry.get('cleaner', source)}",
            options={
                "provenance": provenance,
                "expect": entry.get("expect"),
                "keep-rolling-repeats": entry.get("keep_rolling_repeats"),
            },
            places={
                "source": source,
                "fetched": Path(self.work.fetched(source)).parent,
                "output": f"results/clean/{source}",
            },
            files=tuple(self.work.cleaned_names(source)),
        )

    def dataset_of(self, study: str, source: str, dataset: str) -> Dataset:
        return self.work.datasets[f"results/build/{study}/{source}/{dataset}"]

    def read_by_dataset(self, study: str, source: str, dataset: str) -> list[str]:
        """Return the cleaned tables of a dataset's sources. If the study uses temporal expressions,
        return their files too.
        """
        beside = self.work.beside(self.dataset_of(study, source, dataset))
        sources = dict.fromkeys([source, *beside.values()])
        places = (cleaned, spans) if self.work.studies[study].get("spans") else (cleaned,)
        return [place(one) for place in places for one in sources]

    def build_dataset(self, study: str, source: str, dataset: str) -> Job:
        work, found = self.work, self.dataset_of(study, source, dataset)
        beside = {
            name: {
                "cleaned": f"results/clean/{other}",
                "spans": f"results/build/temporal_spans/{other}",
                "train": work.sources[other].get("train"),
                "evaluate": work.sources[other]["evaluate"],
            }
            for name, other in work.beside(found).items()
        }
        splits = (
            work.splits(source)
            if work.measured_on(source) == source
            else [work.sources[source]["train"], work.studies[study]["held_out"]]
        )
        return Job(
            f"scripts.studies.{study}.build",
            options={"splits": splits, "options": found.options, "beside": beside or None},
            places={
                "cleaned": f"results/clean/{source}",
                "spans": f"results/build/temporal_spans/{source}"
                if work.studies[study].get("spans")
                else None,
                "output": found.folder,
            },
            files=tuple(work.dataset_names(found)),
        )

    def build_temporal_spans(self, source: str) -> Job:
        splits = self.work.cleaned_splits(source)
        return Job(
            "scripts.text.temporal_spans",
            options={"splits": splits, "spacy-model": self.work.config["spacy_pipeline"] or None},
            places={
                "cleaned": f"results/clean/{source}",
                "output": f"results/build/temporal_spans/{source}",
            },
            watched={"patterns": sha256_of(self.work.root / "resources/temporal_patterns.yaml")},
            files=tuple(f"{split}.parquet" for split in splits),
        )

    # ---- Train

    def paradigm_of(self, run: Run) -> str:
        """Return the module of scripts/train/paradigms/ by which a run learns and scores."""
        paradigm = self.work.studies[run.study]["methods"][run.method].get("paradigm", "classify")
        if json.loads(run.settings)["training"].get("objectives"):
            return "objectives"
        if paradigm == LIKELIHOOD and "api" in self.work.models[run.model]:
            return ECHO
        return (
            "esim" if paradigm == "classify" and "esim" in self.work.models[run.model] else paradigm
        )

    def method_of(self, run: Run) -> dict:
        """Return the facts about a run's study and method that the training loop needs."""
        study, options = self.work.studies[run.study], json.loads(run.dataset.options)
        labels = labels_of(run.study, study["labels"], options)
        if run.method == "control":
            how = study["methods"]["control"]
            exchangeable = study.get("exchangeable", False) and not options.get("predict")
            # The study's `teaches` is about the study's own labels only.
            taught = "teaches" in how and labels == study["labels"]
            return {
                "columns": study["columns"],
                "labels": labels,
                "inputs": how["inputs"],
                **({"teaches": how["teaches"]} if taught else {}),
                "exchangeable": exchangeable,
                **({"whole_groups": True} if how.get("whole_groups") else {}),
            }
        known = {key: study.get(key) for key in ("columns", "merged_labels", "held_out", "peak")}
        known |= {"labels": labels, "makes_model": False} | study["methods"][run.method]
        known["paradigm"] = self.paradigm_of(run)
        if run.wording:
            known["prompt"] = self.prompts_under(options, run.study, run.method)[run.wording]
        return {key: value for key, value in known.items() if key not in NOT_OF_TRAINING}

    def prompts_under(self, options: dict, study: str, method: str) -> dict[str, dict]:
        """Return the prompts by wording. A limit also cuts the training split that chooses a
        threshold.
        """
        prompts = self.prompts_by_wording(study, method)
        if not (limit := options.get("limit")):
            return prompts
        return {
            wording: prompt | ({"threshold": str(limit)} if prompt.get("threshold") else {})
            for wording, prompt in prompts.items()
        }

    def card_of(self, run: Run) -> dict:
        """Return the facts about the model and the data for the card of kept weights."""
        work, model = self.work, self.work.models[run.model]
        base = work.models[made[1]["model"]] if (made := stage_of(model)) else model
        names = run.dataset.source, work.measured_on(run.dataset.source)
        sources = fields_of(work.sources, names, ("title", "licence", "citation"))
        known = base | model
        keys = [key for key in ("title", "licence", "hub", "revision") if known.get(key)]
        return {key: known[key] for key in keys} | {"sources": sources}

    def how_to_train(self) -> dict:
        """Return where and how training runs. These values do not change what a model learns."""
        config = self.work.config
        return {
            "device": config["device"],
            "devices": config["devices_per_run"],
            "runs-per-gpu": config["runs_per_gpu"],
            "micro-batch-tokens": config["micro_batch_tokens"],
            "not-deterministic": not config["deterministic"],
        }

    def run_options(self, run: Run) -> dict:
        return {
            "settings": run.settings,
            "method": self.method_of(run),
            "splits": self.work.splits(run.dataset.source),
            "data": run.dataset.folder,
        }

    def train_run(self, study: str, run: str) -> Job:
        work, config, found = self.work, self.work.config, self.work.runs[run]
        # The names of the files of weights that another run trained. A fetched model's manifest
        # lists its files.
        names = [Path(file).name for file in MADE_MODEL] if found.begins_with else []
        if self.paradigm_of(found) in (ANSWER, ECHO):
            return self.ask(found)
        return Job(
            "scripts.train.run",
            options=self.run_options(found),
            places={
                "run": run,
                "model": work.start_folder(found),
                "model-files": names,
                "checkpoint-seconds": config["checkpoint_seconds"],
                "report-to": config["report_to"],
                "tokens": "results/train/tokens",
                "output": work.run_folder(run),
                "hands-on": run in work.starts,
                "merge-adapter": config["merge_adapter"],
                **self.how_to_train(),
                **(
                    {"keep": config["keep"], "card": self.card_of(found)}
                    if config["keep"] != "none"
                    else {}
                ),
            },
            watched={"keep": config["keep"]},
            code=(
                "scripts.train.run",
                "scripts.train.process",
                f"scripts.train.paradigms.{self.paradigm_of(found)}",
            ),
        )

    def ask(self, run: Run) -> Job:
        """Return the job of a run that asks a model in words, or by likelihood through an API."""
        work, entry, how = self.work, self.work.models[run.model], self.how_to_train()
        echoes = self.paradigm_of(run) == ECHO
        keys = ("api", "name", "request", *(["start_token"] if echoes else []))
        api = {key: entry[key] for key in keys if key in entry}
        return Job(
            "scripts.train.asking.ask",
            options=self.run_options(run) | {"api": api or None},
            places={
                "run": run.name,
                "model": None if api else work.start_folder(run),
                "key": entry.get("key"),
                "output": work.run_folder(run.name),
                **{key: how[key] for key in ("device", "runs-per-gpu")},
            },
            code=("scripts.train.asking.ask", *(ECHOED if echoes else ASKED)),
        )

    def runs_of(self, study: str, batch: str) -> list[Run]:
        return [self.work.runs[name] for name in self.work.batches[f"{study}/{batch}"]]

    def read_by_batch(self, study: str, batch: str) -> list[str]:
        runs = self.runs_of(study, batch)
        files = [built(run.dataset) for run in runs]
        for run in runs:
            if run.name in self.work.recorded:
                files.append(built(self.work.on_record(run).dataset))
            elif run.name in self.work.controls:
                files += self.work.vectors_files(run.model)
            else:
                files += self.work.start_files(run)
        return list(dict.fromkeys(files))

    def train_batch(self, study: str, batch: str) -> Job:
        """Return the job of runs that share a process. It measures controls by dataset."""
        runs = self.runs_of(study, batch)
        by_dataset: dict[Dataset, list[Run]] = {}
        for run in runs:
            if run.name in self.work.controls:
                by_dataset.setdefault(run.dataset, []).append(run)
        # ordered by method and name, so that a model is loaded once for its method and settings
        asked = sorted(runs, key=lambda run: (run.method, run.name))
        if runs[0].name in self.work.recorded:
            jobs = [self.take_from_record(runs)]
        else:
            jobs = [self.measure_controls(of) for of in by_dataset.values()] or [
                self.train_run(study, run.name) for run in asked
            ]
        outputs = [
            f"{run.name}/{name}"
            for run in runs
            for name in ("predictions.parquet", "history.parquet", "run.json")
            if run.name not in self.work.makers or name != "predictions.parquet"
        ]
        folder = f"results/train/{study}"
        return several(jobs, folder, outputs, f"{folder}/{batch}.manifest.json")

    def take_from_record(self, runs: list[Run]) -> Job:
        study, asked = runs[0].study, []
        for run in runs:
            kept = self.work.on_record(run)
            asked.append({"run": kept.name} | self.run_options(kept))
            if kept.name != run.name:
                cut = {"run": run.name, "settings": run.settings, "data": run.dataset.folder}
                asked[-1] |= {"cut": cut}
        return Job(
            "scripts.train.recorded",
            options={"runs": asked},
            places={"record": self.work.record_of(study), "folder": f"results/train/{study}"},
            watched={"record": sha256_of(self.work.record_of(study) / "scores.parquet")},
        )

    def message(self, study: str, runs: list[str]) -> str:
        """Return the message of the job of some runs. If all runs were finished before, the job
        only compares data, model and code.
        """
        work, first = self.work, self.work.runs[runs[0]]
        if first.name in work.recorded:
            return f"Taking {len(runs)} run{'s' * (len(runs) > 1)} of {study} from the record"
        if first.name in work.controls:
            return f"Measuring the controls of {study}"
        finished = "work/finished.json"
        left = [run for run in runs if not Path(work.run_folder(run), finished).exists()]
        learns = any(
            work.studies[study]["methods"][work.runs[run].method]["learns"] for run in left
        )
        done = "Already trained, if data and code are the same:"
        state = ("Training" if learns else "Asking") if left else done
        if len(runs) == 1:
            return f"{state} {first.name}"
        count = len(left) or len(runs)
        models = ", ".join(dict.fromkeys(work.runs[run].model for run in left or runs))
        return f"{state} {models}, {count} run{'s' * (count > 1)} of {study}"

    def vectors_of(self, control: str) -> dict[str, str]:
        """`vectors`: the file of word vectors that a control reads; empty for other controls."""
        if not (name := self.work.models[control].get("vectors_of")):
            return {}
        file = self.work.models[name]["vectors"]["file"]
        return {"vectors": f"results/fetch/models/{name}/{file}"}

    def measure_controls(self, runs: list[Run]) -> Job:
        work, first = self.work, runs[0]
        study = first.study
        shared = self.run_options(first)
        del shared["settings"]  # each control has its own
        controls_given = [
            {
                "run": run.name,
                "settings": json.loads(run.settings),
                "rung": work.models[run.model].get("rung", "words"),
                "control": work.models[run.model]["control"],
                **self.vectors_of(run.model),
            }
            for run in runs
        ]
        searched = [f"scripts.studies.{study}.controls.VIEWS"] * any(
            "search" in one["control"] for one in controls_given
        )
        return Job(
            "scripts.train.control",
            code=("scripts.train.control", *searched),
            options=shared | {"controls": controls_given},
            places={"folder": f"results/train/{study}"},
        )

    # ---- Rehearse

    def rehearsed_runs(self) -> list[dict]:
        """Return one run of each kind of step (model, method, batch), with the experiments of all
        runs of this kind.
        """
        work = self.work
        kinds: dict[str, dict] = {}
        for run in work.runs.values():
            if run.name in work.controls or self.paradigm_of(run) in (ANSWER, ECHO):
                continue  # a control is fast; a run that asks has no training step
            settings, method = json.loads(run.settings), self.method_of(run)
            key = as_json(
                [
                    run.study,
                    run.model,
                    method["paradigm"],
                    method["learns"],
                    {name: settings["training"].get(name) for name in STEP_SETTINGS},
                ]
            )
            kind = kinds.setdefault(
                key,
                {
                    "run": run.name,
                    "experiments": [],
                    "model": run.model,
                    "settings": settings,
                    "method": method,
                    "splits": work.splits(run.dataset.source),
                },
            )
            named = [name for name, runs in work.plan.experiments.items() if run.name in runs]
            experiments = kind["experiments"] + (named or [f"stage of {run.model}"])
            kind["experiments"] = list(dict.fromkeys(experiments))
        return list(kinds.values())

    def fetched_models(self) -> dict[str, dict]:
        """Return the entries of the models that are fetched, and of the models that they are built
        on.
        """
        models, names = self.work.models, self.work.with_base_models(self.work.used_models)
        for key in STANDS_ON["models"]:
            names |= {models[name][key] for name in names if key in models[name]}
        return {
            name: models[name]
            for name in sorted(names)
            if not {"control", "api"} & set(models[name])
        }

    def rehearse_files(self) -> Job:
        work = self.work
        sources = {
            name: work.sources[name]
            for name in work.fetched_sources
            if "downloads" in work.sources[name]
        }
        study = {
            "models": self.fetched_models(),
            "sources": sources,
            "fetched": [name for name in sources if Path(work.fetched(name)).exists()],
        }
        return Job(
            "scripts.fetch.reachable",
            places={
                "study": hand_over_json("files.json", study),
                "mirror": work.mirror,
                "output": f"results/rehearse/{work.name}.json",
            },
            code=(),
        )

    def rehearse(self, threads: int) -> Job:
        study = {
            "jobs": self.rehearsed_runs(),
            "models": self.fetched_models(),
            "scored": 128,
            "options": as_arguments(self.how_to_train() | {"threads": threads}),
            "vocabulary": str(self.work.root / "resources/sample_vocabulary.txt"),
        }
        return Job(
            "scripts.train.rehearse",
            places={
                "study": hand_over_json("rehearsal.json", study),
                "files": f"results/rehearse/{self.work.name}.json",
                "folder": f"results/rehearse/{self.work.name}",
            },
            code=(),
        )

    # ---- Evaluate

    def released(self, experiment: str) -> list[str]:
        """Return the files that represent the judgements that the paper's authors, or others,
        released.
        """
        work = self.work
        sources = {work.runs[run].dataset.source for run in work.plan.experiments[experiment]}
        return [
            work.fetched(source)
            for source in [*sorted(sources), *work.released[experiment]]
            if "predictions" in work.sources[source] or source in work.released[experiment]
        ]

    def read_by_evaluation(self, experiment: str) -> list[str]:
        work = self.work
        runs = [work.runs[run] for run in work.plan.experiments[experiment]]
        return [
            *work.outputs_of_runs(run.name for run in runs),
            *sorted({built(run.dataset) for run in runs}),
            *self.released(experiment),
            *(
                f"{folder}/{name}"
                for folder in work.external_systems(experiment)
                for name in ("predictions.parquet", "run.json")
            ),
        ]

    def evaluate_experiment(self, study: str, experiment: str) -> Job:
        work, people = self.work, self.work.people[experiment]
        fields = ("evaluate", "measured_on", "domain", "sample", "predictions")
        sources = fields_of(work.sources, work.measured_sources(study), fields)
        others = [
            f"{dataset.source}/{dataset.name}"
            for dataset in work.plan.datasets.values()
            if dataset.study == study
        ]
        released = work.released_rows([experiment])
        models = sorted({work.runs[run].model for run in work.plan.experiments[experiment]})
        pretrained = {model: work.models[model].get("without_pretraining") for model in models}
        return Job(
            f"scripts.studies.{study}.evaluate",
            options={
                "resamples": work.config["bootstrap_resamples"],
                "without-pretraining": [f"{one}={base}" for one, base in pretrained.items() if base]
                or None,
            },
            watched={"sources": sources} | ({"released": released} if released else {}),
            places={
                "experiment": experiment,
                "runs": work.plan.experiments[experiment],
                "trained": f"results/train/{study}",
                "build": f"results/build/{study}",
                "fetched": "results/fetch" if self.released(experiment) else None,
                "released": f"{hand_over({'released.csv': released})}/released.csv"
                if released
                else None,
                "external": work.external_systems(experiment) or None,
                "people": people or None,
                "others": others if people else None,
                "sources": hand_over_json("sources.yaml", sources),
                "output": f"{work.evaluated}/{study}/{experiment}.parquet",
            },
        )

    def metrics_of_experiments(self, study: str) -> list[str]:
        return [
            f"{self.work.evaluated}/{study}/{name}.parquet"
            for name in self.published.experiments_of(study)
        ]

    def evaluate_study(self, study: str) -> Job:
        return Job(
            "scripts.measure.collect",
            places={"": self.metrics_of_experiments(study), "output": self.metrics_of(study)},
        )

    def evaluate_metrics(self) -> Job:
        studies = [self.metrics_of(study) for study in self.work.used_studies]
        return Job("scripts.measure.collect", places={"": studies, "output": self.metrics})

    # ---- Publish

    @property
    def metrics(self) -> str:
        return f"{self.work.evaluated}/metrics.parquet"

    def metrics_of(self, study: str) -> str:
        return self.metrics if study == ALL else f"{self.work.evaluated}/{study}.parquet"

    def publish_item(self, item: str) -> Job:
        found, shown = self.published.items[item], self.published.shown_by(item)
        resources = hand_over(shown)
        return Job(
            found["program"],
            watched={"shown": shown, "reads": found["reads"]},
            places={
                "metrics": self.metrics_of(found["study"]),
                "sources": f"{resources}/sources.yaml",
                "models": f"{resources}/models.yaml",
                **self.published.read_by_item(found)[1],
                "output": f"{self.work.pages}/{found['kind']}s/{item}",
            },
        )

    def publish_study(self, study: str) -> Job:
        names, pages = self.published.of_study(study), self.work.pages
        jobs = [self.publish_item(name) for name in names]
        files = [file for name in names for file in self.published.files(name)]
        relative = [file.removeprefix(f"{pages}/") for file in files]
        job = several(jobs, pages, relative, self.published.manifest(study))
        return replace(job, names_code=True)

    def publish_leaderboard(self) -> Job:
        return Job(
            "scripts.publish.leaderboard",
            options={"facts": self.published.leaderboard},
            places={"metrics": self.metrics, "output": f"{self.work.pages}/leaderboard"},
        )

    def publish_page(self) -> Job:
        work, published = self.work, self.published
        return Job(
            "scripts.publish.site",
            options={
                "configuration": published.page_configuration,
                "provenance": published.page_provenance,
            },
            watched={"template": published.page_templates, "texts": published.page_texts},
            places={
                "metrics": self.metrics,
                "resources": f"{hand_over(published.page_texts)}/resources",
                "cleaning": [
                    f"results/clean/{source}/cleaning.csv" for source in work.used_sources
                ],
                "runs": [work.run_facts(run) for run in work.runs],
                "publish": work.pages,
                "output": f"{work.pages}/index.html",
            },
        )

    def harness(self) -> Job:
        """Return the job for the measured datasets and the methods that ask a decoder by likelihood
        or in words.
        """
        work = self.work
        datasets = [
            {
                "study": found.study,
                "source": found.source,
                "name": found.name,
                "folder": found.folder,
                "splits": work.splits(found.source),
                "columns": work.studies[found.study]["columns"],
                "methods": {
                    method: {
                        "inputs": how["inputs"],
                        "prompts": self.prompts_under(
                            json.loads(found.options), found.study, method
                        ),
                    }
                    for method, how in work.studies[found.study]["methods"].items()
                    if how.get("paradigm") in WORDED
                    and does_fit(how, {"decoder"})
                    and not any(unmet(how, json.loads(found.options)))
                },
            }
            for found in work.measured_datasets
        ]
        return Job(
            "scripts.publish.harness_tasks",
            places={
                "study": hand_over_json("datasets.json", datasets),
                "output": f"results/harness/{work.name}",
            },
            code=(),
        )

    def record(self, given) -> Job:
        """given: Snakemake's settings of the configuration, from the command line."""
        work, root = self.work, self.work.root
        files = [
            os.path.relpath(file, root)
            if Path(file).resolve().is_relative_to(root)
            else Path(file).name
            for file in given.configfiles or []
        ]
        values = [
            f"{key}={value if isinstance(value, str) else json.dumps(value)}"
            for key, value in (given.config or {}).items()
            if not (key == "recorded" and str(value).lower() == "true")  # changes no result
        ]
        command = "snakemake --cores all".split()
        command += ["--configfile", *files] if files else []
        command += ["--config", *values] if values else []
        runs = [
            {
                "run": run.name,
                "study": run.study,
                "paradigm": paradigm_of_control(work.models[run.model]["control"], run.study)
                if run.name in work.controls
                else self.paradigm_of(run),
                "programs": [
                    f"build/{run.study}",
                    *(
                        f"clean/{work.sources[source].get('cleaner', source)}"
                        for source in dict.fromkeys(work.sources_of(run.dataset))
                    ),
                ],
                "sums_scores": work.studies[run.study].get("sums_scores", False),
                **self.run_options(run),
            }
            for run in work.runs.values()
        ]
        study = self.published.recorded() | {
            "name": work.name,
            "command": shlex.join(command),
            "metrics": self.metrics,
            "publish": work.pages,
            "train": "results/train",
            "runs": runs,
        }
        return Job(
            "scripts.publish.record",
            places={"study": hand_over_json("recorded_study.json", study), "output": "docs/record"},
            code=(),
        )
