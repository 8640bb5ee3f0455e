"""Plan a configuration as the Snakefile does, in the empty folder that is the current one, without
Snakemake: a target of tests/fuzz.py.

Reads  CONFIGFILE, which is laid over config.yaml
"""

import argparse
from pathlib import Path

from scripts.data.yaml_files import read_yaml
from scripts.plan import checks
from scripts.plan.jobs import Jobs
from scripts.plan.published import Published
from scripts.plan.workplan import Workplan
from scripts.running.program import UserError, execute, parser
from tests.conftest import ROOT


def main(given: argparse.Namespace) -> None:
    configuration = read_yaml(given.configfile)
    if not isinstance(configuration, dict):  # Snakemake itself refuses this
        raise UserError(f"{given.configfile}: holds no keys with values")
    work = Workplan(configuration, ROOT, [given.configfile])
    jobs = Jobs(work, Published(work))
    checks.check_places(work)
    for experiment, runs in work.plan.experiments.items():
        jobs.evaluate_experiment(work.runs[runs[0]].study, experiment).arguments()
    for item in jobs.published.items:
        jobs.publish_item(item).decides()
    jobs.publish_page().arguments()


if __name__ == "__main__":
    asked = parser(__doc__)
    asked.add_argument("configfile", type=Path)
    execute(main, asked.parse_args())
