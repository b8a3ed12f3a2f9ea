"""What Python code imports, answered by a project's packages and the standard library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from docstow.languages.python.stdlib import Standard
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.findings import Verdict
from docstow.languages.shared.language import Checking
from docstow.languages.shared.lookup import Installed, Resolver
from docstow.languages.shared.project import Package, Scan
from docstow.languages.shared.sandbox import Boundary

#: Folders that are looked into: a script's own folder comes first where it imports.
_MOST_FOLDERS = 400
_DEEPEST = 2
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist", "target"})
#: Packages that bring what Python no longer has, or has otherwise.
_BROUGHT = {"distutils": "setuptools"}


class PythonResolver:
    """The Python packages of a project, and the standard library of its version of Python.

    Args:
        scan: what is installed there.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._surfaces: dict[str, PythonSurface | None] = {}
        self._standard = Standard(_version(scan))

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a dotted import name; ``python`` for the standard library."""
        # What a package brings in place of Python's own has more than that.
        brought = _BROUGHT.get(imported.partition(".")[0], "")
        if self._is_hidden(imported) or self._scan.named(brought, "python"):
            return None
        if self._standard.has(imported):
            return self._standard.installed
        package = self._scan.importing(imported, "python")
        surface = self._surface(package) if package is not None else None
        if package is not None and surface is not None:
            return Installed(package.name, package.version, surface)
        return self._standard.installed if self.is_standard(imported) else None

    def is_standard(self, imported: str) -> bool:
        """Return whether it is a module of Python itself."""
        return self._standard.ever_has(imported)

    def _is_hidden(self, imported: str) -> bool:
        """Return whether a module of the project's own may be meant and not Python's."""
        return imported.partition(".")[0] in self._own_modules and self.is_standard(imported)

    @cached_property
    def _own_modules(self) -> frozenset[str]:
        return _module_names(self._scan.boundary)

    def _named(self, imported: str) -> PythonSurface | None:
        if self._standard.has(imported):
            return self._standard.surface
        package = self._scan.importing(imported, "python")
        return self._surface(package) if package is not None else None

    def _surface(self, package: Package) -> PythonSurface | None:
        if package.name not in self._surfaces:
            readable = package.installed and not package.problem and package.files_root
            made = PythonSurface(package, self._scan.boundary, self._named) if readable else None
            self._surfaces[package.name] = made
        return self._surfaces[package.name]


class StandardLibrary:
    """The standard library alone.

    Args:
        version: of Python, if anybody says it.
    """

    def __init__(self, version: str = "") -> None:
        self._standard = Standard(version)

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a dotted import name; ``python`` for the standard library."""
        return self._standard.installed if self.is_standard(imported) else None

    def is_standard(self, imported: str) -> bool:
        """Return whether it is a module of Python itself."""
        return self._standard.ever_has(imported)


def _version(scan: Scan) -> str:
    """Return the version of the environment that answers first: ``3.12.4``; empty if unknown."""
    details = (each.detail for each in scan.environments if each.ecosystem == "python")
    versions = (each.removeprefix("Python ") for each in details if each.startswith("Python "))
    return next(versions, "")


@contextmanager
def _resolver(scan: Scan) -> Iterator[Resolver]:
    yield PythonResolver(scan)


def _module_names(boundary: Boundary) -> frozenset[str]:
    """Return names of modules and folders of modules, as files in the same folder import them.

    Args:
        boundary: of the project.
    """
    found: set[str] = set()
    waiting = [(boundary.root, 0)]
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            break
        folder, depth = waiting.pop(0)
        try:
            with os.scandir(folder) as listed:
                entries = [(each.name, each.is_dir(follow_symlinks=False)) for each in listed]
        except OSError:
            continue
        files = {name for name, is_folder in entries if not is_folder}
        if "pyvenv.cfg" in files:
            continue
        found |= {name[:-3] for name in files if name.endswith(".py")}
        for name, is_folder in entries:
            if not is_folder or name.startswith(".") or name in _SKIPPED:
                continue
            found |= {name} if (folder / name / "__init__.py").exists() else set()
            waiting += [(folder / name, depth + 1)] if depth < _DEEPEST else []
    return frozenset(found)


def _verify(code: str, resolver: Resolver, language: str) -> Verdict:
    from docstow.languages.python.check import verify

    del language
    return verify(code, resolver)


CHECKING = Checking(verify=_verify, resolver=_resolver, standard=StandardLibrary)
