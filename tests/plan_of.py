"""Plan a configuration as the Snakefile does, in the empty folder that is the current one, without
Snakemake: a target of tests/fuzz.py.

Reads  CONFIGFILE, which is laid over config.yaml
"""

import argparse
from pathlib import Path

from scripts.data.yaml_files import read_yaml
from scripts.plan import checks, evaluation, training
from scripts.plan.published import Published
from scripts.plan.workplan import Workplan
from scripts.running.program import UserError, execute, parser
from tests.conftest import ROOT


def main(given: argparse.Namespace) -> None:
    configuration = read_yaml(given.configfile)
    if not isinstance(configuration, dict):  # Snakemake itself refuses this
        raise UserError(f"{given.configfile}: holds no keys with values")
    work = Workplan(configuration, ROOT, [given.configfile])
    published = Published(work)
    checks.check_places(work, has_gpus=False)
    for experiment, runs in work.plan.experiments.items():
        evaluation.read_by(work, experiment)
        evaluation.sources_of(work, work.runs[runs[0]].study)
    for job in work.training_jobs:
        training.lines_of(work, *job.split("/"))
    for study in published.studies:
        published.shown(study)
    assert published.page and published.page_configuration


if __name__ == "__main__":
    asked = parser(__doc__)
    asked.add_argument("configfile", type=Path)
    execute(main, asked.parse_args())
