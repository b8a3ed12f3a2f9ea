"""A cleaned tree to Markdown: the converter writes it, code blocks are put in as they are.

This room knows the converter and where code stands in what it wrote. It does not know pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from lxml import etree

from docstow.formats.html.extract__readers_html_tree import Element, make, replace

#: What stands for a code block while the rest is converted; the page's text has no such letters.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_PLACE = re.compile(f"^(.*?){_OPEN}(\\d+){_CLOSE}[ \t]*(.*)$", re.MULTILINE)
_LIST = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?= )")
#: What may lead a line that a fence begins on.
_LEADING = re.compile(r"(?:[ \t>]|[-*+] |\d{1,9}[.)] )*")
_FENCE = re.compile(r"`{3,}")
_BLANKS = re.compile(r"\n{3,}")


def place(number: int) -> str:
    """The text that stands for code block ``number``."""
    return f"{_OPEN}{number}{_CLOSE}"


def markdown(top: Element, code: list[tuple[str, str]]) -> str:
    """Write a tree as Markdown.

    Args:
        top: the tree; :func:`place` stands where code belongs.
        code: language and text of each block.
    """
    from html_to_markdown import convert

    source = etree.tostring(top, encoding="unicode", method="html", with_tail=False)
    text = convert(source, _options()).content or ""
    text = "\n".join(_spaced(text))
    text = _BLANKS.sub("\n\n", text).strip()
    while _OPEN in text:
        text = _PLACE.sub(lambda match: _fenced(match, code), text)
    return text + "\n"


def _spaced(text: str) -> Iterator[str]:
    """Its lines, with a blank one before each quote that would continue a paragraph."""
    before = ""
    for line in text.split("\n"):
        starts = line.lstrip().startswith(">") and not before.lstrip().startswith(">")
        if starts and before:
            yield ""
        before = line.rstrip()
        yield before


@cache
def _options() -> Any:
    from html_to_markdown import ConversionOptions, PreprocessingOptions

    return ConversionOptions(
        extract_metadata=False,
        autolinks=False,
        compact_tables=True,
        br_in_tables=True,
        bullets="-",
        newline_style="backslash",
        preprocessing=PreprocessingOptions(enabled=False),
    )


def _fenced(match: re.Match[str], code: list[tuple[str, str]]) -> str:
    """A code block at its place: every line goes behind what leads the place's own line."""
    before, number, after = match[1], int(match[2]), match[3]
    language, text = code[number]
    lead = _LEADING.match(before)
    words = before[lead.end() :].strip() if lead else ""
    before = lead[0] if lead else ""
    rest = _LIST.sub(lambda mark: " " * len(mark[0]), before)
    longest = max((len(each) for each in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    lines = [f"{before}{words}", rest.rstrip()] if words else []
    lines.append(f"{rest if words else before}{fence}{language}")
    lines += [f"{rest}{line}" if line else rest.rstrip() for line in text.split("\n")]
    lines.append(f"{rest}{fence}")
    if after.strip():
        lines += [rest.rstrip(), f"{rest}{after}"]
    return "\n".join(lines)


def one_line(code: str) -> Element:
    """Code for a cell of a table: a line of code each, with breaks between."""
    cell = make("span")
    for number, line in enumerate(code.split("\n")):
        if number:
            cell.append(make("br"))
        cell.append(make("code", line) if line.strip() else make("span"))
    return cell


def stand_in(block: Element, number: int) -> None:
    """Put the place of a code block where the block was."""
    replace(block, make("p", place(number)))
