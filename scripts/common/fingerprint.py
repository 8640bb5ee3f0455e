"""The fingerprint of a program's code: it changes when what the code does may have changed.

Comments, docstrings and formatting do not count, so a touched, reformatted or checked-out file reruns
nothing. Everything that a program imports from scripts/ counts, however deep.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

from scripts.common.program import UserError

ROOT = Path(__file__).parents[2]


def file_of(module: str) -> Path | None:
    """The file of a module of this project; None for a foreign one or for a name inside a module."""
    place = ROOT.joinpath(*module.split("."))
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            return file
    return None


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return tree


@cache
def _read(module: str) -> tuple[str, frozenset[str]]:
    """A module's code without comments and docstrings, and the modules of scripts/ that it imports."""
    file = file_of(module)
    if file is None:
        raise UserError(f"{module.replace('.', '/')}.py is missing; write it (docs/add.md), or correct the entry in "
                        "resources/ that names it")
    tree = _without_docstrings(ast.parse(file.read_text(encoding="utf-8"), str(file)))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = {name for name in imported if name.split(".")[0] == "scripts" and file_of(name)}
    return ast.unparse(tree), frozenset(ours - {"scripts"})


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
