"""Admonitions: the names that tools have for them, and how all of them are written here.

This room knows ``> **Note:** …``. It does not know where an admonition was found.
"""

from __future__ import annotations

from collections.abc import Sequence

#: A line and whether it is code, which nothing may rewrite.
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
    """What an admonition is headed with: its title, or its name for people."""
    return title.strip().rstrip(":") or _LABELS.get(name.lower(), name.capitalize())


def quoted(heading: str, body: Sequence[Line]) -> list[Line]:
    """An admonition's lines as a quote; code stands between the quotes, as it was written.

    Args:
        heading: what stands in bold before it; empty for a mere quote.
        body: its lines.
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
