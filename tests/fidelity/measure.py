"""How much of a site's text its documents keep; independent of the readers' code.

A page's text is what a browser shows of it, in blocks between the boundaries of block-level
elements. Three kinds of blocks are not counted: those that stand on a tenth of the site's pages
(headers, footers, menus), those of elements that say that they are navigation, and those that only
link to places of their own page (tables of contents, whose words are the headings' words). Words
are compared as multisets, so that a document that has a word once keeps one of two.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import lxml.html
from lxml import etree

#: A block repeats where it stands on so large a share of the pages, and on so many at least.
REPEATS, REPEATS_AT_LEAST = 0.1, 3

# The HTML standard's default style sheet has ``display: block`` or ``table-*`` for these.
_BLOCKS = re.compile(
    r"address|article|aside|blockquote|body|br|caption|center|dd|details|dialog|dir|div|dl|dt"
    r"|fieldset|figcaption|figure|footer|form|h[1-6]|header|hgroup|hr|legend|li|main|menu|nav|ol"
    r"|p|pre|search|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
#: What shows no text of the page: scripts, drawings, embedded pages and controls.
_NO_TEXT = re.compile(
    r"audio|button|canvas|datalist|embed|head|iframe|input|link|map|meta|noscript|object|script"
    r"|select|style|svg|template|textarea|title|video"
)
#: Classes and ids by which generators mark what leads to other pages (DocBook, Sphinx, mdBook,
#: Doxygen and the themes of others).
_NAVIGATION = re.compile(
    r"(?:nav(?:bar|header|footer|igation|-?wrapper|-?chapters)?|breadcrumbs?|pagination|related"
    r"|sphinxsidebar(?:wrapper)?|sidebar|menu-?bar|prev-?next)"
)
#: Types of links between the pages of a sequence (HTML 4.01, 6.12).
_SEQUENCE = {"next", "prev", "up", "contents", "start"}
#: Dates and times of footers ("Last updated …"), which differ where all else repeats.
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d")
_WORD = re.compile(r"\w+")
#: Marks of emphasis and code, which may stand within a word, and the underscore, which is a letter
#: to regular expressions.
_MARKS = {ord(mark): "" for mark in "*`\\~"} | {ord("_"): " "}
#: The target of a Markdown link, whose words no reader sees.
_TARGET = re.compile(r"\]\((?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s+\"[^\"\n]*\")?\)")
_CODE = re.compile(r"(^[ >]*```[^\0]*?^[ >]*```|`[^`\n]+`)", re.MULTILINE)
_AUTOLINK = re.compile(r"<(https?://[^<>\s]*)>")


@dataclass(frozen=True, slots=True)
class Share:
    """The words of a page's text, how many of them its document has, and the document's own."""

    wanted: int
    kept: int
    written: int

    @property
    def part(self) -> float:
        """The share of words that are kept; 1.0 for a page without text."""
        return self.kept / self.wanted if self.wanted else 1.0


def shares(
    pages: Mapping[str, bytes], documents: Mapping[str, str], repeats: float = REPEATS
) -> dict[str, Share]:
    """Return the share of words kept of each page of a site.

    Args:
        pages: the HTML of all pages by path.
        documents: their Markdown by path; a page without a document keeps nothing.
        repeats: on so large a share of the pages a block is taken for repeated.
    """
    blocks = {path: list(_blocks(body)) for path, body in pages.items()}
    seen = Counter(each for found in blocks.values() for each in set(map(_undated, found)))
    most = max(REPEATS_AT_LEAST, repeats * len(pages))
    made: dict[str, Share] = {}
    for path, found in blocks.items():
        wanted = _words(" ".join(each for each in found if seen[_undated(each)] < most))
        written = _words(_shown(documents.get(path, "")))
        made[path] = Share(wanted.total(), (wanted & written).total(), written.total())
    return made


def lost(page: bytes, document: str) -> Counter[str]:
    """Return the words of a page that its document lacks, those of every page included."""
    return _words(" ".join(_blocks(page))) - _words(_shown(document))


def text_of(body: bytes) -> str:
    """Return the text that a page shows, without navigation; the blocks are lines."""
    return "\n".join(_blocks(body))


def is_page(body: bytes) -> bool:
    """Whether a page is one of its own: it neither forbids indexing nor leads elsewhere."""
    for meta in _parse(body).iter("meta"):
        name = (meta.get("name") or meta.get("http-equiv") or "").lower()
        if name == "refresh" or (name == "robots" and "noindex" in meta.get("content", "")):
            return False
    return True


def _parse(body: bytes) -> Any:
    text = body.decode("utf-8", "replace") or "<html></html>"
    text = re.sub(r"^\s*<\?xml[^>]*>", "", text)
    return lxml.html.document_fromstring(text or "<html></html>")


def _blocks(body: bytes) -> Iterator[str]:
    """Yield the text of each block that is shown and is no navigation, in order."""
    found = _parse(body).find("body")
    if found is None:
        return
    text: list[str] = []
    outside = 0  # words outside links into the page itself
    leading = False  # whether a link says that it leads to the next page, or to the contents

    def close() -> Iterator[str]:
        nonlocal outside, leading
        block = " ".join("".join(text).split())
        if block and outside and not leading:
            yield block
        text.clear()
        outside, leading = 0, False

    def add(part: str | None, links: int) -> None:
        nonlocal outside
        text.append(part or "")
        outside += 0 if links else len(_WORD.findall(part or ""))

    links = 0  # into the page itself, that are open
    walk = etree.iterwalk(found, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        block = isinstance(element.tag, str) and _BLOCKS.fullmatch(element.tag)
        if block:
            yield from close()
        if event == "start" and _is_out(element):
            walk.skip_subtree()
        elif event == "start":
            links += _leads_within(element)
            rel = element.get("rel", "").lower().split() if element.tag == "a" else ()
            leading = leading or not _SEQUENCE.isdisjoint(rel)
            add(element.text, links)
        if event != "start":
            links -= event == "end" and _leads_within(element)
            add("" if element is found else element.tail, links)


def _undated(block: str) -> str:
    return _DATE.sub("", block)


def _leads_within(element: Any) -> bool:
    return element.tag == "a" and (element.get("href") or "").startswith("#")


def _is_out(element: Any) -> bool:
    """Whether an element shows no text, or leads to other pages."""
    if element.tag == "nav" or _NO_TEXT.fullmatch(element.tag):
        return True
    style = (element.get("style") or "").replace(" ", "").lower()
    if element.get("hidden") is not None or "display:none" in style:
        return True
    if element.get("role") == "navigation" or element.get("aria-hidden") == "true":
        return True
    names = f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()
    return any(_NAVIGATION.fullmatch(name) for name in names)


def _shown(markdown: str) -> str:
    """Return what a reader sees of Markdown: without targets of links and escapes."""
    parts = _CODE.split(markdown)  # prose and code in turn
    parts[::2] = [_TARGET.sub("]", _AUTOLINK.sub(r"\1", prose)) for prose in parts[::2]]
    return html.unescape("".join(parts))


def _words(text: str) -> Counter[str]:
    """Return the words in lower case and how often each stands there."""
    plain = "".join(each for each in text.translate(_MARKS) if unicodedata.category(each) != "Cf")
    return Counter(_WORD.findall(plain.lower()))
