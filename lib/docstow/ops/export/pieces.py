"""What exports are made of: their pieces, documents as Markdown, and pages filled with pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from docstow.core.model import Document
from docstow.index.render import header
from docstow.text.injection import screen
from docstow.text.markdown import rewrite_code_blocks
from docstow.text.parsing import CODE, HEADING, parse

#: Where a link's address begins: ``](https://…`` or, in a definition, ``]: https://…``.
_ADDRESS = re.compile(r"(\]\(\s*<?|\]:\s*<?)(https?://[^\s<>()]+)")

_DEEPEST_HEADING = 6
#: Headings, underlines of headings, fences and links.
_WORTH_PARSING = re.compile(r"#|\]\(|\]:|```|~~~|^\s*(?:=+|-+)\s*$", re.MULTILINE)


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
class OneFile:
    """A file of an export.

    Attributes:
        path: what it is known by, whatever it is called: a page's path.
        name: without folders.
        text: the whole.
    """

    path: str
    name: str
    text: str


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


def document_line(document: Document, members: dict[str, Any]) -> str:
    """Format a document as one line of JSON; ``suspect`` says why it speaks to an assistant."""
    why = screen(f"{document.title}\n{document.signature}\n{document.text}")
    return json_line({**members, "suspect": why} if why else members)


def section(
    document: Document,
    line: str,
    *,
    level: int,
    implements: Sequence[str] = (),
    link: Callable[[str], str] = str,
) -> str:
    """Format a document below a heading of that level, ending in an empty line.

    Args:
        document: what is shown.
        line: stands below the heading: where it comes from.
        level: of its heading, from 1; deeper ones than 6 become 6.
        implements: the traits that it implements.
        link: what each link's address is replaced by.
    """
    level = min(level, _DEEPEST_HEADING)
    first, *blocks = header(document, line)
    blocks = ["#" * (level - 1) + first, *filter(None, blocks)]
    if document.text:
        text = rewrite_code_blocks(document.text).strip("\n")
        blocks.append(fit_markdown(text, by=level, link=link))
    if implements:
        blocks.append("Implements: " + ", ".join(f"`{trait}`" for trait in implements))
    return "\n\n".join(blocks) + "\n\n"


def fit_markdown(text: str, *, by: int, link: Callable[[str], str] = str) -> str:
    """Return Markdown with headings moved down by some levels and links' addresses replaced.

    Code blocks stay as they are, but for one that is never closed: it would take in whatever is
    put below the text.
    """
    if not _WORTH_PARSING.search(text):
        return text
    lines = text.split("\n")
    code: set[int] = set()
    for block in parse(text):
        begin, end = block.begin, block.end
        if block.kind == CODE:
            code.update(range(begin, end))
            if block.depth == 0 and _is_open(block.markup, lines, begin, end):
                lines.append(block.markup)
        elif block.kind == HEADING:
            marks = "#" * min(block.level + by, _DEEPEST_HEADING)
            if block.markup:
                lines[begin] = lines[begin].replace(block.markup, marks, 1)
            elif block.depth == 0:
                title = " ".join(line.strip() for line in lines[begin : end - 1])
                lines[begin:end] = [f"{marks} {title}", *[""] * (end - begin - 1)]
    return "\n".join(
        line if number in code else _ADDRESS.sub(lambda found: found[1] + link(found[2]), line)
        for number, line in enumerate(lines)
    )


def _is_open(markup: str, lines: Sequence[str], begin: int, end: int) -> bool:
    """Return whether a code block ends with the text and not by a fence."""
    if not markup or any(line.strip() for line in lines[end:]):
        return False
    last = lines[end - 1].strip()
    closed = end - 1 > begin and len(last) >= len(markup) and not last.strip(markup[0])
    return not closed
