"""The parts of a piece of code that count for its identity (scripts/running/identity.py).

These do not count:
  * comments, docstrings, types of arguments
  * the texts of errors, of log lines and of --help
"""

import ast

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
NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
HAS_DOCSTRING = (ast.Module, *NAMED)
DOES_SOMETHING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


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


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is only a constant, as a docstring is."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Counted(ast.NodeTransformer):
    """Removes from a tree all parts that do not count."""

    raised: ast.expr | None = None
    in_function = False

    def generic_visit(self, node):
        if isinstance(node, HAS_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.ClassDef):  # a text below a field is its docstring
            node.body = [one for one in node.body if not is_docstring(one)] or [ast.Pass()]
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
