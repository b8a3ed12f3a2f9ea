"""Which part of a web page is its text, and what in it is furniture.

This room knows how documentation generators lay out their pages. It does not know how the text
is written down.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from docstow.core.errors import UnreadableInput
from docstow.text.decoding import decode

# Bytes of a web page to text, though what is said of their encoding may be wrong.


#: Browsers look for the declaration in the first 1024 bytes; generators that inline styles put
#: it later.
_HEAD = 8192


_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)",
    re.IGNORECASE,
)


#: One byte per character, so that any bytes fit: what they are called says little.
_LATIN = re.compile(r"(?:iso[-_]?8859[-_]?1|latin[-_]?1|us[-_]?ascii|ascii|l1)$", re.IGNORECASE)


_WIDE = {"utf16": "utf-16-le", "utf16le": "utf-16-le", "utf16be": "utf-16-be", "utf32": "utf-32-le"}


_HIGH = bytes(range(128, 256))


#: UTF-8 with some dirt has this many high bytes for each that is wrong.
_MOSTLY = 8


#: Western languages have no more high bytes than this; other scripts are left to a guess.
_SPARSE = 0.08


_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


#: What XML, and so the parser, has no place for; U+FDD0 and U+FDD1 mark places of our own.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufdd0\ufdd1\ufffe\uffff]")


def page_text(body: bytes, charset: str = "") -> str:
    r"""Make text of a page, with ``\n`` as the only line end and no control characters.

    UTF-8 that decodes is UTF-8 whatever was declared: bytes of other encodings hardly ever do.
    Latin-1 means windows-1252, as in browsers.

    Args:
        body: the page's bytes.
        charset: what was sent with them; may be empty or wrong.

    Raises:
        UnreadableInput: the bytes are no text.
    """
    if body.startswith(_MARKS):
        return _clean(decode(body, name="The page"))
    wide = charset.lower().replace("-", "").replace("_", "")
    if wide in _WIDE:
        return _clean(body.decode(_WIDE[wide], "replace"))
    # Elsewhere NUL is dirt.
    body = body.replace(b"\0", b"")
    encoding = _encoding(body, charset)
    if encoding == "utf-8":
        return _clean(body.decode("utf-8", "replace"))
    return _clean(decode(body, encoding, name="The page"))


def _encoding(body: bytes, sent: str) -> str:
    """What to try first; empty where only a guess is left."""
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


# Text of a web page to a tree that has bounds, and small questions about its elements.


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


#: Where a page marks its text itself, the surest first.
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


#: What themes without telling classes write around the text: when it changed, and how it was liked.
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


def main_of(root: Element) -> Element:
    """The element that holds the page's text."""
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
    drop_furniture(body)
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


def drop_furniture(main: Element) -> None:
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
