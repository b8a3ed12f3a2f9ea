"""Pieces of an export: what a writer yields, and pages of text that are filled with them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an export: one document, one relation or what stands before them.

    Attributes:
        file: what it belongs to: a file of a folder, or the one file of the other formats.
        text: all pieces of a file, joined, are the file.
        opens: whether it is the first of a file of a folder.
    """

    file: str
    text: str
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A part of an export's text.

    Attributes:
        text: of the page.
        following: where the next page begins, as the number of a piece and of a character in it;
            None after the last.
    """

    text: str
    following: tuple[int, int] | None


def fill_page(pieces: Iterable[str], begin: tuple[int, int], limit: int) -> Page:
    """Return the whole pieces that fit, or the part that fits of a piece that alone is longer.

    Args:
        pieces: from the one of ``begin`` on.
        begin: where the page begins.
        limit: characters of the page.
    """
    number, skipped = begin
    texts: list[str] = []
    size = 0
    for text in pieces:
        rest = text[skipped:]
        if size + len(rest) > limit:
            if size:
                return Page("".join(texts), (number, skipped))
            return Page(rest[:limit], (number, skipped + limit))
        texts.append(rest)
        size += len(rest)
        number, skipped = number + 1, 0
    return Page("".join(texts), None)


def json_line(members: dict[str, Any]) -> str:
    """Format one line of JSON."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
