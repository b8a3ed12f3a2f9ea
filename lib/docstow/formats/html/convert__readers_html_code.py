"""Code blocks of web pages: their text as it is shown, and the language they are in.

This room knows how highlighters mark up code. It does not know the rest of a page.
"""

from __future__ import annotations

import re

from docstow.formats.html.convert__readers_html_markdown import one_line, stand_in
from docstow.formats.html.extract__readers_html_tree import (
    Element,
    classes,
    descend,
    elements,
    replace,
)

#: What highlighters and themes put into a block that is no code.
_NOT_CODE = {
    "linenos",
    "lineno",
    "linenodiv",
    "linenumber",
    "line-number",
    "line-numbers",
    "line-numbers-rows",
    "ln",
    "lnt",
    "gutter",
    "hljs-ln-numbers",
    "copy",
    "copybtn",
    "copy-button",
    "clipboard-copy",
    "codeblock-button",
    "boring",
    "react-syntax-highlighter-line-number",
}
_NUMBERED = {"highlighttable", "rouge-table", "lntable", "codehilitetable"}
_NAMED = re.compile(r"(?:language|lang|highlight-source|highlight-text|highlight)-([\w+#.-]+)$")
_SAME = {
    "default": "",
    "none": "",
    "text": "",
    "plaintext": "",
    "plain": "",
    "txt": "",
    "nohighlight": "",
}
_SAME |= {"ipython3": "python", "python3": "python", "py": "python", "html-basic": "html"}
#: How far above a block its language may be written.
_ABOVE = 4


def without_line_numbers(root: Element) -> None:
    """Tables that have line numbers beside the code become the code."""
    for table in elements(root):
        if table.tag == "table" and not _NUMBERED.isdisjoint(classes(table)):
            blocks = table.findall(".//pre")
            if blocks:
                blocks[-1].tail = None
                language = language_of(blocks[-1])
                if language:
                    blocks[-1].set("data-lang", language)
                replace(table, blocks[-1])


def set_aside(root: Element) -> list[tuple[str, str]]:
    """Take the code blocks out of a tree, leaving their places: language and text of each."""
    taken: list[tuple[str, str]] = []
    for block in elements(root):
        outer = block.getparent()
        if block.tag != "pre" or outer is None or _within(block, "pre"):
            continue
        code = code_of(block)
        if _within(block, "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"):
            replace(block, one_line(code))
        elif code.strip():
            taken.append((language_of(block), code))
            stand_in(block, len(taken) - 1)
        else:
            block.drop_tree()
    return taken


def _within(block: Element, *tags: str) -> bool:
    return next(block.iterancestors(*tags), None) is not None


def language_of(block: Element) -> str:
    """The language of a code block in lower case; empty where the page does not say."""
    code = block.find(".//code")
    near = [each for each in (code, block) if each is not None]
    parent = block.getparent()
    while parent is not None and len(near) < _ABOVE + 2 and parent.tag in {"div", "figure", "td"}:
        near.append(parent)
        parent = parent.getparent()
    for element in near:
        found = _own_language(element)
        if found is not None:
            return found
    return ""


def _own_language(element: Element) -> str | None:
    """What the element itself says; None where it says nothing."""
    for attribute in ("data-lang", "data-language", "data-code-language"):
        if element.get(attribute):
            return _name(element.get(attribute))
    names = classes(element)
    for name in names:
        match = _NAMED.match(name)
        if match:
            return _name(match[1])
    for marker in ("sourceCode", "hljs", "brush:", "src", "code"):
        others = [each for each in names if each != marker and each.rstrip(";").isalnum()]
        if marker in names and element.tag in {"pre", "code"} and len(others) == 1:
            return _name(others[0].rstrip(";").removeprefix("src"))
    return None


def _name(name: str) -> str:
    name = re.sub(r"[^\w+#.-]", "", name.strip().lower().split(",")[0].split(" ")[0])
    return _SAME.get(name, name)


def code_of(block: Element) -> str:
    """The block's text exactly as shown, without its last line end."""
    parts: list[str] = []
    dropped: Element | None = None
    for event, element in descend(block):
        if event == "start":
            if dropped is None and element is not block and _is_no_code(element):
                dropped = element
            if dropped is None:
                parts.append(_start(element, first=element is block))
            continue
        if dropped is element:
            dropped = None
        elif dropped is None and element.tag in {"div", "li", "p", "tr"} and _open_line(parts):
            parts.append("\n")
        if dropped is None and element is not block:
            parts.append(element.tail or "")
    return "".join(parts).removesuffix("\n")


def _start(element: Element, *, first: bool) -> str:
    if element.tag == "br":
        return "\n"
    text = element.text or ""
    # The line end behind <pre> is no part of it.
    return text.removeprefix("\n") if first else text


def _open_line(parts: list[str]) -> bool:
    last = next((part for part in reversed(parts) if part), "\n")
    return not last.endswith("\n")


def _is_no_code(element: Element) -> bool:
    return (
        element.tag in {"button", "svg", "script", "style", "template"}
        or element.get("aria-hidden") == "true"
        or "user-select:none" in (element.get("style") or "").replace(" ", "")
        or not _NOT_CODE.isdisjoint(classes(element))
    )
