"""Text of a web page to a tree that has bounds, and small questions about its elements.

This room knows lxml. It does not know which parts of a page matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from docstow.core.errors import UnreadableInput

#: lxml's elements; its stubs say little more.
Element = Any

#: Elements below this depth lose their tags but keep their text: the parser gives up at 2048.
DEEPEST = 100
# Possessive, and ended by the text's end too: no part of a hostile page is read twice.
_NAME = r"<(/?)([a-zA-Z][^\s/>]*+)"
_TAG = re.compile(_NAME + r"(?:[^>\"']++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)")
#: Elements that have no end tag, or whose end tag is left out so often that it counts nothing.
_UNCOUNTED = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "param",
    "source",
    "track",
    "wbr",
    "p",
    "li",
    "dt",
    "dd",
    "td",
    "th",
    "tr",
    "tbody",
    "thead",
    "tfoot",
    "option",
    "optgroup",
    "colgroup",
    "html",
    "head",
    "body",
}
_SPACE = re.compile(r"\s+")


def parse(text: str) -> Element:
    """Make a tree of a page's text; its root is the ``html`` element.

    Raises:
        UnreadableInput: there is nothing in it.
    """
    if not text.strip():
        raise UnreadableInput("The page is empty.")
    parser = lxml_html.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = lxml_html.document_fromstring(
            _shallow(text).encode("utf-8", "replace"), parser=parser
        )
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise UnreadableInput("The page has no HTML in it.") from error
    for element in root.iter(etree.Element):
        # Of XHTML with prefixes, the local name is what counts.
        if ":" in element.tag and element.tag.rpartition(":")[2].isalnum():
            element.tag = element.tag.rpartition(":")[2]
    return root


def _shallow(text: str) -> str:
    """Drop the tags that nest too deep; most pages come back as they are."""
    depth = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal depth
        name = match[2].lower()
        if name in _UNCOUNTED or match[0].endswith("/>"):
            return match[0]
        if match[1]:
            depth = max(depth - 1, 0)
            return match[0] if depth < DEEPEST else ""
        depth += 1
        return match[0] if depth <= DEEPEST else ""

    if text.count("<") < DEEPEST:
        return text
    return _TAG.sub(keep, text)


def classes(element: Element) -> list[str]:
    """The element's classes."""
    return (element.get("class") or "").split()


def plain(element: Element) -> str:
    """The element's text on one line."""
    return _SPACE.sub(" ", "".join(element.itertext())).strip()


def elements(root: Element) -> list[Element]:
    """All elements below ``root`` in their order, so that a caller may change the tree."""
    return list(root.iterdescendants(etree.Element))


def descend(root: Element) -> Iterator[tuple[str, Element]]:
    """Starts and ends of the elements below ``root``, itself included."""
    yield from etree.iterwalk(root, events=("start", "end"))


def make(tag: str, text: str = "", *children: Element) -> Element:
    """A new element."""
    element = lxml_html.Element(tag)
    element.text = text
    element.extend(children)
    return element


def replace(old: Element, new: Element) -> None:
    """Put ``new`` in the place of ``old``, the text behind it stays."""
    new.tail, old.tail = old.tail, None
    parent = old.getparent()
    if parent is not None:
        parent.replace(old, new)
