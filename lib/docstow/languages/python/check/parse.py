"""Python as people and models paste it, made into a tree: prompts, fences, half of a file.

This room knows how to leave out what does not parse, and says which names that touches. It does not
know what the code means.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from docstow.text import python_ast as python_tree

_FENCE = re.compile(r"^\s*(```|~~~)")
_PROMPT = re.compile(r"^\s*(>>>|\.\.\.|In \[\d+\]:)(?: |$)")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
#: So many statements may be left out before the text is no Python at all.
_MOST_LEFT_OUT = 40
#: Nodes of a syntax tree below one another.
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Parsed:
    """A tree whose line numbers are those of the text.

    Attributes:
        tree: what could be read.
        lost: names on the lines that could not: what is bound to them nobody knows.
        column: columns that were cut off at the left.
        unread: lines that are no Python, from 1, in their order.
    """

    tree: ast.Module
    lost: frozenset[str]
    column: int
    unread: tuple[int, ...] = ()


def parse(code: str) -> Parsed:
    """Read a piece of Python, leaving out the lines that are none."""
    lines = _unwrapped(code.replace("\t", "    ").replace("\r\n", "\n").split("\n"))
    text = "\n".join(lines)
    column = _margin(lines)
    text = textwrap.dedent(text)
    lost: set[str] = set()
    unread: set[int] = set()
    left_out = text.split("\n")
    for _ in range(_MOST_LEFT_OUT):
        try:
            tree = python_tree.module("\n".join(left_out))
            return Parsed(tree, frozenset(lost | _cut(tree)), column, tuple(sorted(unread)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = (getattr(error, "lineno", None) or 1) - 1
            line = min(max(line, 0), len(left_out) - 1)
            line = _last_written(left_out, line)
            lost |= set(_NAME.findall(left_out[line]))
            unread.add(line + 1)
            stripped = left_out[line].lstrip()
            keep = left_out[line][: len(left_out[line]) - len(stripped)]
            left_out[line] = f"{keep}pass" if stripped not in {"", "pass"} else ""
    everything = frozenset(_NAME.findall(text))
    return Parsed(_imports_alone(text), everything, column, tuple(sorted(unread)))


def _cut(tree: ast.Module) -> set[str]:
    """Leave out what nests deeper than anybody writes; the names in it, of which nothing is known.

    Whoever walks the tree may then do so one call below another.
    """
    lost: set[str] = set()
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    for node in level:
        for part, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, part, ast.copy_location(ast.Constant(None), value))
            elif isinstance(node, ast.comprehension) or part == "generators":
                continue
            elif isinstance(value, list) and any(isinstance(each, ast.AST) for each in value):
                keep = [ast.copy_location(ast.Pass(), each) for each in value[:1]]
                setattr(node, part, keep if isinstance(value[0], ast.stmt) else [])
            else:
                continue
            below = value if isinstance(value, list) else [value]
            lost.update(*(_named(each) for each in below if isinstance(each, ast.AST)))
    return lost


def _named(node: ast.AST) -> Iterator[str]:
    """All identifiers below a node."""
    for each in ast.walk(node):
        for part in ("id", "arg", "name", "asname", "attr"):
            if isinstance(name := getattr(each, part, None), str):
                yield name.partition(".")[0]


def _last_written(lines: list[str], line: int) -> int:
    while line > 0 and not lines[line].strip():
        line -= 1
    return line


def _imports_alone(text: str) -> ast.Module:
    """Of a text that is hopeless, the imports that stand on lines of their own."""
    body: list[ast.stmt] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith(("import ", "from ")):
            continue
        try:
            (statement,) = python_tree.module(line.strip()).body
        except (SyntaxError, ValueError):
            continue
        ast.increment_lineno(statement, number - 1)
        body.append(statement)
    return ast.Module(body=body, type_ignores=[])


def _margin(lines: list[str]) -> int:
    written = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return min(written, default=0)


def _unwrapped(lines: list[str]) -> list[str]:
    """Without Markdown around it and prompts before it; every line stays at its number."""
    if any(_FENCE.match(line) for line in lines):
        inside, kept = False, []
        for line in lines:
            if _FENCE.match(line):
                inside = not inside
                kept.append("")
            else:
                kept.append(line if inside else "")
        lines = kept
    if any(line.lstrip().startswith(">>>") for line in lines):
        lines = [_PROMPT.sub("", line, count=1) if _PROMPT.match(line) else "" for line in lines]
    return lines
