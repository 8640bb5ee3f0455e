"""Report what a study costs: measured for its finished jobs, counted for all runs of its plan.

Measured: minutes, CPU and GPU hours and the most memory, from run.json and results/benchmarks/.
Counted: operations, and their hours at a stated share of a card's peak, which nobody measured here.
Reading a text of T tokens takes 2·N·T operations for the N weights that its layers multiply by, and
4·layers·width·T² for attention. A training step takes three times as many. Sizes are those that
resources/sizes.yaml states. Prints tables in Markdown.

    python -m benchmarks.cost --configfile presets/paper.yaml
    python -m benchmarks.cost --configfile presets/small.yaml --rate 40   # also core hours
"""

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import ROOT, table
from scripts.data.yaml_files import read_yaml
from scripts.plan.expected import Size, stated, stated_size
from scripts.plan.plan import CONTROL, Run
from scripts.plan.prompts import prompts_of
from scripts.plan.workplan import Workplan, laid_over
from scripts.running.program import UserError, execute, number, parser

# Dense teraFLOPs a second of NVIDIA's data sheets: bf16 by tensor cores, for training; fp32 without
# them, for scoring.
CARDS = {"H100": (989.0, 67.0), "A100": (312.0, 19.5)}
SHARE = 0.35  # of the peak: a stated rate, which good loops reach with full batches
A_LAYER = 0.002  # the least seconds of a step for each layer, to launch its kernels: stated, too
GPUS = (1, 8, 64)
GATED = ("llama", "gemma", "qwen", "modernbert")  # feed-forward layers of three matrices
ASKED = {"mlm": 0.15, "clm": 1.0}  # the share of tokens that pass a head as wide as the vocabulary
FROM_RIGHT = ("fill", "generate", "mlm", "clm")
MEASURED = ["stage", "jobs", "minutes", "CPU hours", "GPU hours", "most memory, GB"]
COUNTED = ["experiment", "runs", "examples × epochs", "learning, PFLOP", "scoring, PFLOP"]


@dataclass
class Counted:
    """A run: training examples over all epochs, steps, layers, operations."""

    learned: float
    steps: float
    layers: int
    learning: float
    scoring: float


def shape_of(model: str, models: dict) -> dict:
    """Return the architecture of a model, from its entry or from sizes.yaml."""
    entry = models[model]
    for stage in ("mlm", "clm"):
        if stage in entry:
            return shape_of(entry[stage]["model"], models)
    if "without_pretraining" in entry:
        return shape_of(entry["without_pretraining"], models)
    if shape := entry.get("init") or stated()["models"].get(model):
        return shape
    raise UserError(f"resources/sizes.yaml: lacks the architecture of {model}; state it")


def first(config: dict, *names: str, otherwise=None):
    """Return the first of these fields that a configuration has."""
    return next((config[name] for name in names if config.get(name) is not None), otherwise)


def of_layers(config: dict) -> tuple[int, int, float]:
    """Return the number of layers, the width of their attention, and the number of weights that
    they multiply by.
    """
    layers = first(config, "num_hidden_layers", "num_layers", "n_layer")
    hidden = first(config, "hidden_size", "d_model", "n_embd")
    heads = first(config, "num_attention_heads", "num_heads", "n_head")
    each = first(config, "head_dim", "d_kv", otherwise=hidden // heads)
    wide = first(config, "intermediate_size", "d_ff", otherwise=4 * hidden)
    gated = str(config.get("model_type", "")).startswith(GATED)
    matrices = 3 if gated or "gated" in str(config.get("feed_forward_proj", "")) else 2
    of_keys = 2 * hidden * first(config, "num_key_value_heads", otherwise=heads) * each
    attention = 2 * hidden * heads * each + of_keys
    return layers, heads * each, float(layers * (attention + matrices * hidden * wide))


def reading(config: dict, tokens: float) -> float:
    """Return the operations of one reading of a text."""
    layers, width, weights = of_layers(config)
    return 2 * weights * tokens + 4 * layers * width * tokens**2


def readings(job: dict, tokens: float) -> float:
    """Return how often a run reads each example."""
    if job["paradigm"] == "pseudo_log_likelihood":
        return tokens
    if prompt := job.get("prompt"):
        return len(prompt["texts"]) * (2 if prompt.get("domain") else 1)
    return 2 if job["paradigm"] in ("symmetric", "objectives") else 1


def count(job: dict, size: Size, model: str, models: dict) -> Counted:
    """Count a run. job: paradigm, learns, training, prompt."""
    training, paradigm = job["training"], job["paradigm"]
    tokens = min(size.tokens, training["max_length"])
    frozen = 0.0
    if esim := models[model].get("esim"):
        hidden, wide, layers = esim["hidden_size"], 300, 2
        if encoder := models[model].get("encoder"):
            shape = shape_of(encoder, models)
            frozen, wide = reading(shape, tokens), first(shape, "hidden_size", "d_model")
        score = frozen + 2.0 * (8 * hidden * (wide + hidden) + 24 * hidden * hidden) * tokens
    else:
        shape = shape_of(model, models)
        layers = of_layers(shape)[0]
        head = first(shape, "hidden_size", "d_model") * shape.get("vocab_size", 30_522)
        score = reading(shape, tokens) * readings(job, tokens)
        score += 2 * head * tokens * ASKED.get(paradigm, 0)
    if not job["learns"]:
        return Counted(0, 0, layers, 0.0, size.scored * score)
    share = 0 if size.held_out else training.get("held_out_fraction", 0)
    held_out = size.held_out + size.learned * share
    right = size.right if paradigm in FROM_RIGHT else 1
    learned = size.learned * (1 - share) * right * training["epochs"]
    scored = held_out + (0 if paradigm in ASKED else size.scored)
    steps = math.ceil(learned / training["batch_size"])
    learning = learned * (3 * score - 2 * frozen)
    return Counted(learned, steps, layers, learning, training["epochs"] * scored * score)


def counted_run(run: Run, work: Workplan) -> Counted:
    """Count a run of a plan."""
    study, source = work.studies[run.study], run.dataset.source
    how, training = study["methods"][run.method], run.training
    splits = work.sources[work.sources[source].get("measured_on", source)]["evaluate"]
    paradigm = "objectives" if training.get("objectives") else how.get("paradigm", "classify")
    prompt = prompts_of(run.study, study, run.method)[run.wording] if run.wording else None
    job = {"paradigm": paradigm, "learns": how["learns"], "training": training, "prompt": prompt}
    size = stated_size(run.study, source, run.dataset.data, len(splits))
    return count(job, size, run.model, work.models)


def hours_on(runs: list[Counted], card: str, gpus: int) -> float:
    """Return the hours of runs on `gpus` GPUs, one run on one GPU at a time: the sum divided by the
    GPUs, but at least the longest run.
    """
    bf16, fp32 = (peak * 1e12 * SHARE for peak in CARDS[card])
    each = [
        max(run.learning / bf16, run.steps * run.layers * A_LAYER) + run.scoring / fp32
        for run in runs
    ]
    return max(sum(each) / gpus, max(each, default=0)) / 3600


def row_of(name: str, runs: list[Counted], rate: float | None) -> list[str]:
    """Return a row of the table of counted runs."""
    learning, scoring = sum(run.learning for run in runs), sum(run.scoring for run in runs)
    hours = [hours_on(runs, card, 1) for card in CARDS]
    hours += [(learning + scoring) / (rate * 1e9) / 3600] if rate else []
    numbers = [sum(run.learned for run in runs), learning / 1e15, scoring / 1e15, *hours]
    return [
        name,
        f"{len(runs):,}",
        *(f"{value:,.{0 if value >= 100 else 3}f}" for value in numbers),
    ]


def counted_report(work: Workplan, rate: float | None) -> str:
    """Return the operations of a plan and their hours, in Markdown."""
    learnt = [run for run in work.plan.runs.values() if run.method != CONTROL]
    counted = {run.name: counted_run(run, work) for run in learnt}
    every, rows = list(counted.values()), []
    for name, names in work.plan.experiments.items():  # a run of two counts in the first
        runs = [counted.pop(run) for run in names if run in counted]
        rows += [row_of(name, runs, rate)] if runs else []
    rows += [row_of("stages and starts", list(counted.values()), rate)] if counted else []
    head = [*COUNTED, *(f"{card} hours" for card in CARDS), *(["core hours"] if rate else [])]
    whole = table(head, [*rows, row_of("**all**", every, rate)])
    hours = [[card, *(f"{hours_on(every, card, gpus):.3g} h" for gpus in GPUS)] for card in CARDS]
    of_gpus = table(["all, one run on a GPU at a time", *map(str, GPUS)], hours)
    return (
        f"{whole}\n\n{of_gpus}\n\nCounted at {SHARE:.0%} of the peak, bf16 for learning, fp32 for "
        f"scoring; a step takes {A_LAYER * 1000:g} ms a layer at least; every epoch is taken "
        "and scored; no start-up."
    )


def cost_of(file: Path) -> tuple[float, float, float, float] | None:
    """Return seconds, CPU seconds, GPU seconds and bytes of a finished job, from its run.json or
    from Snakemake's measurements.
    """
    if not file.exists():
        return None
    facts = json.loads(file.read_text(encoding="utf-8").strip().splitlines()[-1])
    if file.suffix == ".jsonl":
        return float(facts["s"]), float(facts["cpu_time"]), 0.0, float(facts["max_rss"]) * 2**20
    cost = facts.get("cost", {})
    spent = (cost.get(name, 0.0) for name in ("cpu_seconds", "gpu_seconds", "peak_bytes"))
    return (facts["seconds"], *spent)


def measured_report(work: Workplan, results: Path) -> str:
    """Return the cost of the finished jobs by stage, in Markdown."""
    runs = work.plan.runs.values()
    files = {
        stage: sorted((results / "benchmarks" / stage).rglob("*.jsonl"))
        for stage in ("fetch", "clean", "build", f"evaluate/{work.name}", f"publish/{work.name}")
    } | {
        "train": [
            results / f"train/{run.study}/{run.name}/run.json"
            for run in runs
            if run.method != CONTROL
        ]
    }
    rows, every = [], []
    for stage, places in files.items():
        done = [cost for file in places if (cost := cost_of(file))]
        every += done
        rows += [stage_row(stage.split("/")[0], done)] if done else []
    rows.append(stage_row("**all**", every))
    return table(MEASURED, rows)


def stage_row(name: str, costs: list[tuple]) -> list[str]:
    seconds, cpu, gpu, memory = zip(*costs) if costs else [(0,)] * 4
    hours = (f"{sum(spent) / 3600:,.2f}" for spent in (cpu, gpu))
    return [
        name,
        f"{len(costs):,}",
        f"{sum(seconds) / 60:,.1f}",
        *hours,
        f"{max(memory) / 1e9:.2f}",
    ]


def main(given: argparse.Namespace) -> None:
    config: dict = {}
    for file in given.configfile:
        config = laid_over(config, read_yaml(file))
    work = Workplan(config | dict(value.partition("=")[::2] for value in given.config), ROOT)
    print(f"## What the study {work.name} costs\n\n{measured_report(work, given.results)}\n")
    print(counted_report(work, given.rate))


if __name__ == "__main__":
    options = parser(__doc__)
    as_snakemake = {"nargs": "*", "default": [], "help": "as Snakemake takes them"}
    options.add_argument("--configfile", type=Path, metavar="FILE", **as_snakemake)
    options.add_argument("--config", metavar="KEY=VALUE", **as_snakemake)
    options.add_argument("--results", type=Path, default=Path("results"))
    options.add_argument("--rate", type=number(0.001, 1e6), help="gigaFLOP/s of a core")
    execute(main, options.parse_args())
