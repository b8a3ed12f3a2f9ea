"""Markdown of third parties as HTML that may stand in a page: parsed, sanitised, highlighted.

The text says nothing of where it comes from that matters here: it is Markdown with any HTML, and
what is left of it has no scripts, no styles, no images and no addresses but links.
"""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import nh3
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.util import ClassNotFound

from docstow.text.headings import find_headings, slugs
from docstow.text.markdown import block_language, visible_lines

#: Elements that may stand in a page; what others hold is kept, but for scripts and styles.
_TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt"),
    *("em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "kbd", "li", "ol", "p", "pre", "s"),
    *("strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul", "img"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "code": {"class"},
    "img": {"alt"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
_SCHEMES = {"http", "https", "mailto"}
#: A folder's pages name each other by these, which lead nowhere in a browser.
_FILE = "file"
#: Longer code is shown as it is.
_MOST_HIGHLIGHTED = 40_000
#: Marks of fences that are spelled otherwise by the highlighter.
_NAMES = {"jsonc": "json"}

#: Parts of code that have no colour of their own: names, operators, brackets, spaces.
_PLAIN = re.compile(r'<span class="(?:n|na|nn|nt|nv|nx|o|p|pm|vc|vg|vi|vm|w|x|err)">([^<]*)</span>')
_HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.DOTALL)
#: What pictures and scripts leave behind.
_EMPTY = re.compile(r"<(p|div|h[1-6])>(?:\s|<br>|&nbsp;|\xa0)*</\1>")
_CODE = re.compile(r'<pre><code(?: class="(?:language-)?([^"]*)")?>(.*?)</code></pre>', re.DOTALL)
_LINK = re.compile(r'<a href="([^"]*)"')
_IMAGE = re.compile(r'<img(?: alt="([^"]*)")?>')
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a text.

    Attributes:
        level: as the text has it, from 1.
        text: without marks.
        anchor: where it stands in the page.
        code: whether it is a name.
    """

    level: int
    text: str
    anchor: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text as HTML, with its headings in their order."""

    html: Markup
    headings: list[Heading]


def render(
    text: str,
    *,
    language: str = "",
    link: Callable[[str], str] = str,
    below: int = 1,
    anchors: Sequence[str] = (),
    taken: set[str] | None = None,
) -> Rendered:
    """Return a text of Markdown as HTML.

    Args:
        text: Markdown with any HTML.
        language: of code blocks that name none.
        link: returns where an address leads to.
        below: the level of the heading that the text stands under; its own are below that.
        anchors: the fragments that the headings of the text have where it comes from, one for each
            of :func:`~docstow.text.headings.find_headings`; empty for those without.
        taken: the fragments that the page has already; those of the text are added.
    """
    body = nh3.clean(
        _parse(text),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES | {_FILE},
        link_rel=None,
        clean_content_tags={"script", "style", "iframe", "object", "svg", "math"},
    )
    headings: list[Heading] = []
    seen = set() if taken is None else taken
    named = _name_headings(text, anchors)
    highest = min((int(level) for level in re.findall(r"<h([1-6])>", body)), default=1)

    def head(match: re.Match[str]) -> str:
        shown = html.unescape(_TAG.sub("", match[2])).strip()
        level = int(match[1])
        title = " ".join(shown.split())
        wanted = named[title].popleft() if named.get(title) else ""
        anchor = _anchor(wanted or slugs([shown])[0], seen)
        headings.append(Heading(level, shown, anchor))
        number = min(6, level - highest + below + 1)
        return f'<h{number} id="{html.escape(anchor)}">{match[2]}</h{number}>'

    body = _EMPTY.sub("", _EMPTY.sub("", body))  # what held a picture in another element
    body = _CODE.sub(lambda each: _code_block(each, language), body)
    body = _HEADING.sub(head, body)
    body = _LINK.sub(lambda each: _anchor_tag(link(html.unescape(each[1]))), body)
    body = _IMAGE.sub(r'<span class="image">\1</span>', body)
    # A wide table scrolls in a box of its own, which the keyboard reaches.
    body = _TABLE.sub(r'<div class="scroll" tabindex="0" role="group">\g<0></div>', body)
    return Rendered(Markup(body), headings)  # noqa: S704 - nh3 has cleaned it


def inline(text: str, link: Callable[[str], str] = str) -> Markup:
    """Return a line of Markdown as HTML without a paragraph around it."""
    body = str(render(text, link=link).html).strip()
    single = body.startswith("<p>") and body.count("<p>") == 1 and body.endswith("</p>")
    return Markup(body[3:-4] if single else body)  # noqa: S704 - as above


def code(text: str, language: str, link: Callable[[str], str] | None = None) -> Markup:
    """Return code with its parts marked for colours.

    Args:
        text: the code.
        language: as a fence names it.
        link: returns where the name of a type leads to, or nothing.
    """
    if len(text) > _MOST_HIGHLIGHTED:
        return Markup.escape(text)
    shown = highlight(text, _lexer(language), _formatter()).rstrip("\n")
    if link is not None:
        shown = _link_names(shown, link)
    return Markup(_PLAIN.sub(r"\1", shown))  # noqa: S704 - the formatter escapes


def _link_names(shown: str, link: Callable[[str], str]) -> str:
    def linked(match: re.Match[str]) -> str:
        to = link(match[2])
        if not to:
            return match[0]
        return f'<a class="{match[1]}" href="{html.escape(to)}">{match[2]}</a>'

    return re.sub(r'<span class="(n|nc|nb|kt|ne)">([A-Z]\w*)</span>', linked, shown)


@cache
def _formatter() -> HtmlFormatter[str]:
    """Return what marks the parts of code; making one takes as long as a signature does."""
    return HtmlFormatter(nowrap=True)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    try:
        return get_lexer_by_name(_NAMES.get(language, language), stripnl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False)


def _parse(text: str) -> str:
    """Return the HTML of a text, whatever stands in it."""
    import pyromark

    options = (
        pyromark.Options.ENABLE_TABLES
        | pyromark.Options.ENABLE_STRIKETHROUGH
        | pyromark.Options.ENABLE_TASKLISTS
    )
    try:
        return pyromark.html(text.encode("utf-8", "replace").decode(), options=options)
    except BaseException as fault:
        # The parser is Rust: its panic is no Exception.
        if type(fault).__name__ != "PanicException":
            raise
        return f"<pre>{html.escape(text)}</pre>"


def _code_block(match: re.Match[str], language: str) -> str:
    name = block_language(match[1] or "", language)
    text = html.unescape(match[2]).rstrip("\n")
    if name == "rust":
        text = "\n".join(visible_lines(text.split("\n"))).strip("\n")
    shown = code(text, name)
    return f'<pre class="code" tabindex="0"><code>{shown}</code></pre>'


def _name_headings(text: str, anchors: Sequence[str]) -> dict[str, deque[str]]:
    """Return the fragments of headings by their titles, in the order of the text."""
    found: dict[str, deque[str]] = {}
    headings = find_headings(text) if anchors else ()
    if len(headings) == len(anchors):
        for heading, anchor in zip(headings, anchors, strict=True):
            title = " ".join(heading.title.replace("`", "").split())
            found.setdefault(title, deque()).append(anchor)
    return found


def _anchor(wanted: str, taken: set[str]) -> str:
    plain = "-".join(wanted.split()) or "section"
    # Those of the page itself begin so.
    plain = f"text-{plain}" if plain.startswith("ui-") else plain
    anchor, number = plain, 1
    while anchor in taken:
        anchor, number = f"{plain}-{number}", number + 1
    taken.add(anchor)
    return anchor


def _anchor_tag(to: str) -> str:
    if to.partition(":")[0] == _FILE:
        return "<a"
    outward = ' rel="noopener noreferrer nofollow"' if "://" in to else ""
    return f'<a href="{html.escape(to)}"{outward}'
