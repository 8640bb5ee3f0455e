"""The figures and tables of figures.yaml that a configuration has, the files that each one reads
and shows, and the texts of the page.

Each figure or table gets only the entries that it uses, with the fields that it shows. A change of
another entry then reruns nothing.
"""

import csv
import io
import json
from functools import cached_property
from pathlib import Path

from scripts.data.files import sha256_of
from scripts.data.papers import files_of, texts_of
from scripts.data.plain_json import as_json
from scripts.data.studies import ALL, SUFFIXES, numbers_of
from scripts.plan.fields import fields_of, has_options
from scripts.plan.models import STAGES, UNTRAINED
from scripts.plan.workplan import Workplan, built, cleaned, spans
from scripts.running.code_lock import identity
from scripts.running.reasons import hash_of

OF_SOURCES = ("title", "evaluate", "splits", "measured_on", "domain", "sample", "predictions")
PRESENCE = ("init", "esim", "control")  # keys of a model of which only the presence is kept
CAPTIONS = Path(".snakemake/timestride/captions")  # a file for each item: Snakemake's report
OF_MODELS = ("title", "init", UNTRAINED, "esim", *STAGES, "control")
# the keys that change numbers
OF_CONFIGURATION = {"name", "run", "seeds", "bootstrap_resamples", "training", "limit", "fine_tune"}


class Published:
    """The figures and tables of a configuration, by name: `items`."""

    def __init__(self, workplan: Workplan):
        self.workplan = workplan
        self.items = {item["name"]: item for item in workplan.figures if self._is_published(item)}

    def _is_published(self, item: dict) -> bool:
        """Return whether the runs of an item's study meet the item's needs. An item about all
        studies needs several studies or models to compare, or a probe.
        """
        work, study, of_all = self.workplan, item["study"], item["study"] == ALL
        if "headline" in item["reads"] and "headline" not in work.studies[study]:
            return False
        if "others" in item["reads"] and not work.released_rows(
            self.workplan.experiments_of(study)
        ):
            return False
        if item.get("show") == "published":
            text = texts_of([study], numbers=self.numbers, root=work.root)["published.csv"]
            if len(list(csv.reader(io.StringIO(text)))) < 2:  # a header alone
                return False
        runs = work.model_runs(study) if item.get("needs_model") else work.measured_runs(study)
        if item.get("needs_people"):
            answered = {
                run
                for name, files in work.people.items()
                if files
                for run in work.plan.experiments[name]
            }
            return any(run.name in answered for run in runs)
        if of_all:
            altered = sum(work.altered.values(), [])
            plain = {
                run
                for name, names in work.plan.experiments.items()
                if name not in altered
                for run in names
            }
            runs = [run for run in runs if run.name in plain]
            studies, models = ({getattr(run, of) for run in runs} for of in ("study", "model"))
            if not work.probed and len(studies) < 2 and len(models) < 2:
                return False
        if option := item.get("needs_several"):
            values = {run.dataset.data.get(option) for run in runs} - {None}
            return len(values) > 1
        return any(has_options(run.dataset.data, item.get("needs", {})) for run in runs)

    @cached_property
    def studies(self) -> list[str]:
        """The studies that have a figure or a table, and `all` for items about all studies."""
        return list(dict.fromkeys(item["study"] for item in self.items.values()))

    def of_study(self, study: str) -> list[str]:
        return [name for name, item in self.items.items() if item["study"] == study]

    def count(self, study: str) -> str:
        return (
            f"{len(self.of_study(study))} figures and tables of {study.replace(ALL, 'all studies')}"
        )

    def other_files(self, study: str) -> list[str]:
        return [file for name in self.of_study(study) for file in self.files(name)[1:]]

    def manifest(self, study: str) -> str:
        return f"{self.workplan.pages}/{study}.manifest.json"

    def in_report(self, name: str) -> dict:
        study = self.items[name]["study"]
        return {
            "caption": str(CAPTIONS.absolute() / f"{name}.rst"),
            "category": "All studies" if study == ALL else self.workplan.studies[study]["title"],
            "labels": {"what": name.replace("_", " ")},
        }

    def files(self, name: str) -> list[str]:
        """Return the files of a figure or table. Snakemake's report shows the first file."""
        kind = self.items[name]["kind"]
        return [f"{self.workplan.pages}/{kind}s/{name}.{suffix}" for suffix in SUFFIXES[kind]]

    def read_by(self, study: str) -> list[str]:
        """Return the files that the items of a study read besides the metrics."""
        files = [self.read_by_item(self.items[name])[0] for name in self.of_study(study)]
        return list(dict.fromkeys(sum(files, [])))

    def read_by_item(self, item: dict) -> tuple[list[str], dict]:
        """Return the files that an item reads besides the metrics, by its `reads` in figures.yaml,
        and the options that name these files for its program.
        """
        work, study = self.workplan, item["study"]
        of_all = study == ALL  # then the name of a run includes its study
        measured = work.measured_runs(study)
        runs = measured if "controls" in item["reads"] else work.model_runs(study)
        sources = sorted({run.dataset.source for run in measured})
        challenges = sorted({work.measured_on(source) for source in sources})
        with_judgements = [name for name in sources if "predictions" in work.sources[name]]
        human = sorted(
            {file for name in self.workplan.experiments_of(study) for file in work.people[name]}
        )
        parts: dict[str, tuple[list[str], dict]] = {
            "runs": (
                work.manifests_of(run.name for run in runs),
                {
                    "train": "results/train" if of_all else f"results/train/{study}",
                    "runs": [f"{run.study}/{run.name}" if of_all else run.name for run in runs],
                },
            ),
            "released": (list(map(work.fetched, with_judgements)), {"fetched": "results/fetch"}),
            "cleaned": (list(map(cleaned, sources)), {"cleaned": "results/clean"}),
            "datasets": (
                sorted({built(run.dataset) for run in measured}),
                {"build": f"results/build/{study}"},
            ),
            "human": (human, {"human": human}),
            "headline": ([], {"headline": work.studies.get(study, {}).get("headline")}),
            "spans": (
                [place(source) for source in challenges for place in (spans, cleaned)],
                {
                    "cleaned": "results/clean",
                    "spans": "results/build/temporal_spans",
                    "challenges": challenges,
                },
            ),
        }
        files: list[str] = []
        options: dict = {}
        for kind, (read, named) in parts.items():
            if kind in item["reads"]:
                files += read
                options |= named
        return files, options

    def studies_shown(self, names, *fields: str) -> dict[str, dict]:
        """Return these fields of these studies, for each method what decides how it asks,
        and the title of the headline. altered: the experiments whose models are altered
        (Workplan.altered).
        """
        work = self.workplan
        found = fields_of(
            work.studies, names, ("title", "headline", "baselines", "probe", "groups", *fields)
        )
        for name, entry in found.items():
            methods = work.studies[name]["methods"]
            entry["methods"] = fields_of(methods, methods, ("learns", "paradigm", "fresh_head"))
            entry["metrics"] = fields_of(
                work.studies[name]["metrics"], [entry.get("headline", "")], ("title",)
            )
            if "altered" in fields and name in work.altered:
                entry["altered"] = work.altered[name]
        return found

    @cached_property
    def left_out(self) -> list[dict]:
        return [vars(one) for one in self.workplan.plan.left_out]

    def shown_by(self, name: str) -> dict[str, str]:
        """Return the texts that an item shows besides its numbers: {file of resources/: text}."""
        work, item = self.workplan, self.items[name]
        study, runs = item["study"], self.workplan.measured_runs(item["study"])
        studies = {run.study for run in runs}
        short = ("short",) if study == ALL else ()  # for headings of the scorecard
        sources = fields_of(work.sources, work.measured_sources(study), [*OF_SOURCES, *short])
        used_models = work.with_base_models({run.model for run in runs})
        models = fields_of(work.models, used_models, OF_MODELS, PRESENCE)
        values: dict[str, object] = {"sources": sources, "models": models}
        if item["kind"] == "table":
            values["figures"] = [{"name": name, "caption": item["caption"]}]
        if item.get("show") in ("verdicts", "published"):
            facts = fields_of(work.studies, [study], ("extensions", "named_options"))[study]
            values["studies"] = {study: facts | {"altered": work.altered.get(study, [])}}
        shown = self.studies_shown(studies, "headline_methods", "extensions", "altered", *short)
        if study == ALL:
            values |= {"studies": shown, "left_out": self.left_out}
        if "headline" in item["reads"]:
            values["studies"] = fields_of(shown, [study], set(shown[study]) - {"title", "metrics"})
        return {f"{file}.yaml": json.dumps(value) for file, value in values.items()}

    def papers_of(self, name: str) -> dict:
        """Return what an item shows of papers: the arguments of scripts.data.papers.texts_of()."""
        work, item = self.workplan, self.items[name]
        study, reads = item["study"], item["reads"]
        sources = {one for name in work.experiments_of(study) for one in work.released[name]}
        numbers = [row for row in self.numbers if study in (row[0], ALL)]
        return ({"numbers": numbers} if numbers else {}) | {
            "published": sorted({run.study for run in work.measured_runs(study)}),
            "claims": [study] if "claims" in reads else [],
            "released": {study: sorted(sources)} if "others" in reads else {},
        }

    def citations_of(self, study: str) -> str:
        """Return the title and the citation of each measured source of a study without a paper."""
        sources = sorted({run.dataset.source for run in self.workplan.measured_runs(study)})
        entries = [self.workplan.sources[name] for name in sources]
        return "; ".join(f"{entry['title']}: {entry['citation']}" for entry in entries)

    @cached_property
    def numbers(self) -> list[list[str]]:
        """The numbers that others print of the sources that are measured."""
        work = self.workplan
        sources = fields_of(
            work.sources, work.measured_sources("all"), ("kind", "citation", "published")
        )
        return numbers_of(sources, fields_of(work.studies, work.studies, ("reads", "headline")))

    def digest_of_papers(self, study: str) -> str:
        """Return a hash of all that the items of a study show of papers."""
        names = self.of_study(study)
        texts = [texts_of(**self.papers_of(name), root=self.workplan.root) for name in names]
        return hash_of(texts, {name: said for of in texts for name, said in files_of(of).items()})

    def lines_of(self, study: str) -> str:
        """Return the items of a study, a line of JSON each, as scripts/publish/items.py reads
        them.
        """
        return "\n".join(
            as_json(
                {
                    "name": name,
                    "program": self.items[name]["program"],
                    "kind": self.items[name]["kind"],
                    "reads": self.read_by_item(self.items[name])[1],
                    "texts": self.shown_by(name),
                    "papers": self.papers_of(name),
                }
            )
            for name in self.of_study(study)
        )

    def programs_of(self, study: str) -> list[str]:
        return list(dict.fromkeys(self.items[name]["program"] for name in self.of_study(study)))

    # ---- The page

    @cached_property
    def page_texts(self) -> dict[str, str]:
        """The texts that the page shows besides its numbers: {path as in the project: text}."""
        work = self.workplan
        sources = fields_of(
            work.sources,
            work.fetched_sources,
            (*OF_SOURCES, "short", "licence", "citation", "homepage"),
        )
        for source, entry in sources.items():
            # the page names the files, not their URLs
            entry["downloads"] = [
                {"file": file, "sha256": digest}
                for file, digest in work.fetched_hashes(source).items()
            ]
        models = fields_of(
            work.models,
            work.with_base_models(work.used_models),
            (*OF_MODELS, "licence", "hub", "revision", "folder"),
            PRESENCE,
        )
        studies = self.studies_shown(
            work.used_studies, "short", "counted", "paper", "asks", "chance", "extensions"
        )
        for name, entry in studies.items():
            entry.setdefault("paper", self.citations_of(name))
        shown = ("name", "title", "study", "program", "kind", "heads", "show", "caption")
        items = [{key: item[key] for key in shown if key in item} for item in self.items.values()]
        resources = {
            "sources": sources,
            "models": models,
            "studies": studies,
            "figures": items,
            "left_out": self.left_out,
            "numbers": self.numbers,
        }
        return {
            **{f"resources/{name}.yaml": json.dumps(value) for name, value in resources.items()},
            **{
                path: (work.root / path).read_text(encoding="utf-8")
                for path in ("report/workflow.rst", "report/all.rst")
            },
        }

    @cached_property
    def page_papers(self) -> str:
        """A hash of the published numbers that the page shows."""
        work = self.workplan
        texts = texts_of(work.used_studies, numbers=self.numbers, root=work.root)
        return hash_of(texts, files_of(texts))

    @cached_property
    def page_configuration(self) -> dict:
        """The settings that change the numbers, without where and how fast the numbers are
        computed.
        """
        work = self.workplan
        return (
            work.config.model_dump(include=OF_CONFIGURATION)
            | {"model": work.probed}
            | {
                "experiments": {
                    name: work.config.experiments[name].model_dump(exclude_unset=True)
                    for name in (*work.config.run, *sorted(work.plan.initials))
                }
            }
        )

    @cached_property
    def page_provenance(self) -> dict:
        """The rule and the code that made each figure or table."""
        return {
            name: {"rule": f"publish_{item['study']}", "code": identity(item["program"])}
            for name, item in self.items.items()
        }

    @cached_property
    def page_templates(self) -> dict[str, str]:
        folder = self.workplan.root / "scripts/publish/templates"
        return {file.name: sha256_of(file) for file in folder.iterdir() if file.is_file()}

    @cached_property
    def leaderboard(self) -> dict:
        """The models and metrics for leaderboards, and the number of examples before a
        prompt, by `<experiment>:<model>:<method>`.
        """
        work = self.workplan
        runs = {name: [work.runs[run] for run in of] for name, of in work.plan.experiments.items()}
        return {
            "models": fields_of(work.models, work.ranked_models, ("hub", "revision")),
            "metrics": {
                study: fields_of(metrics, metrics, ("better", "unit"))
                for study in work.used_studies
                if (metrics := work.studies[study]["metrics"])
            },
            "shots": {
                f"{experiment}:{run.model}:{run.method}": shots
                for experiment, of in runs.items()
                for run in of
                if (shots := run.training.get("shots"))
            },
        }

    @cached_property
    def method_titles(self) -> str:
        """The titles of methods, which programs read themselves (scripts/data/declared.py)."""
        studies = self.workplan.studies
        methods = {name: entry["methods"] for name, entry in studies.items()}
        return as_json({name: fields_of(of, of, ("title",)) for name, of in methods.items()})

    def recorded(self) -> dict:
        """Return the manifests of all items, and the titles of those that a record may keep, by
        kind. Items that show texts of a corpus are left out.
        """
        return {"published": [self.manifest(study) for study in self.studies]} | {
            f"{kind}s": {
                name: item["title"]
                for name, item in self.items.items()
                if item["kind"] == kind and item.get("show") != "cards"
            }
            for kind in SUFFIXES
        }
