"""Long answers read page by page, as a client does, and put together again."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, NamedTuple

from docstow.tools import Toolbox

_LINES = re.compile(r"lines (\d+)-(\d+)(?: of (\d+))?(?: ·|$)")
_OPENING = re.compile(r"[ \t>]*(?:`{3,}(?=[^`\n]*\n)|~{3,}).*\n")
_CLOSING = re.compile(r"[ \t>]*(?:`{3,}|~{3,})\n\Z", re.MULTILINE)


class Page(NamedTuple):
    """One page: its text, and the lines that it names: first, last, of how many (0: not said)."""

    text: str
    lines: tuple[int, int, int] | None


def read_pages(toolbox: Toolbox, tool: str, max_tokens: int, **arguments: Any) -> list[Page]:
    """Read an answer to its end; no page may be empty or longer than is asked for."""
    pages: list[Page] = []
    cursor = ""
    while True:
        asked = {**arguments, "max_tokens": max_tokens, "cursor": cursor}
        text = toolbox.call(tool, asked).text
        assert len(text) <= 4 * max_tokens, (arguments, len(text))
        head, _, body = text.partition("\n\n")
        lines = _LINES.search(head)
        if lines is None and not head.startswith("*"):
            head, body = "", text  # a page without a line above it
        assert body.strip(), arguments
        numbers = lines and (int(lines[1]), int(lines[2]), int(lines[3] or 0))
        pages.append(Page(body, numbers or None))
        assert len(pages) < 5000
        if "next cursor: `" not in head:
            return pages
        cursor = head.split("next cursor: `")[1].split("`")[0]


def join(pages: list[Page]) -> str:
    """Put pages together: fences that a cut has closed and opened again are taken out."""
    whole = pages[0].text
    for before, page in pairwise(pages):
        closing = _CLOSING.search(whole)
        opening = _OPENING.match(page.text)
        text = page.text
        if closing and opening and closing[0].strip(" \t>\n") in opening[0]:
            whole, text = whole[: closing.start()], text[opening.end() :]
            # A line that is longer than a page goes on in the next one, which has its number too.
            assert before.lines
            assert page.lines
            if before.lines[1] == page.lines[0]:
                whole = whole.removesuffix("\n")
        whole += text
    return whole
