"""What a docstring says that a function returns, where no annotation and no code tells it.

Forms: ``:rtype: Class`` and ``:return: a :class:`Class` …`` (Sphinx), the section ``Returns`` of
numpydoc with one entry, and that of Google's style.
"""

from __future__ import annotations

import re

_ROLE = re.compile(
    r":(?:py:)?(?:class|obj|data):`[~!]?([\w.]+)(?: <[^>`]*>)?`|`{1,2}[~!]?([\w.]+)`{1,2}"
)
_RTYPE = re.compile(r"^[ \t]*:rtype:[ \t]*(\S[^\n]*)$", re.MULTILINE)
_RETURN = re.compile(
    r"^[ \t]*:returns?:[ \t]*(?:An?|The)?[ \t]*(?:new |instance of )?:(?:py:)?class:`[~!]?([\w.]+)`"
    r"(?=[ \t]*(?:instance|object)?s?[ \t]*(?:[.;]|$|that|which|for|with|of the))",
    re.MULTILINE | re.IGNORECASE,
)
_SECTION = re.compile(r"^Returns\n-{3,}\n((?:.*\n?)+?)(?=\S[^\n]*\n-{3,}\n|\Z)", re.MULTILINE)
_GOOGLE = re.compile(r"^Returns:\n((?:[ \t]+\S.*\n?|\n)+)", re.MULTILINE)
_PLAIN = re.compile(r"(?:an? |instance of )?((?:\w+\.)*[A-Z]\w*)(?: instance| object)?")
_MANY = re.compile(r"(?:a )?list of (\S+)|list\[(\S+)\]", re.IGNORECASE)


def documented_return(docstring: str) -> str:
    """Return the annotation that a docstring stands for: ``Class``, ``list[Class]``; or nothing."""
    if found := _RTYPE.search(docstring):
        return _annotation(found[1])
    if found := _RETURN.search(docstring):
        return found[1]
    if found := _SECTION.search(docstring):
        entries = [each for each in found[1].split("\n") if each[:1].strip()]
        return _annotation(entries[0].rpartition(" : ")[2]) if len(entries) == 1 else ""
    if found := _GOOGLE.search(docstring):
        kind, colon, _ = found[1].strip().partition(":\x20")
        return _annotation(kind) if colon else ""
    return ""


def _annotation(text: str) -> str:
    plain = _ROLE.sub(lambda found: found[1] or found[2], text).strip().rstrip(".")
    plain = re.sub(r",? or None$|^Optional\[(.*)\]$", r"\1", plain)
    if many := _MANY.fullmatch(plain):
        one = _PLAIN.fullmatch((many[1] or many[2]).removesuffix("s"))
        exact = _PLAIN.fullmatch(many[1] or many[2])
        one = exact or one
        return f"list[{one[1]}]" if one else ""
    found = _PLAIN.fullmatch(plain)
    return found[1] if found else ""
