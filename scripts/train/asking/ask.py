"""Ask a model in words: it reads lettered options and writes its answer. A rule reads the answer.

The model is on this machine, or behind an API (--api). A model behind an API may also be asked how
likely it finds the texts of a wording (likelihoods.py). Each distinct question is asked one time.
Each answer is kept in work/answers.jsonl when it comes, so a killed run asks only the remaining
questions. Where an answer cannot be read (letters.py), was cut or refused, or its question was too
long, the likeliest letter of a model on this machine counts; of a model behind an API the answer
counts as wrong. run.json has the shares of these answers (`unread`, `likeliest`, `cut`, `refused`,
`too_long`), and a warning shows an example. With `shots`, solved examples of the training split are
written before each question (shots.py).

Reads  <data>/<split>.parquet, <model>/ unless --api is given
Writes <output>/predictions.parquet (1 for the named label and 0 for others; NaN where the answer
       cannot be read), answers.parquet (each question with its answer, how it
       ended, and the letters by likelihood), history.parquet (empty),
       run.json
"""

import argparse
import json
import platform
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa

from scripts.data.tables import HISTORY, PREDICTIONS, content_digest, write_table
from scripts.plan.models import ECHO
from scripts.plan.probe import ANSWER
from scripts.running.devices import processor
from scripts.running.program import UserError, cut, log
from scripts.train.asking.echo import EchoServer
from scripts.train.asking.answer import CUT, REFUSED, SHARES, TOO_LONG, WHOLE, Answer, Reading
from scripts.train.asking.kept_answers import Kept, Model, echoed
from scripts.train.asking.questions import questions_of, readings_of, scores_of, shares_of
from scripts.train.asking.said import written
from scripts.train.asking.server import FEWER, Server, body_of, stopping
from scripts.train.asking.shots import right_options, shots_of, turn
from scripts.train.asking.thoughts import without_thought
from scripts.train.early_end import blames_files
from scripts.train.given_run import GivenRun
from scripts.train.launch import devices, set_environment
from scripts.train.quantised import check_quantised, quantised_fact
from scripts.train.work import (
    NO_STEPS,
    code_of,
    columns_of,
    facts_of_job,
    files_of,
    finish,
    finished,
    hand_out,
    hashes_of,
    made_anew,
    model_view,
    predictions_on,
    reads_training,
    with_digest,
    work_of,
    write_json,
)

ANSWERS = pa.schema(  # answer, end and letters: of Answer
    [(name, pa.string()) for name in ("split", "question", "answer", "end", "letters")]
)
LIMIT, THOUGHT = "limit", "thought"  # why an answer was cut
NEAR = 4  # tokens that a server may count less than it was asked for, and still had
ASKED = ("columns", "labels", "inputs", "prompt")  # keys of the method


def describe(run: GivenRun, model: Path | None) -> dict:
    """The job: everything that decides the questions and how an answer is read, and the digest."""
    method, training = run.method, run.settings["training"]
    echoes = echoed(method["prompt"])
    reads_all = reads_training(method["prompt"], training) if echoes else training.get("shots", 0)
    job = {
        "run": run.name,
        "settings": run.settings,
        "splits": run.splits,
        **{key: method[key] for key in ASKED},
        "learns": False,
        "makes_model": False,
        "data": {
            split: content_digest(run.data / f"{split}.parquet", columns_of(method))
            for split in run.splits[0 if reads_all else 1 :]
        },
        "model_files": hashes_of(model) if model else {},
        "api": run.api,
        "code": code_of(ECHO if echoes else ANSWER),
    }
    return with_digest(job)


def measure(
    job: dict, tables: dict[str, pa.Table], model: Model, kept: Kept
) -> tuple[pa.Table, pa.Table, dict[str, dict]]:
    """Ask about all examples: predictions, the answers, and the shares of unread ones by split.
    Raises UserError if every question is too long for the model.
    """
    asked = {
        split: questions_of(table, job["prompt"], job["inputs"]) for split, table in tables.items()
    }
    every = [text for questions in asked.values() for text in questions.text]
    say_cost(job, kept, every)
    kept.complete(model, every)
    ended = kept.answers(every)
    if ended and all(answer.end == TOO_LONG for answer in ended):
        raise UserError(
            f"{job['run']}: every question is too long for the model ({ended[0].text}); {FEWER}"
        )
    predictions, answers, shares = [], [], {}
    for split, questions in asked.items():
        said = kept.answers(questions.text)
        thought_end = job["settings"]["training"].get("thought_end")
        readings = readings_of(questions, said, thought_end)
        scores = scores_of(questions, readings, job["labels"])
        shares[split] = shares_of(questions, readings)
        warn(job, split, said, readings)
        table = tables[split]
        predictions.append(predictions_on(split, table, scores, job["run"], "direct"))
        columns = [[split] * len(said), questions.text, *zip(*(one[:3] for one in said))]
        answers.append(pa.table(columns, schema=ANSWERS))
    found: dict[str, dict] = {
        name: {split: of[name] for split, of in shares.items()} for name in SHARES
    }
    if any(answer.usage for answer in ended):
        found["usage"] = {
            split: tokens_of(kept.answers(questions.text)) for split, questions in asked.items()
        }
    return pa.concat_tables(predictions), pa.concat_tables(answers), found


def tokens_of(answers: list[Answer]) -> dict[str, int]:
    """The sums of the counts of tokens that a server gives."""
    counts: Counter[str] = Counter()
    for answer in answers:
        counts.update(json.loads(answer.usage or "{}"))
    return dict(counts)


def say_cost(job: dict, kept: Kept, questions: list[str]) -> None:
    """Log how much will be asked, before it is asked."""
    left = [one for one in dict.fromkeys(questions) if kept.key(one) not in kept.found]
    most = len(left) * job["settings"]["training"]["answer_tokens"]
    log.info(
        "%s: %d questions to ask, %d answers are kept; about %d tokens to read (4 characters each) "
        "and at most %d to write",
        job["run"],
        len(left),
        len(kept.found),
        (sum(map(len, left)) + len(left) * sum(len(one["content"]) for one in kept.shots)) // 4,
        most,
    )


def system_turn(job: dict) -> list[dict[str, str]]:
    """The turn of the entry's `system`, which stands before all others."""
    system = job["settings"]["training"].get("system")
    return [turn("system", system)] if system else []


def draw_shots(job: dict, tables: dict[str, pa.Table], data: Path) -> list[dict[str, str]]:
    """The turns that stand before each question."""
    from scripts.train.splits import read_split  # late: it imports torch

    if not (count := job["settings"]["training"].get("shots", 0)):
        return []
    learned, prompt = read_split(data, job["splits"][0], job), job["prompt"]
    turns = shots_of(learned, prompt, job["labels"], job["inputs"], count, job["settings"]["seed"])
    for split, table in tables.items():
        if not prompt["answers"] and not right_options(learned) & right_options(table):
            log.warning(
                "warning: %s: shots: no question of %s has as many right options as one of %s, so "
                "the examples mislead; use the method answer",
                job["run"],
                split,
                job["splits"][0],
            )
    return turns


def most_tokens(job: dict) -> int:
    """How many tokens an answer may have."""
    training = job["settings"]["training"]
    body = body_of(job["api"], "", training) if job["api"] else {}
    found = body.get("max_completion_tokens", body.get("max_tokens"))
    return found if isinstance(found, int) else training["answer_tokens"]


def why_unread(answer: Answer, reading: Reading, tokens: int, thought_end: str | None) -> str:
    """The end of an answer, or LIMIT or THOUGHT for one that was cut."""
    if reading.end != CUT:
        return reading.end
    usage = json.loads(answer.usage or "{}")
    is_early = "completion_tokens" in usage and written(usage) < tokens - NEAR
    if answer.end == CUT and is_early and (written(usage) or not answer.text):
        return LIMIT
    return THOUGHT if without_thought(answer.text, thought_end) is None else CUT


def warn(job: dict, split: str, said: list[Answer], readings: list[Reading]) -> None:
    """Log how many answers cannot be read, why, and what to do, with an example of each reason."""
    tokens, thought_end = most_tokens(job), job["settings"]["training"].get("thought_end")
    counts = "count by their likeliest letter" if said[0].letters else "count as wrong"
    more = "raise `answer_tokens` (or the tokens in `request` of the model's entry)"
    examples: dict[str, list[str]] = {}
    for answer, reading in zip(said, readings):
        if reading.named is None or reading.ranked:
            why = why_unread(answer, reading, tokens, thought_end)
            examples.setdefault(why, []).append(answer.text)
    for why, what in (
        (WHOLE, f"of the answers cannot be read and {counts}"),
        (CUT, f"of the answers were cut after {tokens} tokens and {counts}; {more}"),
        (
            LIMIT,
            f"of the answers were cut before {tokens} tokens by a limit of the server and "
            f"{counts}; raise the server's context window, or give fewer `shots`",
        ),
        (
            THOUGHT,
            f"of the answers are only a thought and {counts}; {more}, or turn thinking off "
            "(`chat_template_kwargs`, or `reasoning_effort` in `request`)",
        ),
        (REFUSED, "of the questions were refused and count as wrong"),
        (TOO_LONG, f"of the questions are too long for the model and count as wrong; {FEWER}"),
    ):
        if found := examples.get(why):
            log.warning(
                "warning: %s: %s: %.1f %% %s; one is %r",
                job["run"],
                split,
                100 * len(found) / len(said),
                what,
                cut(found[0], 200),
            )
    broken = sum("\ufffd" in answer.text for answer in said) if job["api"] else 0
    if broken:
        log.warning(
            "warning: %s: %s: %d answers hold bytes that are no text, as U+FFFD",
            job["run"],
            split,
            broken,
        )


def facts_of(job: dict, model_facts: dict, found: dict, seconds: float, threads: int) -> dict:
    """The facts for run.json; found: facts that only this run can know."""
    shots = job["settings"]["training"].get("shots", 0)
    return {
        **facts_of_job(job),
        **NO_STEPS,
        **({"api": job["api"]} if job["api"] else {}),
        "labels": job["labels"],
        "label_columns": list(range(len(job["labels"]))),
        "kind": model_facts["kind"],
        "parameters": model_facts["parameters"],
        "trained_parameters": 0,
        "chat_template": model_facts["chat_template"],
        "shots": shots,
        "train_examples": shots,
        "truncated": dict.fromkeys(job["splits"][1:], 0),
        "seconds": round(seconds, 1),
        "hardware": {
            "device": model_facts.get("device", processor()),
            "processes": 1,
            "threads": threads,
            "precision": model_facts["precision"],
            "deterministic": not job["api"],
        },
        "versions": {"python": platform.python_version()} | model_facts.get("versions", {}),
        **{key: model_facts[key] for key in ("quantised",) if key in model_facts},
    } | found


def write(
    job: dict, predictions: pa.Table, answers: pa.Table | None, facts: dict, output: Path
) -> None:
    """Write the result into the work folder."""
    result = output / "work/result"
    result.mkdir(parents=True, exist_ok=True)
    provenance = {"run": job["run"], "digest": job["digest"], "settings": job["settings"]}
    write_table(predictions, result / "predictions.parquet", PREDICTIONS, provenance)
    write_table(HISTORY.empty_table(), result / "history.parquet", HISTORY, provenance)
    if answers is not None:
        write_table(answers, output / "answers.parquet", ANSWERS, provenance)
    write_json(facts, result / "run.json")


def model_of(
    run: GivenRun, folder: Path | None, shots: list[dict[str, str]], given: argparse.Namespace
) -> tuple[Model, dict]:
    """The model that answers, and its facts for run.json."""
    training = run.settings["training"]
    if folder is None:
        echoes = echoed(run.method["prompt"])
        known = {
            "kind": "api",
            "parameters": 0,
            "chat_template": not echoes,
            "precision": "unknown",
        }
        if echoes:
            return EchoServer(run.api, given.key), known
        return Server(run.api, given.key, training, shots), known
    gpus = devices(given.device, 1, given.runs_per_gpu)
    check_quantised(folder, gpus, training, learns=False)
    set_environment(gpus, given.threads)
    from scripts.train.asking.local_model import LocalModel  # late: it reads the environment
    from scripts.train.hardware import versions
    from scripts.train.paradigms.paradigm import loaded

    model = loaded(LocalModel, folder, training, given.threads)
    model.shots = shots
    more = {"versions": versions()} | quantised_fact(folder)
    return model, model.facts() | more


def ask_anew(run: GivenRun, job: dict, folder: Path | None, given: argparse.Namespace) -> None:
    """Ask, and write the result."""
    from scripts.train.splits import read_split, read_tables  # late: both import torch

    began, echoes = time.time(), echoed(job["prompt"])
    if echoes:
        tables = read_tables(job, run.data)
    else:
        tables = {split: read_split(run.data, split, job) for split in run.splits[1:]}
    shots = [] if echoes else [*system_turn(job), *draw_shots(job, tables, run.data)]
    model, model_facts = model_of(run, folder, shots, given)
    kept, answers = Kept(run.folder / "work/answers.jsonl", job, shots), None
    if echoes:
        from scripts.train.asking.likelihoods import measure as measure_echoes  # late: torch

        predictions, found = measure_echoes(job, tables, model, kept)
    else:
        predictions, answers, found = measure(job, tables, model, kept)
    facts = facts_of(job, model_facts, found, time.time() - began, given.threads)
    write(job, predictions, answers, facts, run.folder)


def ask(run: GivenRun, given: argparse.Namespace) -> None:
    """Ask a model, or hand out what it answered. given: the options of scripts/train/runs.py."""
    if bool(run.api) == bool(run.model):
        raise UserError(f"{run.name}: give one of model and api")
    if run.model and echoed(run.method["prompt"]):
        raise UserError(f"{run.name}: a model on this machine has the paradigm likelihood; name it")
    with work_of(run.folder, [run.data, *([run.model] if run.model else [])]) as work:
        folder = model_view(run.model, files_of(run.model), work) if run.model else None
        job = describe(run, folder)
        if finished(work, job):
            return hand_out(work, job, run.folder, "asked the same of the same model")
        # a server may answer at the next attempt
        with made_anew(work, job, given.attempt, remembers=not run.api):
            with blames_files(folder) if folder else stopping():
                ask_anew(run, job, folder, given)
        finish(work, job, run.folder)
