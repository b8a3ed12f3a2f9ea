"""Markdown files as pages.

This room knows the order of the steps: front matter, blocks, references, paragraphs, title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from docstow.core.model import File
from docstow.formats._readers_page import Page, name_of
from docstow.formats.admonitions import Line
from docstow.formats.markdown import front_matter as front_matter
from docstow.formats.markdown.blocks import normalised
from docstow.formats.markdown.inline import Inline, label_of

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
        from docstow.formats.markdown import as_markdown

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
