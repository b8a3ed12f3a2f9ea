"""The standard library of Python as a package that answers for names.

This room knows which imports are the standard library's. It does not know stubs
(:mod:`docstow.languages.python.stdlib`), which are only looked for when one is asked for.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.languages.shared.lookup import Installed

if TYPE_CHECKING:
    from docstow.languages.python.stdlib import StandardSurface


class Standard:
    """The standard library of a version of Python.

    Args:
        version: ``3.12.4``; empty where nobody knows it.
    """

    def __init__(self, version: str) -> None:
        self._version = version

    @cached_property
    def surface(self) -> StandardSurface | None:
        """What it offers; None without stubs of that version."""
        from docstow.languages.python.stdlib import standard

        return standard(self._version)

    @cached_property
    def installed(self) -> Installed | None:
        """The same, as a package named ``python``."""
        surface = self.surface
        if surface is None:
            return None
        package = surface.package
        return Installed(package.name, package.version, surface, surface.lacks, surface.since)

    def has(self, imported: str) -> bool:
        """Whether the version has the module of an import."""
        return self.surface is not None and self.surface.has_module(imported.partition(".")[0])

    def ever_has(self, imported: str) -> bool:
        """Whether some version has it."""
        from docstow.languages.python.stdlib import is_standard

        return imported.partition(".")[0] in sys.stdlib_module_names or is_standard(imported)
