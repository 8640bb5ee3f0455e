"""What leaves a finished study: the runs that join the record, and datasets for
lm-evaluation-harness.
"""

import json
import os
import shlex
from pathlib import Path

from scripts.plan.models import paradigm_of_control
from scripts.plan.probe import WORDED, does_fit
from scripts.plan.training import described, paradigm_of, prompts_under
from scripts.plan.workplan import Workplan


def harness_datasets(work: Workplan) -> list[dict]:
    """Return the measured datasets, each with the methods that ask a decoder by likelihood or in
    words.
    """
    return [
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
                    "prompts": prompts_under(work, found.data, found.study, method),
                }
                for method, how in work.studies[found.study]["methods"].items()
                if how.get("paradigm") in WORDED
                and does_fit(how, {"decoder"})
                and not found.options.refuses(method)
            },
        }
        for found in work.measured_datasets
    ]


def command_of(root: Path, given) -> str:
    """Return the command of a study; given: Snakemake's settings of the configuration."""
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
    return shlex.join(command)


def recorded_runs(work: Workplan) -> list[dict]:
    return [
        described(work, run)
        | {
            "study": run.study,
            "paradigm": paradigm_of_control(work.models[run.model]["control"], run.study)
            if run.name in work.controls
            else paradigm_of(work, run),
            "made_from": work.made_from(run.model),
            "programs": [
                f"build/{run.study}",
                *(
                    f"clean/{work.sources[source]['cleaner']}"
                    for source in dict.fromkeys(work.sources_of(run.dataset))
                ),
            ],
            "sums_scores": work.studies[run.study].get("sums_scores", False),
        }
        for run in work.runs.values()
    ]


def recorded_study(work: Workplan, items: dict, given) -> dict:
    """Return the study as scripts/publish/record.py reads it; items: Published.recorded()."""
    return items | {
        "name": work.name,
        "command": command_of(work.root, given),
        "metrics": work.metrics,
        "publish": work.pages,
        "train": "results/train",
        "runs": recorded_runs(work),
    }
