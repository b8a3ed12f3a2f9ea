"""Declarations of symbols, parsed from their text back to syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from docstow.languages.python.source.syntax import Function
from docstow.text.python_ast import try_parse_module


@lru_cache(maxsize=1000)
def function_headers(signature: str) -> tuple[Function, ...]:
    """Return the functions of a signature with their decorators: one, or one for each overload."""
    found: list[Function] = []
    above: list[str] = []
    for line in signature.strip().split("\n"):
        if line.startswith("@"):
            above.append(line if "…" not in line else line.partition("(")[0])
            continue
        header = parse_declaration("\n".join([*above, line.rstrip().removesuffix(":")]))
        above = []
        if not isinstance(header, Function):
            return ()
        found.append(header)
    return tuple(found)


def class_header(signature: str) -> ast.ClassDef | None:
    """Return the header of a class, without its decorators."""
    lines = [each for each in signature.split("\n") if not each.startswith("@")]
    header = parse_declaration(" ".join(lines))
    return header if isinstance(header, ast.ClassDef) else None


def annotation_and_value(signature: str) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the two of ``name: annotation = value``; None for what is not there."""
    statement = _statement(signature) or _statement(signature.partition(" = ")[0])
    match statement:
        case ast.AnnAssign(annotation=annotation, value=value):
            return annotation, value
        case ast.Assign(value=value):
            return None, value
    return None, None


def type_variable_names(header: ast.ClassDef) -> list[str]:
    """Return the type variables of a class in their order, with other names that may be ones."""
    bases = [each for each in header.bases if isinstance(each, ast.Subscript)]
    for base in bases:
        if ast.unparse(base.value).rpartition(".")[2] in {"Generic", "Protocol"}:
            bases = [base]
            break
    return list(dict.fromkeys(name for base in bases for name in _names(base.slice)))


def parse_declaration(text: str) -> ast.stmt | None:
    """Parse the header of one function or class; return None where it is none that can be read."""
    return _statement(f"{text}: ...")


def _statement(text: str) -> ast.stmt | None:
    """Parse the first statement of a text."""
    module = try_parse_module(text)
    return module.body[0] if module is not None and module.body else None


def _names(node: ast.expr) -> Iterator[str]:
    yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
