"""Error messages of rustc, and what Rust code imports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from docstow.languages.rust.check.std import PRIMITIVES, standard_paths
from docstow.languages.shared.language import Mention, MessageForm, Texts

_MARKS = re.compile(r"^error(?:\[E\d{4}\])?: |^\s*-->\s\S+\.rs:\d+", re.MULTILINE)
#: So many lines around an error may show its code.
_SHOWN = 6
_TICKED = re.compile(r"`([A-Za-z_]\w*(?:::\w+)+)")
_NOT_IN = re.compile(r"(?:cannot find(?: \w+){0,3}|could not find) `(\w+)` in (?:\w+ )?`([\w:]+)`")
_UNDECLARED = re.compile(
    r"(?:undeclared crate or module|unresolved module or unlinked crate|can't find crate for"
    r"|unresolved import) `(\w+)`"
)
_NO_METHOD = re.compile(
    r"no (?:method|function or associated item|associated item|variant[^`]*|field) "
    r"(?:named )?`(\w+)` (?:found|on|exists)[^`]*`&?(?:'\w+ )?(?:mut )?([\w:]+)"
)
_NO_FIELD = re.compile(r"`([\w:]+)[^`]*` has no field named `(\w+)`")
_DECLARED = re.compile(r"\b(?:struct|enum|union|type|trait) (\w+)")
_IMPORTS = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))? +)?use +(?:::)?(\w+)(?:::|;| as )|^\s*extern crate (\w+)",
    re.MULTILINE,
)
_CODE = re.compile(
    r"^\s*(use [\w:]+|pub |fn |impl|let |#\[|extern crate|mod |struct )", re.MULTILINE
)
_NOT_CRATES = frozenset(("std", "core", "alloc", "crate", "self", "super", "proc_macro", "test"))


def mentions(lines: Sequence[str]) -> Iterator[Mention]:
    """Yield the names that the lines of a message speak of."""
    own = {name for line in lines for name in _DECLARED.findall(line)}
    for package, names, number in _paths(lines):
        if package not in own and package in standard_paths():
            package, *above = standard_paths()[package].split("::")
            names = (*above, *names)
        if package[:1].islower():
            yield Mention(package, names, number)


def _paths(lines: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield what rustc names: types without their paths too, where there is but one of the name."""
    for number, line in enumerate(lines, 1):
        for name, owner in _NOT_IN.findall(line):
            shown = lines[max(0, number - _SHOWN) : number + _SHOWN] if "::" not in owner else ()
            yield _path(_in_code(f"{owner}::{name}", shown), number)
        members = [(owner, name) for name, owner in _NO_METHOD.findall(line)]
        for owner, name in (*members, *_NO_FIELD.findall(line)):
            if "::" in owner or owner in PRIMITIVES or owner in standard_paths():
                yield _path(f"{owner}::{name}", number)
        for path in _TICKED.findall(line):
            yield _path(path, number)
        for name in _UNDECLARED.findall(line):
            yield name, (), number


def _in_code(path: str, lines: Sequence[str]) -> str:
    """Return a path with its beginning, as the lines of code around the error have it."""
    whole = re.compile(rf"\b(?:\w+::)*{re.escape(path)}\b")
    found = (match[0] for line in lines for match in whole.finditer(line))
    return next(found, path)


def _path(path: str, line: int) -> tuple[str, tuple[str, ...], int]:
    package, *names = path.split("::")
    return package, tuple(names), line


TEXTS = Texts(
    messages=(MessageForm("rust", _MARKS, mentions, compiled=True),),
    imports=_IMPORTS,
    is_package=lambda name: name not in _NOT_CRATES,
    code=_CODE,
)
