"""What the project's own files may add to the declarations of packages."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.shared.boundary import Boundary

_AUGMENTATION = re.compile(rb"\bdeclare\s+(?:global|module)\b")
_MODULE_SYNTAX = re.compile(rb"^(?:import|export)\b", re.MULTILINE)
_SOURCES = (".ts", ".tsx", ".mts", ".cts")
_SKIPPED = {"node_modules", "dist", "build", "out", ".git", ".next", ".venv", "venv", "coverage"}
#: Files of the project that are searched, and bytes of one that is searched.
_MAX_FILES = 4_000
_MAX_FILE = 1_000_000


class Augmentations:
    """The files of a project that declare parts of modules, or what is global.

    Args:
        boundary: what may be read; the project is its root.
    """

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary

    def mention(self, name: str) -> bool:
        """Whether any of them has a name or a specifier, and so may declare it."""
        pattern = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])")
        return any(pattern.search(body) for body in self._bodies)

    def forget(self) -> None:
        """Drop what was read: these files change all day."""
        self.__dict__.pop("_bodies", None)

    @cached_property
    def _bodies(self) -> tuple[bytes, ...]:
        found = []
        for count, path in enumerate(self._boundary.walk(self._boundary.root, _SKIPPED)):
            if count > _MAX_FILES:
                break
            if path.name.endswith(_SOURCES):
                body = self._read(path)
                if _AUGMENTATION.search(body) or not _MODULE_SYNTAX.search(body):
                    found.append(body)
        return tuple(found)

    def _read(self, path: Path) -> bytes:
        try:
            return self._boundary.read(path, most=_MAX_FILE)
        except (DocstowError, OSError):
            return b""
