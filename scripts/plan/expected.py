"""What the runs of probed models will take, told before they start.

Sizes are those of resources/sizes.yaml; where it has none, they are not known before the data are
built. Hours are a guess for CPUs: rates differ by a factor of three between machines.
"""

import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from scripts.data.declared import method_of_blind
from scripts.data.yaml_files import read_yaml
from scripts.plan.model_facts import cached_facts
from scripts.plan.models import UNTRAINED
from scripts.plan.plan import Run
from scripts.plan.probe import ANSWER, WORDED
from scripts.plan.training import prompts_under
from scripts.plan.workplan import Workplan
from scripts.running.project_version import ROOT
from scripts.running.program import UserError, plural

SIZES = ROOT / "resources/sizes.yaml"
# operations that a core does in a second of training, measured on runs of MiniLM on record, with
# embeddings counted as weights
RATE = 100e9
OF_PROMPT = 20  # tokens that a wording adds to an example, about


@dataclass(frozen=True)
class Size:
    """The numbers of training, held-out and evaluation rows, the tokens of an example, also for the
    blind model, and the share of right candidates.
    """

    learned: float
    held_out: float
    scored: float
    tokens: float
    blind: float
    right: float
    item: float = 1.0  # rows of a question or an instance


@cache
def stated() -> dict:
    """Read sizes.yaml once, because it is needed hundreds of times."""
    return read_yaml(SIZES)


def stated_size(study: str, source: str, data: dict, splits: int) -> Size:
    """Return the size that sizes.yaml states; splits: the number of evaluation splits. Raises
    UserError if the file states none.
    """
    for entry in stated()["sizes"]:
        fits = (entry["study"], entry["source"]) == (study, source) and all(
            data.get(name) == value for name, value in entry.get("data", {}).items()
        )
        if fits:
            limit, most = data.get("limit"), data.get("train_limit") or math.inf
            scored = limit * entry.get("item", 1) * splits if limit else math.inf
            return Size(
                min(entry["learned"], most),
                min(entry.get("held_out", 0), most),
                min(entry["scored"], scored),
                entry["tokens"],
                entry.get("blind", entry["tokens"]),
                entry.get("right", 1.0),
                entry.get("item", 1),
            )
    raise UserError(
        f"{study}: the size of {source} is unknown; build it (`snakemake build`), or state its "
        "size in resources/sizes.yaml"
    )


@dataclass(frozen=True)
class Expected:
    """What the runs of a method of a model take: examples to learn from over all epochs, questions
    or texts to ask about, tokens to read and, at most, to write. forward: the tokens of forward
    passes that take as long. unknown: runs of unknown size.
    """

    runs: int = 0
    learned: float = 0
    asked: float = 0
    read: float = 0
    written: float = 0
    forward: float = 0
    unknown: int = 0

    def __add__(self, other: "Expected") -> "Expected":
        both = zip(vars(self).values(), vars(other).values())
        return Expected(*(one + two for one, two in both))


def of_run(run: Run, how: dict, size: Size, prompt: dict | None) -> Expected:
    """Return what a run takes. how: its method; prompt: its wording."""
    training, scored = run.training, size.scored
    if how["learns"]:
        share = 0 if size.held_out else training.get("held_out_fraction", 0)
        learned = size.learned * (1 - share) * training["epochs"]
        tokens = min(size.tokens, training["max_length"])
        read = (learned + scored) * tokens
        return Expected(1, learned=learned, read=read, forward=read + 2 * learned * tokens)
    if how.get("paradigm") == ANSWER and prompt:
        together = 1 if prompt["answers"] else size.item
        questions = scored / together
        read = questions * (OF_PROMPT + size.tokens * (1 + (together - 1) / 4))
        written = questions * training["answer_tokens"]
        return Expected(1, asked=questions, read=read, written=written, forward=read + written)
    texts = scored
    if prompt:
        threshold = prompt["threshold"] or "0"  # it is chosen on training questions
        limit = size.learned if threshold == "train" else int(threshold) * size.item
        texts += min(size.learned, limit)
        texts *= len(prompt["texts"]) * (2 if prompt["domain"] else 1)
    read = texts * (size.tokens + OF_PROMPT)
    return Expected(1, asked=texts, read=read, forward=read)


def expected(work: Workplan, run: Run) -> Expected:
    """Return what a run takes."""
    methods, source, data = work.studies[run.study]["methods"], run.dataset.source, run.dataset.data
    how, seeing = methods[run.method], method_of_blind(run.method)
    try:
        size = stated_size(run.study, source, data, len(work.evaluated_splits(source)))
    except UserError:
        return Expected(1, unknown=1)
    if seeing and how["inputs"] != methods[seeing]["inputs"]:
        size = replace(size, tokens=size.blind)
    if how.get("paradigm") not in WORDED:
        return of_run(run, how, size, None)
    prompts = prompts_under(work, data, run.study, run.method)
    return of_run(run, how, size, prompts[run.wording or ""])


def in_words(key: tuple[str, str], expected: Expected, learns: bool, seconds: float) -> str:
    """Return what the runs of a method take, as a line. seconds: of the CPUs for a token's forward
    pass; 0: unknown, or not on CPUs.
    """
    what = [plural(expected.runs, "run")]
    if learns and expected.learned:
        what = [f"{plural(expected.runs, 'training')} on {expected.learned:,.0f} examples"]
    if expected.asked:
        what.append(f"{expected.asked:,.0f} questions or texts")
    if expected.read:
        what.append(f"{expected.read:,.0f} tokens to read")
    if expected.written:
        what.append(f"at most {expected.written:,.0f} to write")
    if expected.unknown:
        what.append(f"{expected.unknown} of a size that is not known before its data are built")
    if seconds and expected.forward:
        hours = seconds * expected.forward / 3600
        time = f"{hours:.1f} h" if hours >= 1 else f"{max(1, hours * 60):.0f} min"
        what.append(f"{time} on these cores (a guess)")
    return f"  {key[0]}, {key[1]}: {', '.join(what)}"


def weights_of(work: Workplan, model: str) -> float:
    """Return how many weights a model has; 0 if that is not known. A model without pretraining has
    those of its base.
    """
    name = work.models[model].get(UNTRAINED, model)
    facts = cached_facts(name, work.models[name], work.root) or {}
    return facts.get("parameters") or (facts.get("bytes") or 0) / 4


def cost_of_probe(work: Workplan, cpus: int) -> list[str]:
    """Return what the runs of probed models will take, a line for each model and method; no line
    for runs that are finished or recorded, and for controls, which take moments. cpus: the cores, 0
    for a GPU.
    """
    found: dict[tuple[str, str], Expected] = {}
    learning = set()
    for run in work.runs.values():
        is_left = run.model in work.probed and run.name not in work.recorded | work.controls
        if not is_left or Path(run.folder, "work/finished.json").exists():
            continue
        key = run.model, run.method
        found[key] = found.get(key, Expected()) + expected(work, run)
        if work.studies[run.study]["methods"][run.method]["learns"]:
            learning.add(key)
    weights = {name: weights_of(work, name) for name in work.probed}
    lines = [
        in_words(key, one, key in learning, 2 * weights[key[0]] / RATE / cpus if cpus else 0)
        for key, one in found.items()
    ]
    return ["What will be asked and learnt, about:", *lines] if lines else []
