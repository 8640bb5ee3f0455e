"""What a rehearsal tries: one run of each kind of training step, and every file to fetch."""

from pathlib import Path

from scripts.data.plain_json import as_json
from scripts.plan.training import ASKS, method_of, paradigm_of
from scripts.plan.user_entries import STANDS_ON
from scripts.plan.workplan import Workplan

# The settings that change what a training step computes. Runs that differ in one of them are
# rehearsed separately.
STEP_SETTINGS = """
    batch_size max_length precision adapter rank target gradient_checkpointing compile dropout
    objectives shots
""".split()


def kinds_of_runs(work: Workplan) -> list[dict]:
    """Return one run of each kind of step (model, method, batch), with the experiments of all runs
    of this kind.
    """
    kinds: dict[str, dict] = {}
    for run in work.runs.values():
        if run.name in work.controls | work.recorded or paradigm_of(work, run) in ASKS:
            continue  # a control is fast; a run on record, or one that asks, has no training step
        method = method_of(work, run)
        key = as_json(
            [
                run.study,
                run.model,
                method["paradigm"],
                method["learns"],
                {name: run.training.get(name) for name in STEP_SETTINGS},
            ]
        )
        kind = kinds.setdefault(
            key,
            {
                "run": run.name,
                "experiments": [],
                "model": run.model,
                "settings": run.settings,
                "method": method,
                "splits": work.splits(run.dataset.source),
            },
        )
        named = [name for name, runs in work.plan.experiments.items() if run.name in runs]
        experiments = kind["experiments"] + (named or [f"stage of {run.model}"])
        kind["experiments"] = list(dict.fromkeys(experiments))
    return list(kinds.values())


def fetched_models(work: Workplan) -> dict[str, dict]:
    """Return the entries of the models that are fetched, and of the models that they are built
    on.
    """
    models, names = work.models, work.with_base_models(work.models_read)
    for key in STANDS_ON["models"]:
        names |= {models[name][key] for name in names if key in models[name]}
    return {
        name: models[name] for name in sorted(names) if not {"control", "api"} & set(models[name])
    }


def files_to_ask_for(work: Workplan) -> dict:
    """Return the study as scripts/fetch/reachable.py reads it."""
    sources = {
        name: work.sources[name]
        for name in work.fetched_sources
        if "downloads" in work.sources[name]
    }
    return {
        "models": fetched_models(work),
        "sources": sources,
        "fetched": [name for name in sources if Path(work.fetched(name)).exists()],
    }


def steps_to_take(work: Workplan) -> dict:
    """Return the study as scripts/train/rehearse.py reads it."""
    return {
        "jobs": kinds_of_runs(work),
        "models": fetched_models(work),
        "scored": 128,
        "vocabulary": str(work.root / "resources/sample_vocabulary.txt"),
    }
