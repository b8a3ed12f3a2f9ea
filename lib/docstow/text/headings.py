"""The headings of a page in Markdown, and the fragments of URLs that lead to them.

Readers keep the fragments of a page in its attribute ``anchors``: one for each heading that
:func:`find_headings` returns, in order; empty where a heading has none. Those of terms of lists
are in ``terms``: pairs of a line, counted from 0, and a fragment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from docstow.text.parsing import HEADING, parse

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
#: What GitHub leaves out of a fragment.
_NO_SLUG = re.compile(r"[^\w\- ]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside of lists, quotes and code.

    Attributes:
        start: where its line begins in the text.
        level: 1 to 6.
        title: plain text.
    """

    start: int
    level: int
    title: str


@lru_cache(maxsize=64)
def find_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of normalised Markdown; cached for several chunks of one page."""
    found = []
    fence = ""
    start = 0
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" \t" + fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif match := _HEADING.match(line):
            found.append(Heading(start, len(match[1]), _plain(match[2])))
        start += len(line) + 1
    return tuple(found)


def slugs(titles: Sequence[str]) -> list[str]:
    """Return the fragments that GitHub gives to headings: lower case, hyphens, repeated numbered.

    MkDocs, VitePress and Docusaurus give nearly all headings the same ones.
    """
    seen = Counter[str]()
    found = []
    for title in titles:
        slug = _NO_SLUG.sub("", title.replace("`", "").lower()).strip().replace(" ", "-")
        number = seen[slug]
        seen[slug] += 1
        found.append(f"{slug}-{number}" if number and slug else slug)
    return found


def find_anchor(
    text: str,
    anchors: Sequence[str],
    path: str,
    passage: str,
    terms: Sequence[tuple[int, str]] = (),
) -> str:
    """Return the fragment that leads nearest to a passage of a page; empty if there is none.

    Args:
        text: of the page.
        anchors: of its headings.
        path: the passage's headings, outermost first, joined by `` > ``.
        passage: a slice of the page.
        terms: lines and fragments of the page's terms.
    """
    found = find_headings(text)
    place = text.find(passage)
    if place < 0:  # a part of a code block that was cut stands in a fence of its own
        place = text.find(passage.partition("\n")[2].rpartition("\n")[0])
    # The term that the passage begins with or in, below the last heading before it.
    start = text.count("\n", 0, place + len(passage) - len(passage.lstrip())) if place >= 0 else -1
    begin = max((each.start for each in found if each.start <= place), default=0)
    first = text.count("\n", 0, begin)
    if term := next((each for line, each in reversed(terms) if first < line <= start), ""):
        return term
    if len(found) != len(anchors):
        return ""
    best = ""
    above: list[tuple[Heading, str]] = []
    for heading, anchor in zip(found, anchors, strict=True):
        above = [each for each in above if each[0].level < heading.level]
        above.append((heading, anchor))
        if path == " > ".join(each.title for each, _ in above if each.title):
            if best and heading.start > max(place, 0) + len(passage):
                break
            best = next((each for _, each in reversed(above) if each), "")
    return best


def _plain(title: str) -> str:
    """Return the title of a heading as chunks spell it."""
    if title.replace(" ", "").isalnum():
        return " ".join(title.split())
    return next((each.text for each in parse(f"# {title}") if each.kind == HEADING), "")
