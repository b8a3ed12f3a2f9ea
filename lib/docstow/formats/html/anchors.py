"""The ids of headings and of terms, carried through the conversion to Markdown."""

from __future__ import annotations

import re

from docstow.formats.html.tree import Element, classes, elements, plain
from docstow.text.headings import find_headings

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
#: Elements that wrap a section or its title; their id is that of the heading they begin with.
_AROUND = {"div", "section", "header", "hgroup", "article", "span"}
#: Delimiters of a mark; they are no characters, so no page has them.
_OPEN, _CLOSE = "\ufdd2", "\ufdd3"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE} ?")
#: Terms that are labels of notes.
_LABELS = {"label", "brackets", "footnote", "citation"}


def mark_headings(main: Element) -> list[str]:
    """Put a mark at each heading and each term of a list that has an id, and return the ids.

    To be called first: what carries an id may be gone later.
    """
    ids: list[str] = []
    for element in elements(main, *_HEADINGS, "dt"):
        if element.tag in _HEADINGS and plain(element) and (found := _find_id(element, main)):
            last = element[-1] if len(element) else None
            mark = f"{_OPEN}{len(ids)}{_CLOSE}"
            if last is None:
                element.text = (element.text or "").rstrip() + mark
            else:
                last.tail = (last.tail or "").rstrip() + mark
            ids.append(found)
        elif element.tag == "dt" and _LABELS.isdisjoint(classes(element)) and plain(element):
            inner = (each.get("id") or each.get("name") for each in element.iter("a", "span"))
            if found := element.get("id") or next(filter(None, inner), ""):
                element.text = f"{_OPEN}{len(ids)}{_CLOSE}{(element.text or '').lstrip()}"
                ids.append(str(found))
    return ids


def take_anchors(text: str, ids: list[str]) -> tuple[str, list[str], list[tuple[int, str]]]:
    """Return the Markdown without marks, the id of each of its headings, and lines of terms.

    Args:
        text: Markdown with marks.
        ids: as :func:`mark_headings` returned them.
    """
    if not ids:
        return text, [], []
    anchors = []
    for heading in find_headings(text):
        mark = _MARK.search(heading.title)
        # A page's own URL leads to its title.
        anchors.append(ids[int(mark[1])] if mark and heading.start else "")
    terms = [
        (number, ids[int(mark[1])])
        for number, line in enumerate(text.split("\n"))
        if _OPEN in line and not line.startswith("#")
        for mark in _MARK.finditer(line)
    ]
    return unmarked(text), anchors if any(anchors) else [], terms


def unmarked(text: str) -> str:
    """Return text without marks."""
    return _MARK.sub("", text)


def _find_id(heading: Element, main: Element) -> str:
    """Return the id that leads to a heading: its own, one in it, around it or just before it."""
    if own := heading.get("id"):
        return str(own)
    for inner in heading.iter("a", "span"):
        if found := inner.get("id") or inner.get("name"):
            return str(found)
    element = heading
    while element is not main:
        before = element.getprevious()
        if before is not None:
            # An empty element before the heading is the target of old pages' links.
            target = before if before.tag in {"a", "span"} else next(before.iter("a"), None)
            if target is None or plain(before) or (before.tail or "").strip():
                return ""
            return str(target.get("id") or target.get("name") or "")
        element = element.getparent()
        if element is None or element.tag not in _AROUND or (element.text or "").strip():
            return ""
        if found := element.get("id"):
            return str(found)
    return ""
