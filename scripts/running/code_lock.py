"""The identity of code. Snakemake compares it, and a finished run is finished only for its code.

resources/code.lock has the version of each program, and the digest of each file of scripts/ that a
program imports. `make lock` writes it, nobody by hand: it raises a version only if the results of a
pinned study change (tests/lock.py). A program whose files are the lock's is `train/classify@3`. If
a file was edited, it is `train/classify@3+<digits>`, and what the program made is made again.

A program is named by its path in scripts/, as `clean/activitynet`. Those of a study are
build/<study> and evaluate/<study>. Training has a program for each paradigm: train/<paradigm>,
train/control, train/left_out, train/search/<study>, train/answer and train/echo. The files of a
program are its own and all that these import, also inside functions. Files count without comments,
docstrings, formatting and annotations. The digest is the same on each Python from 3.11 on. Standard
library only.
"""

import ast
import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from scripts.running.program import UserError
from scripts.running.project_version import ROOT

LOCK = Path("resources/code.lock")
# Files, and folders, that decide no number. They count in no program.
DECIDES_NOTHING = {
    "scripts/running/": "how a program starts, logs and ends, and where it runs; run.json names it",
    "scripts/__init__.py": "what Ctrl-C prints",
    "scripts/fetch/web.py": "how files are downloaded; their content is compared",
    "scripts/fetch/download.py": "how files are downloaded; their content is compared",
    "scripts/fetch/hub.py": "where a model's files are found; their content is compared",
    "scripts/train/card.py": "the model card of kept weights",
}
# Files that count while their imports do not: else the controls would depend on the training loop.
NOT_FOLLOWED = {"scripts/train/runs.py"}
IMPORT = re.compile(r"^ *from (scripts[\w.]*) import (\([^)]*\)|[^\n#]*)", re.M)
NAME = re.compile(r"(\w+)(?: as \w+)?")
OF_TYPES = ("typing", "collections.abc")  # modules of annotations


# ---- the digest of a file


def _counts(statement: ast.AST) -> bool:
    """Whether a part of a module counts: no docstring, no import for annotations."""
    if isinstance(statement, ast.If):
        return not isinstance(statement.test, ast.Name) or statement.test.id != "TYPE_CHECKING"
    if isinstance(statement, ast.ImportFrom):
        return statement.module not in OF_TYPES
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return not is_text and not isinstance(statement, ast.Pass)


def _write(value: object, parts: list[str], in_class: bool = False) -> None:
    """Append a piece of code as text that is the same on each version of Python. in_class: whether
    it stands in a class, where annotations declare fields.
    """
    if isinstance(value, list):
        parts.append("[")
        for one in value:
            if _counts(one):
                _write(one, parts, in_class)
        parts.append("]")
    elif isinstance(value, ast.Constant):
        constant = value.value  # hexadecimal, because Python refuses long decimal integers
        text = hex(constant) if type(constant) is int else ascii(constant)
        parts.append(f"{type(constant).__name__}:{text};")
    elif isinstance(value, ast.AnnAssign) and not in_class:
        if value.value:
            _write(ast.Assign([value.target], value.value), parts)
    elif isinstance(value, ast.JoinedStr):
        _write_joined(value, parts)
    elif isinstance(value, ast.AST):
        _write_node(value, parts, in_class)
    else:
        parts.append(f"{ascii(value)};")


def _write_joined(text: ast.JoinedStr, parts: list[str]) -> None:
    """Append an f-string. Versions of Python divide its constants differently."""
    parts.append("JoinedStr(")
    constant = ""
    for piece in text.values:
        if isinstance(piece, ast.Constant):
            constant += piece.value
            continue
        parts.append(ascii(constant))
        constant = ""
        _write(piece, parts)
    parts.append(f"{ascii(constant)})")


def _write_node(node: ast.AST, parts: list[str], in_class: bool) -> None:
    if not isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.AnnAssign)):
        in_class = isinstance(node, ast.ClassDef)
    parts.append(f"{type(node).__name__}(")
    for name in node._fields:
        value = getattr(node, name, None)
        # Empty fields are left out, because their set differs between versions of Python.
        if value is None or value == [] or name in ("ctx", "kind", "type_comment", "returns"):
            continue
        if name == "annotation" and isinstance(node, ast.arg):
            continue
        if name == "format_spec" and not value.values:  # f"{x:}"
            continue
        parts.append(f"{name}=")
        _write(value, parts, in_class)
    parts.append(")")


def digest_of_code(source: str) -> str:
    """Return twelve hexadecimal digits for a module's code."""
    parts: list[str] = []
    _write(ast.parse(source), parts)
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:12]


def bytes_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@cache
def read_lock() -> dict[str, Any]:
    """Return `files`, {file: "<digest of its code> <digest of its bytes>"}; `programs`; and
    `study`, a digest of the pinned study.
    """
    place = ROOT / LOCK
    try:
        found = tomllib.loads(place.read_text(encoding="utf-8"))
        return {"files": found["files"], "programs": found["programs"], "study": found["study"]}
    except (OSError, ValueError, KeyError):
        raise UserError(f"{place}: is missing or damaged; restore it with git") from None


@cache
def digest_of(file: str) -> str:
    """Return the digest of a file's code. A file whose bytes are the lock's is not read as code,
    which would take a third of a dry run.
    """
    content = (ROOT / file).read_bytes()
    code, _, as_bytes = read_lock()["files"].get(file, "").partition(" ")
    return code if as_bytes == bytes_digest(content) else digest_of_code(content.decode("utf-8"))


# ---- the files of a program


def name_of(program: str) -> str:
    """Return the name of a program; a module's for one that is named as a module."""
    return program.removeprefix("scripts.").replace(".", "/")


def roots_of(program: str) -> list[str]:
    """Return the files of a program, without those that they import."""
    stage, _, name = program.partition("/")
    kind, _, study = name.partition("/")
    if stage in ("build", "evaluate"):
        found = [f"studies/{name}/{stage}"]
    elif stage != "train" or name == "recorded" or ("/" in name and kind != "search"):
        found = [program]
    elif kind in ("control", "left_out"):
        found = ["train/runs", "controls/control"]
    elif kind == "search":
        found = ["train/runs", "controls/control", f"studies/{study}/controls"]
    elif kind in ("answer", "echo"):
        found = ["train/runs", "train/asking/ask"]
    else:
        loop = ["train/runs", "train/run", "train/process", "train/loop"]
        found = [*loop, f"train/paradigms/{kind}"]
    return [f"scripts/{name}.py" for name in found]


@cache
def imports_of(file: str) -> frozenset[str]:
    """Return the files of scripts/ that a file imports, anywhere in it."""
    found = set()
    for module, names in IMPORT.findall((ROOT / file).read_text(encoding="utf-8")):
        place = module.replace(".", "/")
        inside = (f"{place}/{name}.py" for name in NAME.findall(names))
        found |= {one for one in (f"{place}.py", *inside) if (ROOT / one).is_file()}
        # the packages around it, where they do something
        folders = [place, *map(str, Path(place).parents)]
        inits = {f"{folder}/__init__.py" for folder in folders if folder != "."}
        found |= {one for one in inits if (ROOT / one).is_file() and (ROOT / one).stat().st_size}
    return frozenset(found)


def decides_nothing(file: str) -> bool:
    return any(file == one or one.endswith("/") and file.startswith(one) for one in DECIDES_NOTHING)


@cache
def files_of(program: str) -> tuple[str, ...]:
    """Return the files that count in a program. Raises UserError for a program that does not
    exist.
    """
    waiting, found = roots_of(program), set()
    for file in waiting:
        if not (ROOT / file).is_file():
            raise UserError(
                f"{file} is missing; write it (docs/add_study.md), or correct the entry in "
                "resources/ that names it"
            )
    while waiting:
        file = waiting.pop()
        if file not in found and not decides_nothing(file):
            found.add(file)
            waiting += [] if file in NOT_FOLLOWED else imports_of(file)
    return tuple(sorted(found))


# ---- identities


def edited(program: str) -> list[str]:
    """Return the files of a program that are not the lock's."""
    locked = read_lock()["files"]
    return [one for one in files_of(program) if locked.get(one, "")[:12] != digest_of(one)]


def version_of(program: str) -> int:
    """Return the version of a program in the lock; 0 for a program that is not in it."""
    return read_lock()["programs"].get(program, {"version": 0})["version"]


@cache
def identity(program: str) -> str:
    """Return the identity of a program's code: `<name>@<version>`, and `+<digits>` if a file was
    edited. Raises UserError for a program that does not exist.
    """
    program = name_of(program)
    found = f"{program}@{version_of(program)}"
    if not edited(program) and program in read_lock()["programs"]:
        return found
    together = "\n".join(f"{file} {digest_of(file)}" for file in files_of(program))
    return f"{found}+{bytes_digest(together.encode())}"


def known_as(program: str) -> list[str]:
    """Return the identity of a program, and those that the same code had before the lock."""
    found, entry = identity(program), read_lock()["programs"].get(name_of(program), {})
    return [found, *([] if "+" in found else entry.get("was", []))]


def version_in(code: str, program: str) -> str:
    """Return the version in an identity of a program: `3`, or `3+<digits>`; 0 for the hash of code
    from before the lock that differs from today's.
    """
    known, found = known_as(program), code.partition("@")[2]
    return found or (known[0].partition("@")[2] if code in known else "0")


def is_todays(program: str, version: str) -> bool:
    """Return whether a version of a program is today's; False if the program no longer exists."""
    try:
        return identity(program) == f"{name_of(program)}@{version}"
    except UserError:
        return False
