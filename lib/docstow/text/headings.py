"""The headings of a page in Markdown, and the fragments of URLs that lead to them.

Readers keep the fragments of a page in its attribute ``anchors``: one for each heading that
:func:`find_headings` returns, in order; empty where a heading has none. Those of terms of lists
are in ``terms``: pairs of a line, counted from 0, and a fragment.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.text.parsing import HEADING, parse, plain_line

#: A heading (its marks and its title), or the line of a fence (its marks and what follows them).
_OPENING = lazy_pattern(r"\n(?:(#{1,6})[ \t]+([^\n]*)| {0,3}(`{3,}|~{3,})([^\n]*))")
#: A title without anything that has a meaning in Markdown.
_PLAIN = lazy_pattern(r"[^\\`*_\[\]<>&~#!|{}\x00-\x1f\x7f]*")
#: What GitHub leaves out of a fragment.
_NO_SLUG = lazy_pattern(r"[^\w\- ]+")


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
    # Every line begins behind a line feed, for which a search is quickest; starts stay the same.
    for match in _OPENING.finditer(f"\n{text}"):
        marks, title, mark, rest = match.groups()
        if not fence:
            if mark:
                fence = mark
            else:
                found.append(Heading(match.start(), len(marks), _plain(title.rstrip(" \t"))))
        elif mark and mark.startswith(fence) and not rest.strip(" \t" + fence[0]):
            fence = ""
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
    outline = _outline(text)
    place = text.find(passage)
    if place < 0:  # a part of a code block that was cut stands in a fence of its own
        place = text.find(passage.partition("\n")[2].rpartition("\n")[0])
    if terms and place >= 0:
        # The term that the passage begins with or in, below the last heading before it.
        start = text.count("\n", 0, place + len(passage) - len(passage.lstrip()))
        before = bisect_right(outline.starts, place)
        first = text.count("\n", 0, outline.starts[before - 1]) if before else 0
        if term := next((each for line, each in reversed(terms) if first < line <= start), ""):
            return term
    if len(outline.starts) != len(anchors):
        return ""
    best = ""
    for number in outline.numbers.get(path, ()):
        if best and outline.starts[number] > max(place, 0) + len(passage):
            break
        above = number
        while above >= 0 and not anchors[above]:
            above = outline.above[above]
        best = anchors[above] if above >= 0 else ""
    return best


@dataclass(frozen=True, slots=True)
class _Outline:
    """How the headings of a page stand below each other.

    Attributes:
        starts: where each begins in the text.
        above: the number of the heading that each is below; -1 for none.
        numbers: those of the headings with a path, titles joined by `` > ``.
    """

    starts: list[int]
    above: list[int]
    numbers: dict[str, list[int]]


@lru_cache(maxsize=4)
def _outline(text: str) -> _Outline:
    """Return the outline of a page; cached for several chunks of one page."""
    made = _Outline([], [], {})
    paths: list[str] = []
    open_: list[tuple[int, int]] = []  # levels and numbers
    for number, heading in enumerate(find_headings(text)):
        while open_ and open_[-1][0] >= heading.level:
            open_.pop()
        above = open_[-1][1] if open_ else -1
        open_.append((heading.level, number))
        titles = (paths[above] if above >= 0 else "", heading.title)
        paths.append(" > ".join(filter(None, titles)))
        made.starts.append(heading.start)
        made.above.append(above)
        made.numbers.setdefault(paths[-1], []).append(number)
    return made


@lru_cache(maxsize=1024)
def _plain(title: str) -> str:
    """Return the title of a heading as chunks spell it."""
    if _PLAIN.fullmatch(title):
        return " ".join(title.split())
    # What ends a heading may be hashes.
    if "#" not in title and (words := plain_line(title)) is not None:
        return words
    return next((each.text for each in parse(f"# {title}") if each.kind == HEADING), "")
