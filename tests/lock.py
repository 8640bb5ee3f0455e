"""Write resources/code.lock (`make lock`): the digest of each file that a program imports, and the
version of each program (scripts/running/code_lock.py).

The pinned study (tests/pinned.py) says what each program makes of small corpora. A version stays if
that is unchanged: then moving, splitting and renaming rerun nothing. Otherwise it rises by one.
Without a pinned result, any change of a program's files raises its version.

    python -m tests.lock
"""

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

from scripts.data.files import whole
from scripts.data.studies import read_figures, read_studies
from scripts.running.code_lock import (
    LOCK,
    bytes_digest,
    digest_of_code,
    files_of,
    name_of,
    read_lock,
)
from tests.conftest import ROOT
from tests.pinned import Pinned, results

PARADIGM, PROGRAM = re.compile(r"^class Paradigm\b", re.M), re.compile("__main__")
TOLERANCE = 1e-4  # of scores, since processors differ
UNPINNED = """# Without a pinned result: what they make is made again in seconds, and no record depends on it.
# Each change of their files raises the version."""
HEAD = "# Written by `make lock`, nobody by hand: see scripts/running/code_lock.py.\n"


def with_text(pattern: str, text: re.Pattern) -> list[str]:
    """Return the names of the files of scripts/ whose code has a text."""
    files = sorted((ROOT / "scripts").glob(pattern))
    return [file.stem for file in files if text.search(file.read_text(encoding="utf-8"))]


def pinned_programs() -> list[str]:
    """Return the programs that the pinned study runs."""
    found = ["fetch/model", "text/temporal_spans", "measure/collect"]
    found += [f"clean/{name}" for name in with_text("clean/*.py", PROGRAM)]
    found += [f"train/{name}" for name in with_text("train/paradigms/*.py", PARADIGM)]
    found += [f"train/{name}" for name in ("control", "left_out", "answer", "echo")]
    found += [f"train/asking/{name}" for name in ("echo", "local_model", "server")]
    stages = ("build", "evaluate", "train/search")
    return found + [f"{stage}/{study}" for stage in stages for study in read_studies()]


def drawing_programs() -> list[str]:
    found = ["publish/items", "publish/leaderboard", "publish/site", "train/recorded"]
    found += ["audit/audit"]
    return found + [name_of(item["program"]) for item in read_figures(read_studies())]


def programs() -> list[str]:
    return sorted({*pinned_programs(), *drawing_programs()})


def files_today() -> dict[str, str]:
    """Return the digests of each file of a program: of its code and of its bytes."""
    found = {}
    for file in sorted({file for program in programs() for file in files_of(program)}):
        content = (ROOT / file).read_bytes()
        found[file] = f"{digest_of_code(content.decode('utf-8'))} {bytes_digest(content)}"
    return found


def study_today() -> str:
    """Return a digest of the files that make the pinned study."""
    files = [ROOT / "tests/pinned.py", ROOT / "tests/pinned.yaml"]
    files += sorted((ROOT / "resources/samples").iterdir())
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def same(first: object, second: object) -> bool:
    """Return whether two pinned results are the same."""
    if not isinstance(first, list) or not isinstance(second, list):
        return first == second
    pairs = zip(first, second)
    return len(first) == len(second) and all(abs(one - other) <= TOLERANCE for one, other in pairs)


def changed_files(files: dict[str, str], locked: dict[str, str]) -> set[str]:
    return {file for file, digest in files.items() if locked.get(file, "")[:12] != digest[:12]}


def with_version(program: str, entry: dict, pin: object, changed: set[str]) -> tuple[dict, str]:
    """Return the entry of a program with its version, and a sentence about it; empty if nothing
    changed.
    """
    edited = [file for file in files_of(program) if file in changed]
    result = {"pinned": pin} if pin is not None else {}
    if not entry:
        return {"version": 1} | result, f"{program}: version 1, a new program"
    version = {"version": entry["version"]}
    kept = version | result | ({"was": entry["was"]} if "was" in entry else {})
    if not edited:
        said = "its files are as before, and its result is another one (a library, a processor)"
        return kept, "" if same(pin, entry.get("pinned")) else f"{program}: {said}"
    if pin is not None and same(pin, entry.get("pinned")):
        return kept | {"pinned": entry["pinned"]}, f"{program}: version {entry['version']} stays"
    version["version"] += 1
    why = "another result" if pin is not None else "not pinned"
    return version | result, f"{program}: version {version['version']} ({why})"


def text_of(study: str, files: dict[str, str], entries: dict[str, dict]) -> str:
    """Return the lock as TOML: a line a file, and a line a program."""

    def lines(is_pinned: bool) -> list[str]:
        return [
            f'"{name}" = {{ {", ".join(f"{key} = {json.dumps(value)}" for key, value in entry.items())} }}'
            for name, entry in sorted(entries.items())
            if ("pinned" in entry) == is_pinned
        ]

    return "\n".join(
        [
            f'{HEAD}study = "{study}"  # a digest of the pinned study\n',
            "[files]  # the digests of code and of bytes",
            *(f'"{file}" = "{digests}"' for file, digests in files.items()),
            "\n[programs]  # was: the same code before the lock",
            *lines(True),
            UNPINNED,
            *lines(False),
            "",
        ]
    )


def pins_today(lock: dict, study: str, changed: set[str]) -> Pinned:
    """Return the pinned results: those of the lock if nothing changed."""
    if changed and lock["study"] != study:
        sys.exit(
            f"error: the pinned study changed, and so did {min(changed)}: then no result proves "
            "anything; lock one of the two changes before the other"
        )
    if not changed and lock["study"] == study:
        return {name: one["pinned"] for name, one in lock["programs"].items() if "pinned" in one}
    with tempfile.TemporaryDirectory() as folder:
        return results(Path(folder))


def main() -> None:
    lock, files, study = read_lock(), files_today(), study_today()
    changed = changed_files(files, lock["files"])
    pins = pins_today(lock, study, changed)
    entries: dict[str, dict] = {}
    said = [
        f"{program}: has no result; add a run of it to tests/pinned.yaml, then lock again"
        for program in pinned_programs()
        if program not in pins
    ]
    for program in programs():
        before, pin = lock["programs"].get(program, {}), pins.get(program)
        entries[program], sentence = with_version(program, before, pin, changed)
        said += [sentence] * bool(sentence)
    with whole(ROOT / LOCK) as place:
        place.write_text(text_of(study, files, entries), encoding="utf-8")
    print(*said, f"{LOCK}: {len(files)} files, {len(entries)} programs", sep="\n")


if __name__ == "__main__":
    main()
