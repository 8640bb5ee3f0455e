"""The plan of a study as text: a line for each job, with digests of its inputs and of the
parameters that decide its result.

tests/golden/ holds these texts for the default study and every preset. A change that should change
no plan leaves them equal (tests/plan/test_plan.py). `--job` prints jobs in full, and `--write`
writes the texts anew after a change that should.

    python -m tests.planned_jobs --write
    python -m tests.planned_jobs small --job evaluate_metrics
"""

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests/golden"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "TIMESTRIDE_MIRROR"} | {
    "PYTHONPATH": str(ROOT)
}
# The record must not change a golden plan.
PROBED = {"model": ["tiny_bert", "tiny_gpt"], "recorded": False}
# By name of the text: the presets and values laid over config.yaml.
STUDIES = {"default": ([], {})} | {
    preset.stem: ([preset], PROBED if preset.stem == "probe" else {})
    for preset in sorted((ROOT / "presets").glob("*.yaml"))
}
# identities, and text for figures and the page
WORDS = {"code", "papers", "templates", "texts", "titles"}
CODE = re.compile(r'"code":"[^"]*"')  # the identity of a program inside another parameter


def without_texts(value) -> str:
    """Return a parameter as text. The lines of figures (scripts/publish/items.py) lose their
    texts.
    """
    if not isinstance(value, str):
        return json.dumps(value)
    if '"texts":' not in value:
        return value
    items = [json.loads(line) for line in value.split("\n")]
    return json.dumps([{key: item[key] for key in item if key != "texts"} for item in items])


def planned_jobs(configfiles: list[Path], config: dict) -> list[tuple[str, dict[str, list[str]]]]:
    """Return each job of `snakemake --forceall` in the current, empty folder: its rule with its
    first output, and its files and parameters.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        Quietness,
        ResourceSettings,
    )

    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, dryrun=True)) as api:
        settings = ConfigSettings(config=config, configfiles=configfiles)
        study = api.workflow(ResourceSettings(cores=1), settings, snakefile=ROOT / "Snakefile")
        study.dag(DAGSettings(forceall=True)).execute_workflow(executor="dryrun")
        jobs = []
        for job in study._workflow.dag.jobs:  # Snakemake has no documented way to list jobs
            parameters = {
                name: without_texts(value)
                for name, value in job.params.items()
                # what Snakemake compares
                if not job.rule._is_deriving_function(getattr(job.rule.params, name))
                and name not in WORDS
            }
            jobs.append(
                (
                    f"{job.rule.name} {next(iter(job.output), '')}".strip(),
                    {
                        "inputs": sorted(
                            str(file).replace(str(ROOT), "ROOT") for file in job.input
                        ),
                        "outputs": sorted(map(str, job.output)),
                        "parameters": [
                            f"{name}: {CODE.sub('CODE', value).replace(str(ROOT), 'ROOT')}"
                            for name, value in sorted(parameters.items())
                        ],
                    },
                )
            )
    return sorted(jobs)


def short(lines: list[str]) -> str:
    """Return eight hexadecimal digits for some lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]


def plan_text(jobs: list[tuple[str, dict[str, list[str]]]]) -> str:
    """Return a line for each job."""
    return "".join(
        f"{name}  {'  '.join(f'{kind} {short(lines)}' for kind, lines in parts.items())}\n"
        for name, parts in jobs
    )


@cache
def server():
    """Return a server that has imported Snakemake's modules once for all texts."""
    from tests.forking import SNAKEMAKE, ForkServer

    return ForkServer(ENVIRONMENT, SNAKEMAKE)


def planned_text(study: str, job: str | None = None) -> str:
    """Return the text of a study, made by a process of its own in an empty folder. With `job`,
    return the jobs whose names contain it, in full.
    """
    from tests.forking import python_without_jobs

    with tempfile.TemporaryDirectory() as folder:
        command = ["tests.planned_jobs", study, "--here", *(["--job", job] if job else [])]
        done = server().call(command, Path(folder), ENVIRONMENT, python_without_jobs())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def main(given: argparse.Namespace) -> None:
    if given.here:
        configfiles, config = STUDIES[given.study]
        out, sys.stdout = sys.stdout, sys.stderr  # Snakemake prints the dry run
        jobs = planned_jobs(configfiles, config)
        sys.stdout = out
        if not given.job:
            print(plan_text(jobs), end="")
        for name, parts in jobs if given.job else []:
            if given.job in name:
                print(
                    name,
                    *(f"  {kind}: {line}" for kind, lines in parts.items() for line in lines),
                    sep="\n",
                )
    elif given.write:
        for study in STUDIES:
            (GOLDEN / f"{study}.txt").write_text(planned_text(study), encoding="utf-8")
    else:
        print(planned_text(given.study, given.job), end="")


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("study", nargs="?", default="default", choices=STUDIES)
    options.add_argument(
        "--job", help="print the jobs whose rule or first output holds this, in full"
    )
    options.add_argument(
        "--write", action="store_true", help="write the texts of all studies to tests/golden/"
    )
    options.add_argument("--here", action="store_true", help="plan in this process and folder")
    main(options.parse_args())
