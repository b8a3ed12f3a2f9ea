"""Sections of a Markdown page, by the fragments that its generator gives to headings."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

from docstow.core.patterns import lazy_pattern
from docstow.text.headings import find_headings
from docstow.text.parsing import HEADING, parse

_NUMBERED = lazy_pattern(r"(.+)[-_](\d{1,3})")


def find_section(
    text: str,
    fragment: str,
    anchors: Sequence[str] = (),
    terms: Sequence[tuple[int, str]] = (),
) -> str | None:
    """Return the section of a heading, or a term, with all below it; None if none has the fragment.

    Generators make fragments of headings in ways that differ in case, dashes and dots, and number
    those that repeat (``on-linux``, ``On_Linux``, ``on-linux-1``); all of these find it.

    Args:
        text: the page.
        fragment: of its URL, without ``#``.
        anchors: the fragments of its headings, where the page has told them.
        terms: lines and fragments of its terms.
    """
    own = find_headings(text)
    if fragment in anchors and len(own) == len(anchors):
        place = anchors.index(fragment)
        begin, level = own[place].start, own[place].level
        end = next((each.start for each in own[place + 1 :] if each.level <= level), len(text))
        return text[begin:end].strip() + "\n"
    if line := next((line for line, each in terms if each == fragment), None):
        # The members of a class are below it.
        inner = f"{fragment}."
        return _term_at(text, line, [n for n, e in terms if n > line and not e.startswith(inner)])
    headings = [
        (each.begin, each.level, _fold(each.text))
        for each in parse(text)
        if each.kind == HEADING and not each.depth
    ]
    wanted, number = _fold(fragment), 0
    found = [place for place, (_, _, slug) in enumerate(headings) if slug == wanted]
    if not found and (numbered := _NUMBERED.fullmatch(fragment)):
        wanted, number = _fold(numbered[1]), int(numbered[2])
        found = [place for place, (_, _, slug) in enumerate(headings) if slug == wanted]
    if not wanted or number >= len(found):
        return None
    first, level, _ = headings[found[number]]
    following = headings[found[number] + 1 :]
    last = next((line for line, other, _ in following if other <= level), None)
    return "\n".join(text.split("\n")[first:last]).strip() + "\n"


def _term_at(text: str, line: int, later: Sequence[int]) -> str:
    """Return a term and its definition: they end at a term that is not deeper, or a heading."""
    lines = text.split("\n")
    depth = _depth(lines[line])
    following = [each for each in later if _depth(lines[each]) <= depth]
    starts = [text.count("\n", 0, each.start) for each in find_headings(text)]
    following += [each for each in starts if each > line]
    return dedent("\n".join(lines[line : min(following, default=None)])).strip() + "\n"


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" -"))


def _fold(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum())
