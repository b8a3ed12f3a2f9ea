"""Blocks of HTML in Markdown: comments, headings, tables and preformatted text.

This room knows the few blocks that people write by hand in Markdown. It does not know whole
pages of HTML, which have their own reader, nor inline tags.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from docstow.formats.admonitions import Line

_OPENING = re.compile(r"\s{0,20}<(h[1-6]|table|pre|style|script|!--)(?=[\s>-]|$)", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,1500}>")
_CELL = re.compile(r"<t[hd](?=[\s>])[^<>]{0,1500}>", re.IGNORECASE)
_ROW = re.compile(r"<tr(?=[\s>])[^<>]{0,1500}>", re.IGNORECASE)
_CODE_CLASS = re.compile(r"(?:lang|language|highlight-source)-([\w+#-]+)")
#: A block of this many lines that has not closed is none.
_LONGEST = 400


def html_block(lines: Sequence[str], at: int) -> tuple[list[Line], int]:
    """The block that opens on a line as Markdown, and where it ends: ``at`` where none opens."""
    match = _OPENING.match(lines[at])
    if match is None:
        return [], at
    name = match[1].lower()
    closing = "-->" if name == "!--" else f"</{name}>"
    for end in range(at, min(len(lines), at + _LONGEST)):
        if closing in lines[end].lower():
            break
    else:
        return ([], at + 1) if name == "!--" else ([], at)
    whole = "\n".join(lines[at : end + 1])
    place = whole.lower().rfind(closing) if name == "!--" else whole.lower().find(closing)
    body = whole[match.end() : place].partition(">")[2]
    rest: list[Line] = [(whole[place + len(closing) :], False)]
    if not rest[0][0].strip():
        rest = []
    if name in {"!--", "style", "script"}:
        return rest, end + 1
    if name == "pre":
        return [*_preformatted(body), *rest], end + 1
    if name == "table":
        return [*_table(body), *rest], end + 1
    title = " ".join(body.split())
    return [("", False), (f"{'#' * int(name[1])} {title}", False), ("", False), *rest], end + 1


def _preformatted(body: str) -> list[Line]:
    named = _CODE_CLASS.search(body[:300])
    code = html.unescape(_TAG.sub("", body)).strip("\n").split("\n")
    fence = "````" if any("```" in line for line in code) else "```"
    return [(line, True) for line in (fence + (named[1] if named else ""), *code, fence)]


def _table(body: str) -> list[Line]:
    """Rows as a table of Markdown; cells keep their inline tags, which are looked at later."""
    rows = []
    for row in _ROW.split(body)[1:]:
        cells = [re.sub(r"</t[hdr]>|</?t(?:head|body|foot)>", " ", c) for c in _CELL.split(row)[1:]]
        rows.append([" ".join(cell.split()).replace("|", "\\|") for cell in cells])
    rows = [row for row in rows if any(row)]
    if not rows:
        return []
    width = max(map(len, rows))
    if width == 1:
        return [line for row in rows for line in ((row[0], False), ("", False))]
    rows = [row + [""] * (width - len(row)) for row in rows]
    rows.insert(1, ["---"] * width)
    return [("", False), *((f"| {' | '.join(row)} |", False) for row in rows), ("", False)]
