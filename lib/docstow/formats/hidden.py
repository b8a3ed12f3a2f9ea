"""Text of HTML that no browser shows: by attributes and styles of its elements.

The styles of style sheets are not known here; what they hide is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping

from docstow.core.patterns import lazy_pattern

_DECLARATION = lazy_pattern(r"([a-z-]{1,40})\s{0,5}:\s{0,5}([^;]{0,300})")
_CAMEL = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")
#: A comma between two declarations of an object in JSX, not one within ``rgb(…)``.
_COMMA = lazy_pattern(r",(?![^()]{0,100}\))")
_ZERO = lazy_pattern(r"[+-]?0*\.?0*(?:px|pt|em|rem|ex|ch|vw|vh|%)?")
_FAR = lazy_pattern(r"-\d{3,}(?:\.\d+)?(?:px|pt|em|rem|vw|vh|%)?|-(?:\d{2,})(?:em|rem|vw|vh)")
_CLIPPED = lazy_pattern(
    r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)|inset\((?:50|100)%[\d%\s]{0,20}\)|circle\(0[^)]{0,20}\)"
)
_WHITE = {"white", "#fff", "#ffffff", "#ffff", "#ffffffff", "rgb(255,255,255)", "rgb(255255255)"}


def styles(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the declarations of an element's style in lower case; also of an object in JSX."""
    style = attributes.get("style") or ""
    if style.startswith("{"):
        style = _COMMA.sub(";", _CAMEL.sub("-", style.strip("{} "))).replace("'", "")
    found = _DECLARATION.findall(style.replace('"', "").replace("!important", "").lower())
    return {name: value.strip() for name, value in found}


def is_hidden(attributes: Mapping[str, str], style: Mapping[str, str]) -> bool:
    """Return whether an element is shown to nobody, whatever stands around it.

    Args:
        attributes: of the element, by names in lower case.
        style: what :func:`styles` says of them.
    """
    # In JSX a value in braces is an expression.
    if not attributes.get("hidden", "{").startswith("{") or attributes.get("hidden") == "{true}":
        return True
    if (attributes.get("aria-hidden") or "").strip("{}") == "true":
        return True
    if style.get("display") == "none" or style.get("visibility") in {"hidden", "collapse"}:
        return True
    if "font-size" in style and _ZERO.fullmatch(style["font-size"]):
        return True
    if _CLIPPED.match(style.get("clip", "")) or _CLIPPED.match(style.get("clip-path", "")):
        return True
    if _FAR.fullmatch(style.get("text-indent", "")):
        return True
    if style.get("position") in {"absolute", "fixed"}:
        sides = (style.get(side, "") for side in ("left", "top", "right", "bottom"))
        if any(_FAR.fullmatch(each) for each in sides):
            return True
    clipped = style.get("overflow") in {"hidden", "clip"}
    sizes = (style.get(each, "x") for each in ("width", "height"))
    return clipped and any(_ZERO.fullmatch(each) for each in sizes)


def colours(attributes: Mapping[str, str], style: Mapping[str, str]) -> tuple[str, str]:
    """Return an element's own colour and background, each empty where it has none."""
    colour = style.get("color") or (attributes.get("color") or "").lower()
    background = style.get("background-color") or style.get("background") or ""
    background = background or (attributes.get("bgcolor") or "").lower()
    return _colour(colour), _colour(background)


def vanishes(colour: str, background: str) -> bool:
    """Return whether text of a colour does not show on a background; white where it is empty."""
    return colour != "" and colour == (background or "white")


def _colour(name: str) -> str:
    short = name.replace(" ", "")
    return "white" if short in _WHITE else short


#: Elements whose content is never shown. That of ``template`` is, where a page is a component.
_NEVER_SHOWN = {"script", "style"}
_VOID = {"area", "br", "col", "hr", "img", "input", "source", "track", "wbr"}
_NAMES = _NEVER_SHOWN | _VOID
_NAMES |= {
    "a", "abbr", "article", "aside", "b", "blockquote", "button", "caption", "center", "cite",
    "code", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font",
    "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "i", "ins", "kbd", "label", "li",
    "main", "mark", "nav", "ol", "p", "picture", "pre", "q", "s", "samp", "section", "small",
    "span", "strike", "strong", "sub", "summary", "sup", "svg", "table", "tbody", "td", "tfoot",
    "th", "thead", "tr", "tt", "u", "ul", "var", "video",
}  # fmt: skip
_TOKEN = lazy_pattern(
    r"(?P<fence>^[ \t>]*(?P<marks>`{3,}|~{3,})[^\n]*\n"
    r"(?:[^\n]*\n)*?(?:[ \t>]*(?P=marks)[^\n]*$|[^\n]*\Z))"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\0]{1,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<comment><!--[^\0]{0,2000}?-->)"
    r"|(?P<indented>(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+)"
    r"|<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,10})(?P<attributes>[\s/][^<>]{0,1500})?>",
    re.MULTILINE,
)
_ATTRIBUTE = lazy_pattern(
    r"(?<![\w:@.#-])([A-Za-z-]{1,30})(?:\s{0,5}=\s{0,5}(?:\"([^\"]*)\"|'([^']*)'|(\{[^<>]*\})|([^\s\"'>]+)))?"
)
#: A tag that may hide something.
_HINT = lazy_pattern(r"<(?:script|[a-z][^<>]{0,1511}?(?:hidden|style|color)|style)", re.IGNORECASE)
_FONT_SIZE = lazy_pattern(r"font-?size", re.IGNORECASE)
_BLANK = lazy_pattern(r"\n[ \t]*\n|\Z")


def drop_hidden(text: str) -> str:
    """Return Markdown without what its raw HTML hides; code is left as it is.

    An element that is not closed ends at the next blank line.
    """
    if "<" not in text or not _HINT.search(text):
        return text
    tags = [match for match in _TOKEN.finditer(text) if (match["name"] or "").lower() in _NAMES]
    ends = _find_ends(tags)
    plain_background = not re.search(r"background|bgcolor", text, re.IGNORECASE)
    blanks = [blank.start() for blank in _BLANK.finditer(text)]
    out: list[str] = []
    at = 0
    for number, tag in enumerate(tags):
        if tag.start() < at or tag["close"]:
            continue
        name = tag["name"].lower()
        end = tag.end()
        if name not in _VOID and not tag[0].endswith("/>"):
            end = ends.get(number) or blanks[bisect_left(blanks, end)]
        gone = name in _NEVER_SHOWN and number in ends
        if gone or _hides(tag, end, plain=plain_background):
            out.append(text[at : tag.start()])
            at = end
    return "".join([*out, text[at:]])


def _find_ends(tags: list[re.Match[str]]) -> dict[int, int]:
    """Return where the elements end, by the number of their opening tags."""
    opened: defaultdict[str, list[int]] = defaultdict(list)
    ends: dict[int, int] = {}
    for number, tag in enumerate(tags):
        waiting = opened[tag["name"].lower()]
        if not tag["close"]:
            if not tag[0].endswith("/>"):
                waiting.append(number)
        elif waiting:
            ends[waiting.pop()] = tag.end()
    return ends


def _hides(tag: re.Match[str], end: int, *, plain: bool) -> bool:
    """Return whether a tag hides what is in it.

    Args:
        tag: an opening tag.
        end: of its element.
        plain: whether no tag of the page has a background.
    """
    attributes = {
        name.lower(): double or single or braced or bare
        for name, double, single, braced, bare in _ATTRIBUTE.findall(tag["attributes"] or "")
    }
    style = styles(attributes)
    if is_hidden(attributes, style):
        # White space between blocks is closed in this way, and the blocks have a size of theirs.
        return not ("font-size" in style and _FONT_SIZE.search(tag.string, tag.end(), end))
    colour, background = colours(attributes, style)
    if "class" in attributes or not (background or plain):
        return False
    return vanishes(colour, background)
