"""Classes that a package derives from one of its own, wherever it does.

This room knows headers of classes by their text. It does not know what a class has: that is asked
of the package's surface. What is said to be of a class may be of any that is derived from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.python.files import PythonFiles
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import Openness, Surface

_MOST_MODULES = 4000
_LARGEST = 4 * 1024 * 1024
_HEADER = re.compile(rb"^[ \t]*class\s+(\w+)\s*\(([^)]*)\)", re.MULTILINE)
_NAME = re.compile(rb"(\w+)\s*(?=[,\[)]|$)")
_TESTS = frozenset({"tests", "test", "testing", "conftest"})


class Heirs:
    """The derived classes of one package.

    Args:
        surface: of the package.
        files: its modules.
        boundary: what may be opened.
        modules: their names; asked for once.
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
        """Whether a class derived from another has a name, or may well have it.

        Args:
            owner: the last name of the other, such as ``Index``.
            name: that it has not itself.
        """
        spoken = re.compile(rb"\b%s\b" % re.escape(name.encode()))
        for module, heir, file in self._below(owner):
            if spoken.search(self._read(file)) is None:
                continue
            path = f"{module}.{heir}"
            opened = self._surface.openness(path) >= Openness.FEW
            if opened or self._surface.symbol(f"{path}.{name}") is not None:
                return True
        return False

    def _below(self, owner: str) -> list[tuple[str, str, Path]]:
        found: dict[tuple[str, str, Path], None] = {}
        waiting, asked = [owner], {owner}
        while waiting:
            for each in self._derived.get(waiting.pop(), ()):
                found[each] = None
                if each[1] not in asked:
                    asked.add(each[1])
                    waiting.append(each[1])
        return list(found)

    @cached_property
    def _derived(self) -> dict[str, list[tuple[str, str, Path]]]:
        """Module, name and file of the classes that stand on one of a name."""
        found: dict[str, list[tuple[str, str, Path]]] = {}
        for name in self._modules()[:_MOST_MODULES]:
            module = None if _TESTS & set(name.split(".")) else self._files.module(name)
            for layer in module.layers if module is not None else ():
                for header in _HEADER.finditer(self._read(layer.path)):
                    heir = header[1].decode("utf-8", "replace")
                    for base in _NAME.findall(header[2]):
                        last = base.decode("utf-8", "replace")
                        found.setdefault(last, []).append((name, heir, layer.path))
        return found

    def _read(self, file: Path) -> bytes:
        with suppress(DocstowError):
            return self._boundary.read(file, most=_LARGEST)
        return b""
