"""Helpers for syntax trees: quoting, dotted names and the names that statements bind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
SPACE = re.compile(r"\s+")
_LONGEST_QUOTE = 160


class SourceText:
    """A file's text, for quoting parts of it.

    Args:
        text: as it was parsed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")

    def quote(self, node: ast.AST | None, longest: int = _LONGEST_QUOTE) -> str:
        """Return a node as it is written, on one line and cut to a length; empty for None."""
        if node is None:
            return ""
        if isinstance(node, ast.Subscript) and dotted(node.value).endswith("Annotated"):
            inner = node.slice
            return self.quote(inner.elts[0] if isinstance(inner, ast.Tuple) else inner, longest)
        text = SPACE.sub(" ", self._between(node)).strip()
        return text if len(text) <= longest else f"{text[: longest - 1]}…"

    def _between(self, node: ast.AST) -> str:
        first, last = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
        begin, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        if first == last:
            return self._cut(first, begin, end)
        middle = self.lines[first + 1 : last]
        return "\n".join([self._cut(first, begin, None), *middle, self._cut(last, 0, end)])

    def _cut(self, number: int, begin: int, end: int | None) -> str:
        """Return a part of a line by its offsets, which are in bytes."""
        line = self.lines[number]
        if line.isascii():
            return line[begin:end]
        return line.encode()[begin:end].decode(errors="replace")


def dotted(node: ast.AST | None) -> str:
    """Return ``a.b.c`` of names and attributes; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def callee(node: ast.expr) -> ast.expr:
    """Return what a call calls; anything else as it is."""
    return node.func if isinstance(node, ast.Call) else node


def positional(function: Function | ast.Lambda) -> list[ast.arg]:
    """Return the parameters of a function that may be passed by position."""
    return [*function.args.posonlyargs, *function.args.args]


def string_value(node: ast.AST | None) -> str:
    """Return the string that a node is; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def string_list(node: ast.expr | None) -> list[str] | None:
    """Return the strings of a literal list; None where it is anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = string_list(node.left), string_list(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Dict):
        node = ast.List([each for each in node.keys if each is not None])
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    found = [string_value(each) for each in node.elts]
    return found if all(found) else None


def is_of_super(owner: ast.expr) -> bool:
    """Return whether an expression is ``super()`` or ``object``."""
    return dotted(owner) == "object" or (
        isinstance(owner, ast.Call) and dotted(owner.func) == "super"
    )


def target_names(target: ast.AST | None) -> Iterator[str]:
    """Yield the names that a target of an assignment binds."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from target_names(part)
        case ast.Starred(value=value):
            yield from target_names(value)


def assignments(
    node: ast.AST,
) -> Iterator[tuple[ast.expr, ast.expr | None, ast.expr | None]]:
    """Yield each target of an assignment with its annotation and value; None for none."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, None, value) for target in targets)
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            yield target, annotation, value
        case ast.AugAssign(target=target, value=value):
            yield target, None, value


def head_names(block: ast.stmt) -> Iterator[str]:
    """Yield the names that the head of a block binds: of a loop, a manager, a walrus."""
    match block:
        case ast.For(target=target):
            yield from target_names(target)
        case ast.With(items=items):
            for item in items:
                yield from target_names(item.optional_vars)
        case ast.If(test=test) | ast.While(test=test):
            for each in ast.walk(test):
                if isinstance(each, ast.NamedExpr):
                    yield from target_names(each.target)


def block_bodies(block: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the bodies of a block: each of its branches and handlers."""
    for part in ("body", "handlers", "cases", "orelse", "finalbody"):
        inner = getattr(block, part, [])
        if part in {"handlers", "cases"}:
            yield from (each.body for each in inner)
        elif inner:
            yield inner
