"""Python text as a syntax tree.

All threads of a process take turns to parse: Python 3.11 counts the depth of a tree for all of them
together, and raises ``SystemError: AST constructor recursion depth mismatch`` where two meet.
Nothing is lost by it, since a thread that parses holds the interpreter.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: What :func:`parse_module` and :func:`parse_expression` raise where a text cannot be read.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_LOCK = threading.Lock()
#: Where type parameters of a function, a class or an alias begin, or the value of a plain alias:
#: the syntax of Python 3.12 (PEP 695).
_LATER = re.compile(
    r"^[ \t]*(?:(?:async[ \t]+)?(?:def|class)[ \t]+\w+[ \t]*(?=\[)"
    r"|(?P<alias>type)[ \t]+\w+[ \t]*(?=\[|=[^=]))",
    re.MULTILINE,
)
_TOKEN = re.compile(r"[\[\](){}]|#[^\n]*|\"[^\"\n]*\"|'[^'\n]*'")


def parse_module(text: str) -> ast.Module:
    """Parse the statements of a text.

    Raises:
        SyntaxError, ValueError: it is no Python that this interpreter knows.
        RecursionError, MemoryError: it nests too deep.
    """
    with parser_lock():
        try:
            return ast.parse(text)
        except SyntaxError:
            if sys.version_info >= (3, 12) or (earlier := _without_type_parameters(text)) == text:
                raise
            return ast.parse(earlier)


def _without_type_parameters(text: str) -> str:
    """Return a text with blanks in place of type parameters, and of ``type`` before an alias.

    All else stays where it is. What a type parameter is called is then a name that is not known.
    """
    parts, end = list[str](), 0
    for match in _LATER.finditer(text):
        if match.start() < end:
            continue
        head, begin = match[0], match.end()
        if match["alias"]:
            head = head.replace("type", "", 1).lstrip().ljust(len(head.lstrip()))
            head = match[0][: len(match[0]) - len(match[0].lstrip())] + head
        last = _closing(text, begin) if text[begin] == "[" else begin
        blank = re.sub(r"[^\n]", " ", text[begin:last]).replace("\n", "\\\n")
        parts += [text[end : match.start()], head, blank]
        end = last
    return "".join([*parts, text[end:]])


def _closing(text: str, begin: int) -> int:
    """Return the place after the bracket that closes the one at a place."""
    depth = 0
    for token in _TOKEN.finditer(text, begin):
        depth += {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    return begin


def parse_expression(text: str) -> ast.expr:
    """Parse a text that is one expression; raise what :func:`parse_module` raises."""
    with parser_lock():
        return ast.parse(text, mode="eval").body


def try_parse_module(text: str) -> ast.Module | None:
    """Parse the statements of a text; return None where it cannot be read."""
    with suppress(*UNREADABLE):
        return parse_module(text)
    return None


def try_parse_expression(text: str) -> ast.expr | None:
    """Parse a text that is one expression; return None where it cannot be read."""
    with suppress(*UNREADABLE):
        return parse_expression(text.strip())
    return None


@contextmanager
def parser_lock() -> Iterator[None]:
    """Keep other threads from parsing; also for a library that parses by itself. Not reentrant."""
    with _LOCK, warnings.catch_warnings():
        # Warnings are about the text's own escapes, and showing them is a setting of the process.
        warnings.simplefilter("ignore")
        yield
