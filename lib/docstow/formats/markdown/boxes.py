"""Boxes that are written as HTML in Markdown, such as rustdoc's ``<div class="warning">``."""

from __future__ import annotations

import re

from docstow.formats import ADMONITIONS

_OPEN = re.compile(
    r" {0,3}<(div|section|aside) class=[\"']?(?:admonition )?([a-z]+)[\"']?>(.*)$", re.IGNORECASE
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
#: A box that does not close within so many lines is text.
_LONGEST = 400
#: A body that begins with its own kind, as in ``**NOTE:** …``.
_NAMED = re.compile(r"(?:\*\*|__)[A-Z][\w ]{0,40}[:!.]?(?:\*\*|__)|[A-Z][\w ]{0,20}: ")
#: Beginnings of blocks that no words may stand before.
_BLOCK = re.compile(r"\s*(?:[-*+>#|]|\d+[.)]|`{3}|~{3})")


def quote_boxes(text: str) -> str:
    """Return Markdown with boxes as quotes that begin with their kind; code stays as it is."""
    if "class=" not in text:
        return text
    lines = text.split("\n")
    out: list[str] = []
    fence = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        marks = _FENCE.match(line)
        if marks and (not fence or marks[1].startswith(fence)):
            fence = "" if fence else marks[1]
        match = None if fence else _OPEN.match(line)
        end = _find_end(lines, at, match[1]) if match else -1
        if match is None or end < 0 or match[2].lower() not in ADMONITIONS - {"details", "summary"}:
            out.append(line)
            at += 1
            continue
        body = "\n".join([match[3], *lines[at + 1 : end + 1]])
        close = body.lower().rfind(f"</{match[1].lower()}>")
        after = body[close:].partition(">")[2]
        quoted = _quoted(match[2], body[:close])
        blank = [""] if out and out[-1].strip() else []
        out += [*blank, *quoted, *([after] if after.strip() else [])]
        at = end + 1
        if at < len(lines) and lines[at].strip():
            out.append("")
    return "\n".join(out)


def _find_end(lines: list[str], at: int, tag: str) -> int:
    """Return the line that closes the element; -1 if none does."""
    depth = 0
    opening, closing = f"<{tag.lower()}", f"</{tag.lower()}>"
    for end in range(at, min(len(lines), at + _LONGEST)):
        line = lines[end].lower()
        depth += line.count(opening) - line.count(closing)
        if depth <= 0:
            return end
    return -1


def _quoted(kind: str, body: str) -> list[str]:
    lines = body.strip("\n").rstrip().split("\n")
    if _NAMED.match(lines[0].lstrip()) is None:
        name = f"**{kind.capitalize()}:**"
        if _BLOCK.match(lines[0]):
            lines = [name, "", *lines]
        else:
            lines[0] = f"{name} {lines[0].lstrip()}"
    return [f"> {line}".rstrip() for line in lines]
