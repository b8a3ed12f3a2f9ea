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
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from lxml import etree

from docstow.formats.html.furniture import NO_TEXT, is_formula, is_furniture
from docstow.formats.html.tree import Element, plain

#: Classes of elements that mark the main part, the most reliable first.
_MARKS = (
    "theme-doc-markdown",
    "md-content__inner",
    "vp-doc",
    "sl-markdown-content",
    "markdown-body",
)
_MARK = re.compile("|".join(_MARKS))
#: A marked element is the main part if it has at least this share of the page's own words.
_WHOLE = 0.98
#: Elements that may be a part of a word.
_INLINE = frozenset("""
    a abbr acronym b bdi cite code data del dfn em font i ins kbd mark q s samp small span strong
    time tt u var wbr""".split())  # fmt: skip  # noqa: SIM905
#: Classes of inline elements that no word goes on in: numbers of lines.
_BESIDE = frozenset(("lineno", "linenos"))
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
#: What is taken for navigation only by its place goes with at most this share of the page's own
#: words; a short page keeps it.
_SPARED = 0.01
#: What links say that lead to the pages before and after (HTML 4.01, 6.12).
_SEQUENCE = frozenset(("next", "prev", "previous", "up"))
#: The share of a level's own words that one child must have to be divided further.
_DOMINANT = 0.6
#: How deep in a page navigation is learned, and how much is remembered of a site.
_DEEPEST, _REMEMBERED = 6, 500
#: Of so many characters are texts that are read once.
_SHORT = 24
# Underscores divide, because Markdown escapes them.
_WORD = re.compile(r"[^\W_]+")
#: Code in Markdown: fences and spans.
_CODE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,})[^`\n]*\n(?:[^\n]*\n)*?[ \t>]*(?P=fence)[ \t]*$"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)
_TARGET = r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"
_LINK = re.compile(rf"\[([^\[\]]{{0,500}}){_TARGET}|{_TARGET}")


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


@dataclass(slots=True)
class _Part:
    """Text of an element: numbers of words, all and within links; its digest and its depth."""

    words: int
    linked: int
    digest: str
    depth: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A page whose text was measured.

    Attributes:
        root: its ``html`` element.
        parts: the text of each element of its body that is shown; None without a body.
    """

    root: Element
    parts: dict[Element, _Part] | None

    @classmethod
    def of(cls, root: Element) -> Measured:
        """Measure a page."""
        body = root.find("body")
        return cls(root, None if body is None else _measure(body))


def find_shared(measured: Iterable[Measured]) -> Shared:
    """Return what pages share; nothing if they are fewer than three.

    A few hundred pages of a large site are enough.
    """
    pages = 0
    blocks: Counter[str] = Counter()
    places: Counter[str] = Counter()
    linked: Counter[str] = Counter()
    for page in measured:
        if page.parts is None:
            continue
        pages += 1
        found: set[str] = set()
        at: dict[str, tuple[int, int]] = {}
        for element, part in page.parts.items():
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


@dataclass(frozen=True, slots=True)
class Division:
    """A page divided into its text and what stands around it; nothing is removed yet.

    Attributes:
        main: the element that holds the text.
        whole: the element whose words are the page's.
        repeated: elements whose words are not the page's: the site repeats them, or they lead to
            the pages before and after.
        dropped: elements that are no text, though they may be within ``main``.
    """

    main: Element
    whole: Element
    repeated: frozenset[Element] = frozenset()
    dropped: tuple[Element, ...] = ()

    def take_main(self) -> Element:
        """Remove what is no text, and return the main part."""
        for element in self.dropped:
            element.drop_tree()
        return self.main


def divide(root: Element, shared: Shared, measured: Measured | None = None) -> Division:
    """Find the element that holds the page's text, and what the site shares of it.

    It is the element that the generator marks, unless that lacks a part of the text.

    Args:
        root: the page's ``html`` element.
        shared: what the pages of its site share.
        measured: the page, where its text was measured.
    """
    if not shared:
        # Without knowledge of the site, the rest of the page may as well be navigation.
        marked = find_marked(root)
        return Division(marked, marked)
    body = _body(root)
    known = measured.parts if measured is not None else None
    parts = _measure(body) if known is None else known
    site = _Site(body, parts, shared)
    dropped = _find_dropped(body, site)
    for element in dropped:
        _subtract(element, parts)
    own = parts[body].words - parts[body].linked
    for marked in _marked(parts):
        if parts[marked].words - parts[marked].linked >= _WHOLE * own:
            return Division(marked, body, frozenset(site.same), tuple(dropped))
    return Division(body, body, frozenset(site.same), tuple(dropped))


def find_marked(root: Element) -> Element:
    """Return the element that the generator marks as the main part, or the page's body."""
    body = _body(root)
    ranked: dict[int, list[Element]] = {}
    for each in body.iter(etree.Element):
        rank = _rank(each)
        if rank is not None and _is_shown(each) and _has_words(each):
            ranked.setdefault(rank, []).append(each)
    best = ranked[min(ranked)] if ranked else [body]
    # Of several, the one with the most words.
    return best[0] if len(best) == 1 else next(_marked(_measure(body)))


def _body(root: Element) -> Element:
    body = root.find("body")
    return root if body is None else body


def _holds_text(element: Element) -> bool:
    """Return whether an element may hold text of its page."""
    return element.tag not in NO_TEXT and element.get("role") != "navigation"


def _is_shown(element: Element) -> bool:
    return _holds_text(element) and all(map(_holds_text, element.iterancestors()))


def _has_words(element: Element) -> bool:
    stack = [element]
    while stack:
        each = stack.pop()
        texts = [each.text, *[child.tail for child in each]]
        if any(text and _WORD.search(text) for text in texts):
            return True
        stack += [child for child in reversed(each) if _holds_text(child)]
    return False


def take_text(main: Element) -> str:
    """Remove what is no text from a main part, and return its text on one line."""
    formulas = [each.text or "" for each in main.iter("script") if is_formula(each)]
    etree.strip_elements(main, *NO_TEXT, with_tail=False)
    return " ".join([plain(main), *formulas])


def _subtract(element: Element, parts: Mapping[Element, _Part]) -> None:
    """Take the words of an element from those of the elements around it."""
    gone = parts[element]
    for around in element.iterancestors():
        if around in parts:
            parts[around].words -= gone.words
            parts[around].linked -= gone.linked
    for inner in element.iter():
        if inner in parts:
            parts[inner].words = parts[inner].linked = 0


def _marked(parts: Mapping[Element, _Part]) -> Iterator[Element]:
    """Yield the largest element of each mark of a main part, the most reliable first."""
    found: dict[int, Element] = {}
    for element, part in parts.items():  # from the end of the page to its beginning
        rank = _rank(element) if part.words else None
        if rank is not None and (rank not in found or part.words >= parts[found[rank]].words):
            found[rank] = element
    for rank in sorted(found):
        yield found[rank]


def _rank(element: Element) -> int | None:
    """Return how reliably an element marks the main part, 0 the most; None if it does not."""
    tag, style, role = element.tag, element.get("class"), element.get("role")
    if style and _MARK.search(style):
        names = style.split()
        for rank, name in enumerate(_MARKS):
            if name in names and (tag == "article" or name != "md-content__inner"):
                return rank
    if element.get("itemprop") == "articleBody":
        return len(_MARKS)
    if role == "main" or tag == "main":
        return len(_MARKS) + (1 if tag == "article" else 2 if tag == "main" else 3)
    if tag == "div" and style == "body":
        return len(_MARKS) + 4
    return len(_MARKS) + 5 if tag == "article" else None


def count_words(division: Division) -> Counter[str]:
    """Count the words of a page that are shown and no navigation, in lower case.

    Inline elements do not divide words. What is left out though it is text counts too, so that it
    is seen to be missing: tooltips, numbers of lines, links that no other page has.
    """
    parts: list[str] = []
    whole, repeated = division.whole, division.repeated
    left_out = None
    walk = etree.iterwalk(whole, events=("start", "end"))
    for event, each in walk:
        if event == "end":
            if each is left_out:
                left_out = None
            elif not (each.tag in _INLINE and each.get("class") not in _BESIDE):
                parts.append(" ")
            if each is not whole:
                parts.append(each.tail or "")
        elif each is not whole and (each in repeated or is_furniture(each, counted=True)):
            walk.skip_subtree()
            left_out = each
        else:
            if not (each.tag in _INLINE and each.get("class") not in _BESIDE):
                parts.append(" ")
            parts.append(each.text or "")
    return Counter(_WORD.findall("".join(parts).lower()))


def count_kept(words: Counter[str], text: str) -> int:
    """Return how many of a page's words its Markdown has."""
    shown: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        shown += (_unlinked(text[at : code.start()]), code[0])
        at = code.end()
    shown.append(_unlinked(text[at:]))
    return (words & Counter(_WORD.findall("".join(shown).lower()))).total()


def _unlinked(prose: str) -> str:
    """Return Markdown without the targets of links."""
    return _LINK.sub(lambda link: "]" if link[1] is None else link[1], prose)


def _measure(body: Element) -> dict[Element, _Part]:
    """Return the text of each element that is shown, those in an element before it."""
    parts: dict[Element, _Part] = {}
    for element, depth in _shown(body):
        tag = element.tag
        texts = [tag]
        words = linked = 0
        if text := element.text:
            flat, count = _read_text(text) if len(text) > _SHORT else _read_short(text)
            if flat:
                texts.append(flat)
                words += count
        for child in element:
            part = parts.get(child)
            if part is not None:
                texts.append(part.digest)
                words += part.words
                linked += part.linked
            if text := child.tail:
                flat, count = _read_text(text) if len(text) > _SHORT else _read_short(text)
                if flat:
                    texts.append(flat)
                    words += count
        if tag == "a" and element.get("href"):
            linked = words
        texts.append("")
        digest = "\0".join(texts)
        if tag in _BLOCKS or tag == "body":
            digest = blake2b(digest.encode("utf-8", "replace"), digest_size=8).hexdigest()
        parts[element] = _Part(words, linked, digest, depth)
    return parts


def _shown(body: Element) -> Iterator[tuple[Element, int]]:
    """Yield the elements that are shown, those in an element before it, with their depth."""
    depth = 0
    left_out = None
    walk = etree.iterwalk(body, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            depth += 1
            if element.tag in NO_TEXT or element.get("role") == "navigation":
                walk.skip_subtree()
                left_out = element
        else:
            depth -= 1
            if element is left_out:
                left_out = None
            else:
                yield element, depth


def _read_text(text: str) -> tuple[str, int]:
    """Return a text on one line, and the number of its words."""
    return " ".join(text.split()), len(_WORD.findall(text))


#: Reads texts of at most :data:`_SHORT` characters, which code and lists of links repeat.
_read_short = lru_cache(maxsize=4096)(_read_text)


def _place(element: Element) -> str:
    """Return a digest of tags, identifiers and classes from an element up to the body."""
    steps = []
    while element is not None and element.tag != "body":
        steps.append(f"{element.tag}#{element.get('id') or ''}.{element.get('class') or ''}")
        element = element.getparent()
    return blake2b(">".join(steps).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _find_dropped(body: Element, site: _Site) -> list[Element]:
    """Return the navigation, headers and footers of a page.

    They are looked for where the page is divided: among the children of the body, and of the one
    child that has most of the text, as far down as the first headings. There what is shared goes
    before and after the text, and navigation goes wherever it is. Headings stay.
    """
    parts = site.parts
    dropped: list[Element] = []
    node = body
    while node.tag in _DIVIDING:
        children = [child for child in node if child in parts and parts[child].words]
        titled = any(child.tag in _HEADINGS for child in children)
        kept = [each for each in children if not site.is_navigation(each, beside_headings=titled)]
        while kept and site.is_shared(kept[0]) and kept[0].tag not in _HEADINGS:
            del kept[0]
        while kept and site.is_shared(kept[-1]):
            del kept[-1]
        if not kept:
            break
        dropped += (child for child in children if child not in kept)
        if titled:
            break
        own = {child: site.own_words(child) for child in kept}
        node = max(kept, key=own.__getitem__)
        if own[node] < _DOMINANT * sum(own.values()):
            break
    return dropped


class _Site:
    """What of one page its site shares.

    Attributes:
        parts: the text of the page's elements.
        same: elements whose words are not the page's.
    """

    def __init__(self, body: Element, parts: Mapping[Element, _Part], shared: Shared) -> None:
        self.parts = parts
        self._navigation = shared.navigation
        self._repeated = repeated = dict[Element, int]()
        self.same: set[Element] = set()
        for element, part in parts.items():  # children come before their parents
            if element.tag in _BLOCKS and part.digest in shared.blocks:
                repeated[element] = part.words
                self.same.add(element)
            else:
                repeated[element] = sum([repeated[child] for child in element if child in repeated])
        self._spare = _SPARED * self.own_words(body)

    def own_words(self, element: Element) -> int:
        """Return the number of an element's words that do not repeat."""
        return self.parts[element].words - self._repeated[element]

    def is_shared(self, element: Element) -> bool:
        """Return whether an element repeats on many pages."""
        return self._repeated[element] >= _REPEATED * self.parts[element].words

    def is_navigation(self, element: Element, *, beside_headings: bool) -> bool:
        """Return whether an element is navigation, and may go."""
        part = self.parts[element]
        if part.linked < _LINKED * part.words or element.tag in _HEADINGS:
            return False
        if self.is_shared(element):
            return True
        # Beside headings, lists without a name may end the text of every page.
        named = not beside_headings or element.get("class") or element.get("id")
        if not named or _place(element) not in self._navigation:
            return False
        if _leads_on(element):
            self.same.add(element)
            return True
        own = self.own_words(element)
        if own > self._spare:
            return False
        self._spare -= own
        return True


def _leads_on(element: Element) -> bool:
    """Return whether an element links to the pages before or after, and says so."""
    return any(
        not _SEQUENCE.isdisjoint((link.get("rel") or "").lower().split())
        or not _SEQUENCE.isdisjoint(_WORD.findall(plain(link).lower())[:1])
        for link in element.iter("a")
    )
