"""The subclasses that a package defines of its own classes, found by searching its files."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.python.files import PythonFiles
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import (
    Openness,
    Surface,
)

_MOST_SEARCHED_MODULES = 4000
_LARGEST = 4 * 1024 * 1024
_HEADER = re.compile(rb"^[ \t]*class\s+(\w+)\s*\(([^)]*)\)", re.MULTILINE)
_NAME = re.compile(rb"(\w+)\s*(?=[,\[)]|$)")
_TESTS = frozenset({"tests", "test", "testing", "conftest"})


class Subclasses:
    """The subclasses in one package.

    Args:
        surface: of the package.
        files: its modules.
        boundary: what may be opened.
        modules: their names; called once.
    """

    def __init__(
        self,
        surface: Surface,
        files: PythonFiles,
        boundary: Boundary,
        modules: Callable[[], tuple[str, ...]],
    ) -> None:
        self._surface = surface
        self._files = files
        self._boundary = boundary
        self._modules = modules

    def may_have(self, owner: str, name: str) -> bool:
        """Return whether a subclass of a class has a name, or may have it.

        Args:
            owner: the last name of the class, such as ``Index``.
            name: which the class itself lacks.
        """
        mention = re.compile(rb"\b%s\b" % re.escape(name.encode()))
        for module, subclass, file in self._subclasses_of(owner):
            if mention.search(self._read(file)) is None:
                continue
            path = f"{module}.{subclass}"
            is_open = self._surface.openness(path) >= Openness.FEW
            if is_open or self._surface.symbol(f"{path}.{name}") is not None:
                return True
        return False

    def _subclasses_of(self, owner: str) -> list[tuple[str, str, Path]]:
        """Return module, name and file of each class below one."""
        found: dict[tuple[str, str, Path], None] = {}
        waiting, seen = [owner], {owner}
        while waiting:
            for each in self._by_base.get(waiting.pop(), ()):
                found[each] = None
                if each[1] not in seen:
                    seen.add(each[1])
                    waiting.append(each[1])
        return list(found)

    @cached_property
    def _by_base(self) -> dict[str, list[tuple[str, str, Path]]]:
        """Module, name and file of the classes with a base of a name."""
        found: dict[str, list[tuple[str, str, Path]]] = {}
        for name in self._modules()[:_MOST_SEARCHED_MODULES]:
            module = None if _TESTS & set(name.split(".")) else self._files.module(name)
            for layer in module.layers if module is not None else ():
                for header in _HEADER.finditer(self._read(layer.path)):
                    subclass = header[1].decode("utf-8", "replace")
                    for base in _NAME.findall(header[2]):
                        last = base.decode("utf-8", "replace")
                        found.setdefault(last, []).append((name, subclass, layer.path))
        return found

    def _read(self, file: Path) -> bytes:
        with suppress(DocstowError):
            return self._boundary.read(file, most=_LARGEST)
        return b""
