"""Which runs of a system are reported: those with the best of the settings that were tried, and the
ensemble of its seeds.

An experiment may try several settings (lists in `training`). The settings with the lowest held-out
loss are reported, for each dataset, model and method; of several seeds the mean counts. The
evaluation splits take no part, as for the controls, which training folds choose.
"""

from pathlib import Path

import numpy as np

from scripts.data.declared import method_of_blind
from scripts.data.items import ENSEMBLE
from scripts.data.plain_json import as_json
from scripts.data.runs import facts_of
from scripts.data.tables import read_table
from scripts.measure.experiment import Run, Systems
from scripts.running.program import UserError, log


def held_out_losses(run: Run) -> list[float]:
    """Return the held-out loss of each epoch of a run. Raises UserError for a run that held nothing
    out.
    """
    file = Path(run.folder, "history.parquet")
    history = read_table(file, ["epoch", "split", "loss"]).to_pandas().sort_values("epoch")
    losses = history.loc[history["split"] == "held_out", "loss"].dropna()
    if losses.empty:
        raise UserError(f"{file}: has no held-out loss; remove it and run again")
    return losses.tolist()


def with_best_settings(runs: list[Run]) -> list[Run]:
    """Return the runs of a system with the settings of the lowest held-out loss. `tried` counts the
    settings of a model, and the learners of a searched control. Runs that held nothing out are of
    several experiments: no list of settings is tried without held-out groups.
    """
    by_settings: dict[str, list[Run]] = {}
    for run in runs:
        by_settings.setdefault(as_json(run.facts.get("training", {})), []).append(run)
    tried, best = list(by_settings.values()), runs
    if len(tried) > 1 and all(run.facts["held_out_examples"] for run in runs):
        losses = [float(np.mean([min(held_out_losses(run)) for run in same])) for same in tried]
        best = tried[int(np.argmin(losses))]
        log.info(
            "%s: of %d settings the lowest held-out loss, %.3f, is that of %s",
            *(best[0].facts["model"], len(tried), min(losses), best[0].folder.name),
        )
    learners = len(runs[0].facts.get("learners", ()))
    return [run._replace(tried=learners or len(tried)) for run in best]


def runs_by_dataset(trained: Path, names: list[str]) -> dict[tuple[str, str], Systems]:
    """Return the systems of the runs in the folder `trained`, by source and dataset. Of settings
    that were tried, only the best have runs here.
    """
    systems_of: dict[tuple[str, str], Systems] = {}
    for name in names:
        facts = facts_of(trained / name / "run.json")
        systems = systems_of.setdefault((facts["source"], facts["dataset"]), {})
        systems.setdefault((facts["model"], facts["method"]), []).append(Run(trained / name, facts))
    return {
        place: {system: with_best_settings(runs) for system, runs in systems.items()}
        for place, systems in systems_of.items()
    }


def with_ensembles(systems: Systems) -> Systems:
    """Return the systems, and the ensemble of each that learnt with several seeds: the score that
    it gives an example is the mean over the seeds. Blind models have none.
    """
    ensembles = {
        (model, f"{method}{ENSEMBLE}"): [runs[0]._replace(members=tuple(runs))]
        for (model, method), runs in systems.items()
        if len(runs) > 1
        and runs[0].facts["train_examples"]
        and runs[0].facts.get("wording") is None
        and method_of_blind(method) is None
    }
    return systems | ensembles
