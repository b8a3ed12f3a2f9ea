"""reStructuredText's marks within a line of a docstring.

This room knows roles and links. It does not know blocks.
"""

from __future__ import annotations

import re

_ROLE = re.compile(r"(?<![\w`]):[\w:+-]{1,40}:`([^`\n]+(?:\n[^`\n]+)?)`")
_LINK = re.compile(r"`([^`<>]+?)\s*<(https?://[^<>\s]+)>`__?")
_TITLED = re.compile(r"(.*?)\s*<[^<>]*>", re.DOTALL)


def inline(text: str) -> str:
    """A line without reStructuredText's roles: what they name is code."""
    if ":`" in text:
        text = _ROLE.sub(_role, text)
    return _LINK.sub(r"[\1](\2)", text) if "`_" in text else text


def _role(found: re.Match[str]) -> str:
    text = " ".join(found[1].split())
    kind = found[0][1:].partition(":`")[0].rpartition(":")[2]
    titled = _TITLED.fullmatch(text)
    if titled and titled[1]:
        return titled[1] if kind in {"ref", "doc", "term"} else f"`{titled[1]}`"
    if kind in {"ref", "doc", "term"}:
        return text
    name = text.lstrip("!")
    # ``~`` asks for the last name alone; a first name with an underscore is the package's own.
    name = name[1:].rpartition(".")[2] if name.startswith("~") else re.sub(r"^_\w*\.", "", name)
    return f"`{name.lstrip('.')}`"
