"""Servers that cut, stall, lie and never end, for the programs that fetch and ask: cases of
tests/fuzz.py. A fetch must take exactly the server's content, or refuse it.
"""

import contextlib
import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from unittest import mock

from huggingface_hub import constants

from scripts.fetch import web
from scripts.train.asking import server as asking
from scripts.train.run import LOCKS
from tests.fetch.fetch_sources import BODY, OTHER, serving_files, sha256, zipped
from tests.fuzz import Outcome, Target, called, run_case
from tests.fuzz_targets_made import as_json
from tests.fuzz_targets_models import SCRATCH, WEIGHTS
from tests.train.api_server import teaching
from tests.train.test_asking import KEY, ODD, ONE, arguments, choice, right_one

# The steps of a server in tests/fetch/fetch_sources.py; "" is an honest answer.
STEPS = [
    *("", "", "", "cut", "no ranges", "no conditions", "no version", "no length", "busy"),
    *("no length cut", "no ranges cut", "no version cut", "wait 0", "wait 3600", "wait soon"),
    *("redirect file:///etc/passwd", "redirect data:,x", "redirect /captions.json", "bomb"),
    *("length 1000", "length 700000", "length 1000000000000", "length -1", "length x"),
    *("endless", "endless headers", "endless redirect", "silent", "stall"),
    *("drip", "drip chunk", "drip headers"),
]
# Small limits in place of minutes and gigabytes.
LIMITS = {"UNDECLARED": 1_000_000, "HEADERS": 0.3, "WINDOW": 0.3, "TIMEOUT": (1, 0.2), "BACKOFF": 0}
ARCHIVE = zipped(train=BODY, val=OTHER).getvalue()
HUB = "/huggingface.co/me/mine/resolve/main/"
SERVED = {"/captions.json": BODY, "/captions.zip": ARCHIVE} | {
    f"{HUB}{name}": content for name, content in (SCRATCH | {"model.safetensors": WEIGHTS}).items()
}


def facts_of(content: bytes, rng: random.Random, known: bool = False) -> dict:
    """Draw whether an entry declares the hash and the size of a file; known: it always does."""
    return {
        "sha256": sha256(content) if known or rng.random() < 0.5 else None,
        "bytes": len(content) if known or rng.random() < 0.5 else None,
    }


def corpus(url: str, rng: random.Random) -> tuple[Target, dict[str, bytes]]:
    """Make a corpus to fetch; return its target and the content of its files."""
    urls = [f"{url}/captions.json"] * rng.choice([1, 2])
    download, wanted = {"urls": urls, "file": "a"} | facts_of(BODY, rng), {"a": BODY}
    if rng.random() < 0.3:
        wanted = {"train": BODY, "val": OTHER}
        members = {name: facts_of(content, rng, known=True) for name, content in wanted.items()}
        download = {"urls": [f"{url}/captions.zip"], "members": members}
    files = {"sources.yaml": as_json({"corpus": {"downloads": [download]}})}
    given = "--source corpus --sources {in}/sources.yaml --output {out} --partial {in}/partial"
    target = Target("scripts.fetch.source", files, given.split(), tuple(wanted))
    known = download.get("sha256") or download.get("bytes") or "members" in download
    return target, wanted if known else {}  # if the server gives no length, it may cut its answer


def model(url: str, rng: random.Random) -> tuple[Target, dict[str, bytes]]:
    """Make a model of a mirror, to fetch it or to read its facts."""
    entry = {"hub": "me/mine", "revision": "main", "licence": "MIT", "title": "Mine"}
    given = "--model m --models {in}/models.yaml --output {out}"
    files, wanted = {"models.yaml": as_json({"m": entry})}, SCRATCH | {"model.safetensors": WEIGHTS}
    if rng.random() < 0.5:
        more = f"--partial {{in}}/partial --mirror {url}".split()
        target = Target("scripts.fetch.model", files, [*given.split(), *more], tuple(wanted))
        return target, wanted
    more = f"/m.json --root {{in}} --fetched {{in}}/fetched --mirror {url}"
    target = Target("scripts.fetch.facts", files, f"{given}{more}".split(), ("m.json",))
    return target, {}


def attempt_server(seed: int, number: int, folder: Path) -> Outcome:
    """Fetch from a server that first answers by a few drawn steps, then honestly."""
    rng = random.Random(f"server {seed} {number}")
    shutil.rmtree(folder, ignore_errors=True)
    with (
        contextlib.contextmanager(serving_files)() as server,
        mock.patch.multiple(web, **LIMITS),
        mock.patch.object(constants, "HF_HUB_OFFLINE", True),  # the hub is not one of our servers
    ):
        server.files = SERVED
        steps = rng.choice([1, 2, 4, 50])
        server.script = [rng.choice(STEPS)] * steps if steps > 9 else rng.choices(STEPS, k=steps)
        steps_said = json.dumps(server.script[:4])
        target, wanted = rng.choice([corpus, model])(server.url, rng)
        places = ("127.0.0.1", "config.json", "model.safetensors", "tokenizer.json")
        target = replace(target, places=places)
        outcome = run_case(target, target.files, target.arguments, folder)
        if not outcome.problem and outcome.seconds > 100:
            outcome.problem = f"hang: {outcome.seconds:.0f} s"
    found = {name: folder / "work/out" / name for name in wanted}
    if outcome.code == 0 and not outcome.problem:
        if other := [name for name, file in found.items() if file.read_bytes() != wanted[name]]:
            outcome.problem = f"wrong: {other[0]} is not what the server has"
    outcome.equal = bool(wanted)
    if outcome.problem:
        outcome.problem += f"; {target.module} before {steps_said}"
    return outcome


# Answers of a server of models: odd ones, and those that quote the key.
ANSWERS = [
    *ODD,
    *(choice(text) for text in (KEY, f"Bearer {KEY}\n", f"{KEY[:9]}\u200b{KEY[9:]}")),
    *((status, {}, json.dumps({"error": {"message": KEY}}).encode()) for status in (400, 401, 500)),
    (200, {}, "".join(f"\\u{ord(sign):04x}" for sign in KEY).encode()),
]


def damaged_answer(rng: random.Random) -> tuple:
    content = bytearray(json.dumps({"choices": [choice(f"A {KEY}")]}).encode())
    for _ in range(rng.choice([0, 1, 5])):
        content[rng.randrange(len(content))] = rng.randrange(256)
    return rng.choice([200, 200, 400, 403, 429, 503]), {}, bytes(content[: rng.choice([None, 40])])


def attempt_api(seed: int, number: int, folder: Path) -> Outcome:
    """Ask a server that writes odd answers, and ask again when it is honest: what was kept must be
    readable. The key stands in no message and no file.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    limits = {"TRIES": 2, "BACKOFF": 0.01, "LONGEST_WAIT": 0.1, "AT_THE_END": 1}
    with (
        teaching() as teacher,
        mock.patch.multiple(asking, **limits),
        mock.patch.dict("os.environ", KEY_OF_TESTS=KEY),
    ):

        def odd(question: str, count: int):
            rng = random.Random(f"api {seed} {number} {question} {count}")
            drawn = rng.choice([*ANSWERS, damaged_answer(rng)])
            return drawn if rng.random() < 0.3 else right_one(question, count)

        api = {"name": "teacher", "api": teacher.address}
        more = {"api": api, "key": "KEY_OF_TESTS", "output": folder / "out"}
        said = ""
        for reply in (odd, right_one):
            teacher.reply = reply
            LOCKS.clear()  # a program releases its lock when it ends
            code, told, problem = called(
                "scripts.train.asking.ask", arguments(folder, ONE, **more), b""
            )
            said += told
            if problem:
                break
    outcome = Outcome(code, 0, said, problem)
    leaks = [
        file for file in folder.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()
    ]
    if not problem and (code or leaks or KEY in said):
        outcome.problem = f"wrong: exit {code}, key in {leaks or 'a message'}: {said[-300:]}"
    outcome.equal = True
    return outcome
