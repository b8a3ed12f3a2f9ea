"""Parser of Python as it is pasted: with prompts, fences, or only half of a file.

What does not parse is left out, and the names in it are lost.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from docstow.text import python_ast

_FENCE = re.compile(r"^\s*(```|~~~)")
_PROMPT = re.compile(r"^\s*(>>>|\.\.\.|In \[\d+\]:)(?: |$)")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
#: Lines that may be left out before the text is taken to be no Python.
_MOST_LEFT_OUT = 40
#: Levels of the syntax tree.
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Parsed:
    """A tree whose line numbers are those of the text.

    Attributes:
        tree: what could be read.
        lost: names on the lines that could not be read, whose bindings are not known.
        column: columns that were cut off at the left.
        unread: numbers of the lines that could not be read, sorted.
    """

    tree: ast.Module
    lost: frozenset[str]
    column: int
    unread: tuple[int, ...] = ()


def parse(code: str) -> Parsed:
    """Parse a piece of Python, leaving out the lines that are none."""
    lines = _unwrap(code.replace("\t", "    ").replace("\r\n", "\n").split("\n"))
    text = "\n".join(lines)
    column = _common_indentation(lines)
    text = textwrap.dedent(text)
    lost: set[str] = set()
    unread: set[int] = set()
    left = text.split("\n")
    for _ in range(_MOST_LEFT_OUT):
        try:
            tree = python_ast.parse_module("\n".join(left))
            return Parsed(
                tree, frozenset(lost | _cut_deep_nodes(tree)), column, tuple(sorted(unread))
            )
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = (getattr(error, "lineno", None) or 1) - 1
            line = min(max(line, 0), len(left) - 1)
            line = _last_nonblank(left, line)
            lost |= set(_NAME.findall(left[line]))
            unread.add(line + 1)
            stripped = left[line].lstrip()
            keep = left[line][: len(left[line]) - len(stripped)]
            left[line] = f"{keep}pass" if stripped not in {"", "pass"} else ""
    everything = frozenset(_NAME.findall(text))
    return Parsed(_parse_imports(text), everything, column, tuple(sorted(unread)))


def _cut_deep_nodes(tree: ast.Module) -> set[str]:
    """Cut off what nests too deep to be walked recursively, and return the names in it."""
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
            lost.update(*(_identifiers(each) for each in below if isinstance(each, ast.AST)))
    return lost


def _identifiers(node: ast.AST) -> Iterator[str]:
    """Yield all identifiers below a node."""
    for each in ast.walk(node):
        for part in ("id", "arg", "name", "asname", "attr"):
            if isinstance(name := getattr(each, part, None), str):
                yield name.partition(".")[0]


def _last_nonblank(lines: list[str], line: int) -> int:
    while line > 0 and not lines[line].strip():
        line -= 1
    return line


def _parse_imports(text: str) -> ast.Module:
    """Return the imports of a text that stand on lines of their own."""
    body: list[ast.stmt] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith(("import ", "from ")):
            continue
        try:
            (statement,) = python_ast.parse_module(line.strip()).body
        except (SyntaxError, ValueError):
            continue
        ast.increment_lineno(statement, number - 1)
        body.append(statement)
    return ast.Module(body=body, type_ignores=[])


def _common_indentation(lines: list[str]) -> int:
    written = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return min(written, default=0)


def _unwrap(lines: list[str]) -> list[str]:
    """Return lines without Markdown fences and prompts; every line keeps its number."""
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
