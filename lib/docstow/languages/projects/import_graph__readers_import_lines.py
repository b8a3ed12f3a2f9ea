"""Which modules a file imports, read from its lines alone.

This room knows what import statements look like in Python and JavaScript. It does not resolve
them. It is for pictures of a whole package, where parsing every file would take too long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PYTHON = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<of>\.*[\w.]*)[ \t]+import[ \t]*"
    r"(?:\((?P<many>[^)]*)\)|(?P<some>[^#\n\\]*))"
    r"|import[ \t]+(?P<plain>[\w., \t]+))",
    re.MULTILINE,
)
# Each form begins with a plain word, which is much faster to look for than what may be before it.
_JAVASCRIPT = re.compile(
    r"""(?:from(?<![\w$.]from)[ \t]*|import(?<![\w$.]import)[ \t]*(?:\([ \t]*)?"""
    r"""|require(?<![\w$.]require)[ \t]*\([ \t]*)(['"])([^'"\n]+)\1"""
)
_COMMENT = re.compile(r"#[^\n]*")


def of_python(text: str, module: str, *, package: bool) -> Iterator[str]:
    """Dotted names of what is imported, and of names that may be modules, absolute."""
    base = module.split(".") if package else module.split(".")[:-1]
    for found in _PYTHON.finditer(text):
        if found["plain"]:
            yield from (part.split()[0] for part in found["plain"].split(",") if part.split())
            continue
        name = found["of"]
        level = len(name) - len(name.lstrip("."))
        above = base[: len(base) - level + 1] if level else []
        source = ".".join([*above, *([name[level:]] if name[level:] else [])])
        if source:
            yield source
        inner = _COMMENT.sub("", found["many"] or found["some"] or "")
        for part in inner.split(","):
            if part.split() and part.split()[0].isidentifier():
                yield f"{source}.{part.split()[0]}"


def of_javascript(text: str) -> Iterator[str]:
    """The specifiers, as written."""
    for found in _JAVASCRIPT.finditer(text):
        yield found[2]
