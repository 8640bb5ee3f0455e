"""The fingerprint of a program's code: it changes when what the code does may have changed.

Comments, docstrings and formatting do not count, so a touched, reformatted or checked-out file reruns nothing, and
neither do the texts of errors, log lines and --help. Everything that a program imports from scripts/ counts, however
deep. The same code has the same fingerprint on every Python from 3.11 on. Standard library only: the Snakefile and the
programs import this.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from scripts.common.program import UserError

ROOT = Path(__file__).parents[2]
LOG_METHODS = {"debug", "info", "warning", "error", "critical", "exception", "log"}
DOCUMENTED = {"add_argument", "add_argument_group", "add_parser", "add_subparsers", "ArgumentParser", "parser"}
DOCUMENTATION = {"help", "description", "epilog", "metavar"}
HAS_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
DOES_SOMETHING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def file_of(module: str) -> Path | None:
    """The file of a module of this project; None for a foreign one or for a name inside a module."""
    place = ROOT.joinpath(*module.split("."))
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            return file
    return None


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is a text for people to read: written out, put together or formatted here."""
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr() | ast.Call(func=ast.Name(id="str")):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod(), right=right):
            return _is_text(left) or (isinstance(node.op, ast.Add) and _is_text(right))
        case ast.IfExp(body=body, orelse=orelse):
            return _is_text(body) and _is_text(orelse)
        case ast.Call(func=ast.Attribute(value=value, attr="format" | "join")):
            return _is_text(value)
    return False


def _only_says(node: ast.expr) -> bool:
    """Whether an argument of a log line or of an error does nothing else: no assignment, no await."""
    return not any(isinstance(inner, DOES_SOMETHING) for inner in ast.walk(node))


def _arguments_that_count(call: ast.Call, raised: bool) -> tuple[list[ast.expr], list[ast.keyword]]:
    """A call's arguments without those that only say something: to the log, in an error, in --help.

    Of the program's own errors and of log lines no argument counts, of other errors those that are not texts (an exit
    code, a number that a handler reads). An argument that assigns or awaits always counts.
    """
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = getattr(getattr(call.func, "value", None), "id", "")
    if name == "UserError" or (owner == "log" and name in LOG_METHODS):
        says = _only_says
    elif raised or (owner, name) in {("warnings", "warn"), ("sys", "exit")}:
        says = _is_text
    elif name in DOCUMENTED:
        return call.args, [keyword for keyword in call.keywords if keyword.arg not in DOCUMENTATION]
    else:
        return call.args, call.keywords
    return ([argument for argument in call.args if not says(argument)],
            [keyword for keyword in call.keywords if not says(keyword.value)])


def _pieces(text: ast.JoinedStr) -> list[ast.expr | str]:
    """The parts of an f-string; neighbouring constants, which Python versions split differently, as one text."""
    pieces = []
    for value in text.values:
        if not isinstance(value, ast.Constant):
            pieces.append(value)
        elif pieces and isinstance(pieces[-1], str):
            pieces[-1] += value.value
        elif value.value:
            pieces.append(value.value)
    return pieces


def _fields(node: ast.AST, raised: bool) -> Iterator[tuple[str, object]]:
    """The fields of a node that count, but for empty ones: a Python version may have fields that another has not."""
    changed = {}
    if isinstance(node, ast.Call):
        changed["args"], changed["keywords"] = _arguments_that_count(node, raised)
    elif isinstance(node, ast.JoinedStr):
        changed["values"] = _pieces(node)
    elif isinstance(node, ast.FormattedValue) and node.format_spec and not _pieces(node.format_spec):
        changed["format_spec"] = None  # f"{x:}"
    elif isinstance(node, ast.Assert) and node.msg and _is_text(node.msg):
        changed["msg"] = None
    elif isinstance(node, HAS_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
        changed["body"] = node.body[1:] or [ast.Pass()]
    for name in node._fields:
        value = changed[name] if name in changed else getattr(node, name, None)
        if value is not None and value != [] and name != "ctx":
            yield name, value


def _write(value, parts: list[str], raised: bool = False) -> None:
    """Append the parts of a text that is the same for the same code: node names and fields in brackets."""
    if isinstance(value, ast.Constant):
        # In ASCII, since which characters are printable differs; hexadecimal, since long decimal integers are refused.
        constant = value.value
        parts.append(f"{type(constant).__name__}:{hex(constant) if type(constant) is int else ascii(constant)};")
    elif isinstance(value, ast.AST):
        parts.append(f"{type(value).__name__}(")
        for name, field in _fields(value, raised):
            parts.append(f"{name}=")
            _write(field, parts, isinstance(value, ast.Raise) and name == "exc")
        parts.append(")")
    elif isinstance(value, list):
        parts.append("[")
        for item in value:
            _write(item, parts)
        parts.append("]")
    else:
        parts.append(f"{ascii(value)};")


def canonical(source: str | ast.AST) -> str:
    """What counts of a module's code, as a text that does not depend on the version of Python."""
    parts = []
    _write(ast.parse(source) if isinstance(source, str) else source, parts)
    return "".join(parts)


# What was read of modules, by the hash of their text and of this file's: what nobody changed is not parsed again. It lasts as long
# as the process, or as the file that `remember_in` names: parsing takes a third of the time of a dry run.
_known: dict[str, tuple[str, list[str]]] = {}
_memory: Path | None = None


def remember_in(file: Path) -> None:
    """Keep what is read of modules in a file, one line of JSON each; what stands there already is not read again."""
    global _memory
    _memory = file
    with suppress(OSError):
        for line in file.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, TypeError):  # a line that a kill left unfinished
                key, code, imported = json.loads(line)
                _known[key] = (code, list(imported))


def _remember(key: str, code: str, imported: list[str]) -> None:
    """Know this from here on. A file that cannot be written costs time and nothing else."""
    _known[key] = (code, imported)
    if _memory:
        with suppress(OSError):
            _memory.parent.mkdir(parents=True, exist_ok=True)
            with open(_memory, "a", encoding="utf-8") as opened:
                opened.write(json.dumps([key, code, imported]) + "\n")


@cache
def _own_hash() -> bytes:
    return hashlib.sha256(Path(__file__).read_bytes()).digest()


@cache
def _read(module: str) -> tuple[str, frozenset[str]]:
    """The hash of what counts of a module, and the modules of scripts/ that it imports."""
    file = file_of(module)
    if file is None:
        raise UserError(f"{module.replace('.', '/')}.py is missing; write it (docs/add.md), or correct the entry in "
                        "resources/ that names it")
    source = file.read_bytes()
    key = hashlib.sha256(_own_hash() + source).hexdigest()
    if key not in _known:
        tree = ast.parse(source.decode("utf-8"), str(file))
        imported = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        _remember(key, hashlib.sha256(canonical(tree).encode()).hexdigest(),
                  sorted(name for name in imported if name.startswith("scripts.")))
    code, imported = _known[key]
    return code, frozenset(filter(file_of, imported))


def fingerprint(*modules: str, leave_out: frozenset[str] = frozenset()) -> str:
    """`<first module> <hash>` over the code of the modules and of all they import from scripts/.

    `leave_out` names modules that cannot change a result (reporting); neither they nor what only
    they import counts.
    """
    waiting, seen = list(modules), set()
    while waiting:
        module = waiting.pop()
        if module not in seen and module not in leave_out:
            seen.add(module)
            waiting.extend(_read(module)[1])
    digest = hashlib.sha256()
    for module in sorted(seen):
        digest.update(f"{module}\n{_read(module)[0]}\n".encode())
    return f"{modules[0]} {digest.hexdigest()[:12]}"
