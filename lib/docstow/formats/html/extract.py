"""The main part of a web page: where its text is, and what in it is navigation and the like."""

from __future__ import annotations

import logging
import re

from lxml import etree
from lxml import html as lxml_html

from docstow.formats.html.tree import Element, classes, elements, plain

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
