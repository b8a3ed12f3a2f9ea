"""``llms.txt`` and ``llms-full.txt``: a site's own lists and texts for models.

This room knows the two formats. It does not fetch, and does not know which addresses are wanted.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

# Possessive, and no part goes past a "[": no part of a hostile text is read twice.
_LINK = re.compile(r"\[[^\[\]\n]*+\]\(\s*+<?([^\[)\s>]++)>?[^\[)\n]*+\)")
#: How the generators in use name a page's address: a line of its own, behind its title.
_NAMED = re.compile(
    r"^(?:[-*>]\s+)?\**(?:source|url|permalink)(?: url)?\**:\**\s*<?(https?://[^\s>]+)>?\s*$",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^#{1,2}\s+\S")
_FENCE = re.compile(r"^\s*(```|~~~)")
#: How many lines may lie between a page's title and its address, blank ones included.
_NEAR = 4


def is_text(body: bytes, media_type: str) -> bool:
    """Whether an answer is such a file; many sites answer everything with a page of HTML."""
    return "html" not in media_type.lower() and body.lstrip()[:1] != b"<"


def links(text: str, url: str) -> list[str]:
    """The addresses that an ``llms.txt`` links to, absolute, in its order."""
    found = (urljoin(url, match[1]) for match in _LINK.finditer(text))
    return [each for each in dict.fromkeys(found) if each.startswith(("http://", "https://"))]


def sections(text: str) -> dict[str, str]:
    """The pages of an ``llms-full.txt``: Markdown by address; empty if it does not name them.

    A page begins with its title, which a line such as ``Source: https://…`` follows.
    """
    lines = text.splitlines()
    marks = _marks(lines)
    pages: dict[str, str] = {}
    for number, (title, named, url) in enumerate(marks):
        end = marks[number + 1][0] if number + 1 < len(marks) else len(lines)
        body = [*lines[title:named], *lines[named + 1 : end]]
        pages.setdefault(url, "\n".join(body).strip() + "\n")
    return pages


def _marks(lines: list[str]) -> list[tuple[int, int, str]]:
    """Where pages begin, where their addresses stand, and these."""
    marks: list[tuple[int, int, str]] = []
    title, fence = -_NEAR - 1, ""
    for number, line in enumerate(lines):
        if match := _FENCE.match(line):
            fence = "" if fence == match[1] else fence or match[1]
        elif fence:
            continue
        elif _TITLE.match(line):
            title = number
        elif (match := _NAMED.match(line)) and number - title <= _NEAR:
            marks.append((title, number, match[1]))
            title = -_NEAR - 1
    return marks
