"""Which part of a page is its text: what a site repeats on its pages, and navigation, are not.

A block that stands on many pages of a site is not what any of them is about, and an element that
holds links on every page is navigation, even where the links differ. Both are learned from the
pages of one sync. A page whose site is unknown keeps everything that does not call itself
navigation: too much text is better than too little.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from docstow.formats import hidden
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
    "//article",
]
#: A marked element is the main part if it has at least this share of the page's own words.
_WHOLE = 0.98
#: Elements that may be a part of a word.
_INLINE = frozenset("""
    a abbr acronym b bdi cite code data del dfn em font i ins kbd mark q s samp small span strong
    time tt u var wbr""".split())  # fmt: skip  # noqa: SIM905
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = _HEADINGS | frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figure",
        "footer",
        "form",
        "header",
        "li",
        "main",
        "menu",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "td",
        "tr",
        "ul",
    ]
)
#: Elements that divide a page; below others, a repeated block belongs to the text around it.
_DIVIDING = frozenset(("article", "body", "center", "div", "main", "section"))
#: A block is shared if it stands on this share of the pages, and on at least so many. Of a small
#: site, half of the pages or :data:`_ENOUGH` have it: fewer may be versions of one page.
_SHARE, _FEWEST, _ENOUGH = 0.1, 3, 8
#: An element is navigation if this share of its words are links on nearly all pages that have it,
#: and most pages do. One of more words is a table of contents, which is text.
_LINKED, _ALWAYS, _MOST_PAGES, _MOST_WORDS = 0.5, 0.9, 0.5, 60
#: An element is shared if this share of its words stand in shared blocks.
_REPEATED = 0.9
#: The share of a level's own words that one child must have to be divided further.
_DOMINANT = 0.6
#: How deep in a page navigation is learned, and how much is remembered of a site.
_DEEPEST, _REMEMBERED = 6, 500
# Underscores divide, because Markdown escapes them.
_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")


@dataclass(frozen=True, slots=True)
class Shared:
    """What the pages of a site share.

    Attributes:
        blocks: digests of blocks that stand on many pages.
        navigation: digests of the places of elements that are links on nearly all pages.
    """

    blocks: frozenset[str] = frozenset()
    navigation: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.blocks or self.navigation)

    def __or__(self, other: Shared) -> Shared:
        return Shared(self.blocks | other.blocks, self.navigation | other.navigation)

    def to_json(self) -> dict[str, list[str]]:
        """Return it as JSON; empty if nothing is shared."""
        parts = {"blocks": sorted(self.blocks), "navigation": sorted(self.navigation)}
        return {name: part for name, part in parts.items() if part}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Shared:
        """Return what :meth:`to_json` wrote."""
        return cls(frozenset(value.get("blocks", ())), frozenset(value.get("navigation", ())))


def find_shared(roots: Iterable[Element]) -> Shared:
    """Return what pages share, given their ``html`` elements; nothing if they are fewer than three.

    A few hundred pages of a large site are enough.
    """
    pages = 0
    blocks: Counter[str] = Counter()
    places: Counter[str] = Counter()
    linked: Counter[str] = Counter()
    for body in (root.find("body") for root in roots):
        if body is None:
            continue
        pages += 1
        found: set[str] = set()
        at: dict[str, tuple[int, int]] = {}
        for element, part in _measure(body).items():
            if part.words and element.tag in _BLOCKS:
                found.add(part.digest)
                if part.depth <= _DEEPEST:
                    place = _place(element)
                    words, links = at.get(place, (0, 0))
                    at[place] = words + part.words, links + part.linked
        blocks.update(found)
        places.update(at.keys())
        linked.update(
            place
            for place, (words, links) in at.items()
            if links >= _LINKED * words and words <= _MOST_WORDS
        )
    fewest = max(_FEWEST, _SHARE * pages, min(_ENOUGH, _MOST_PAGES * pages))
    most = max(_FEWEST, _MOST_PAGES * pages)
    return Shared(
        frozenset(_most_common(blocks, fewest)),
        frozenset(
            place
            for place in _most_common(places, most)
            if linked[place] >= _ALWAYS * places[place]
        ),
    )


def _most_common(counts: Counter[str], fewest: float) -> Iterator[str]:
    for digest, count in counts.most_common(_REMEMBERED):
        if count >= fewest:
            yield digest


def find_main(root: Element, shared: Shared) -> Element:
    """Return the element that holds the page's text, without what the site shares.

    It is the element that the generator marks, unless that lacks a part of the text.
    """
    body = root.find("body")
    body = root if body is None else body
    if shared:
        _drop_shared(body, shared)
    parts = _measure(root)
    nothing = _Part(0, 0, "", 0)

    def own_words(element: Element) -> int:
        part = parts.get(element, nothing)
        return part.words - part.linked

    for path in _MARKED:
        found = [each for each in root.xpath(path) if parts.get(each, nothing).words]
        marked = max(found, key=lambda each: parts[each].words, default=None)
        # Without knowledge of the site, the rest of the page may as well be navigation.
        if marked is not None and (not shared or own_words(marked) >= _WHOLE * own_words(body)):
            return marked
    return body


def count_words(main: Element) -> Counter[str]:
    """Count the words of an element that are shown and no navigation, in lower case.

    Inline elements do not divide words.
    """
    parts: list[str] = []
    stack: list[Element | str | None] = [main]
    while stack:
        each = stack.pop()
        if isinstance(each, str) or each is None:
            parts.append(each or "")
        elif each is main or not (_is_furniture(each) or _is_permalink(each)):
            between = "" if each.tag in _INLINE else " "
            parts += (between, each.text or "")
            stack.append(between)
            for child in reversed(each):
                stack += (child.tail, child)
    return Counter(_WORD.findall("".join(parts).lower()))


def count_kept(words: Counter[str], text: str) -> int:
    """Return how many of a page's words its Markdown has."""
    found = Counter(_WORD.findall(_TARGET.sub("]", text).lower()))
    return (words & found).total()


@dataclass(slots=True)
class _Part:
    """Text of an element: numbers of words, all and within links; its digest and its depth."""

    words: int
    linked: int
    digest: str
    depth: int


def _measure(body: Element) -> dict[Element, _Part]:
    """Return the text of each element that is shown, the body included."""
    parts: dict[Element, _Part] = {}
    stack = [(body, 0, False)]
    while stack:
        element, depth, done = stack.pop()
        if not done:
            if element.tag not in _TAGS and element.get("role") != "navigation":
                stack.append((element, depth, True))
                stack.extend((child, depth + 1, False) for child in element)
            continue
        digest = blake2b(element.tag.encode(), digest_size=8)
        words = linked = 0
        text = element.text
        for child in (None, *element):
            if child is not None:
                text = child.tail
                if child in parts:
                    digest.update(parts[child].digest.encode())
                    words += parts[child].words
                    linked += parts[child].linked
            if text and not text.isspace():
                digest.update(_SPACE.sub(" ", text.strip()).encode("utf-8", "replace"))
                words += len(_WORD.findall(text))
        if element.tag == "a" and element.get("href"):
            linked = words
        parts[element] = _Part(words, linked, digest.hexdigest(), depth)
    return parts


def _place(element: Element) -> str:
    """Return a digest of tags, identifiers and classes from an element up to the body."""
    steps = []
    while element is not None and element.tag != "body":
        steps.append(f"{element.tag}#{element.get('id') or ''}.{element.get('class') or ''}")
        element = element.getparent()
    return blake2b(">".join(steps).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _drop_shared(body: Element, shared: Shared) -> None:
    """Remove the navigation, headers and footers of a site.

    They are looked for where the page is divided: among the children of the body, and of the one
    child that has most of the text, as far down as the first headings. There what is shared goes
    before and after the text, and navigation goes wherever it is. Headings stay.
    """
    parts = _measure(body)
    repeated = _repeated(parts, shared)

    def is_shared(element: Element) -> bool:
        return repeated[element] >= _REPEATED * parts[element].words

    def is_navigation(element: Element, *, beside_headings: bool) -> bool:
        part = parts[element]
        if part.linked < _LINKED * part.words or element.tag in _HEADINGS:
            return False
        # Beside headings, lists without a name may end the text of every page.
        named = not beside_headings or element.get("class") or element.get("id")
        return is_shared(element) or bool(named and _place(element) in shared.navigation)

    dropped: list[Element] = []
    node = body
    while node.tag in _DIVIDING:
        children = [child for child in node if child in parts and parts[child].words]
        titled = any(child.tag in _HEADINGS for child in children)
        kept = [each for each in children if not is_navigation(each, beside_headings=titled)]
        while kept and is_shared(kept[0]) and kept[0].tag not in _HEADINGS:
            del kept[0]
        while kept and is_shared(kept[-1]):
            del kept[-1]
        if not kept:
            break
        dropped += (child for child in children if child not in kept)
        if titled:
            break
        own = {child: parts[child].words - repeated[child] for child in kept}
        node = max(kept, key=own.__getitem__)
        if own[node] < _DOMINANT * sum(own.values()):
            break
    for element in dropped:
        element.drop_tree()


def _repeated(parts: Mapping[Element, _Part], shared: Shared) -> dict[Element, int]:
    """Return for each element the number of its words that stand in shared blocks."""
    repeated: dict[Element, int] = {}
    for element, part in parts.items():  # children come before their parents
        if element.tag in _BLOCKS and part.digest in shared.blocks:
            repeated[element] = part.words
        else:
            repeated[element] = sum(repeated[child] for child in element if child in repeated)
    return repeated


#: Elements without text, or without text of the page.
_TAGS = frozenset(
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
    r"|viewcode-link|navheader|navfooter|ttc|linenos?)$"
)
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
_SHOWN_LATER = re.compile(r":(?:block|flex|grid|inline|table|contents)")
_LINK_SIGNS = {"", "¶", "#", "§", "🔗", "\u200b", "link"}


def drop_furniture(main: Element) -> None:
    """Remove what is no text from an element: navigation, permalinks, buttons, hidden parts."""
    for element in elements(main):
        if (element.tag == "a" and _is_permalink(element)) or _is_furniture(element):
            _drop(element)


def _is_furniture(element: Element) -> bool:
    names = classes(element)
    if element.tag in _TAGS:
        # Formulas may be scripts, and a quotation has its source in a footer.
        formula = (element.get("type") or "").startswith("math/tex")
        quoted = element.tag == "footer" and _above(element).tag == "blockquote"
        return not (formula or quoted)
    if element.get("role") in _ROLES or element.get("data-testid") == "page-footer-navigation":
        return True
    # VitePress writes a block's language into its corner.
    if "lang" in names and any(each.startswith("language-") for each in classes(_above(element))):
        return True
    if element.tag in {"p", "div"} and _ASIDE.fullmatch(_short(element)):
        return True
    if _is_hidden(element, names):
        return True
    if any(_FURNITURE.match(name) for name in names):
        return len(_WORD.findall(plain(element))) <= _MOST_FURNITURE or _is_linked(element)
    return _is_navigation(element, names)


def _is_navigation(element: Element, names: list[str]) -> bool:
    """Return whether an element is called navigation, and is: its words are links.

    A table of contents that leads to other pages is text.
    """
    # Footnotes are asides that often are nothing but an address.
    if any(each.startswith("footnote") for each in names):
        return False
    called = [each for each in (*names, element.get("id") or "") if _NAVIGATION.match(each)]
    if not called and element.tag != "aside":
        return False
    if any(_CONTENTS.match(each) for each in called):
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
    """The element's text if it is a line; empty where it holds more."""
    return plain(element) if len(element) <= 2 and len(element.text or "") < 100 else ""


def _is_hidden(element: Element, names: list[str]) -> bool:
    # Tabs that are not open are hidden, and are text.
    if element.get("role") == "tabpanel" or "tabpanel" in names or "tab-pane" in names:
        return False
    if "hidden" in names and not _SHOWN_LATER.search(element.get("class") or ""):
        return True
    style = hidden.styles(element.attrib)
    if hidden.is_hidden(element.attrib, style):
        # White space between blocks is closed in this way, and the blocks have a size of theirs.
        inner = element.iterfind(".//*[@style]") if "font-size" in style else ()
        return not any("font-size" in (each.get("style") or "") for each in inner)
    colour, background = hidden.colours(element.attrib, style)
    # A class may give the background.
    if not colour or (not background and (names or classes(_above(element)))):
        return False
    for around in element.iterancestors():
        background = background or hidden.colours(around.attrib, hidden.styles(around.attrib))[1]
    return hidden.vanishes(colour, background)


def _is_permalink(link: Element) -> bool:
    href = link.get("href") or ""
    return "#" in href and plain(link).lower() in _LINK_SIGNS and link.find(".//img") is None


def _drop(element: Element) -> None:
    if element.getparent() is not None:
        element.drop_tree()
