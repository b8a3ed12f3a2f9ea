"""Python text as a syntax tree.

All threads of a process take turns to parse: Python 3.11 counts the depth of a tree for all of them
together, and raises ``SystemError: AST constructor recursion depth mismatch`` where two meet.
Nothing is lost by it, since a thread that parses holds the interpreter.
"""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: What :func:`parse_module` and :func:`parse_expression` raise where a text cannot be read.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_LOCK = threading.Lock()


def parse_module(text: str) -> ast.Module:
    """Parse the statements of a text.

    Raises:
        SyntaxError, ValueError: it is no Python that this interpreter knows.
        RecursionError, MemoryError: it nests too deep.
    """
    with parser_lock():
        return ast.parse(text)


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
