"""The identity of code. It changes when the code's results may change, and stays when only the
code's form changes.

This module starts at an entry and follows each used name to its definition: a function, a class or
a constant. The identity is a hash of these definitions. A definition's hash covers its own code and
the identities of the definitions that it uses. It covers no names of modules or definitions, no
import lines and no list kept by hand. So moving, merging, splitting, renaming and formatting change
nothing.

These do not count:
  * comments, docstrings, types of arguments
  * the texts of errors, of log lines and of --help
  * the block that starts a program
Names that only these parts use are not followed. The values that a caller passes to a function are
not followed either. A module used as a value counts whole. The statements that a module runs when
it is imported count, too. A name built at run time (a paradigm of training) needs an entry of its
own. The code that reads a program's options is outside `main`. So a default that decides a result
must be in code that `main` reaches.

The same code has the same identity on every Python from 3.11 on. Standard library only.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from scripts.running.program import UserError

ROOT = Path(__file__).parents[2]
PACKAGE = "scripts"
MODULE_NAME = re.compile(rf"{PACKAGE}(\.[A-Za-z_]\w*)+")
LOG_METHODS = {"debug", "info", "warning", "error", "critical", "exception", "log"}
ERRORS = {"UserError", "TooLarge"}  # their arguments do not count
DOCUMENTED = {
    "add_argument",
    "add_argument_group",
    "add_parser",
    "add_subparsers",
    "ArgumentParser",
    "parser",
}
DOCUMENTATION = {"help", "description", "epilog", "metavar"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
HAS_DOCSTRING = (ast.Module, *NAMED)
IMPORTS = (ast.Import, ast.ImportFrom)
DOES_SOMETHING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
# the name that an assignment defines, and the other names of the same assignment
ITSELF, BESIDE = ("<itself>", "<beside>")


@cache
def file_of(module: str) -> Path | None:
    """The file of a module of this project; None for a foreign one or a name inside a module."""
    place = ROOT.joinpath(*module.split("."))
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            return file
    return None


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# ---- the parts of a piece of code that count


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is a text for people to read: a literal, a concatenation or a
    formatted text.
    """
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
    """Whether an argument of a log line or of an error neither assigns nor awaits."""
    return not any(isinstance(inner, DOES_SOMETHING) for inner in ast.walk(node))


def _arguments_that_count(call: ast.Call, raised: bool) -> tuple[list[ast.expr], list[ast.keyword]]:
    """A call's arguments that count, without texts for people. Arguments of the program's own
    errors and of log lines do not count. For other errors an argument that is no text counts (an
    exit code). An argument that assigns or awaits always counts.
    """
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = getattr(getattr(call.func, "value", None), "id", "")
    if name in ERRORS or (owner == "log" and name in LOG_METHODS):
        says = _only_says
    elif raised or (owner, name) in {("warnings", "warn"), ("sys", "exit")}:
        says = _is_text
    elif name in DOCUMENTED:
        return call.args, [keyword for keyword in call.keywords if keyword.arg not in DOCUMENTATION]
    else:
        return call.args, call.keywords
    return (
        [argument for argument in call.args if not says(argument)],
        [keyword for keyword in call.keywords if not says(keyword.value)],
    )


def _pieces(text: ast.JoinedStr) -> list[ast.expr]:
    """The parts of an f-string. Neighbouring constants, which Python versions split differently,
    are joined.
    """
    pieces: list[ast.expr] = []
    for value in text.values:
        if isinstance(value, ast.Constant) and pieces and isinstance(pieces[-1], ast.Constant):
            pieces[-1] = ast.Constant(pieces[-1].value + value.value)
        elif not isinstance(value, ast.Constant) or value.value:
            pieces.append(value)
    return pieces


class _Counted(ast.NodeTransformer):
    """Removes from a tree all parts that do not count."""

    raised: ast.expr | None = None
    in_function = False

    def generic_visit(self, node):
        if isinstance(node, HAS_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.ClassDef):  # a text below a field is its docstring
            node.body = [one for one in node.body if not _is_docstring(one)] or [ast.Pass()]
        if not isinstance(node, FUNCTIONS):
            return super().generic_visit(node)
        node.returns, before, self.in_function = None, self.in_function, True
        super().generic_visit(node)
        self.in_function = before
        return node

    def visit_AnnAssign(self, node):
        if self.in_function:
            node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Raise(self, node):
        self.raised = node.exc
        return self.generic_visit(node)

    def visit_Call(self, node):
        node.args, node.keywords = _arguments_that_count(node, node is self.raised)
        return self.generic_visit(node)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_JoinedStr(self, node):
        self.generic_visit(node)
        node.values = _pieces(node)
        return node

    def visit_FormattedValue(self, node):
        self.generic_visit(node)
        if node.format_spec and not node.format_spec.values:
            node.format_spec = None  # f"{x:}"
        return node

    def visit_Assert(self, node):
        if node.msg and _is_text(node.msg):
            node.msg = None
        return self.generic_visit(node)


def counted(tree: ast.AST) -> ast.AST:
    return _Counted().visit(tree)


# ---- a definition as a text, and the names of its module that it uses


def _stored(node: ast.AST) -> Iterator[str]:
    """The names that a piece of code binds in its own scope."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, NAMED):
        yield node.name
        return
    elif isinstance(node, IMPORTS):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, COMPREHENSIONS) and isinstance(child, ast.comprehension)):
            yield from _stored(child)


def _scope_of(node: ast.AST) -> set[str]:
    """The names that are local to a function, a class or a comprehension."""
    if isinstance(node, COMPREHENSIONS):
        return {name for generator in node.generators for name in _stored(generator.target)}
    bound = set()
    if isinstance(node, FUNCTIONS):
        children = ast.iter_child_nodes(node.args)  # arguments and their defaults
        bound = {child.arg for child in children if isinstance(child, ast.arg)}
    body = node.body if isinstance(node.body, list) else [node.body]
    for statement in body:
        bound |= set(_stored(statement))
    if isinstance(node, (ast.Lambda, ast.ClassDef)):
        return bound
    return bound - {
        name for inner in _statements(node) if isinstance(inner, ast.Global) for name in inner.names
    }


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """A piece of code and the statements inside it, without their expressions."""
    yield node
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        inside = getattr(node, name, None)
        for statement in inside if isinstance(inside, list) else ():
            yield from _statements(statement)


def _project_imports(node: ast.AST) -> dict[str, tuple[str, str | None]]:
    """Return the names that a piece of code imports from this project: {name: (module, name in the
    module)}.
    """
    found = {}
    for inner in _statements(node):
        if isinstance(inner, ast.ImportFrom) and (inner.module or "").split(".")[0] == PACKAGE:
            found |= {
                alias.asname or alias.name: (inner.module, alias.name) for alias in inner.names
            }
    return found


class _Writer:
    """Write a definition as a text that is the same for the same code. `uses` lists its references
    in the order of the text.

    A reference has one of these forms:
      a name of the module
      name.attribute    of a name that the module imports from this project
      module:name       of a name that the definition itself imports; also a module named in a text
    """

    def __init__(self, names: set[str], imported: set[str]):
        self.names, self.imported = names, imported
        self.parts: list[str] = []
        self.uses: list[str] = []

    def refer(self, name: str) -> None:
        if name not in self.uses:
            self.uses.append(name)
        self.parts.append(f"@{self.uses.index(name)};")

    def reference(self, node: ast.AST, bound: frozenset, local: dict) -> str | None:
        """Return the reference of a node to another definition of this project; None if the node
        refers to no such definition.
        """
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and MODULE_NAME.fullmatch(node.value)
        ):
            return f"{node.value}:"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = node.value.id
            if name in local:
                return f"{':'.join(local[name])}.{node.attr}"
            return f"{name}.{node.attr}" if name in self.imported and name not in bound else None
        if isinstance(node, ast.Name):
            if node.id in local:
                return ":".join(local[node.id])
            return node.id if node.id in self.names and node.id not in bound else None
        return None

    def write(self, value, bound: frozenset = frozenset(), local: dict | None = None) -> None:
        """Append a value. bound: the names that are local here. local: the names that imports of
        this project bind here.
        """
        local = local or {}
        if isinstance(value, ast.AST) and (name := self.reference(value, bound, local)):
            self.refer(name)
        elif isinstance(value, ast.Constant):
            # ASCII, because Python versions print different characters. Hexadecimal, because Python
            # refuses long decimal integers.
            constant = value.value
            self.parts.append(
                f"{type(constant).__name__}:"
                f"{hex(constant) if type(constant) is int else ascii(constant)};"
            )
        elif isinstance(value, ast.ImportFrom) and (value.module or "").split(".")[0] == PACKAGE:
            pass
        elif isinstance(value, ast.AST):
            self.write_node(value, bound, local)
        elif isinstance(value, list):
            self.parts.append("[")
            for item in value:
                self.write(item, bound, local)
            self.parts.append("]")
        else:
            self.parts.append(f"{ascii(value)};")

    def write_node(self, node: ast.AST, bound: frozenset, local: dict) -> None:
        inner, imports = bound, local
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)):
            scope = _scope_of(node)
            inner = bound | scope
            imports = {name: place for name, place in local.items() if name not in scope} | (
                _project_imports(node) if isinstance(node, FUNCTIONS[:2]) else {}
            )
        self.parts.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            # Empty fields are left out, because their set differs between Python versions.
            if value is None or value == [] or name == "ctx":
                continue
            outside = name in ("decorator_list", "bases", "keywords", "args") and isinstance(
                node, (*FUNCTIONS, ast.ClassDef)
            )
            self.parts.append(f"{name}=")
            if isinstance(node, ast.ClassDef) and name == "body":
                for statement in value:  # a method does not see the names of its class
                    self.write(
                        statement, bound if isinstance(statement, FUNCTIONS) else inner, imports
                    )
            else:
                self.write(value, bound if outside else inner, local if outside else imports)
        self.parts.append(")")


def _targets(assignment: ast.stmt) -> list[ast.expr]:
    return assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a top-level statement of a module defines; empty if the statement
    defines no name.
    """
    if isinstance(statement, NAMED):
        return [statement.name]
    if isinstance(statement, IMPORTS):
        return [(alias.asname or alias.name).split(".")[0] for alias in statement.names]
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return []
    inside = [inner for target in _targets(statement) for inner in ast.walk(target)]
    if any(isinstance(inner, (ast.Attribute, ast.Subscript)) for inner in inside):
        return []
    return [inner.id for inner in inside if isinstance(inner, ast.Name)]


def _as_definition(statement: ast.stmt, name: str) -> ast.stmt | str:
    """Turn a statement (changed in place) into the definition of one of its names. The result does
    not contain the name.
    """
    if isinstance(statement, IMPORTS):
        [alias] = [
            alias for alias in statement.names if (alias.asname or alias.name).split(".")[0] == name
        ]
        return (
            f"import {getattr(statement, 'module', None) or ''} "
            f"{alias.name if alias.asname or isinstance(statement, ast.ImportFrom) else name}"
        )
    if isinstance(statement, NAMED):
        statement.name = ITSELF
        return statement
    shape = [
        [
            ITSELF if inner.id == name else BESIDE
            for inner in ast.walk(target)
            if isinstance(inner, ast.Name)
        ]
        for target in _targets(statement)
    ]
    kind = ast.dump(statement.op) if isinstance(statement, ast.AugAssign) else ""
    return ast.Expr(
        ast.Tuple([ast.Constant(f"{shape}{kind}"), *([statement.value] if statement.value else [])])
    )


def _is_no_code(statement: ast.stmt) -> bool:
    """Whether a statement does not count: a docstring, a program's block, imports for types."""
    if isinstance(statement, ast.If):
        return {"__name__", "TYPE_CHECKING"} & {
            node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)
        } != set()
    return _is_docstring(statement)


def _is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is only a constant, as a docstring is."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def read_module(source: str) -> dict:
    """Return the content of a module as a dictionary:

    definitions  {name: [hash of its text, its references]}
    imports      from this project: {name: [module, name in the module]}
    effects      the statements that act when the module is imported, each as a definition's value
    """
    tree = ast.parse(source)
    imports = {
        name: place
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom)
        for name, place in _project_imports(statement).items()
    }
    names = set(imports)
    by_name: dict[str, list] = {}
    effects = []
    for statement in tree.body:
        defined = _defined(statement)
        if _is_no_code(statement) or defined and set(defined) <= set(imports):
            continue
        names |= set(defined)
        for name in defined:
            piece, pieces = _as_definition(statement, name), by_name.setdefault(name, [])
            if not isinstance(piece, str) or piece not in pieces:  # the same import twice is one
                pieces.append(piece)
        if not defined:
            effects.append([statement])

    def written(pieces: list) -> list:
        writer = _Writer(names, set(imports))
        for piece in pieces:
            writer.write(counted(piece) if isinstance(piece, ast.AST) else piece)
        return [sha256("".join(writer.parts)), writer.uses]

    return {
        "definitions": {name: written(pieces) for name, pieces in by_name.items()},
        "imports": {name: list(place) for name, place in imports.items()},
        "effects": [written(pieces) for pieces in effects],
    }


# ---- modules, read once

# The content of each read module. Its key is a hash of the module's text and of this file's text. A
# workflow keeps the contents in its working folder, also for its jobs. Without this file, reading
# takes a third of a dry run and half of a short run.
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
def _this_file_hash() -> bytes:
    return hashlib.sha256(Path(__file__).read_bytes()).digest()


@cache
def _read(module: str) -> dict:
    source = file_of(module).read_bytes()
    key = hashlib.sha256(_this_file_hash() + source).hexdigest()
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
