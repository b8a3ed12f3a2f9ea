"""Admonitions: their names in documentation tools, and their Markdown, ``> **Note:** …``."""

from __future__ import annotations

from collections.abc import Sequence

#: A line, and whether it is code, which stays verbatim.
Line = tuple[str, bool]

NAMES = frozenset(
    [
        "note",
        "tip",
        "info",
        "important",
        "warning",
        "caution",
        "danger",
        "error",
        "hint",
        "attention",
        "seealso",
        "abstract",
        "summary",
        "success",
        "question",
        "failure",
        "bug",
        "example",
        "quote",
        "deprecated",
        "versionadded",
        "versionchanged",
        "versionremoved",
        "todo",
        "admonition",
        "details",
        "secondary",
    ]
)
_LABELS = {"seealso": "See also", "versionadded": "New in version", "admonition": "Note"}


def label(name: str, title: str = "") -> str:
    """Return the heading of an admonition: its title, or its name for people."""
    return title.strip().rstrip(":") or _LABELS.get(name.lower(), name.capitalize())


def quote(heading: str, body: Sequence[Line]) -> list[Line]:
    """Return the lines of a block as a quote; code blocks stay verbatim between quotes.

    Args:
        heading: in bold before the body; empty for a plain quote.
        body: the lines.
    """
    lines: list[Line] = [("", False)]
    pending = f"**{heading}:** " if heading else ""
    for text, code in body:
        if code:
            if pending:
                lines.append((f"> {pending.rstrip()}", False))
                pending = ""
            while lines[-1] == (">", False):
                lines.pop()
            lines += [(text, True)] if lines[-1][1] else [("", False), (text, True)]
        elif not text.strip():
            quoting = lines[-1][0].startswith(">") and not lines[-1][1]
            lines.append((">" if quoting else "", False))
        else:
            if lines[-1][1]:
                lines.append(("", False))
            if pending and text.lstrip().startswith(("-", "*", "#", "|", ">", "1.")):
                lines += [(f"> {pending.rstrip()}", False), (">", False)]
                pending = ""
            lines.append((f"> {pending}{text}", False))
            pending = ""
    if pending:
        lines.append((f"> {pending.rstrip()}", False))
    while lines[-1] == (">", False):
        lines.pop()
    return [*lines, ("", False)]
