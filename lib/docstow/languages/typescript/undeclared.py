"""What a package's JavaScript exports, and its declarations do not tell: what runs has it."""

from __future__ import annotations

import re
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.shared.boundary import Boundary

_SCRIPTS = (".js", ".cjs", ".mjs")
_SKIPPED = frozenset({"node_modules", "test", "tests", "docs"})
#: Of a package so many files are searched, and bytes of all of them.
_MOST_FILES, _MOST_BYTES = 4_000, 32 * 1024 * 1024
_EXPORTED = (
    r"(?<![\w$])(?:exports\.{0}|exports\[['\"]{0}['\"]\]|exports,\s*['\"]{0}['\"]|as\s+{0}"
    r"|export\s+(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s*{0}"
    r"|export\s*\{{[^}}]*(?<![\w$]){0})(?![\w$])"
)
#: A module that is an object of functions, and one of them at the beginning of a line.
_OBJECT = re.compile(rb"\bmodule\.exports\s*=\s*\{")
_MEMBER = r"(?m)^\s*(?:async\s+)?{0}\s*(?:[:,(]|$)"
#: A module that is an instance has what its class has.
_INSTANCE = re.compile(rb"\bmodule\.exports\s*=\s*new\s")


def exports_undeclared(boundary: Boundary, folder: Path, name: str) -> bool:
    """Return whether JavaScript of a package exports a name, from whichever of its modules.

    So it may where not all of it can be read.

    Args:
        boundary: what may be read.
        folder: the package.
        name: to look for.
    """
    wanted, escaped = name.encode(), re.escape(name)
    pattern, member = (re.compile(e.format(escaped).encode()) for e in (_EXPORTED, _MEMBER))
    left = _MOST_BYTES
    files = (each for each in boundary.walk(folder, _SKIPPED) if each.suffix in _SCRIPTS)
    for count, file in enumerate(files):
        if count >= _MOST_FILES:
            return True
        try:
            body = boundary.read(file, most=left)
        except (DocstowError, OSError):
            return True
        left -= len(body)
        is_told = wanted in body and (
            pattern.search(body) or (_OBJECT.search(body) and member.search(body))
        )
        if is_told or _INSTANCE.search(body):
            return True
    return False
