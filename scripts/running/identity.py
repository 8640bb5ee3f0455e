"""The identity of code. It changes when the code's results may change, and stays when only the
code's form changes.

This module starts at an entry and follows each used name to its definition: a function, a class or
a constant. The identity is a hash of these definitions. A definition's hash covers its own code and
the identities of the definitions that it uses. It covers no names of modules or definitions, no
import lines and no list kept by hand. So moving, merging, splitting, renaming and formatting change
nothing.

These do not count:
  * comments, docstrings, types, and texts for people (scripts/running/counted_code.py)
  * the block that starts a program
Names that only these parts use are not followed. The values that a caller passes to a function are
not followed either. A module used as a value counts whole. The statements that a module runs when
it is imported count, too. A name built at run time (a paradigm of training) needs an entry of its
own. The code that reads a program's options is outside `main`. So a default that decides a result
must be in code that `main` reaches.

The same code has the same identity on every Python from 3.11 on. Standard library only.
"""

import hashlib
import json
from contextlib import suppress
from functools import cache
from pathlib import Path

from scripts.running import code_as_text, counted_code
from scripts.running.code_as_text import read_module, sha256
from scripts.running.program import UserError

ROOT = Path(__file__).parents[2]


@cache
def file_of(module: str) -> Path | None:
    """The file of a module of this project; None for a foreign one or a name inside a module."""
    place = ROOT.joinpath(*module.split("."))
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            return file
    return None


# ---- modules, read once

# The content of each read module. Its key is a hash of the module's text and of the code that reads
# it. A workflow keeps the contents in its working folder, also for its jobs. Without this file,
# reading takes a third of a dry run and half of a short run.
MEMORY = Path(".snakemake/timestride/identities")
_known: dict[str, dict] = {}
_new: list[str] = []


def _check_of(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode()


def remember_in(file: Path) -> None:
    """Load the modules that an earlier process read. Each line of the file is a hash and then a
    module as JSON.
    """
    with suppress(OSError):
        for line in file.read_bytes().splitlines():
            check, _, text = line.partition(b" ")
            if check == _check_of(text):  # else a kill left the line unfinished, or it is damaged
                key, read = json.loads(text)
                _known[key] = read


def write_memory(file: Path) -> None:
    """Add the modules that this process has read to that file. A failure costs only time."""
    with suppress(OSError):
        if _new:
            file.parent.mkdir(parents=True, exist_ok=True)
            texts = [json.dumps([key, _known[key]]).encode() for key in _new]
            with open(file, "ab") as opened:
                opened.writelines(b"\n%b %b" % (_check_of(text), text) for text in texts)
            _new.clear()


@cache
def _readers_hash() -> bytes:
    files = (__file__, code_as_text.__file__, counted_code.__file__)
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).digest()


@cache
def _read(module: str) -> dict:
    source = file_of(module).read_bytes()
    key = hashlib.sha256(_readers_hash() + source).hexdigest()
    if not _known:
        remember_in(MEMORY)
    if key not in _known:
        _known[key] = read_module(source.decode("utf-8"))
        _new.append(key)
    return _known[key]


# ---- the definition that a reference means

# a module and the name of a definition in it; "" for the whole module,
# "#0" for the first of its effects
Node = tuple[str, str]


def _resolved(module: str, name: str) -> Node | str:
    """Follow a name of a module through imports to its definition. Return a text if the name is not
    from this project.
    """
    code = _read(module)
    if name in code["imports"]:
        other, inner = code["imports"][name]
        return _inside(other, inner)
    return (module, name) if name in code["definitions"] or name.startswith("#") else name


def _inside(module: str, name: str) -> Node | str:
    """Return the definition that `from module import name` imports."""
    if file_of(f"{module}.{name}"):
        return (f"{module}.{name}", "")
    return _resolved(module, name) if file_of(module) else f"{module}.{name}"


def _target(module: str, use: str) -> tuple[Node | str, str]:
    """Return the definition that a reference in a module means, and its used attribute."""
    imported, colon, name = use.rpartition(":")
    if use.endswith(":"):
        return ((use[:-1], "") if file_of(use[:-1]) else use), ""
    name, _, attribute = name.partition(".")
    found = _inside(imported, name) if colon else _resolved(module, name)
    if attribute and isinstance(found, tuple) and found[1] == "":
        return _inside(found[0], attribute), ""
    return found, attribute


@cache
def _uses(node: Node) -> tuple[str, list[tuple[Node | str, str]]]:
    """Return the hash of a definition's own text, and the definitions that it uses, each with the
    used attribute.
    """
    module, name = node
    code = _read(module)
    if name == "":
        return "module", [((module, inner), "") for inner in sorted(code["definitions"])]
    text, uses = (
        code["effects"][int(name[1:])] if name.startswith("#") else code["definitions"][name]
    )
    return text, [_target(module, use) for use in uses]


# ---- identities

_identities: dict[Node, str] = {}


def _hash_together(nodes: list[Node]) -> None:
    """Set the identities of definitions that use each other in a circle, or of one definition."""
    members = set(nodes)

    def described(node: Node, inside: dict[Node, str]) -> str:
        text, uses = _uses(node)
        parts = [
            f"{inside.get(target, '?') if target in members else _identities.get(target, target)}"
            f".{attribute}"
            for target, attribute in uses
        ]
        return sha256("\n".join([text, *(sorted(parts) if node[1] == "" else parts)]))

    first = {node: described(node, {}) for node in nodes}
    whole = sha256("\n".join(sorted(described(node, first) for node in nodes)))
    _identities.update({node: sha256(whole + described(node, first)) for node in nodes})


def _identify(start: Node) -> None:
    """Set the identities of a definition and of all definitions that it reaches, by Tarjan's
    algorithm.
    """
    low: dict[Node, int] = {}
    stack: list[Node] = []

    def visit(node: Node) -> None:
        order = low[node] = len(low)
        stack.append(node)
        for target, _ in _uses(node)[1]:
            if isinstance(target, tuple) and target not in _identities:
                if target not in low:
                    visit(target)
                low[node] = min(low[node], low[target])
        if low[node] == order:
            place = stack.index(node)
            _hash_together(stack[place:])
            del stack[place:]

    visit(start)


def reached(*entries: str) -> set[Node]:
    """Return the definitions (module, name) that the entries reach, and what their modules do when
    imported.
    """
    waiting, found = [_entry(entry) for entry in entries], set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [target for target, _ in _uses(node)[1] if isinstance(target, tuple)]
            waiting += [(node[0], f"#{number}") for number in range(len(_read(node[0])["effects"]))]
    return found


def own_hashes(entry: str) -> dict[str, str]:
    """Return the hash of the own text of each definition that an entry reaches, as
    `<module>:<definition>`.
    """
    return {f"{module}:{name}": _uses((module, name))[0][:12] for module, name in reached(entry)}


def _entry(entry: str) -> Node:
    """The definition that an entry names: `main` of a program, one definition, or a whole
    module.
    """
    module, _, name = entry.rpartition(".")
    if file_of(entry):
        return (entry, "main" if "main" in _read(entry)["definitions"] else "")
    if module and file_of(module) and name in _read(module)["definitions"]:
        return (module, name)
    raise UserError(
        f"{entry.replace('.', '/')}.py is missing; write it (docs/add_study.md), or correct the "
        "entry in resources/ that names it"
    )


@cache
def identity(*entries: str) -> str:
    """Return twelve hexadecimal digits for the code that these entries reach. An entry is a module
    (of a program only its `main`) or `<module>.<definition>`. Raises UserError for an entry that
    does not exist.
    """
    nodes = [_entry(entry) for entry in entries]
    effects = sorted(node for node in reached(*entries) if node[1].startswith("#"))
    for node in [*nodes, *effects]:
        if node not in _identities:
            _identify(node)
    return sha256(
        "\n".join(
            [*(_identities[node] for node in nodes), *sorted(_identities[node] for node in effects)]
        )
    )[:12]
