"""Report what a study costs: measured for its finished jobs, counted for all jobs of its plan.

Measured: minutes, CPU hours and the most memory. For runs they come from run.json, for other stages
from results/benchmarks/. Counted: the operations of benchmarks/cost_counted.py, and their hours at
a stated share of a card's peak. Nobody measured this share here. Sizes are those of built datasets,
else stated ones (resources/sizes.yaml). Prints tables in Markdown.

    python -m benchmarks.cost --configfile presets/paper.yaml
    python -m benchmarks.cost --configfile presets/small.yaml --results results --rate 40
"""

import argparse
from pathlib import Path

from benchmarks.cost_counted import Counted, built_size, count
from benchmarks.cost_measured import HEAD, measured
from benchmarks.measure import ROOT, table
from scripts.plan.expected import stated_size
from scripts.plan.plan import CONTROL, Plan, Run
from scripts.running.program import execute, number, parser
from scripts.plan.prompts import prompts_of
from scripts.plan.workplan import Workplan, laid_over
from scripts.data.yaml_files import read_yaml

# Dense teraFLOPs a second of NVIDIA's data sheets: bf16 by tensor cores, for training; fp32 without
# them, for scoring.
CARDS = {"H100": (989.0, 67.0), "A100": (312.0, 19.5)}
SHARE = 0.35  # of the peak: a stated rate, which good loops reach with full batches
# The least seconds of a step for each layer, to launch its kernels: small batches of short texts
# wait for these launches. This number is stated, too.
A_LAYER = 0.002
GPUS = (1, 8, 64)


def planned(files: list[Path], values: dict) -> Workplan:
    """Make the plan of configuration files laid over config.yaml, as the Snakefile does."""
    config: dict = {}
    for file in files:
        config = laid_over(config, read_yaml(file))
    return Workplan(config | values, ROOT)


def counted_run(run: Run, sources: dict, models: dict, studies: dict, results: Path) -> Counted:
    """Count a run of a plan."""
    study, dataset = studies[run.study], run.dataset
    how, training = study["methods"][run.method], run.training
    learn, measured_on = (
        sources[dataset.source],
        sources[sources[dataset.source].get("measured_on", dataset.source)],
    )
    inputs = [name for name in how["inputs"] if name != "category"]
    size = built_size(
        results / Path(dataset.folder).relative_to("results"),
        [learn["train"], *measured_on["evaluate"]],
        study.get("held_out"),
        inputs,
    ) or stated_size(run.study, dataset.source, dataset.data, len(measured_on["evaluate"]))
    paradigm = "objectives" if training.get("objectives") else how.get("paradigm", "classify")
    prompt = prompts_of(run.study, study, run.method)[run.wording] if run.wording else None
    return count(
        {"paradigm": paradigm, "learns": how["learns"], "training": training, "prompt": prompt},
        size,
        run.model,
        models,
        results / "fetch/models",
    )


def hours_on(runs: list[Counted], card: str, gpus: int) -> float:
    """Return the hours that runs take on `gpus` GPUs, one run on one GPU at a time: the sum divided
    by the GPUs, but at least the longest run.
    """
    bf16, fp32 = (peak * 1e12 * SHARE for peak in CARDS[card])
    each = [
        max(run.learning / bf16, run.steps * run.layers * A_LAYER) + run.scoring / fp32
        for run in runs
    ]
    return max(sum(each) / gpus, max(each, default=0)) / 3600


def shown(value: float) -> str:
    """Return a number with three digits: 1,230, 12.3, 0.012, < 0.01."""
    return (
        f"{value:,.0f}"
        if value >= 100 or value == 0
        else f"{value:.3g}"
        if value >= 0.01
        else "< 0.01"
    )


def row(name: str, runs: list[Counted], rate: float | None) -> list[str]:
    """Return a row of the table of counted runs."""
    learning, scoring = sum(run.learning for run in runs), sum(run.scoring for run in runs)
    hours = [hours_on(runs, card, 1) for card in CARDS]
    if rate:
        hours.append((learning + scoring) / (rate * 1e9) / 3600)
    numbers = [
        sum(run.learned for run in runs),
        sum(run.tokens for run in runs) / 1e6,
        sum(run.steps for run in runs),
        learning / 1e15,
        scoring / 1e15,
        *hours,
    ]
    sizes = dict.fromkeys("built" if run.size.built else "stated" for run in runs)
    return [name, f"{len(runs):,}", *map(shown, numbers), " and ".join(sizes)]


def counted_report(
    plan: Plan, sources: dict, models: dict, studies: dict, results: Path, rate: float | None
) -> str:
    """Return the operations of a plan and their hours, in Markdown."""
    learnt = [run for run in plan.runs.values() if run.method != CONTROL]
    found = {run.name: counted_run(run, sources, models, studies, results) for run in learnt}
    every, of = list(found.values()), {}
    for name, names in plan.experiments.items():  # a run of two experiments counts in the first
        of[name] = [found.pop(run) for run in names if run in found]
    of["stages and starts"] = list(found.values())
    if not every:
        return "Nothing is counted: of controls alone, which take seconds."
    head = [
        "experiment",
        "runs",
        "examples × epochs",
        "million tokens",
        "steps",
        "learning, PFLOP",
        "scoring, PFLOP",
        *(f"{card} hours" for card in CARDS),
    ]
    rows = [row(name, runs, rate) for name, runs in of.items() if runs] + [
        row("**all**", every, rate)
    ]
    gpus = [f"{number} GPU{'s' * (number > 1)}" for number in GPUS]
    hours = [
        [card, *(f"{shown(hours_on(every, card, number))} h" for number in GPUS)] for card in CARDS
    ]
    learns, scores = (
        ", ".join(f"{card} {rates[place]:g}" for card, rates in CARDS.items()) for place in (0, 1)
    )
    notes = (
        f"Counted, not measured: {SHARE:.0%} of the peak of NVIDIA's data sheets, in bf16 for "
        f"learning ({learns} teraFLOP/s) and in fp32 for scoring ({scores}); a step takes "
        f"{A_LAYER * 1000:g} ms a layer at least, which small batches of short texts wait for; "
        "every epoch is taken and scored, no run ends early; start-up is not counted; no run takes "
        "less than its own time, however many GPUs there are."
    )
    if rate:
        notes += f" Core hours at {rate:g} gigaFLOP/s a core."
    stated = sorted({run.size.source_of_size for run in every if not run.size.built})
    if stated:
        notes += f"\n\nStated sizes: {'; '.join(stated)}."
    whole = table([*head, *["core hours"] * bool(rate), "sizes"], rows)
    return f"{whole}\n\n{table(['all, one run on a GPU at a time', *gpus], hours)}\n\n{notes}"


def main(given: argparse.Namespace) -> None:
    values = dict(value.partition("=")[::2] for value in given.config)
    work = planned(given.configfile, values)
    rows, notes = measured(work.plan, work.name, given.results, work.sources, work.models)
    print(f"## What the study {work.name} costs\n\n{table(HEAD, rows)}\n\n{notes}\n")
    print(
        counted_report(
            work.plan, work.sources, work.models, work.studies, given.results, given.rate
        )
    )


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument(
        "--configfile",
        nargs="*",
        type=Path,
        default=[],
        metavar="FILE",
        help="as Snakemake takes them; default: config.yaml alone",
    )
    options.add_argument(
        "--config",
        nargs="*",
        default=[],
        metavar="KEY=VALUE",
        help="as Snakemake takes them: model, limit, name",
    )
    options.add_argument(
        "--results", type=Path, default=Path("results"), help="default: %(default)s"
    )
    options.add_argument(
        "--rate",
        type=number(0.001, 1e6),
        metavar="GFLOPS",
        help="gigaFLOP/s that a core was measured to reach: also print core hours",
    )
    execute(main, options.parse_args())
