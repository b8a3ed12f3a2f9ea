"""HTML pages as Markdown: their main text, with code exactly as shown and without navigation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from docstow.core.errors import InvalidParameter, UnreadableInput
from docstow.core.urls import canonical_url
from docstow.formats import Image, Page, Skimmed, content_digest
from docstow.formats.html import convert
from docstow.formats.html.anchors import mark_headings, take_anchors, unmarked
from docstow.formats.html.footnotes import write_footnotes
from docstow.formats.html.formulas import write_formulas
from docstow.formats.html.furniture import drop_furniture
from docstow.formats.html.generators import restore_elements
from docstow.formats.html.main_part import (
    Measured,
    Shared,
    count_kept,
    count_words,
    divide,
    find_marked,
    find_shared,
    take_text,
)
from docstow.formats.html.tree import Element, elements, make, page_text, parse, plain
from docstow.formats.html.write import write
from docstow.formats.trees import Trees

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
#: The separator of a page's title and its site's.
_SUFFIX = re.compile(r"\s+(?:[|·—\u2013»]|-|::)\s+")
#: ``5; url=there``, as in ``<meta http-equiv="refresh">``.
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*url\s*=\s*(.+)", re.IGNORECASE | re.DOTALL)
#: A page that only redirects has at most so many characters.
_REDIRECT_LENGTH = 300
#: Characters of an image's words.
_LONGEST_ALT = 1000
#: Links of a page whose addresses are kept: they are asked for twice, and many are alike.
_ADDRESSES = 4096
#: How many languages of a page are read; more are a list of something else.
_MOST_TRANSLATIONS = 100
_WEB = ("http://", "https://")
#: A relative address that is joined by putting it behind its folder: a file below that.
_BELOW = re.compile(
    r"(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:#[\w.-]+)?", re.ASCII
)
_PLAIN_BASE = re.compile(
    r"https?://[a-z0-9.-]+(?::\d+)?/(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*/)*(?=[A-Za-z0-9_.-]*\Z)"
)
_CONTROL = re.compile(r"[\t\n\r]+")


__all__ = ["NOTHING_SHARED", "Shared", "read", "skim", "survey"]

NOTHING_SHARED = Shared()


def read(
    body: bytes,
    url: str,
    charset: str = "",
    shared: Shared = NOTHING_SHARED,
    trees: Trees | None = None,
) -> Page:
    """Read a page.

    Args:
        body: the bytes.
        url: of the page; links are relative to it, or to the page's ``<base>``.
        charset: of the HTTP header; may be empty or wrong.
        shared: what the pages of its site share.
        trees: has the page where it is parsed already.

    Raises:
        UnreadableInput: the page is empty or not text.
    """
    surveyed = trees.take(body) if trees else None
    root = parse(page_text(body, charset)) if surveyed is None else surveyed.root
    base = _base(root, url)
    head = _Head(root, base)
    # Links and titles are read first: the element of the text is changed in place.
    found = () if head.nofollow else tuple(dict.fromkeys(_links(root, base)))
    division = divide(root, shared, surveyed)
    # Formulas are on a page up to three times: as MathML, as TeX and drawn.
    write_formulas(division.whole, rendered=_renders_formulas(root))
    words = count_words(division)
    main = division.take_main()
    restore_elements(main)
    heading = _heading(main, root)
    if heading is not None:
        drop_furniture(heading)
    title = _title_of(heading, head, url)
    images = tuple(_images(main, base))
    ids = mark_headings(main)
    text, anchors, terms = take_anchors(_text(main, heading, title, base), ids)
    places = {name: found for name, found in (("anchors", anchors), ("terms", terms)) if found}
    indexable = _is_indexable(head, main, url)
    return Page(
        title,
        text,
        head.canonical,
        found,
        indexable,
        head.attributes | places,
        words=words.total(),
        kept=count_kept(words, text),
        images=images,
    )


def skim(body: bytes, url: str, charset: str = "") -> Skimmed:
    """Return what a crawl has to know of a page, without converting it; see :func:`read`.

    Raises:
        UnreadableInput: the page is empty or not text.
    """
    root = parse(page_text(body, charset))
    base = _base(root, url)
    head = _Head(root, base)
    found = () if head.nofollow else tuple(dict.fromkeys(_links(root, base)))
    main = find_marked(root)
    indexable = _is_indexable(head, main, url)
    heading = _heading(main, root)
    if heading is not None:
        drop_furniture(heading)
    title = _title_of(heading, head, url)
    # Of a page under two addresses, links into itself have two.
    links = filter(None, (link.get("href") for link in main.iter("a")))
    targets = [_absolute(base, href) for href in links if not href.startswith("#")]
    shown = [f"{image.get('src')} {image.get('alt')}" for image in main.iter("img")]
    digest = content_digest(title, take_text(main), *targets, *shown)
    return Skimmed(title, digest, head.canonical, found, indexable)


def _title_of(heading: Element | None, head: _Head, url: str) -> str:
    """Return the title of a page: its heading's, its metadata's, or the end of its address."""
    return (plain(heading) if heading is not None else "") or head.title or _last_segment(url)


def _is_indexable(head: _Head, main: Element, url: str) -> bool:
    """Return whether a page may be indexed; one that only redirects may not."""
    away = head.refresh not in {"", urldefrag(url)[0]}
    return head.indexable and not (away and len(plain(main)) < _REDIRECT_LENGTH)


def _images(main: Element, base: str) -> Iterator[Image]:
    """Yield the images of the main part that have words."""
    heading = ""
    for element in elements(main, *_HEADINGS, "img"):
        if element.tag != "img":
            heading = plain(element).strip("¶#\u200b ")
            continue
        url = _absolute(base, element.get("src") or element.get("data-src"))
        figure = next(element.iterancestors("figure"), None)
        caption = figure.find(".//figcaption") if figure is not None else None
        below = plain(caption) if caption is not None else (element.get("title") or "")
        alt = " ".join((element.get("alt") or "").split())
        if url.startswith(_WEB) and (alt or below):
            yield Image(url, alt[:_LONGEST_ALT], " ".join(below.split())[:_LONGEST_ALT], heading)


def survey(pages: Iterable[tuple[bytes, str]], trees: Trees | None = None) -> Shared:
    """Return what pages of one site share; those that cannot be read do not count.

    Args:
        pages: their bytes and the charsets of their HTTP headers.
        trees: keeps the pages for :func:`read`.
    """
    return find_shared(_readable(pages, trees))


def _readable(pages: Iterable[tuple[bytes, str]], trees: Trees | None) -> Iterator[Measured]:
    for body, charset in pages:
        try:
            measured = Measured.of(parse(page_text(body, charset)))
        except UnreadableInput:
            continue
        if trees is not None:
            trees.keep(body, measured)
        yield measured


class _Head:
    """The metadata of a page."""

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
        found: dict[str, Any] = {
            "language": language,
            "description": described,
            "translations": _translations(root, base),
        }
        self.attributes = {key: value for key, value in found.items() if value}


def _translations(root: Element, base: str) -> dict[str, str]:
    """Return the canonical URLs of a page by language, its own among them: ``hreflang`` of HTML."""
    found: dict[str, str] = {}
    for each in root.iter("link"):
        language = (each.get("hreflang") or "").strip().lower().replace("_", "-")
        if (
            "alternate" in (each.get("rel") or "").lower().split()
            and language not in {"", "x-default"}
            and len(found) < _MOST_TRANSLATIONS
        ):
            with suppress(InvalidParameter):
                found.setdefault(language, canonical_url(_absolute(base, each.get("href"))))
    return found if len(found) > 1 else {}


def _title(root: Element, meta: dict[str, str]) -> str:
    """Return the page's title without its site's."""
    element = root.find(".//title")
    title = meta.get("og:title") or (plain(element) if element is not None else "")
    parts = list(_SUFFIX.finditer(title))
    return title[: parts[-1].start()].strip() if parts else title.strip()


def _heading(main: Element, root: Element) -> Element | None:
    """Return the title heading: the first of the main part, or of the page."""
    for part in (main, root):
        for each in part.iter("h1"):
            if plain(each).strip("¶#\u200b "):
                return each
    return None


def _text(main: Element, heading: Element | None, title: str, base: str) -> str:
    """Return the main part as Markdown, its title first."""
    inside = heading is not None and any(each is heading for each in main.iter("h1"))
    if inside and heading is not None:
        heading.drop_tree()
    written = make("h1", title) if not inside or heading is None else heading
    written.tail = None
    top = make("div", "", written, main)
    main.tag = "div"
    convert.drop_line_numbers(main)
    convert.simplify_code(main)
    convert.name_tabs(main)
    write_footnotes(main)
    convert.quote_admonitions(main)
    convert.write_tasks(main)
    drop_furniture(main)
    convert.unlink_terms(main)
    convert.simplify_inline(top)
    _simplify_headings(top)
    _drop_title(main, title)
    for link in top.iter("a"):
        link.set("href", _joined(base, link.get("href")))
    return write(top)


def _simplify_headings(top: Element) -> None:
    """Make each heading one line without links to itself."""
    for element in elements(top, *_HEADINGS):
        for link in element.findall(".//a"):
            link.drop_tag()
        for inner in element.findall(".//div"):
            inner.tag = "span"


def _drop_title(main: Element, title: str) -> None:
    """Remove the first heading if it repeats the page's title."""
    first = next(main.iter(*_HEADINGS), None)
    if first is not None and unmarked(plain(first)).casefold() == title.casefold():
        first.drop_tree()


def _renders_formulas(root: Element) -> bool:
    """Return whether a script of the page renders TeX in its text."""
    return any(
        name in f"{script.get('src')} {(script.text or '')[:2000]}".lower()
        for script in root.iter("script")
        for name in ("mathjax", "katex")
    )


def _base(root: Element, url: str) -> str:
    element = root.find(".//base[@href]")
    return _joined(url, element.get("href")) if element is not None else url


def _refresh(root: Element, base: str) -> str:
    """Return the target of a page's refresh; empty if there is none."""
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
    # Pages that draw an API name its description: RFC 8631, and the elements of Redoc and RapiDoc.
    for element in root.iter("link", "redoc", "rapi-doc"):
        named = element.get("spec-url")
        if element.tag == "link" and "service-desc" in (element.get("rel") or "").lower().split():
            named = element.get("href")
        if address := _absolute(base, named):
            yield address


@lru_cache(maxsize=_ADDRESSES)
def _absolute(base: str, href: str | None) -> str:
    """Return an absolute http(s) URL without fragment; empty where there is none."""
    # Links of one page to places of another are many, and one address.
    page, mark, _ = (href or "").partition("#")
    address = urldefrag(_joined(base, page if page.strip() else mark))[0] if href else ""
    return address if address.lower().startswith(_WEB) and urlsplit(address).netloc else ""


@lru_cache(maxsize=_ADDRESSES)
def _joined(base: str, href: str | None) -> str:
    """Resolve ``href`` against a base URL; empty if it is invalid."""
    href = _CONTROL.sub("", href or "").strip()
    if _BELOW.fullmatch(href):
        folder = _folder(base)
        if folder:
            return folder + href
    try:
        joined = urljoin(base, href.replace(" ", "%20"))
        urlsplit(joined)
    except ValueError:
        return ""
    return joined


@lru_cache(maxsize=64)
def _folder(base: str) -> str:
    """Return what relative addresses below a base URL begin with; empty where that is not plain."""
    found = _PLAIN_BASE.match(base)
    return found[0] if found else ""


def _last_segment(url: str) -> str:
    try:
        path = urlsplit(url).path.strip("/")
    except ValueError:
        path = ""
    return path.rpartition("/")[2] or url or "Untitled"
