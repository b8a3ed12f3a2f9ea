"""MDX: Markdown with JSX, of which the children are kept.

This room knows statements, tags and expressions in Markdown's prose, and what the components of
the usual documentation tools mean. It makes Markdown of them and knows nothing of what follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from docstow.core.model import File
from docstow.formats import Page, name_of
from docstow.formats.admonitions import NAMES, Line
from docstow.formats.markdown import front_matter
from docstow.formats.markdown.blocks import normalised
from docstow.formats.markdown.inline import Inline, label_of

# Markdown files as pages.


_DEFINITION = re.compile(
    r" {0,3}\[(?!\^)([^\[\]]{1,200})\]:[ \t]*<?([^\s<>]{1,2000})>?"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$"
)


#: Docusaurus reads ``.md`` as MDX too: a statement before any code gives that away.
_IMPORT = re.compile(r"^import [\w{*][^\n]{0,500} from ['\"]", re.MULTILINE)


_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()]{0,2000}\)")


def read(text: str, file: File) -> Page:
    """Read a Markdown file, or one that is MDX though its suffix does not say so."""
    if _IMPORT.search(text.partition("```")[0]):
        text = as_markdown(text)
    attributes, body = front_matter.split(text)
    return page(normalised(body.split("\n")), file, attributes)


def page(lines: Sequence[Line], file: File, attributes: dict[str, Any]) -> Page:
    """Make a page of lines whose blocks are normalised.

    Args:
        lines: the lines.
        file: where they are from.
        attributes: what the file says of itself; its ``title`` is taken for one.
    """
    references: dict[str, str] = {}
    prose: list[Line] = []
    for line, code in lines:
        definition = None if code else _DEFINITION.match(line)
        if definition is None:
            prose.append((line, code))
        else:
            references.setdefault(label_of(definition[1]), definition[2])
    inline = Inline(file.url, references)
    written, heading = _title_first(_paragraphs(prose, inline))
    attributes = dict(attributes)
    said = str(attributes.pop("title", ""))
    title = plain(heading) or said or name_of(file)
    return Page(title, "\n".join(written), links=tuple(inline.links), attributes=attributes)


def plain(text: str) -> str:
    """Inline Markdown as plain text, on one line."""
    return " ".join(_unlinked(text).replace("`", "").replace("**", "").split())


def _unlinked(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).split())


def _paragraphs(lines: Sequence[Line], inline: Inline) -> list[Line]:
    """Rewrite paragraph by paragraph, so that a link may be broken over lines."""
    out: list[Line] = []
    paragraph: list[str] = []

    def close() -> None:
        if paragraph:
            rewritten = inline.rewrite("\n".join(paragraph))
            if rewritten.strip():
                out.extend((line, False) for line in rewritten.split("\n"))
            paragraph.clear()

    for line, code in lines:
        if code or not line.strip() or line.startswith("#"):
            close()
        if code:
            if out and out[-1] != ("", False) and not out[-1][1] and _opens(line):
                out.append(("", False))
            out.append((line, True))
        elif not line.strip():
            if out and (out[-1][0] or out[-1][1]):
                out.append(("", False))
        else:
            paragraph.append(line.rstrip() if not line.endswith("  ") else line)
            if line.startswith("#"):
                close()
    close()
    return out


def _opens(line: str) -> bool:
    """Whether a line of code opens a fence that stands in no list."""
    return line.startswith(("```", "~~~"))


def _title_first(lines: list[Line]) -> tuple[list[str], str]:
    """The lines with their title heading first, and that heading's text; empty without one."""
    place = next(
        (n for n, (line, code) in enumerate(lines) if not code and re.match(r"#{1,6} ", line)), -1
    )
    heading = ""
    if place >= 0 and lines[place][0].startswith("# "):
        heading = lines[place][0][2:].strip()
        title = [(f"# {_unlinked(heading)}", False), ("", False)]
        lines = [*title, *lines[:place], ("", False), *lines[place + 1 :]]
    texts = [
        line
        for number, (line, code) in enumerate(lines)
        if line.strip() or code or (number and lines[number - 1] != ("", False))
    ]
    while texts and not texts[-1].strip():
        texts.pop()
    while texts and not texts[0].strip():
        texts.pop(0)
    return texts, heading


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


def read_mdx(text: str, file: File) -> Page:
    """Read an MDX file."""
    return read(as_markdown(text), file)


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
