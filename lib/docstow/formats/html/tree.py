"""The tree of an HTML page: its encoding, bounds on its depth, and helpers for its elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from docstow.core.errors import UnreadableInput
from docstow.text.decoding import decode

#: Where a declaration of the encoding is searched, in bytes. Browsers search the first 1024;
#: generators that inline styles write it later.
_HEAD = 8192
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)",
    re.IGNORECASE,
)
#: Names of Latin-1 and ASCII: any bytes decode by them, so that they are often declared wrongly.
_LATIN = re.compile(r"(?:iso[-_]?8859[-_]?1|latin[-_]?1|us[-_]?ascii|ascii|l1)$", re.IGNORECASE)
_WIDE = {"utf16": "utf-16-le", "utf16le": "utf-16-le", "utf16be": "utf-16-be", "utf32": "utf-32-le"}
_HIGH = bytes(range(128, 256))
#: Damaged UTF-8 has at least this many high bytes for each invalid one.
_MOSTLY = 8
#: The largest share of high bytes in Western languages; other scripts are guessed.
_SPARSE = 0.08
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
#: Characters that XML forbids, and U+FDD0 and U+FDD1, which mark places of code blocks.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufdd0-\ufdd3\ufffe\uffff]")


def page_text(body: bytes, charset: str = "") -> str:
    r"""Decode a page, with ``\n`` as the only line end and no control characters.

    Bytes that decode as UTF-8 are UTF-8, whatever is declared: those of other encodings rarely do.
    Latin-1 means windows-1252, as in browsers.

    Args:
        body: the bytes.
        charset: of the HTTP header; may be empty or wrong.

    Raises:
        UnreadableInput: the bytes are not text.
    """
    if body.startswith(_MARKS):
        return _clean(decode(body, name="The page"))
    wide = charset.lower().replace("-", "").replace("_", "")
    if wide in _WIDE:
        return _clean(body.decode(_WIDE[wide], "replace"))
    # In other encodings NUL is damage.
    body = body.replace(b"\0", b"")
    encoding = _encoding(body, charset)
    if encoding == "utf-8":
        return _clean(body.decode("utf-8", "replace"))
    return _clean(decode(body, encoding, name="The page"))


def _encoding(body: bytes, sent: str) -> str:
    """Return the encoding to try first; empty to guess."""
    declared = _DECLARED.search(body[:_HEAD])
    found = (declared[1] or declared[2]).decode("ascii", "replace") if declared else ""
    named = next((name for name in (sent, found) if name and not _is_utf8(name)), "")
    if named.lower().startswith("iso-2022") and b"\x1b" in body:
        return named
    wrong = body.decode("utf-8", "replace").count("\ufffd")
    high = len(body) - len(body.translate(None, _HIGH))
    if not wrong or high > _MOSTLY * wrong:
        return "utf-8"
    if named:
        return "windows-1252" if _LATIN.match(named) else named
    return "windows-1252" if high < len(body) * _SPARSE else ""


def _is_utf8(name: str) -> bool:
    return name.lower().replace("-", "").replace("_", "") in {"utf8", "unicode", "utf8mb4"}


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n"))


#: An element of lxml, whose stubs are incomplete.
Element = Any
#: Elements below this depth lose their tags but keep their text; the parser fails at 2048.
DEEPEST = 100
# Possessive, and ended by the text's end too, so that hostile pages take linear time.
_NAME = r"<(/?)([a-zA-Z][^\s/>]*+)"
_TAG = re.compile(_NAME + r"(?:[^>\"']++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*+(?:((?<=/)>)|>|\Z)")
#: Elements without an end tag, or whose end tag is often omitted; they do not count as depth.
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


def parse(text: str) -> Element:
    """Parse a page; return its ``html`` element.

    Raises:
        UnreadableInput: the page has no content.
    """
    if not text.strip():
        raise UnreadableInput("The page is empty.")
    try:
        root = lxml_html.document_fromstring(
            _shallow(text).encode("utf-8", "replace"), parser=_parser()
        )
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise UnreadableInput("The page has no HTML in it.") from error
    for element in root.iter(etree.Element):
        # XHTML may use prefixes; the local name counts.
        if ":" in element.tag and element.tag.rpartition(":")[2].isalnum():
            element.tag = element.tag.rpartition(":")[2]
    return root


def _parser() -> etree.HTMLParser:
    """Return a new parser: all its elements are of one class.

    lxml's own parser asks a function in Python for the class of each element that is touched.
    """
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(lxml_html.HtmlElement))
    return parser


_make = _parser().makeelement


def _shallow(text: str) -> str:
    """Remove the tags below :data:`DEEPEST`."""
    if text.count("<") < DEEPEST or not _is_deep(text):
        return text
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

    return _TAG.sub(keep, text)


def _is_deep(text: str) -> bool:
    """Return whether tags open below :data:`DEEPEST`; few pages have any."""
    depth = 0
    for end, name, empty in _TAG.findall(text):
        if empty or name.lower() in _UNCOUNTED:
            continue
        if not end:
            depth += 1
            if depth > DEEPEST:
                return True
        elif depth:
            depth -= 1
    return False


def classes(element: Element) -> list[str]:
    """Return the element's classes."""
    return (element.get("class") or "").split()


def plain(element: Element) -> str:
    """Return the element's text on one line."""
    return " ".join("".join(element.itertext()).split())


def elements(root: Element, *tags: str) -> list[Element]:
    """Return the elements below ``root`` in document order, all or those of some tags.

    The caller may change the tree.
    """
    return list(root.iterdescendants(*tags or (etree.Element,)))


def descend(root: Element) -> Iterator[tuple[str, Element]]:
    """Yield start and end events of ``root`` and the elements below it."""
    yield from etree.iterwalk(root, events=("start", "end"))


def make(tag: str, text: str = "", *children: Element) -> Element:
    """Return a new element."""
    element = _make(tag)
    element.text = text
    element.extend(children)
    return element


def replace(old: Element, new: Element) -> None:
    """Replace ``old`` by ``new``; the text after it stays."""
    new.tail, old.tail = old.tail, None
    parent = old.getparent()
    if parent is not None:
        parent.replace(old, new)
