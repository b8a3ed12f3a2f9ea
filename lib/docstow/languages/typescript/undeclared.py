"""What a package's JavaScript has, and its declarations do not tell: what runs has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.shared.boundary import Boundary

_SCRIPTS = (".js", ".cjs", ".mjs")
#: What else may tell of a word, compiled code that cannot be searched among it.
_OTHERS = (".jsx", ".ts", ".cts", ".mts", ".tsx", ".node", ".wasm")
_SKIPPED = frozenset({"node_modules", "test", "tests", "docs"})
#: So many files are searched at once, and bytes of all of them.
_MOST_FILES, _MOST_BYTES = 4_000, 32 * 1024 * 1024
_EXPORTED = (
    r"(?<![\w$])(?:exports\.{0}|exports\[['\"]{0}['\"]\]|exports,\s*['\"]{0}['\"]|as\s+{0}"
    r"|export\s+(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s*{0}"
    r"|export\s*\{{[^}}]*(?<![\w$]){0})(?![\w$])"
)
#: A module that is an object of functions, and one of them at the beginning of a line.
_OBJECT = re.compile(rb"\bmodule\.exports\s*=\s*\{")
_MEMBER = r"(?m)^[ \t]*(?:async\s+)?{0}\s*(?:[:,(]|$)"
#: Where a class begins, or a function that makes objects: by custom it has a capital letter.
_CLASS = re.compile(rb"\b(?:class|function)\s+([A-Z][\w$]*)")
#: What gives objects a member.
_DEFINED = (
    r"(?m)^[ \t]*(?:(?:static|async|get|set)\s+)*{0}\s*\([^()]*\)\s*\{{"
    r"|^(?:\t| {{2}})(?:static\s+)?{0}\s*=[^=>].*;$"
    r"|(?:\bthis|\bprototype)\.{0}\s*=[^=]"
)
#: A module that is an instance has what its class has.
_INSTANCE = re.compile(rb"\bmodule\.exports\s*=\s*new\s")


def exports_undeclared(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether JavaScript of packages exports a name, from whichever of their modules.

    So it may where not all of it can be read.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: to look for.
    """
    wanted, escaped = name.encode(), re.escape(name)
    pattern, member = (re.compile(e.format(escaped).encode()) for e in (_EXPORTED, _MEMBER))
    for body in _bodies(boundary, folders, _SCRIPTS):
        is_told = body is not None and (
            wanted in body
            and (pattern.search(body) or (_OBJECT.search(body) and member.search(body)))
        )
        if body is None or is_told or _INSTANCE.search(body):
            return True
    return False


def define_member(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether a class that the JavaScript of packages has defines a member.

    What cannot be read is passed over.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: of the class and the member, with a dot between them.
    """
    owner, _, member = name.encode().partition(b".")
    defined = re.compile(_DEFINED.format(re.escape(member.decode())).encode())
    for body in _bodies(boundary, folders, _SCRIPTS):
        if body is None or owner not in body or member not in body:
            continue
        classes = [*_CLASS.finditer(body)]
        ends = [each.start() for each in classes[1:]] + [len(body)]
        for each, end in zip(classes, ends, strict=False):
            if each[1] == owner and defined.search(body, each.end(), end):
                return True
    return False


def mention(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether the code or the declarations of packages have a word, anywhere.

    So they may where not all of them can be read, as what is compiled.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: to look for.
    """
    word = re.compile(rb"(?<![\w$])%s(?![\w$])" % re.escape(name.encode()))
    bodies = _bodies(boundary, folders, (*_SCRIPTS, *_OTHERS))
    return any(each is None or word.search(each) is not None for each in bodies)


def _bodies(
    boundary: Boundary, folders: Iterable[Path], endings: tuple[str, ...]
) -> Iterator[bytes | None]:
    """Yield the files of packages, and None where one cannot be read, or there are too many."""
    left = _MOST_BYTES
    files = (file for folder in folders for file in boundary.walk(folder, _SKIPPED))
    named = (each for each in files if each.name.endswith(endings))
    for count, file in enumerate(named):
        if count >= _MOST_FILES:
            yield None
            return
        try:
            body = boundary.read(file, most=left)
        except (DocstowError, OSError):
            yield None
            return
        left -= len(body)
        yield body
