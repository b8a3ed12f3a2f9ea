"""HTML pages as Markdown: their main text, with code exactly as shown and without navigation."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from lxml import etree
from lxml import html as lxml_html

from docstow.formats import Page
from docstow.formats.html import convert
from docstow.formats.html.tree import Element, classes, elements, make, page_text, parse, plain

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
#: The separator of a page's title and its site's.
_SUFFIX = re.compile(r"\s+(?:[|·—\u2013»]|-|::)\s+")
#: ``5; url=there``, as in ``<meta http-equiv="refresh">``.
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*url\s*=\s*(.+)", re.IGNORECASE | re.DOTALL)
#: A page that only redirects has at most so many characters.
_REDIRECT_LENGTH = 300
_WEB = ("http://", "https://")
_CONTROL = re.compile(r"[\t\n\r]+")


def read(body: bytes, url: str, charset: str = "") -> Page:
    """Read a page.

    Args:
        body: the bytes.
        url: of the page; links are relative to it, or to the page's ``<base>``.
        charset: of the HTTP header; may be empty or wrong.

    Raises:
        UnreadableInput: the page is empty or not text.
    """
    root = parse(page_text(body, charset))
    base = _base(root, url)
    head = _Head(root, base)
    # Links and titles are read first: the element of the text is changed in place.
    found = () if head.nofollow else tuple(dict.fromkeys(_links(root, base)))
    main = _main_of(root)
    heading = _heading(main, root)
    if heading is not None:
        _drop_furniture(heading)
    title = plain(heading) if heading is not None else ""
    title = title or head.title or _last_segment(url)
    text = _text(main, heading, title, base)
    # A page that only redirects is not indexed.
    away = head.refresh not in {"", urldefrag(url)[0]}
    indexable = head.indexable and not (away and len(plain(main)) < _REDIRECT_LENGTH)
    return Page(title, text, head.canonical, found, indexable, head.attributes)


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
        found: dict[str, Any] = {"language": language, "description": described}
        self.attributes = {key: value for key, value in found.items() if value}


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
    convert.drop_line_numbers(main)
    code = convert.extract_code(main)
    convert.write_formulas(main)
    convert.name_tabs(main)
    convert.quote_admonitions(main)
    _drop_furniture(main)
    convert.flatten_terms(main)
    convert.simplify_inline(main)
    _simplify_headings(main)
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
    return convert.to_markdown(top, code)


def _simplify_headings(main: Element) -> None:
    """Make each heading one line without links to itself."""
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


def _absolute(base: str, href: str | None) -> str:
    """Return an absolute http(s) URL without fragment; empty where there is none."""
    address = urldefrag(_joined(base, href))[0] if href else ""
    return address if address.lower().startswith(_WEB) and urlsplit(address).netloc else ""


def _joined(base: str, href: str | None) -> str:
    """Resolve ``href`` against a base URL; empty if it is invalid."""
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


#: Elements that mark the main part, the most reliable first.
_MARKED = [
    "//*[contains(concat(' ', @class, ' '), ' theme-doc-markdown ')]",
    "//article[contains(concat(' ', @class, ' '), ' md-content__inner ')]",
    "//*[@itemprop='articleBody']",
    "//*[contains(concat(' ', @class, ' '), ' vp-doc ')]",
    "//*[contains(concat(' ', @class, ' '), ' sl-markdown-content ')]",
    "//*[contains(concat(' ', @class, ' '), ' markdown-body ')]",
    "//article[@role='main']",
    "//main",
    "//*[@role='main']",
    "//div[@class='body']",
]
_TAGS = {
    "script",
    "style",
    "template",
    "noscript",
    "svg",
    "iframe",
    "object",
    "embed",
    "canvas",
    "audio",
    "video",
    "map",
    "nav",
    "footer",
    "button",
    "input",
    "select",
    "textarea",
    "dialog",
    "head",
    "link",
    "meta",
}
_ROLES = {"navigation", "search", "banner", "contentinfo", "dialog", "tablist", "toolbar", "menu"}
_FURNITURE = re.compile(
    r"(?:headerlink|anchor-?link|hash-link|header-anchor|heading-anchor|md-source-file|md-feedback"
    r"|md-content__button|(?:theme-)?edit-(?:this-)?(?:page|link)|theme-doc-(?:footer|breadcrumbs"
    r"|toc-mobile|version-badge)|pagination-nav|(?:wy-|bd-)?breadcrumbs?|rst-footer-buttons"
    r"|prev-next(?:-area|-footer)?|related-pages|skip-(?:link|nav|to-content)|skiplink|sr-only"
    r"|visually-hidden|(?:page-|doc-)?feedback|cookie[\w-]*|consent|copybtn|copy-button"
    r"|clipboard-copy|back-to-top|nav-wrapper|sidebar|toc|table-of-contents|on-this-page"
    r"|(?:page-|theme-)?last-updated|VPDocFooter|menu-bar|announcement[\w-]*|searchbox|search-box"
    r"|ethical-ads?|share-buttons|tabbed-labels|nextra-breadcrumbs?|nextra-toc|td-rss-button"
    r"|feedback--\w+|td-page-meta\w*|breadcrumb-nav|viewcode-link)$"
)
_IDS = re.compile(r"(?:toc|table-of-contents|search(?:box)?|cookie[\w-]*|sidebar|breadcrumbs?)$")
#: Lines around the text in themes without specific classes: dates of change, feedback forms.
_ASIDE = re.compile(
    r"(?:last (?:updated|modified|edited)\b[^.!?]{0,15}\d.{0,40}"
    r"|was this (?:page |article |section )?helpful\?.{0,20})",
    re.IGNORECASE,
)
_SHOWN_LATER = re.compile(r":(?:block|flex|grid|inline|table|contents)")
_LINK_SIGNS = {"", "¶", "#", "§", "🔗", "\u200b", "link"}
#: A page that is more work is taken whole: the extractor reads the text once for each element
#: around it, so this bounds its time.
_EXTRACTED = 10_000_000


def _main_of(root: Element) -> Element:
    """Return the element that holds the page's text."""
    for path in _MARKED:
        best = max(root.xpath(path), key=lambda each: len(plain(each)), default=None)
        if best is not None and plain(best):
            return best
    body = root.find("body")
    articles = root.findall(".//article")
    if len(articles) == 1 and plain(articles[0]):
        return articles[0]
    return _extracted(body) if body is not None else root


def _extracted(body: Element) -> Element:
    """Let the extractor say where the text is, and take that part as the page has it.

    What the extractor itself returns has lost tables, lists and languages of code, so only the
    place counts.
    """
    _drop_furniture(body)
    numbered = elements(body)
    if _work(body, numbered) > _EXTRACTED:
        return body
    for number, element in enumerate(numbered):
        element.set("data-place", str(number))
    summary = _summary(etree.tostring(body, encoding="unicode", method="html"))
    found = [numbered[int(each)] for each in summary if int(each) < len(numbered)]
    for element in numbered:
        del element.attrib["data-place"]
    if not found:
        return body
    shared = _shared(found)
    # An extractor that takes a corner of a short page would lose most of it.
    return shared if 2 * len(plain(shared)) > len(plain(body)) else body


def _work(body: Element, numbered: list[Element]) -> int:
    """Characters that an extractor reads, at least: each as often as there are elements above."""
    depth = {body: 1}
    work = 0
    for element in numbered:
        depth[element] = depth[element.getparent()] + 1
        work += depth[element] * (len(element.text or "") + len(element.tail or "") + 10)
    return work


def _summary(source: str) -> list[str]:
    from readability import Document  # type: ignore[import-untyped]
    from readability.readability import Unparseable  # type: ignore[import-untyped]

    logging.getLogger("readability.readability").setLevel(logging.CRITICAL)
    try:
        summary = Document(f"<html>{source}</html>").summary(html_partial=True)
        tree: Element = lxml_html.fromstring(summary)
        places = tree.xpath("//@data-place")
    except (Unparseable, etree.LxmlError, ValueError, RecursionError):
        return []
    return [str(place) for place in places if str(place).isdigit()]


def _shared(found: list[Element]) -> Element:
    """The closest element that holds all of them."""
    above = [found[0], *found[0].iterancestors()]
    for element in found[1:]:
        holders = {element, *element.iterancestors()}
        above = [each for each in above if each in holders]
    return above[0]


def _drop_furniture(main: Element) -> None:
    """Take out of the text's element what is no text."""
    for element in elements(main):
        if (element.tag == "a" and _is_permalink(element)) or _is_furniture(element):
            _drop(element)


def _is_furniture(element: Element) -> bool:
    if element.tag in _TAGS:
        # Formulas that are scripts, and dialogs' kin, are looked at before.
        return not (element.get("type") or "").startswith("math/tex")
    if element.tag == "aside" and not any("aside--" in each for each in classes(element)):
        return "admonition" not in classes(element)
    names = classes(element)
    if element.get("role") in _ROLES or _IDS.match(element.get("id") or ""):
        return True
    if element.get("data-testid") == "page-footer-navigation":
        return True
    if "contents" in names and ("topic" in names or "local" in names):
        return True
    # VitePress writes a block's language into its corner.
    if "lang" in names and any(each.startswith("language-") for each in classes(_above(element))):
        return True
    if element.tag in {"p", "div"} and _ASIDE.fullmatch(_short(element)):
        return True
    return _is_hidden(element, names) or any(_FURNITURE.match(name) for name in names)


def _above(element: Element) -> Element:
    parent = element.getparent()
    return element if parent is None else parent


def _short(element: Element) -> str:
    """The element's text if it is a line; empty where it holds more."""
    return plain(element) if len(element) <= 2 and len(element.text or "") < 100 else ""


def _is_hidden(element: Element, names: list[str]) -> bool:
    # Tabs that are not open are hidden, and are text.
    if element.get("role") == "tabpanel" or "tabpanel" in names or "tab-pane" in names:
        return False
    style = (element.get("style") or "").replace(" ", "")
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or "display:none" in style
        or ("hidden" in names and not _SHOWN_LATER.search(element.get("class") or ""))
    )


def _is_permalink(link: Element) -> bool:
    href = link.get("href") or ""
    return "#" in href and plain(link).lower() in _LINK_SIGNS and link.find(".//img") is None


def _drop(element: Element) -> None:
    if element.getparent() is not None:
        element.drop_tree()
