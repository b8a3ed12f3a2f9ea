"""Signatures as packages' symbols have them, made into trees again.

This room knows how signatures are written down. It does not know what names in them mean.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from docstow.text import python_ast as python_tree

Head = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=1000)
def functions(signature: str) -> tuple[Head, ...]:
    """The headers in a signature, those of overloads each, with their decorators."""
    found: list[Head] = []
    above: list[str] = []
    for line in signature.strip().split("\n"):
        if line.startswith("@"):
            above.append(line if "…" not in line else line.partition("(")[0])
            continue
        statement = _statement("\n".join([*above, f"{line.rstrip().removesuffix(':')}: ..."]))
        above = []
        if not isinstance(statement, Head):
            return ()
        found.append(statement)
    return tuple(found)


def class_head(signature: str) -> ast.ClassDef | None:
    """The header of a class."""
    lines = [each for each in signature.split("\n") if not each.startswith("@")]
    statement = _statement(f"{' '.join(lines)}: ...")
    return statement if isinstance(statement, ast.ClassDef) else None


def assigned(signature: str) -> tuple[ast.expr | None, ast.expr | None]:
    """Annotation and value of ``name: annotation = value``; None for what is not there."""
    statement = _statement(signature) or _statement(signature.partition(" = ")[0])
    match statement:
        case ast.AnnAssign(annotation=annotation, value=value):
            return annotation, value
        case ast.Assign(value=value):
            return None, value
    return None, None


def parameters_of(head: ast.ClassDef) -> list[str]:
    """The type variables of a class in their order, and other names that may be ones."""
    for base in head.bases:
        name = ast.unparse(base.value) if isinstance(base, ast.Subscript) else ""
        if isinstance(base, ast.Subscript) and name.rpartition(".")[2] in {"Generic", "Protocol"}:
            return list(dict.fromkeys(_names(base.slice)))
    inside = (base.slice for base in head.bases if isinstance(base, ast.Subscript))
    return list(dict.fromkeys(name for each in inside for name in _names(each)))


def _names(node: ast.expr) -> Iterator[str]:
    yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _statement(text: str) -> ast.stmt | None:
    try:
        return python_tree.module(text).body[0]
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return None
