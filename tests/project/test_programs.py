"""Every program has a help text, and its environment has the packages that it imports."""

import ast
import json
import re
import sys
from functools import cache

import pytest

from scripts.data.yaml_files import read_yaml
from tests.conftest import ROOT, python_code
from tests.rows import each_row

PROGRAMS = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in ROOT.glob("scripts/*/*.py")
    if '__name__ == "__main__"' in file.read_text() and file.name != "command.py"
)
ASK = """
import contextlib, io, json, runpy, sys
said = {}
for module in sys.argv[1:]:
    sys.argv, out = [module, "--help"], io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_module(module, run_name="__main__")
        sys.exit(f"{module} went on after --help")
    except SystemExit as end:
        if end.code:
            raise
    said[module] = out.getvalue()
print(json.dumps(said))
"""
DISTRIBUTION = {"yaml": "pyyaml", "sklearn": "scikit-learn"}


@cache
def names_in(module: str) -> list[str]:
    """Return the names that a module of scripts/ imports; an empty list if it is not a module."""
    file = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    nodes = list(ast.walk(ast.parse(file.read_text()))) if file.is_file() else []
    whole = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    parts = [
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    return [*whole, *(module for module, _ in parts), *map(".".join, parts)]


def imported(module: str, seen: set[str]) -> set[str]:
    """Return the foreign packages that a module imports, directly or through modules of
    scripts/.
    """
    if module in seen:
        return set()
    seen.add(module)
    found = set()
    for name in names_in(module):
        if name.startswith("scripts."):
            found |= imported(name, seen)
        elif name.split(".")[0] not in sys.stdlib_module_names | {"scripts"}:
            found.add(name.split(".")[0])
    return found


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """Return each program's output for --help. One interpreter calls all programs, so that shared
    modules are imported once.
    """
    asked = python_code(ASK, *PROGRAMS)
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)


@pytest.mark.slow
@each_row("module", PROGRAMS)
def test_help_teaches(helps, module):
    text = " ".join(helps[module].split())
    assert f"python -m {module}" in text or "not meant to be started by hand" in text, (
        "--help shows no example"
    )
    for action in ("--log", "show this help"):
        assert action in text


@each_row("module", PROGRAMS)
def test_the_environment_has_what_a_program_imports(module):
    environment = (
        "train"
        if module.startswith("scripts.train")
        or module.removeprefix("scripts.fetch.")
        in ("convert_weights", "facts", "model", "reachable")
        else "data"
    )
    pins = {
        pin.split("==")[0]
        for pin in read_yaml(ROOT / f"envs/{environment}.yaml")["dependencies"][-1]["pip"]
    }
    needed = {DISTRIBUTION.get(name, name) for name in imported(module, set())}
    assert needed - {"urllib3", "typing_extensions"} <= pins, "these come with requests, pydantic"


@pytest.mark.slow
@each_row("module", PROGRAMS)
def test_an_example_has_options_of_its_program(helps, module):
    text = helps[module].replace("\\\n", " ")
    examples = text.split("options:")[0]
    shown = re.findall(rf"python -m {re.escape(module)} (.*)", examples)
    named = {option for one in shown for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", one)}
    assert named <= set(re.findall(r"--[a-z][a-z-]*", text.split("options:")[-1])), named
