"""Plain text: paragraphs as they are, underlined lines as headings.

Text that looks like Markdown stays as it is.
"""

from __future__ import annotations

import re

from docstow.core.model import File
from docstow.formats import Page, default_title
from docstow.formats.markdown.inline import page_address

_UNDERLINE = re.compile(r"([=~*-])\1{2,}\s*$")
_ADDRESS = re.compile(r"https?://[^\s<>\[\]()\"'`]{1,2000}")
_LONGEST_HEADING = 120


def read(text: str, file: File) -> Page:
    """Read plain text."""
    lines = [line.rstrip() for line in text.expandtabs(4).split("\n")]
    out: list[str] = []
    levels: list[str] = []
    at = 0
    while at < len(lines):
        mark = _heading(lines, at)
        if mark:
            if mark not in levels:
                levels.append(mark)
            out.append("#" * min(6, levels.index(mark) + 1) + " " + lines[at].strip())
            at += 1
        elif lines[at] or (out and out[-1]):
            out.append(lines[at])
        at += 1
    while out and not out[-1]:
        out.pop()
    title = out[0][2:] if out and out[0].startswith("# ") else default_title(file)
    found = (page_address(match.rstrip(".,;:!?")) for match in _ADDRESS.findall(text))
    return Page(
        title.strip() or default_title(file),
        "\n".join(out),
        links=tuple(dict.fromkeys(filter(None, found))),
    )


def _heading(lines: list[str], at: int) -> str:
    """Return the character that underlines a heading; empty if the line is not one."""
    line = lines[at]
    if not line.strip() or line[0] in " #" or len(line) > _LONGEST_HEADING or at + 1 >= len(lines):
        return ""
    if (at and lines[at - 1].strip()) or _UNDERLINE.match(line):
        return ""
    match = _UNDERLINE.match(lines[at + 1])
    near = match is not None and abs(len(match[0]) - len(line)) <= max(3, len(line) // 2)
    return match[1] if match and near else ""
