"""The identity of code depends only on code that may change a result, on every Python and in any
folder.
"""

import ast
import dis
import json
import random
import re
import shutil
import subprocess
import sys
import types
from functools import cache

import pytest

from scripts.running import identity as code
from scripts.running.code_as_text import _defined, _is_no_code, read_module
from scripts.running.counted_code import counted
from scripts.running.identity import identity
from tests.conftest import ROOT
from tests.rows import rows_of, texts_of

SYNTAX_HASH = "ce76918759110978"
ALL = """
import json, sys
from scripts.running.identity import identity
print(json.dumps({name: identity(name) for name in json.loads(sys.argv[1])}))
"""
SYNTAX = """
import hashlib, json
from pathlib import Path
from scripts.running.code_as_text import read_module
read = read_module(Path("tests/running/identity_syntax.txt").read_text(encoding="utf-8"))
print(hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()[:16])
"""
MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts): file.read_text(encoding="utf-8")
    for file in sorted(ROOT.glob("scripts/**/*.py"))
}
PROGRAMS = [name for name, text in MODULES.items() if '__name__ == "__main__"' in text]


# ---- the shape of code does not count


def printed(program: str, *given: str, folder=ROOT) -> str:
    """Return the output of a program in a separate interpreter."""
    command = [sys.executable, "-c", program, *given]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Tree:
    """A copy of scripts/ whose shape the tests change."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {name: name for name in PROGRAMS}
        shutil.copytree(
            ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__")
        )

    def replace(self, pattern: str, new: str) -> None:
        """Replace a pattern in all files."""
        for file in self.folder.rglob("*.py"):
            file.write_text(re.sub(pattern, new, file.read_text()))

    def identities(self) -> dict[str, str]:
        """Return the identity of each program, by its original name."""
        found = json.loads(printed(ALL, json.dumps(list(self.names.values())), folder=self.folder))
        return {name: found[inside] for name, inside in self.names.items()}


@pytest.fixture
def tree(tmp_path) -> Tree:
    return Tree(tmp_path)


def formatted(tree: Tree) -> None:
    for file in tree.folder.rglob("*.py"):
        file.write_text("# a comment\n" + ast.unparse(ast.parse(file.read_text())))


def package_renamed(tree: Tree) -> None:
    (tree.folder / "scripts/publish").rename(tree.folder / "scripts/shown")
    tree.replace(
        r"(?m)(^ *(?:from|import) |\"(?=[\w.]*\w\"))scripts\.publish\b", r"\1scripts.shown"
    )  # imports, and texts that name a module
    tree.names = {name: name.replace("scripts.publish", "scripts.shown") for name in tree.names}


def modules_merged(tree: Tree) -> None:
    """Merge items.py into keyed.py."""
    first, second = (tree.folder / f"scripts/data/{name}.py" for name in ("keyed", "items"))
    first.write_text(
        first.read_text()
        + "\n"
        + re.sub(r"from scripts.data.keyed import .*\n", "", second.read_text())
    )
    second.unlink()
    tree.replace(r"scripts\.data\.items", "scripts.data.keyed")


def definitions_renamed(tree: Tree) -> None:
    for old, new in rows_of("""
        keyed_uniform  | uniform_by_key
        content_digest | digest_of_content
        PREDICTIONS    | SCORED
        Scorer         | ScoreReader
    """):
        tree.replace(rf"\b{old}\b", new)


@pytest.mark.slow
def test_another_shape_is_the_same_code(tree):
    before = tree.identities()
    for change in (modules_merged, definitions_renamed, package_renamed, formatted):
        change(tree)
    after = tree.identities()
    assert {name for name in before if after[name] != before[name]} == set()


# ---- only code that a program reaches counts


def loaded(instructions, functions: types.CodeType) -> set[str]:
    """Return the names of its module that compiled code loads or stores: `name.attribute` if an
    attribute follows, and `module:name` for imports.
    """
    found, steps = set(), list(instructions)
    module = ""
    for step, following in zip(steps, [*steps[1:], steps[-1]]):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL"):
            attribute = (
                following.argval if following.opname in ("LOAD_ATTR", "LOAD_METHOD") else None
            )
            found |= {step.argval, *([f"{step.argval}.{attribute}"] if attribute else [])}
        elif step.opname == "IMPORT_NAME":
            module = step.argval
        elif step.opname == "IMPORT_FROM" and module.startswith("scripts"):
            found.add(f"{module}:{step.argval}")
    for constant in functions.co_consts:
        if isinstance(constant, types.CodeType):
            found |= loaded(dis.get_instructions(constant), constant)
        elif isinstance(constant, str) and constant in MODULES:
            found.add(f"{constant}:")
    return found


class Reference:
    """The definitions that code reaches, found in the compiler's output: another method than the
    program's.
    """

    def __init__(self):
        self.uses, self.imports = {}, {}
        for module, text in MODULES.items():
            self.imports[module] = {}
            for part in counted(ast.parse(text)).body:
                if _is_no_code(part):
                    continue
                if isinstance(part, ast.ImportFrom) and part.module.startswith("scripts"):
                    self.imports[module] |= {
                        alias.asname or alias.name: (part.module, alias.name)
                        for alias in part.names
                    }
                    continue
                if isinstance(part, ast.AnnAssign):
                    part.annotation = ast.Constant(None)
                compiled = compile(
                    ast.fix_missing_locations(ast.Module([part], [])),
                    module,
                    "exec",
                    dont_inherit=True,
                )
                for name in _defined(part):
                    self.uses.setdefault((module, name), set()).update(
                        loaded(dis.get_instructions(compiled), compiled)
                    )

    def place(self, module: str, name: str):
        if name in self.imports.get(module, {}):
            other, inner = self.imports[module][name]
            return (
                (f"{other}.{inner}", None)
                if f"{other}.{inner}" in MODULES
                else self.place(other, inner)
            )
        return (module, name) if (module, name) in self.uses else None

    def targets(self, module: str, use: str):
        outside, colon, name = use.rpartition(":")
        if colon and not name:
            return [node for node in self.uses if node[0] == outside]
        name, _, attribute = name.partition(".")
        found = self.place(outside or module, name)
        if found and found[1] is None:
            if not attribute:
                return []
            found = self.place(found[0], attribute)
        return [found] if found else []

    def reached(self, entry: str) -> set:
        waiting, seen = [(entry, "main")], set()
        while waiting:
            node = waiting.pop()
            if node not in seen and node in self.uses:
                seen.add(node)
                waiting += [
                    target for use in self.uses[node] for target in self.targets(node[0], use)
                ]
        return seen


def mutated(text: str, name: str) -> str:
    """Return a module with a changed definition of a name."""
    tree = ast.parse(text)
    for part in tree.body:
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and part.name == name:
            part.body.append(ast.parse("mutated = 1").body[0])
        elif (
            isinstance(part, (ast.Assign, ast.AnnAssign, ast.AugAssign))
            and name in _defined(part)
            and part.value
        ):
            part.value = ast.Call(ast.Name("mutated", ast.Load()), [part.value], [])
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.slow
def test_exactly_the_programs_that_reach_a_definition_are_others(monkeypatch):
    """Four definitions, drawn by seed, are changed one at a time."""
    reference = Reference()
    programs = [name for name in PROGRAMS if (name, "main") in reference.uses]
    reaching = {name: reference.reached(name) for name in programs}
    read, changed = code._read, {}
    monkeypatch.setattr(code, "_read", lambda module: changed.get(module) or read(module))

    def forget() -> None:
        code._uses.cache_clear()
        code._identities.clear()
        identity.cache_clear()

    def identities() -> dict[str, str]:
        forget()
        return {name: identity(name) for name in programs}

    before = identities()
    drawn = random.Random(1).sample(
        sorted(node for node in reference.uses if node[1] not in imported(node[0])), 4
    )
    wrong = []
    for module, name in drawn:
        changed[module] = read_module(mutated(MODULES[module], name))
        others = {program for program, found in identities().items() if found != before[program]}
        changed.clear()
        beside = {
            (module, other)
            for part in ast.parse(MODULES[module]).body
            for names in [_defined(part)]
            if name in names
            for other in names
        }
        expected = {program for program, nodes in reaching.items() if beside & nodes}
        if others != expected:
            wrong.append(f"{module}.{name}: {sorted(others ^ expected)[:3]} of {len(expected)}")
    forget()
    assert not wrong, "\n".join(wrong)


@cache
def imported(module: str) -> set[str]:
    """Return the names that a module imports from elsewhere."""
    return {
        name
        for part in ast.parse(MODULES[module]).body
        if isinstance(part, (ast.Import, ast.ImportFrom))
        for name in _defined(part)
    }


def test_what_only_reports_is_no_part_of_a_run():
    """A run's identity contains only code that decides its numbers: no checkpoint, progress bar,
    launcher or file.
    """
    reached = {
        module
        for module, _ in code.reached(
            "scripts.train.loop.train", "scripts.train.paradigms.classify"
        )
    }
    assert {"scripts.train.step", "scripts.train.scoring", "scripts.train.batches"} <= reached
    assert (
        not {
            f"scripts.train.{name}"
            for name in "checkpoint tokens launch weight_files process card cost".split()
        }
        & reached
    )


# ---- which parts of a definition count

PROGRAM = """
def work(given, pairs=3):
    '''Make it.'''
    arguments.add_argument("--pairs", default=3, help="how many" + " pairs", \
        metavar="N", description=f"{__doc__}")
    log.info("%s: %d pairs", given.name, len(pairs))
    if given.pairs < 1 or "odd":
        raise UserError(f"{given.pairs} pairs are too few; " + "ask for more" * 2) from None
    if given.pairs > 99:
        return UserError("%d are too many" % given.pairs)
    assert pairs, f"no {pairs}"
    warnings.warn("deprecated: " + str(pairs), FutureWarning, stacklevel=2)
    try:
        raise ValueError("retry in {}".format(pairs) if given else "stop", 5)
    except ValueError as error:
        sys.exit("error: the end")
    return print("said", f"{pairs:>5} a" "b", pairs[1:], b"x")
"""


@pytest.mark.parametrize(
    "old, new",
    [
        *texts_of("""
            Make it.                     | Build it.
            how many                     | the number of
            metavar="N"                  | metavar="M"
            __doc__                      | __name__
            %s: %d pairs                 | %d pairs of %s
            given.name, len(pairs)       | len(pairs), given.name, 7
            are too few;                 | are few:
            "ask for more" * 2           | REMEDY
            "%d are too many" % given.pairs | f"{given.pairs} are far too many"
            f"no {pairs}"                | "none"
            deprecated:                  | old:
            retry in {}                  | again in {}
            "stop"                       | "halt"
            error: the end               | the end
            a" "b"                       | ab"
        """),
        ("    return print", "    # say it\n\n    return  print"),
    ],
)
def test_the_texts_of_errors_logs_and_help_do_not_count(old, new):
    assert old in PROGRAM
    assert read_module(PROGRAM.replace(old, new)) == read_module(PROGRAM)


def mutations(tree: ast.Module):
    """Change one place of the tree at a time, and back: each constant, name, operator and keyword,
    and the body of a branch.
    """
    for place in list(ast.walk(tree)):
        before = dict(vars(place))
        match place:
            case ast.Constant():
                place.value = place.value + 1 if type(place.value) in (int, float) else "another"
            case ast.Name():
                place.id += "_"
            case ast.arg() | ast.keyword():
                place.arg = f"{place.arg}_"
            case ast.Attribute():
                place.attr += "_"
            case ast.BinOp():
                place.op = ast.MatMult()
            case ast.Compare():
                place.ops = [ast.Is(), *place.ops[1:]]
            case ast.BoolOp():
                place.op = ast.And() if isinstance(place.op, ast.Or) else ast.Or()
            case ast.UnaryOp():
                place.op = ast.UAdd()
            case ast.IfExp():
                place.body, place.orelse = place.orelse, place.body
            case ast.If() | ast.For() | ast.While():
                place.body = [ast.Pass()]
            case _:
                continue
        yield f"line {getattr(place, 'lineno', 0)}: {ast.dump(place)}"
        vars(place).update(before)


@pytest.mark.parametrize("module", ["PROGRAM", "scripts.text.time_units"])
def test_every_changed_place_of_a_module_counts(module):
    tree = counted(ast.parse(MODULES.get(module, PROGRAM)))  # messages: tested above
    tree.body = [part for part in tree.body if not _is_no_code(part)]
    before = read_module(ast.unparse(tree))
    assert not [place for place in mutations(tree) if read_module(ast.unparse(tree)) == before]


def test_the_same_code_is_the_same_on_every_version():
    """The hash is pinned for versions that are missing here, and compared on those that are
    installed.
    """
    found = printed(SYNTAX)
    assert found.strip() == SYNTAX_HASH, (
        "the pinned hash changes only with scripts/running/code_as_text.py or counted_code.py"
    )
    others = []
    for version in ("3.11", "3.12", "3.13", "3.14"):
        command = shutil.which(f"python{version}")
        if not command or version == f"{sys.version_info[0]}.{sys.version_info[1]}":
            continue
        done = subprocess.run([command, "-c", SYNTAX], cwd=ROOT, capture_output=True, text=True)
        # a shim of pyenv may exist for a version that is not installed
        if done.returncode == 0 or "scripts" in done.stderr:
            others.append(version)
            assert done.stdout == found, f"Python {version}: {done.stderr}"
    if not others:
        pytest.skip("one Python is on PATH: identities are not compared with another's")


def test_what_an_earlier_process_has_read_is_not_read_again(tmp_path):
    """A module is read again only if it has changed.

    If the memory is damaged or cannot be written, this costs only time.
    """
    tree, memory = Tree(tmp_path), tmp_path / code.MEMORY
    program = (
        "from scripts.running import identity as code; "
        "print(code.identity('scripts.studies.strided_sop.build'), len(code._new)); "
        "code.write_memory(code.MEMORY)"
    )

    def asked() -> list[str]:
        return printed(program, folder=tree.folder).split()

    first, read = asked()
    assert int(read) > 3 and asked() == [first, "0"]
    memory.write_text(memory.read_text() + '\n["torn')
    assert asked() == [first, "0"]
    for byte in (0xFF, ord("7")):  # invalid text, and another text
        damaged = bytearray(memory.read_bytes())
        damaged[-100] = byte
        memory.write_bytes(damaged)
        assert asked() == [first, "1"] and asked() == [first, "0"]
    tree.replace("HIGHEST = np.uint64", "HIGHEST = 1 + np.uint64")
    other, read = asked()
    assert other != first and read == "1" and asked() == [other, "0"]
    shutil.rmtree(memory.parents[1])
    memory.parents[1].touch()
    assert asked()[0] == other
