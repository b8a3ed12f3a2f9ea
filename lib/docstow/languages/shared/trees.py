"""Syntax trees of code that anybody wrote, within the time that honest code of its length takes.

The scanners of some grammars read to the end of the file again and again: 60 KB of ``#!`` take 15 s
without that.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from docstow.core.errors import UnreadableInput

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

#: Shorter files are parsed at once: the worst of them take 20 ms.
_SHORT = 2048
#: What a file may take: so much CPU time, and so much for each byte; honest ones take 0.5 µs,
#: and on a machine with more work than cores several times that.
_FIXED_S, _BYTE_S = 0.5, 4e-6
#: How much the parser gets at a time.
_PART = 65536


def parse(language: Language, body: bytes) -> Tree:
    """Parse a file.

    Raises:
        UnreadableInput: it takes longer than any honest file of its length.
    """
    from tree_sitter import Parser

    parser = Parser(language)
    if len(body) <= _SHORT:
        return parser.parse(body)
    until = time.thread_time() + _FIXED_S + len(body) * _BYTE_S
    try:
        # Only a parser that asks for its text can be stopped; but nodes ask for theirs, too, which
        # is slow. The second parse takes the tree of the first, and next to no time.
        with _Text(body) as text:
            tree = parser.parse(text.read, progress_callback=lambda *_: time.thread_time() > until)
    except ValueError as error:
        raise UnreadableInput(
            "This code takes far longer to parse than code of its length does; send the part of it"
            " that matters."
        ) from error
    return parser.parse(body, tree)


class _Text:
    """What a parser asks for, part by part.

    A parser never lets go of a part that it is given (tree-sitter 0.26). So it is given views,
    which let go of the text themselves when the next one is asked for.
    """

    def __init__(self, body: bytes) -> None:
        self._body = memoryview(body)
        self._part = self._body[:0]

    def __enter__(self) -> _Text:
        return self

    def __exit__(self, *_: object) -> None:
        self._part.release()
        self._body.release()

    def read(self, offset: int, _: object) -> memoryview:
        """Return the text from a place on."""
        self._part.release()
        self._part = self._body[offset : offset + _PART]
        return self._part
