"""What a machine's GPU gives: one command, no network, no weights; prints a table to keep.

Models are built from configuration (BERT-base and -large, RoBERTa-large, T5-base, with the papers' batch sizes), texts are random
words of a corpus's lengths. Measured are agreement and determinism (the same job on CPU and GPU, twice, killed and resumed, on two
devices; each paradigm in strict mode), examples a second of our loop against a plain one (benchmarks/peers.py), the share of the
card's peak and the memory, compiled graphs, scoring, running out of memory, several runs a GPU, and the time of figure 3's grid.
Where a measurement fails its line says so, the others go on, and the exit code is 1.

    python -m benchmarks.gpu --lengths results/build/strided_sop/activitynet/stride-0/train.parquet > gpu.txt
    python -m benchmarks.gpu --tiny            # the same on a CPU, small: shows that it works, measures nothing
    python -m benchmarks.gpu --grid 900        # also runs figure 3's grid through Snakemake, over sample corpora of so many videos
"""

import argparse
import platform
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import torch
import transformers
from accelerate import Accelerator

from benchmarks.gpu_grid import extrapolated, run_grid
from benchmarks.gpu_jobs import Jobs, difference, equal, facts_of, prepare
from benchmarks.gpu_memory import in_halves
from benchmarks.gpu_paradigms import PARADIGMS, same_twice
from benchmarks.peers import MODELS, Ours, Plain, examples_of, rate_of, rates, words_of
from benchmarks.cards import flops_of, peak_of
from scripts.common.devices import processor
from scripts.train.hardware import precision_for, versions

Measurement = tuple[str, Callable[[], str]]  # what is measured, and how


@dataclass
class Settings:
    """On what, and how much."""

    folder: Path
    tiny: bool
    lengths: Path | None
    grid: int | None
    models: list[str]
    examples: int  # of a throughput measurement
    learned: int  # examples of a job
    sharing: tuple[int, ...]  # runs a GPU
    rates: dict = field(default_factory=dict)  # examples a second by model and activity, as found

    @cached_property
    def accelerator(self) -> Accelerator:
        return Accelerator(cpu=not torch.cuda.is_available() or self.tiny)

    @property
    def cuda(self) -> bool:
        return self.accelerator.device.type == "cuda"

    @property
    def device(self) -> str:
        """For a job."""
        return "gpu" if self.cuda else "cpu"

    @property
    def precision(self) -> str:
        return precision_for("auto", not self.cuda)

    @cached_property
    def jobs(self) -> Jobs:
        first, second, _ = words_of(self.lengths, self.learned, generates=False)
        prepare(self.folder, self.learned, self.learned // 4, (first, second), self.tiny)
        return Jobs(self.folder, quick=self.tiny)


# ---- sections

def agreement(settings: Settings) -> Iterator[Measurement]:
    """The same job in several ways."""
    jobs, device, exact = settings.jobs, settings.device, {"dropout": 0.0, "precision": "fp32"}

    def against_cpu() -> str:
        return difference(jobs.run("here", device, exact), jobs.run("cpu", "cpu", exact, threads=2))

    def on_two() -> str:
        if not (jobs.folder / "here/run.json").exists():
            jobs.run("here", device, exact)
        return difference(jobs.folder / "here", jobs.run("two", device, exact, devices=2, threads=2))

    yield f"{'GPU against CPU' if settings.cuda else 'one thread against two'}, fp32, no dropout", against_cpu
    yield "the same job twice", lambda: equal(jobs.run("first", device), jobs.run("second", device))
    yield "killed and resumed", lambda: equal(jobs.run("first", device), jobs.run_killed("killed", device))
    if not settings.cuda or torch.cuda.device_count() > 1:
        yield f"two {'GPUs' if settings.cuda else 'processes'} against one, fp32, no dropout", on_two


def strict(settings: Settings) -> Iterator[Measurement]:
    """Each paradigm twice, every operation deterministic."""
    for name in PARADIGMS:
        yield name, lambda name=name: same_twice(name, settings.folder, settings.accelerator, settings.precision)


def learning(settings: Settings) -> Iterator[Measurement]:
    """Ours against the plain loop, in turn, over the same texts."""
    def measure(name: str) -> str:
        model, accelerator = MODELS[name], settings.accelerator
        examples, _ = examples_of(model, settings.lengths, settings.examples)
        before = torch.cuda.memory_allocated() if settings.cuda else 0
        ours = Ours(model, examples, settings.precision, accelerator)
        memory = ""
        if settings.cuda:
            torch.cuda.reset_peak_memory_stats()
            for _ in range(min(5, ours.steps)):
                ours()
            memory = f", {(torch.cuda.max_memory_allocated() - before) / 2**30:.1f} GiB at most"
        loops = {"ours": ours, "plain": Plain(model, examples, settings.precision, accelerator)}
        found = rates(loops, ours.steps, 1 if settings.tiny else 5, accelerator.device)
        settings.rates[name, "learning"] = found["ours"]
        tokens = examples.lengths.mean() * found["ours"]
        share = peak_of(accelerator.device, 3 * flops_of(ours.paradigm.network, examples), found["ours"])
        return (f"{found['ours']:.0f} examples/s ({tokens:,.0f} tokens/s), plain {found['plain']:.0f}; "
                f"ratio {found['ours'] / found['plain']:.2f}; {share}{memory}")

    for name in settings.models:
        yield f"{name}, batches of {MODELS[name].batch_size}, {settings.precision}", lambda name=name: measure(name)


def compiled(settings: Settings) -> Iterator[Measurement]:
    """training.compile against not, ours both times; an epoch before makes the graphs."""
    def measure(name: str) -> str:
        model = MODELS[name]
        examples, _ = examples_of(model, settings.lengths, settings.examples)
        with torch.compiler.set_stance("force_eager" if settings.tiny else "default"):
            loops = {key: Ours(model, examples, settings.precision, settings.accelerator, compiled=key == "compiled")
                     for key in ("compiled", "not")}
            steps = loops["not"].steps
            found = rates(loops, steps, 1 if settings.tiny else steps, settings.accelerator.device)
        note = " (tiny: no graphs were made)" if settings.tiny else ""
        return f"{found['compiled']:.0f} examples/s, not compiled {found['not']:.0f}; ratio {found['compiled'] / found['not']:.2f}{note}"

    for name in settings.models:
        if not MODELS[name].generates:
            yield name, lambda name=name: measure(name)


def scoring(settings: Settings) -> Iterator[Measurement]:
    """All examples once; ours in fp32."""
    def measure(name: str) -> str:
        model, device = MODELS[name], settings.accelerator.device
        examples, _ = examples_of(model, settings.lengths, settings.examples)
        ours, plain = Ours(model, examples, "fp32", settings.accelerator), Plain(model, examples, "fp32", settings.accelerator)
        rate, other = (rate_of(reader.score, len(examples), device) for reader in (ours, plain))
        settings.rates[name, "scoring"] = rate
        return (f"{rate:.0f} examples/s, plain {other:.0f}; ratio {rate / other:.2f}; "
                f"{peak_of(device, flops_of(ours.paradigm.network, examples), rate)}")

    for name in settings.models:
        yield f"{name}, fp32", lambda name=name: measure(name)


def memory(settings: Settings) -> Iterator[Measurement]:
    """A batch that does not fit."""
    for name in settings.models[:1]:
        yield f"{name}: a batch that does not fit, taken in parts", lambda name=name: in_halves(
            MODELS[name], examples_of(MODELS[name], settings.lengths, MODELS[name].batch_size)[0], settings.accelerator)


def sharing(settings: Settings) -> Iterator[Measurement]:
    """Several runs at a time on one device."""
    def measure(runs: int) -> str:
        outputs = [settings.folder / f"share-{runs}-{number}" for number in range(runs)]
        started = [settings.jobs.start(output, settings.device, {}, seed=10 * runs + number, runs_per_gpu=runs)
                   for number, output in enumerate(outputs)]
        for job, output in zip(started, outputs):
            settings.jobs.wait(job, output)
        facts = [facts_of(output) for output in outputs]
        rate = sum(fact["train_examples"] * fact["epochs"] / max(fact["seconds"], 0.1) for fact in facts)
        return f"{rate:.0f} examples/s in all, evaluation included"

    for runs in settings.sharing:
        yield f"{runs} run(s) at a time", lambda runs=runs: measure(runs)


def grid(settings: Settings) -> Iterator[Measurement]:
    """Figure 3: two corpora, four strides, three seeds."""
    yield "24 runs, from the rates above", lambda: extrapolated(settings.models[0], settings.rates)
    if settings.grid:
        yield (f"24 runs through Snakemake, {settings.grid} videos a corpus",
               lambda: run_grid(settings.folder / "grid", settings.grid, settings.device))


SECTIONS = {"agreement": agreement, "strict": strict, "learning": learning, "compiled": compiled, "scoring": scoring,
            "memory": memory, "sharing": sharing, "grid": grid}


def said(what: str, measure: Callable[[], str]) -> tuple[str, bool]:
    """A line of the table, and whether it was measured."""
    try:
        return f"{what}: {measure()}", True
    except (Exception, SystemExit) as error:  # one that fails must not take the others with it
        print(traceback.format_exc(), file=sys.stderr)
        return f"{what}: FAILED, {type(error).__name__}: {' '.join(str(error).split())[:300]}", False
    finally:
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def main(given: argparse.Namespace) -> int:
    tiny = given.tiny or not torch.cuda.is_available()
    sizes = {"examples": 24, "learned": 256, "sharing": (2,)} if tiny else {
        "examples": given.examples, "learned": 4000, "sharing": (1, 2, 4)}
    models = ["tiny-bert", "tiny-t5"] if tiny else given.models
    folder = Path(tempfile.mkdtemp(prefix="timestride-gpu-"))
    settings = Settings(folder, tiny, given.lengths, given.grid, models, **sizes)
    torch.set_float32_matmul_precision("highest")
    transformers.logging.disable_progress_bar()
    if tiny:
        torch.set_num_threads(1)
    where = torch.cuda.get_device_name() if settings.cuda else processor()
    print(f"{'TINY SIZES, which measure nothing' if tiny else 'timestride'}: {where}, {torch.cuda.device_count()} GPU(s), "
          f"{', '.join(f'{name} {version}' for name, version in versions().items())}, {platform.system()}", flush=True)
    print(f"lengths: {words_of(given.lengths, 10, generates=False)[2]}", flush=True)
    well = True
    for title in given.sections:
        print(f"\n{title}: {' '.join(SECTIONS[title].__doc__.split())}", flush=True)
        try:
            measurements = list(SECTIONS[title](settings))
        except Exception as error:
            print(f"    FAILED, {type(error).__name__}: {error}", flush=True)
            well = False
            continue
        for measurement in measurements:
            line, measured = said(*measurement)
            well &= measured
            print(f"    {line}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    return 0 if well else 1


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--lengths", type=Path, help="Parquet with text_a and text_b, or context and candidate; default: drawn lengths")
    arguments.add_argument("--models", nargs="+", choices=list(MODELS), default=["bert-base", "bert-large", "roberta-large", "t5-base"],
                           help="default: the papers'; the first is that of the grid")
    arguments.add_argument("--examples", type=int, default=6400, help="of each throughput measurement; default: %(default)s")
    arguments.add_argument("--sections", nargs="+", choices=list(SECTIONS), default=list(SECTIONS), help="default: all")
    arguments.add_argument("--grid", type=int, metavar="VIDEOS", help="also run the grid, over sample corpora of so many videos")
    arguments.add_argument("--tiny", action="store_true", help="tiny sizes on the CPU; so without a GPU anyway")
    chosen = arguments.parse_args()
    if chosen.lengths and not chosen.lengths.is_file():
        arguments.error(f"--lengths {chosen.lengths}: no such file")
    sys.exit(main(chosen))
