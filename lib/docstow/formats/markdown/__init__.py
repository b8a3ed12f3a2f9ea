"""MDX: Markdown with JSX, of which the children are kept.

This room knows statements, tags and expressions in Markdown's prose, and what the components of
the usual documentation tools mean. It makes Markdown of them and knows nothing of what follows.
"""

from __future__ import annotations

import re

from docstow.core.model import File
from docstow.formats._readers_page import Page
from docstow.formats.admonitions import NAMES
from docstow.formats.markdown import _readers_markdown as markdown

_FENCE = re.compile(r"([ \t]*)(`{3,}(?=[^`]*$)|~{3,})")
_STATEMENT = re.compile(
    r"import\s+(?:[\"']|[\w*{][^\n]{0,2000}$)"
    r"|export\s+(?:default|const|let|var|function|async|class|type|interface|\{|\*)"
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]")
_NAME = re.compile(r"</?([A-Za-z][\w.:-]{0,60})?")
_ATTRIBUTE = re.compile(r"(type|title|label|value)=\{?[\"'`]([^\"'`]{0,300})[\"'`]")
_STRING = re.compile(r"\{\s*([\"'`])([^\"'`{}]{0,500})\1\s*\}")
_TITLED = {"TabItem", "Tab", "Step", "Card", "Accordion", "AccordionItem", "Expandable"}
_CALLOUTS = {"Admonition", "Callout", "Alert", "Aside"}
_LONGEST_STATEMENT = 400
#: How much may be looked through in vain for the ends of tags and expressions.
_PATIENCE = 300_000


def read(text: str, file: File) -> Page:
    """Read an MDX file."""
    return markdown.read(as_markdown(text), file)


def as_markdown(text: str) -> str:
    """The text without statements, tags and expressions; code is left as it is."""
    scanner = _Scanner()
    out: list[str] = []
    prose: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        match = _FENCE.match(lines[at])
        if match is not None:
            out += scanner.prose(prose)
            prose = []
            end = _fence_end(lines, at, match[2])
            out += _dedented(lines[at:end], len(match[1])) if scanner.depth else lines[at:end]
            at = end
        elif _STATEMENT.match(lines[at]) and not (at and prose and prose[-1].strip()):
            at = _statement_end(lines, at)
        else:
            prose.append(lines[at])
            at += 1
    return "\n".join([*out, *scanner.prose(prose)])


def _fence_end(lines: list[str], at: int, marks: str) -> int:
    closing = re.compile(rf"\s*{re.escape(marks[0])}{{{len(marks)},}}\s*$")
    for end in range(at + 1, len(lines)):
        if closing.match(lines[end]):
            return end + 1
    return len(lines)


def _dedented(lines: list[str], indent: int) -> list[str]:
    return [line[min(indent, len(line) - len(line.lstrip())) :] for line in lines]


def _statement_end(lines: list[str], at: int) -> int:
    """Where a statement ends: at an empty line outside brackets, or at the next statement."""
    depth = 0
    first_empty = 0
    for end in range(at, min(len(lines), at + _LONGEST_STATEMENT)):
        line = lines[end]
        if end > at and (_STATEMENT.match(line) or (depth <= 0 and not line.strip())):
            return end
        if not line.strip():
            first_empty = first_empty or end
        depth += sum(line.count(mark) for mark in "{([") - sum(line.count(mark) for mark in "})]")
    return first_empty or (len(lines) if depth <= 0 else at + 1)


class _Scanner:
    """Goes through the prose between fences; knows how deep in components it is."""

    def __init__(self) -> None:
        self.depth = 0
        self._patience = _PATIENCE

    def prose(self, lines: list[str]) -> list[str]:
        """Lines of prose as Markdown."""
        inside = self.depth > 0
        text = self._text("\n".join(lines))
        if not (inside or self.depth or "<" in "".join(lines)):
            return text.split("\n")
        return [
            line if _ITEM.match(line) or not line.startswith(" ") else line.lstrip()
            for line in text.split("\n")
        ]

    def _text(self, text: str) -> str:
        out: list[str] = []
        at = last = 0
        for match in re.finditer(r"\\.|`+|[<{]", text):
            at = match.start()
            if at < last or match[0][0] == "\\":
                continue
            if match[0][0] == "`":
                end = text.find(match[0], match.end(), match.end() + 2000)
                if end > 0:
                    out.append(text[last : end + len(match[0])])
                    last = end + len(match[0])
                continue
            end = self._end(text, at)
            if end:
                out += [text[last:at], self._written(text[at:end])]
                last = end
        return "".join([*out, text[last:]])

    def _end(self, text: str, at: int) -> int:
        """Where a tag or expression ends; 0 if it is none."""
        if text[at] == "<" and not re.match(r"</?[A-Za-z>]", text[at : at + 3]):
            return 0
        if text[at] == "<" and text.startswith(("<http", "<mailto"), at):
            return 0
        braces, quote = 0, ""
        for place in range(at, min(len(text), at + 5000, at + self._patience)):
            mark = text[place]
            if quote:
                quote = "" if mark == quote else quote
            elif mark in "\"'`" and (braces or text[place - 1] == "="):
                quote = mark
            elif mark == "{":
                braces += 1
            elif mark == "}":
                braces -= 1
                if braces == 0 and text[at] == "{":
                    return place + 1
            elif mark == ">" and braces == 0:
                return place + 1
            elif mark == "<" and braces == 0 and place > at:
                break
        else:
            self._patience -= min(5000, len(text) - at, self._patience)
        return 0

    def _written(self, markup: str) -> str:
        if markup[0] == "{":
            string = _STRING.fullmatch(markup)
            return string[2] if string else ""
        named = _NAME.match(markup)
        name = (named[1] if named else "") or ""
        if name[:1].islower() and "." not in name:
            return markup if "{" not in markup or len(markup) < 1500 else ""
        closing, alone = markup.startswith("</"), markup.endswith("/>")
        if closing or not alone:
            self.depth = max(0, self.depth + (-1 if closing else 1))
        attributes = dict(_ATTRIBUTE.findall(markup))
        if name in _CALLOUTS or name.lower() in NAMES:
            return self._callout(name, attributes, closing=closing, alone=alone)
        if closing or name not in _TITLED:
            return ""
        title = attributes.get("label") or attributes.get("title") or attributes.get("value", "")
        return f"\n\n**{title}**\n\n" if title else ""

    def _callout(self, name: str, attributes: dict[str, str], *, closing: bool, alone: bool) -> str:
        if alone:
            return ""
        if closing:
            return "\n:::\n"
        kind = attributes.get("type", "note").lower() if name in _CALLOUTS else name.lower()
        kind = kind if kind in NAMES else "note"
        title = attributes.get("title", "")
        return f"\n:::{kind}{f'[{title}]' if title else ''}\n"
