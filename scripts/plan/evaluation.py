"""What the evaluation of an experiment reads."""

from scripts.plan.fields import fields_of
from scripts.plan.workplan import Workplan, built

FIELDS = ("evaluate", "measured_on", "domain", "sample", "predictions")  # of a source


def judged_sources(work: Workplan, experiment: str) -> list[str]:
    """Return the sources with judgements that the paper's authors, or others, released."""
    of_others = work.released[experiment]
    measured = {work.runs[run].dataset.source for run in work.plan.experiments[experiment]}
    of_authors = [name for name in sorted(measured) if "predictions" in work.sources[name]]
    return list(dict.fromkeys([*of_authors, *of_others]))


def read_by(work: Workplan, experiment: str) -> list[str]:
    runs = [work.runs[run] for run in work.plan.experiments[experiment]]
    return [
        *work.manifests_of(run.name for run in runs),
        *sorted({built(run.dataset) for run in runs}),
        *map(work.fetched, judged_sources(work, experiment)),
        *(
            f"{folder}/{name}"
            for folder in work.external[experiment]
            for name in ("predictions.parquet", "run.json")
        ),
    ]


def sources_of(work: Workplan, study: str) -> dict[str, dict]:
    """Return the fields of a study's sources that its evaluation reads."""
    return fields_of(work.sources, work.measured_sources(study), FIELDS)


def contest_of(work: Workplan, study: str) -> dict:
    """Return what a study says of its comparisons: its metrics, each with direction and unit, what
    its controls read and learn from, its headline, and the size of its family of tests.
    """
    entry = work.studies[study]
    metrics, fields = entry["metrics"], ("reads", "learns")
    of_users = {name: how for name, how in work.models.items() if {*fields} & {*how}}
    controls = of_users | entry.get("controls", {})
    return {
        "metrics": fields_of(metrics, metrics, ("better", "unit")),
        "controls": fields_of(controls, controls, fields),
        "headline": entry.get("headline", ""),
        "family": entry.get("family", 1),
    }


def declared_of(work: Workplan, study: str) -> dict:
    """Return what a study declares of its methods and baselines (scripts/data/declared.py)."""
    methods = work.studies[study]["methods"]
    named = fields_of(methods, methods, ("blind_of", "sees_all", "learns"))
    return {"methods": named, "ceilings": work.studies[study].get("ceilings", [])}


def without_pretraining(work: Workplan, experiment: str) -> list[str]:
    """Return `<model>=<the same network without pretraining>` for the models of an experiment."""
    models = sorted({work.runs[run].model for run in work.plan.experiments[experiment]})
    bases = {model: work.models[model].get("without_pretraining") for model in models}
    return [f"{model}={base}" for model, base in bases.items() if base]


def datasets_of(work: Workplan, study: str) -> list[str]:
    """Return every planned dataset of a study: the ones that people's answers may name."""
    datasets = (one for one in work.plan.datasets.values() if one.study == study)
    return [f"{one.source}/{one.name}" for one in datasets]
