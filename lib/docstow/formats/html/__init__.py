"""Web pages to Markdown: the page's text with its code exactly as it is, without its furniture.

This room knows the order of the work and what a page says of itself. It does not know how pages
are fetched, and runs no script of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from docstow.formats import Page
from docstow.formats.html import convert as html_blocks
from docstow.formats.html import convert as html_code
from docstow.formats.html.convert import markdown
from docstow.formats.html.extract import (
    Element,
    drop_furniture,
    elements,
    main_of,
    make,
    page_text,
    parse,
    plain,
)

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
#: What stands between a page's title and its site's.
_SUFFIX = re.compile(r"\s+(?:[|·—\u2013»]|-|::)\s+")
#: ``5; url=there``, as in ``<meta http-equiv="refresh">``.
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*url\s*=\s*(.+)", re.IGNORECASE | re.DOTALL)
#: A page that leads on says no more than this many characters itself.
_LEADS_ON = 300
_WEB = ("http://", "https://")
_CONTROL = re.compile(r"[\t\n\r]+")


def read(body: bytes, url: str, charset: str = "") -> Page:
    """Read one page.

    Args:
        body: its bytes.
        url: its address; links are relative to it, or to the page's own ``<base>``.
        charset: what was sent with it; may be empty or wrong.

    Raises:
        UnreadableInput: it is empty, or no text.
    """
    root = parse(page_text(body, charset))
    base = _base(root, url)
    head = _Head(root, base)
    # What links and titles say is read first: the text's element is changed in its place.
    found = () if head.nofollow else tuple(dict.fromkeys(_links(root, base)))
    main = main_of(root)
    heading = _heading(main, root)
    if heading is not None:
        drop_furniture(heading)
    title = plain(heading) if heading is not None else ""
    title = title or head.title or _last_segment(url)
    text = _text(main, heading, title, base)
    # A page that only leads on to another one is none of its own.
    away = head.refresh not in {"", urldefrag(url)[0]}
    indexable = head.indexable and not (away and len(plain(main)) < _LEADS_ON)
    return Page(title, text, head.canonical, found, indexable, head.attributes)


def links(body: bytes, url: str, charset: str = "") -> tuple[str, ...]:
    """The addresses that a page links to: absolute, without fragments, each once, in order.

    Raises:
        UnreadableInput: it is empty, or no text.
    """
    root = parse(page_text(body, charset))
    base = _base(root, url)
    return () if _Head(root, base).nofollow else tuple(dict.fromkeys(_links(root, base)))


class _Head:
    """What a page says of itself."""

    def __init__(self, root: Element, base: str) -> None:
        meta: dict[str, str] = {}
        for each in root.iter("meta"):
            name = (each.get("name") or each.get("property") or "").strip().lower()
            meta.setdefault(name, " ".join((each.get("content") or "").split()))
        robots = {word.strip() for word in meta.get("robots", "").lower().split(",")}
        self.indexable = robots.isdisjoint({"noindex", "none"})
        self.nofollow = not robots.isdisjoint({"nofollow", "none"})
        self.title = _title(root, meta)
        self.canonical = next(
            (
                _absolute(base, each.get("href"))
                for each in root.iter("link")
                if "canonical" in (each.get("rel") or "").lower().split()
            ),
            "",
        )
        self.refresh = _refresh(root, base)
        language = (root.get("lang") or root.get("xml:lang") or "").strip()
        described = meta.get("description") or meta.get("og:description") or ""
        found: dict[str, Any] = {"language": language, "description": described}
        self.attributes = {key: value for key, value in found.items() if value}


def _title(root: Element, meta: dict[str, str]) -> str:
    """The page's title without its site's."""
    element = root.find(".//title")
    title = meta.get("og:title") or (plain(element) if element is not None else "")
    parts = list(_SUFFIX.finditer(title))
    return title[: parts[-1].start()].strip() if parts else title.strip()


def _heading(main: Element, root: Element) -> Element | None:
    """The page's title heading: the first of the text, or of the whole page."""
    for place in (main, root):
        for each in place.iter("h1"):
            if plain(each).strip("¶#\u200b "):
                return each
    return None


def _text(main: Element, heading: Element | None, title: str, base: str) -> str:
    """The Markdown of the text's element, its title first."""
    html_code.without_line_numbers(main)
    code = html_code.set_aside(main)
    html_blocks.write_formulas(main)
    html_blocks.name_tabs(main)
    html_blocks.quote_admonitions(main)
    drop_furniture(main)
    html_blocks.flatten_terms(main)
    html_blocks.simplify_inline(main)
    _mend_headings(main)
    for link in main.iter("a"):
        link.set("href", _joined(base, link.get("href")))
        link.attrib.pop("title", None)
    inside = heading is not None and any(each is heading for each in main.iter("h1"))
    if inside and heading is not None:
        heading.drop_tree()
    written = make("h1", title) if not inside or heading is None else heading
    written.tail = None
    top = make("div", "", written, main)
    main.tag = "div"
    return markdown(top, code)


def _mend_headings(main: Element) -> None:
    """Headings are one line each, and no link to themselves."""
    for element in elements(main):
        if element.tag in _HEADINGS:
            for link in element.findall(".//a"):
                link.drop_tag()
            for inner in element.findall(".//div"):
                inner.tag = "span"


def _base(root: Element, url: str) -> str:
    element = root.find(".//base[@href]")
    return _joined(url, element.get("href")) if element is not None else url


def _refresh(root: Element, base: str) -> str:
    """Where a page leads on to by itself; empty where it stays."""
    for each in root.iter("meta"):
        if (each.get("http-equiv") or "").strip().lower() == "refresh":
            match = _REFRESH.match(each.get("content") or "")
            if match:
                return _absolute(base, match[1].strip("\"' "))
    return ""


def _links(root: Element, base: str) -> Iterator[str]:
    if refresh := _refresh(root, base):
        yield refresh
    for element in root.iter("a", "area", "frame"):
        if "nofollow" in (element.get("rel") or "").lower().split():
            continue
        address = _absolute(base, element.get("src" if element.tag == "frame" else "href"))
        if address:
            yield address


def _absolute(base: str, href: str | None) -> str:
    """An address without fragment; empty where it is none of the web."""
    address = urldefrag(_joined(base, href))[0] if href else ""
    return address if address.lower().startswith(_WEB) and urlsplit(address).netloc else ""


def _joined(base: str, href: str | None) -> str:
    """The address that ``href`` means; itself where it means none."""
    href = _CONTROL.sub("", href or "").strip()
    try:
        joined = urljoin(base, href.replace(" ", "%20"))
        urlsplit(joined)
    except ValueError:
        return ""
    return joined


def _last_segment(url: str) -> str:
    try:
        path = urlsplit(url).path.strip("/")
    except ValueError:
        path = ""
    return path.rpartition("/")[2] or url or "Untitled"
