"""Python text as a syntax tree, one text after another.

This room knows what Python's own parser bears. It does not know what trees are for. All threads
of a process that parse take turns here: Python 3.11 counts for all of them together how deep a
tree is, and fails with ``SystemError: AST constructor recursion depth mismatch`` where two meet.
Nothing is lost by it, since whoever parses holds the interpreter.
"""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

#: What :func:`module` and :func:`expression` raise where a text cannot be read.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_TURN = threading.Lock()


def module(text: str) -> ast.Module:
    """The statements of a text.

    Raises:
        SyntaxError, ValueError: it is no Python that this interpreter knows.
        RecursionError, MemoryError: it nests too deep.
    """
    with turn():
        return ast.parse(text)


def expression(text: str) -> ast.expr:
    """A text that is one expression; raises what :func:`module` raises."""
    with turn():
        return ast.parse(text, mode="eval").body


@contextmanager
def turn() -> Iterator[None]:
    """While nobody else parses; also for a library that parses by itself. Not to be nested."""
    with _TURN, warnings.catch_warnings():
        # Of a text's own escapes; how warnings are shown belongs to the whole process.
        warnings.simplefilter("ignore")
        yield
