"""Statements of Cython, found without a grammar: what brackets, strings and line breaks decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docstow.core.patterns import lazy_pattern

#: Strings, comments, brackets and line breaks: what decides where a statement ends.
_MARK = lazy_pattern(
    r'"""(?:\\.|[^\\])*?"""|'
    r"'''(?:\\.|[^\\])*?'''|"
    r'"(?:\\.|[^"\\\n])*"|'
    r"'(?:\\.|[^'\\\n])*'|"
    r"#[^\n]*|\\\n|[(\[{]|[)\]}]|\n",
    re.DOTALL,
)
#: A class with its bases, in brackets, and what stands behind the colon.
CLASS = lazy_pattern(
    r"(?:(?:cdef|cpdef)\s+(?:(?:public|api|packed)\s+)*)?class\s+([\w.]+)\s*"
    r"(\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*(?:\[[^\]]*\]\s*)?:\s*(.*)",
    re.DOTALL,
)
PROPERTY = lazy_pattern(r"property\s+(\w+)\s*:")


@dataclass(frozen=True, slots=True)
class Statement:
    """A logical line.

    Attributes:
        indent: how many spaces stand before it.
        text: without comments.
    """

    indent: int
    text: str


def logical_lines(text: str) -> Iterator[Statement]:
    """Yield logical lines, without comments."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs()
    begin = opened = 0
    parts: list[str] = []
    for found in _MARK.finditer(f"{text}\n"):
        mark = found[0]
        if mark[0] == "#":
            parts.append(text[begin : found.start()])
            begin = found.end()
        elif mark[0] == "\\":
            parts.append(f"{text[begin : found.start()]} ")
            begin = found.end()
        elif mark in "([{":
            opened += 1
        elif mark in ")]}":
            opened = max(0, opened - 1)
        elif mark == "\n" and not opened:
            parts.append(text[begin : found.start()])
            line = "".join(parts)
            if plain := line.strip():
                yield Statement(len(line) - len(line.lstrip()), plain)
            parts, begin = [], found.end()


def bodies(found: Sequence[Statement]) -> Iterator[tuple[Statement, list[Statement]]]:
    """Yield each statement with what is inside it."""
    for at, each in enumerate(found):
        end = at + 1
        while end < len(found) and found[end].indent > each.indent:
            end += 1
        yield each, [*found[at + 1 : end]]


def bracketed(text: str, at: int) -> tuple[str, int]:
    """Return what is in the brackets that open at a place, and where they have closed."""
    opened = 0
    for found in _MARK.finditer(text, at):
        opened += (found[0] in "([{") - (found[0] in ")]}")
        if not opened:
            return text[at + 1 : found.start()], found.end()
    return text[at + 1 :], len(text)


def split(text: str) -> list[str]:
    """Return what commas separate that are in no brackets and no strings."""
    parts, begin, opened = [], 0, 0
    for found in re.finditer(rf"{_MARK.pattern}|,", text, re.DOTALL):
        opened += (found[0] in "([{") - (found[0] in ")]}")
        if found[0] == "," and not opened:
            parts.append(text[begin : found.start()])
            begin = found.end()
    return [each for each in map(str.strip, [*parts, text[begin:]]) if each]
