"""The figures and tables of figures.yaml that a configuration has, the files that each one reads,
and the entries of resources/ that the items of a study and the page show.

A change of an entry that a study uses draws that study's items again, which takes seconds.
"""

import csv
import io
import json
from functools import cached_property
from pathlib import Path

from scripts.data.files import sha256_of
from scripts.data.papers import files_of, texts_of
from scripts.data.plain_json import hashes_of
from scripts.data.studies import ALL, SUFFIXES, numbers_of, suffixes_of
from scripts.plan.fields import fields_of, has_options
from scripts.plan.workplan import Workplan, built, cleaned, spans
from scripts.running.code_lock import identity

CAPTIONS = Path(".snakemake/timestride/captions")  # a file for each item: Snakemake's report
# the keys that change numbers
OF_CONFIGURATION = {"name", "run", "seeds", "bootstrap_resamples", "training", "limit", "fine_tune"}


def as_files(entries: dict[str, object]) -> dict[str, str]:
    """Return entries by name as the texts of files of resources/."""
    return {f"{name}.yaml": json.dumps(value) for name, value in entries.items()}


class Published:
    """The figures and tables of a configuration, by name: `items`."""

    def __init__(self, workplan: Workplan):
        self.workplan = workplan
        self.items = {item["name"]: item for item in workplan.figures if self._is_published(item)}

    def _is_published(self, item: dict) -> bool:
        """Return whether the runs of an item's study meet the item's needs. An item about all
        studies needs several studies or models to compare, or a probe, unless it is made for a
        paper's column.
        """
        work, study, of_all = self.workplan, item["study"], item["study"] == ALL
        if "headline" in item["reads"] and "headline" not in work.studies[study]:
            return False
        if "others" in item["reads"] and not work.released_rows(work.experiments_of(study)):
            return False
        if item.get("show") == "published":
            text = texts_of([study], numbers=self.numbers, root=work.root)["published.csv"]
            if len(list(csv.reader(io.StringIO(text)))) < 2:  # a header alone
                return False
        runs = work.model_runs(study) if item.get("needs_model") else work.measured_runs(study)
        if item.get("needs_people"):
            asked = [work.plan.experiments[name] for name, files in work.people.items() if files]
            return any(run.name in names for run in runs for names in asked)
        if of_all:
            altered = sum(work.altered.values(), [])
            experiments = work.plan.experiments.items()
            plain = {run for name, names in experiments if name not in altered for run in names}
            runs = [run for run in runs if run.name in plain]
            studies, models = ({getattr(run, of) for run in runs} for of in ("study", "model"))
            compares = work.probed or len(studies) > 1 or len(models) > 1
            if not compares and not item["name"].endswith("_column"):
                return False
        if option := item.get("needs_several"):
            values = {run.dataset.data.get(option) for run in runs} - {None}
            return len(values) > 1
        return any(has_options(run.dataset.data, item.get("needs", {})) for run in runs)

    @cached_property
    def studies(self) -> list[str]:
        """The studies that have a figure or a table, and `all` for items about all studies."""
        return list(dict.fromkeys(item["study"] for item in self.items.values()))

    def items_of(self, study: str) -> list[dict]:
        return [item for item in self.items.values() if item["study"] == study]

    def of_study(self, study: str) -> list[str]:
        return [item["name"] for item in self.items_of(study)]

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
        item = self.items[name]
        base = f"{self.workplan.pages}/{item['kind']}s/{name}"
        return [f"{base}.{suffix}" for suffix in suffixes_of(item)]

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

    def source_shown(self, name: str) -> dict:
        """Return the entry of a source with the files and hashes of its downloads, and without
        where they come from.
        """
        hashes = self.workplan.fetched_hashes(name)
        downloads = [{"file": file, "sha256": digest} for file, digest in hashes.items()]
        entry = self.workplan.sources[name] | {"downloads": downloads}
        return {key: value for key, value in entry.items() if key != "local"}

    def entries_shown(self, study: str) -> dict[str, object]:
        """Return the entries of resources/ that the items of a study, or of all studies, show, by
        file. altered: the experiments whose models are altered (Workplan.altered).
        """
        work = self.workplan
        runs = work.measured_runs(study)
        studies = {run.study for run in runs}
        models = work.with_base_models({run.model for run in runs})
        return {
            "sources": {
                name: self.source_shown(name) for name in sorted(work.measured_sources(study))
            },
            "models": {name: entry for name, entry in work.models.items() if name in models},
            "studies": {
                name: {"paper": self.citations_of(name)}
                | entry
                | {"altered": work.altered.get(name, [])}
                for name, entry in work.studies.items()
                if name in studies
            },
            "figures": [self.items[name] for name in self.of_study(study)],
            "left_out": [vars(one) for one in work.plan.left_out],
        }

    def papers(self, study: str) -> dict:
        """Return what the items of a study, or of all studies, show of papers: the arguments of
        scripts.data.papers.texts_of().
        """
        work = self.workplan
        sources = {one for name in work.experiments_of(study) for one in work.released[name]}
        reads = {read for item in self.items_of(study) for read in item["reads"]}
        return {
            "published": sorted({run.study for run in work.measured_runs(study)}),
            "claims": [study] if "claims" in reads else [],
            "released": {study: sorted(sources)} if "others" in reads and sources else {},
            "numbers": [row for row in self.numbers if study in (row[0], ALL)],
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
        measured = work.measured_sources(ALL)
        sources = {name: entry for name, entry in work.sources.items() if name in measured}
        return numbers_of(sources, work.studies)

    def hashes_of_papers(self, study: str) -> str:
        """Return hashes of all that the items of a study, or the page, show of papers, by file."""
        return hashes_of(files_of(texts_of(**self.papers(study), root=self.workplan.root)))

    def shown(self, study: str) -> dict:
        """Return the items of a study as scripts/publish/items.py reads them."""
        names = ("name", "program", "kind", "columns")
        return {
            "texts": as_files(self.entries_shown(study)),
            "papers": self.papers(study),
            "items": [
                {name: item[name] for name in names if name in item}
                | {"reads": self.read_by_item(item)[1]}
                for item in self.items_of(study)
            ],
        }

    def programs_of(self, study: str) -> list[str]:
        return list(dict.fromkeys(self.items[name]["program"] for name in self.of_study(study)))

    # ---- The page

    @cached_property
    def page(self) -> dict:
        """The texts that the page shows besides its numbers, as scripts/publish/site.py reads
        them.
        """
        work = self.workplan
        shown = self.entries_shown(ALL) | {"figures": list(self.items.values())}
        shown["sources"] = {name: self.source_shown(name) for name in work.fetched_sources}
        used = work.with_base_models(work.used_models)
        shown["models"] = {name: entry for name, entry in work.models.items() if name in used}
        reports = ("report/workflow.rst", "report/all.rst")
        texts = {f"resources/{name}": text for name, text in as_files(shown).items()}
        texts |= {path: (work.root / path).read_text(encoding="utf-8") for path in reports}
        return {"texts": texts, "papers": self.papers(ALL)}

    @cached_property
    def page_configuration(self) -> dict:
        """The settings that change the numbers, without where and how fast the numbers are
        computed.
        """
        config, initials = self.workplan.config, sorted(self.workplan.plan.initials)
        experiments = {
            name: config.experiments[name].model_dump(exclude_unset=True)
            for name in (*config.run, *initials)
        }
        more = {"model": self.workplan.probed, "experiments": experiments}
        return config.model_dump(include=OF_CONFIGURATION) | more

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
