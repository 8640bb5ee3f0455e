"""A definition of a module as a text that is the same for the same code, and the names that the
definition uses. scripts/running/identity.py hashes these texts.
"""

import ast
import hashlib
import re
from collections.abc import Iterator

from scripts.running.counted_code import FUNCTIONS, NAMED, counted, is_docstring

PACKAGE = "scripts"
MODULE_NAME = re.compile(rf"{PACKAGE}(\.[A-Za-z_]\w*)+")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
IMPORTS = (ast.Import, ast.ImportFrom)
# the name that an assignment defines, and the other names of the same assignment
ITSELF, BESIDE = ("<itself>", "<beside>")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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
    return is_docstring(statement)


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
        if _is_no_code(statement) or (defined and set(defined) <= set(imports)):
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
