"""Do the runs of a training job, one after the other in one process: train a model, ask it, measure
a control, or take a result from the record.

The runs come from standard input, a line of JSON each, as scripts/plan/training.py describes them:
  always      run (its name), settings, method, splits, data (the folder of the dataset)
  a model     model (its folder), model_files (its files, where another run made it), hands_on
              (whether other runs start from the weights)
  an API      api (its address, the model's name there, keys of each request)
  a control   control (its entry in resources/models.yaml), rung, vectors (a file of word vectors),
              corpus (a split of cleaned captions), learns_from (another dataset, whose training
              split it learns from)
  the record  cut (run, settings and data of the same control on cut splits); with --record

Imports are loaded once, and so is a model that no run changes. A run that is finished is not
trained again. A failed run is reported, and the others go on; the process then ends with exit 1.
The same command continues after the finished runs.

Reads  what scripts.train.run, scripts.train.asking.ask, scripts.controls.control and
       scripts.train.recorded read
Writes <folder>/<run>/ for each run, and MANIFEST, which lists the files of all runs

    python -m scripts.train.runs --folder results/train/mctaco --output MANIFEST < runs.jsonl
"""

import argparse
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path

from scripts.data.manifest import check_made, write_manifest
from scripts.plan.models import ECHO
from scripts.plan.probe import ANSWER
from scripts.running.program import (
    UserError,
    execute,
    json_lines,
    json_object,
    json_object_with,
    log,
    log_to,
    parser,
    sentence_of,
)
from scripts.running.progress import Progress
from scripts.train import run
from scripts.train.work import forget, outputs_of

PAUSE = 2  # seconds between two lines of progress
RUN = json_object_with("run", "settings", "method", "splits", "data")
OF_CONTROL = ("run", "settings", "rung", "control", "vectors", "corpus", "learns_from")
OF_MODEL: dict = {"model_files": None, "hands_on": False, "api": {}}


def read_runs(lines: list[str]) -> list[dict]:
    """Return the runs of a job. Raises UserError, with the line, for one that is not a run."""
    runs = json_lines(lines, RUN)
    if not runs:
        raise UserError("standard input: has no run; give a line of JSON for each run")
    return runs


def train(one: dict, given: argparse.Namespace) -> None:
    """Train, score or ask one model."""
    paths = {name: Path(one[name]) for name in ("data", "model") if name in one}
    of_run = {"model": None} | OF_MODEL | one | paths
    of_run |= {"output": given.folder / one["run"], "card": given.cards.get(one["run"], {})}
    arguments = argparse.Namespace(**vars(given) | of_run)
    if one["method"].get("paradigm") in (ANSWER, ECHO):
        # late, as each kind of run has imports of its own
        from scripts.train.asking.ask import main as ask

        ask(arguments)
    elif given.devices > 1:
        in_child(lambda: run.main(arguments))
    else:
        run.main(arguments)


def in_child(work: Callable[[], None]) -> None:
    """Do a piece of work in a child, which may become another program (Accelerate's launcher).
    Signals to this process reach the child. Raises SystemExit if the child fails.
    """
    child = os.fork()
    if not child:
        try:
            work()
        except Exception as error:
            log.error("error: %s", sentence_of(error) or "an unexpected error, see the log")
            sys.stderr.flush()
            os._exit(1)
        except SystemExit as end:
            os._exit(end.code if isinstance(end.code, int) else 1)
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda sent, _: os.kill(child, sent))
    _, status = os.waitpid(child, 0)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(code if code > 0 else 128 - code)


def measure(controls: list[dict], given: argparse.Namespace) -> None:
    """Measure the controls of one dataset together."""
    from scripts.controls.control import main as measure_controls  # late: sklearn

    first = controls[0]
    data = Path(first["data"])
    files = [Path(one[name]) for one in controls for name in ("vectors", "corpus") if name in one]
    others = [Path(one["learns_from"]) for one in controls if "learns_from" in one]
    check_made([data, *others, *(file.parent for file in files)])
    measure_controls(
        argparse.Namespace(
            controls=[{key: one[key] for key in OF_CONTROL if key in one} for one in controls],
            method=first["method"],
            splits=first["splits"],
            data=data,
            folder=given.folder,
        )
    )


def take(one: dict, given: argparse.Namespace) -> None:
    from scripts.train.recorded import main as take_recorded  # late: pandas

    check_made(Path(data) for data in (one["data"], one.get("cut", one)["data"]))
    take_recorded(argparse.Namespace(runs=[one], record=given.record, folder=given.folder))


def start_anew(runs: list[dict], given: argparse.Namespace) -> None:
    """Forget what runs have finished, what they have learnt and which answers they have."""
    for one in runs:
        work = given.folder / one.get("cut", one)["run"] / "work"
        forget(work)
        for name in ("checkpoint.pt", "answers.jsonl"):
            (work / name).unlink(missing_ok=True)


def pieces_of(runs: list[dict], given: argparse.Namespace) -> list[Callable[[], None]]:
    """Return the pieces of work of a job. If one fails, the others go on."""
    if given.record:
        return [partial(take, one, given) for one in runs]
    pieces: list[Callable[[], None]] = []
    for data, of_data in groupby(runs, lambda one: "control" in one and one["data"]):
        together = list(of_data)
        if data:
            pieces.append(partial(measure, together, given))
        else:
            pieces += [partial(train, one, given) for one in together]
    return pieces


def files_of(one: dict, given: argparse.Namespace) -> list[str]:
    """Return the files of a run in the folder of all runs."""
    if given.record and one["method"].get("makes_model"):
        return [f"{one['run']}/{name}" for name in ("history.parquet", "run.json")]
    job = {"makes_model": one["method"].get("makes_model", False), "hands_on": one.get("hands_on")}
    return [f"{one.get('cut', one)['run']}/{name}" for name in outputs_of(job)]


def main(given: argparse.Namespace) -> None:
    if given.log:  # appended to: a job that finds its runs finished keeps the log of their work
        log_to(given.log, mode="a")
        log.info("---- %s, attempt %d", time.strftime("%Y-%m-%d %H:%M:%S"), given.attempt)
    runs = read_runs(sys.stdin.read().splitlines())
    if given.again and given.attempt == 1:
        start_anew(runs, given)
    pieces, failed = pieces_of(runs, given), []
    are_controls = all("control" in one for one in runs)
    progress = Progress(len(pieces), "sets of controls" if are_controls else "runs", PAUSE)
    for do in pieces:
        try:
            do()
        except Exception as error:
            failed.append(sentence_of(error) or "an unexpected error, see the log")
            log.info("failed: %s", failed[-1])
        gc.collect()  # free the GPU memory that the run held
        progress.end_piece()
    if failed:
        rest = "" if len(pieces) == 1 else f" ({len(failed)} of {len(pieces)} failed)"
        raise UserError(failed[0] + rest)
    files = [file for one in runs for file in files_of(one, given)]
    write_manifest(given.folder, files, given.output)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--folder", type=Path, required=True, help="the folder of the study's runs"
    )
    run.add_training_options(options)
    options.add_argument(
        "--cards",
        type=json_object,
        default={},
        help="JSON: by run, facts for the model card of kept weights (title, licence, hub, "
        "revision, sources)",
    )
    options.add_argument(
        "--key", metavar="VARIABLE", help="the environment variable that holds the API's key"
    )
    options.add_argument(
        "--again", action="store_true", help="do the runs again, also those that are finished"
    )
    options.add_argument("--record", type=Path, help="take the runs from docs/record/<study>")
    options.add_argument("--output", type=Path, required=True, help="the manifest to write")
    options.set_defaults(opens_log=False)
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args(), opens_log=True)
