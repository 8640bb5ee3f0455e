"""The arguments of the programs that measure a study. They measure the runs of an experiment, or
predictions made elsewhere.
"""

import argparse
import sys
from pathlib import Path

from scripts.data.runs import facts_of
from scripts.data.yaml_files import entries_of, read_yaml
from scripts.running.program import UserError, json_object, parser, whole_number

HELP = """{doc}
Of an experiment's runs, as the workflow measures them, values are shares from 0 to 1 with 95 %
intervals over groups. A row without seed is the mean over the replicates (seeds, or wordings of
what a model is asked); its sd is over them; its interval is over groups and them.

Reads  <trained>/<run>/predictions.parquet and run.json of every run,
       <build>/<source>/<dataset>/<split>.parquet of the splits measured on
Writes a Parquet file (schema metrics: scripts/data/tables.py), and the comparisons beside it
       (<output>.comparisons.parquet: scripts/measure/comparisons.py)

    python -m scripts.studies.{study}.evaluate --experiment NAME --runs RUN RUN … \\
        --trained results/train/{study} --build results/build/{study} \\
        --sources resources/sources.yaml --contest scripts/studies/{study}/study.yaml \\
        --output /tmp/metrics.parquet

Predictions made elsewhere (scripts/measure/elsewhere/rows.py) are measured in the same way, and
printed in per cent:

    python -m scripts.studies.{study}.evaluate --predictions FILE \\
        --dataset results/build/{study}/SOURCE/DATASET
"""
OF_RUNS = ["experiment", "runs", "trained", "build", "sources", "contest", "output"]


def sources_given(text: str) -> dict[str, dict]:
    """Return the entries of sources, from JSON or from the file with this path."""
    if text.startswith("{"):
        return json_object(text)
    try:
        return entries_of(Path(text))
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# the keys of study.yaml that comparisons need, each with what stands for a missing one
CONTEST: dict = {"metrics": None, "controls": {}, "headline": "", "family": 1}


def contest_given(text: str) -> dict:
    """Return what a study says of its comparisons (CONTEST), from JSON or from the study.yaml with
    this path.
    """
    try:
        entry = json_object(text) if text.startswith("{") else read_yaml(Path(text))
        return (
            CONTEST
            | {"metrics": entry["metrics"]}
            | {key: entry[key] for key in CONTEST if key in entry}
        )
    except (UserError, KeyError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{text}: lacks {error}") from None


def read_by(given: argparse.Namespace) -> list[Path]:
    """Return the files and folders of earlier stages that an evaluation reads."""
    if not given.runs:
        return [given.dataset] if given.dataset else []
    runs = [given.trained / name for name in given.runs]
    facts = [facts_of(run / "run.json") for run in runs]
    judged = [name for name, entry in given.sources.items() if "predictions" in entry]
    judged += getattr(given, "released_sources", [])
    return [
        *(run / name for run in runs for name in ("run.json", "predictions.parquet")),
        *(given.build / one["source"] / one["dataset"] for one in facts),
        *(given.fetched / name for name in judged if getattr(given, "fetched", None)),
    ]


def evaluation_arguments(doc: str, study: str) -> argparse.ArgumentParser:
    """Return the arguments of every study's evaluation."""
    options = parser(HELP.format(doc=doc, study=study))
    add_runs(options)
    add_predictions(options)
    options.add_argument(
        "--resamples",
        type=whole_number(1, 1_000_000),
        default=2000,
        help="the number of draws for each interval; default: %(default)s",
    )
    options.set_defaults(reads=read_by)
    return options


def add_runs(options: argparse.ArgumentParser) -> None:
    """Add the arguments that say which runs to measure."""
    runs = options.add_argument_group("the runs of an experiment, as rules/evaluate.smk gives them")
    runs.add_argument("--experiment", help="the experiment's name, for the table")
    runs.add_argument(
        "--runs", nargs="+", help="the names of the runs; `-` reads them from standard input"
    )
    runs.add_argument("--trained", type=Path, help="the folder of the study's runs")
    runs.add_argument("--build", type=Path, help="the folder of the study's datasets")
    runs.add_argument(
        "--sources", type=sources_given, help="resources/sources.yaml, or its entries as JSON"
    )
    runs.add_argument(
        "--contest",
        type=contest_given,
        help=f"the study's study.yaml, or {', '.join(CONTEST)} of it as JSON",
    )
    runs.add_argument(
        "--external",
        type=Path,
        nargs="+",
        default=[],
        metavar="FOLDER",
        help="predictions kept by --predictions and --name; they are measured beside the runs",
    )
    runs.add_argument(
        "--people",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="CSV files of people's answers (docs/people.md)",
    )
    runs.add_argument(
        "--others",
        nargs="+",
        default=[],
        metavar="SOURCE/DATASET",
        help="datasets that are not measured here, but that the files of --people may name",
    )
    runs.add_argument(
        "--without-pretraining",
        nargs="+",
        default=[],
        metavar="NAME=BASE",
        help="models without pretraining, each with the pretrained model that it is held against",
    )
    runs.add_argument("--output", type=Path, help="the Parquet file to write")


def add_predictions(options: argparse.ArgumentParser) -> None:
    """Add the arguments that say which predictions of other programs to measure."""
    files = options.add_argument_group(
        "predictions made elsewhere (scripts/measure/elsewhere/rows.py describes their form)"
    )
    files.add_argument(
        "--predictions",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="CSV or JSON lines with example_id, and label or scores; samples of "
        "lm-evaluation-harness; a log of inspect_ai",
    )
    files.add_argument(
        "--dataset",
        type=Path,
        help="the dataset of the predictions: results/build/<study>/<source>/<dataset>",
    )
    files.add_argument(
        "--split", default="test", help="the split of the dataset; default: %(default)s"
    )
    files.add_argument(
        "--name",
        help="keep the predictions under this name in results/external/, as a model of the study",
    )


def evaluation_given(options: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the arguments: all arguments of runs, or all arguments of predictions. If some are
    missing, exit and name them.
    """
    given = options.parse_args()
    if given.runs == ["-"]:
        given.runs = sys.stdin.read().split()
    of_file = given.predictions or given.dataset or given.name
    wanted = ["predictions", "dataset"] if of_file else OF_RUNS
    if missing := [f"--{name}" for name in wanted if not getattr(given, name)]:
        options.error(f"{', '.join(missing)} is missing")
    return given
