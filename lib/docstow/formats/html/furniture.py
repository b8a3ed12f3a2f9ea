"""What is no text of a page wherever it stands: navigation by name, buttons, hidden parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from docstow.formats import hidden
from docstow.formats.html.tree import Element, classes, elements, plain

#: An element is navigation if this share of its words are links.
_LINKED = 0.5
# Underscores divide, because Markdown escapes them.
_WORD = re.compile(r"[^\W_]+")
#: Elements without text, or without text of the page.
NO_TEXT = frozenset(
    [
        "audio",
        "button",
        "canvas",
        "dialog",
        "embed",
        "footer",
        "iframe",
        "input",
        "link",
        "map",
        "meta",
        "nav",
        "noscript",
        "object",
        "script",
        "select",
        "style",
        "svg",
        "template",
        "textarea",
        "title",
        "video",
    ]
)
_ROLES = {"navigation", "search", "banner", "contentinfo", "dialog", "tablist", "toolbar", "menu"}
#: Classes of small elements around the text.
_FURNITURE = re.compile(
    r"(?:headerlink|anchor-?link|hash-link|header-anchor|heading-anchor|md-source-file|md-feedback"
    r"|md-content__button|(?:theme-)?edit-(?:this-)?(?:page|link)|theme-doc-(?:footer|breadcrumbs"
    r"|toc-mobile|version-badge)|pagination-nav|(?:wy-|bd-)?breadcrumbs?|rst-footer-buttons"
    r"|prev-next(?:-area|-footer)?|related-pages|skip-(?:link|nav|to-content)|skiplink|sr-only"
    r"|visually-hidden|(?:page-|doc-)?feedback|cookie[\w-]*|consent|copybtn|copy-button"
    r"|clipboard-copy|back-to-top|(?:page-|theme-)?last-updated|VPDocFooter|menu-bar"
    r"|announcement[\w-]*|searchbox|search-box|ethical-ads?|share-buttons|tabbed-labels"
    r"|nextra-breadcrumbs?|td-rss-button|feedback--\w+|td-page-meta\w*|breadcrumb-nav"
    r"|viewcode-link|navheader|navfooter)$"
)
#: Classes of what belongs to the text and is left out: Doxygen's tooltips, numbers of lines.
_ADDED = re.compile(r"(?:ttc|linenos?)$")
#: An element of such a class that has more words is text all the same.
_MOST_FURNITURE = 100
#: Classes and identifiers of navigation, where most of it is links.
_NAVIGATION = re.compile(
    r"(?:nav-wrapper|sidebar|(?:nextra-)?toc|table-of-contents|contents|on-this-page"
    r"|search(?:box)?|cookie[\w-]*|breadcrumbs?)$"
)
_CONTENTS = re.compile(r"(?:(?:nextra-)?toc|table-of-contents|contents|on-this-page)$")
#: Lines around the text in themes without specific classes: dates of change, feedback forms.
_ASIDE = re.compile(
    r"(?:last (?:updated|modified|edited)\b[^.!?]{0,15}\d.{0,40}"
    r"|was this (?:page |article |section )?helpful\?.{0,20})",
    re.IGNORECASE,
)
_ASIDE_BEGINS = frozenset("lLwW")
#: Attributes besides class and identifier that may say so.
_TELLING = frozenset(("role", "data-testid", "hidden", "aria-hidden", "style", "color", "bgcolor"))
_SHOWN_LATER = re.compile(r":(?:block|flex|grid|inline|table|contents)")
_LINK_SIGNS = {"", "¶", "#", "§", "🔗", "\u200b", "link"}


def drop_furniture(main: Element) -> None:
    """Remove what is no text from an element: navigation, permalinks, buttons, hidden parts."""
    for element in elements(main):
        if is_furniture(element) and element.getparent() is not None:
            element.drop_tree()


def is_furniture(element: Element, *, counted: bool = False) -> bool:
    """Return whether an element is no text of its page.

    Args:
        element: within the main part.
        counted: whether tooltips and numbers of lines are text.
    """
    tag = element.tag
    if tag in NO_TEXT:
        # Formulas may be scripts, and a quotation has its source in a footer.
        quoted = tag == "footer" and _above(element).tag == "blockquote"
        return not (quoted or is_formula(element))
    if tag in {"p", "div"} and _ASIDE.fullmatch(_short(element)):
        return True
    attributes = dict(element.items())
    if not attributes:
        return bool(tag == "aside" and _is_linked(element))
    if tag == "span" and len(attributes) == 1 and _says_nothing(attributes.get("class") or ""):
        return False
    if not _TELLING.isdisjoint(attributes) and (
        attributes.get("role") in _ROLES
        or attributes.get("data-testid") == "page-footer-navigation"
        or _is_hidden(element, attributes)
    ):
        return True
    if tag == "a" and _is_permalink(element):
        return True
    style = attributes.get("class") or ""
    if style:
        calls, added, corner, hides = _called(style)
        if hides and not _is_panel(element):
            return True
        # VitePress writes a block's language into its corner.
        if corner and any(each.startswith("language-") for each in classes(_above(element))):
            return True
        if (calls or (added and not counted)) and (
            len(_WORD.findall(plain(element))) <= _MOST_FURNITURE or _is_linked(element)
        ):
            return True
    return _is_navigation(element, attributes)


def is_formula(script: Element) -> bool:
    """Return whether a script is no program but a formula in TeX."""
    return (script.get("type") or "").startswith("math/tex")


@lru_cache(maxsize=4096)
def _called(names: str) -> tuple[bool, bool, bool, bool]:
    """Return what classes say.

    That an element is furniture, that it adds to the text, that it may be in a corner of code, and
    that it is hidden.
    """
    each = names.split()
    return (
        any(_FURNITURE.match(name) for name in each),
        any(_ADDED.match(name) for name in each),
        "lang" in each,
        "hidden" in each and not _SHOWN_LATER.search(names),
    )


@lru_cache(maxsize=4096)
def _calls_itself(names: str) -> str:
    """Return whether classes or an identifier say that an element is navigation.

    ``contents`` for one of the page's contents, ``navigation`` for others, empty for none.
    """
    each = names.split()
    # Footnotes are asides that often are nothing but an address.
    if any(name.startswith("footnote") for name in each):
        return "footnote"
    if any(_CONTENTS.match(name) for name in each):
        return "contents"
    return "navigation" if any(_NAVIGATION.match(name) for name in each) else ""


@lru_cache(maxsize=4096)
def _says_nothing(names: str) -> bool:
    """Return whether an element that has classes alone is text, as are the parts of code."""
    return names != "" and not (any(_called(names)) or _calls_itself(names))


def _is_navigation(element: Element, attributes: Mapping[str, str]) -> bool:
    """Return whether an element is called navigation, and is: its words are links.

    A table of contents that leads to other pages is text.
    """
    called = _calls_itself(attributes.get("class") or "")
    if called == "footnote":
        return False
    # An identifier with spaces is no name.
    by_id = _calls_itself((attributes.get("id") or "").replace(" ", "_"))
    called = "contents" if "contents" in {called, by_id} else called or by_id
    if called in {"", "footnote"} and element.tag != "aside":
        return False
    if called == "contents":
        links = [link.get("href") or "" for link in element.iter("a")]
        return bool(links) and all(link.startswith("#") for link in links) and _is_linked(element)
    return _is_linked(element)


def _is_linked(element: Element) -> bool:
    """Return whether most of an element's words are links."""
    words = len(_WORD.findall(plain(element)))
    links = element.iterfind(".//a[@href]")
    return sum(len(_WORD.findall(plain(link))) for link in links) >= _LINKED * words


def _above(element: Element) -> Element:
    parent = element.getparent()
    return element if parent is None else parent


def _short(element: Element) -> str:
    """Return the text of an element that may be such a line; empty of others."""
    if len(element) > 2 or len(element.text or "") >= 100:
        return ""
    # An element of few parts may hold the whole page: its first letter tells most of them.
    first = next((text for text in element.itertext() if text and not text.isspace()), "")
    return plain(element) if first.lstrip()[:1] in _ASIDE_BEGINS else ""


def _is_panel(element: Element) -> bool:
    """Return whether an element is a tab: those that are not open are hidden, and are text."""
    names = classes(element)
    return element.get("role") == "tabpanel" or "tabpanel" in names or "tab-pane" in names


def _is_hidden(element: Element, attributes: Mapping[str, str]) -> bool:
    if _is_panel(element):
        return False
    style = hidden.styles(attributes)
    if hidden.is_hidden(attributes, style):
        # White space between blocks is closed in this way, and the blocks have a size of theirs.
        inner = element.iterfind(".//*[@style]") if "font-size" in style else ()
        return not any("font-size" in (each.get("style") or "") for each in inner)
    colour, background = hidden.colours(attributes, style)
    # A class may give the background.
    if not colour or (not background and (attributes.get("class") or classes(_above(element)))):
        return False
    for around in element.iterancestors():
        background = background or hidden.colours(around.attrib, hidden.styles(around.attrib))[1]
    return hidden.vanishes(colour, background)


def _is_permalink(link: Element) -> bool:
    href = link.get("href") or ""
    return "#" in href and plain(link).lower() in _LINK_SIGNS and link.find(".//img") is None
