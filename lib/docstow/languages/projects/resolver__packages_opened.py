"""The surfaces of a project's packages, opened as they are asked for.

This room knows which reader a package has. It does not know how a scan finds packages, nor what a
surface is asked. It is for one call: what is on disk is looked at once.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from docstow.core.errors import PackageNotFound, UnreadableInput
from docstow.languages.shared import package_files as contents
from docstow.languages.shared.project import Scan
from docstow.languages.shared.project__packages_model import Package
from docstow.languages.shared.sandbox import Boundary

if TYPE_CHECKING:
    from docstow.languages.python.surface import PythonSurface
    from docstow.languages.typescript.surface import NodeSurface


class Opened:
    """What a scan found, open.

    Args:
        scan: of one project.
    """

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self._python: dict[str, PythonSurface] = {}
        self._node: dict[str, NodeSurface] = {}

    def package(self, name: str) -> Package:
        """An installed package by its name, or by what is imported of it.

        Raises:
            PackageNotFound: there is none; near names are suggested.
        """
        found = self.scan.named(name)
        imported = (self.scan.importing(name, each) for each in ("python", "typescript", "rust"))
        package = next((each for each in (*found, *imported) if each is not None), None)
        if package is None:
            from rapidfuzz import process

            names = dict.fromkeys(each.name for each in self.scan.packages)
            near = process.extract(name, list(names), limit=5, score_cutoff=50)
            raise PackageNotFound(
                f"No package {name!r} is installed or locked in this project; scan_packages lists"
                " them.",
                suggestions=[{"name": each, "score": round(at / 100, 3)} for each, at, _ in near],
            )
        if not package.installed or package.files_root is None:
            raise PackageNotFound(
                f"{package.name} {package.version} is locked but not installed here, so its files"
                " cannot be read; install the project's dependencies first."
            )
        return package

    def surface(self, package: Package) -> PythonSurface | NodeSurface | None:
        """What a package offers; None where there is no reader for its language."""
        if package.ecosystem == "python":
            return self._python_surface(package)
        return self._node_surface(package) if package.ecosystem == "node" else None

    def boundary(self, package: Package) -> Boundary:
        """The package's own folder, which nothing of it leads out of."""
        if package.files_root is None:
            raise PackageNotFound(f"{package.name} is not installed here.")
        self.scan.boundary.inside(package.files_root)
        return Boundary(package.files_root)

    def file(self, package: Package, path: str) -> tuple[str, bytes]:
        """One file of a package, and its path with all links resolved.

        Raises:
            Forbidden: the path leads out of the package.
            DocumentNotFound: there is no such file.
            TooLarge, UnreadableInput: it cannot be shown.
        """
        boundary = self.boundary(package)
        real = boundary.inside(path).relative_to(boundary.root)
        shown = PurePosixPath(*real.parts).as_posix()
        if not contents.owns(package, shown):
            raise UnreadableInput(
                f"{path} is not a file of {package.name}; call without file_path for its tree."
            )
        return shown, boundary.read(path)

    def _python_surface(self, package: Package) -> PythonSurface:
        from docstow.languages.python.surface import PythonSurface

        key = f"{package.files_root} {package.name}"
        if key not in self._python:
            self._python[key] = PythonSurface(package, self.scan.boundary, self._python_sibling)
        return self._python[key]

    def _python_sibling(self, name: str) -> PythonSurface | None:
        package = self.scan.importing(name, "python")
        if package is None or not package.installed or package.files_root is None:
            return None
        return self._python_surface(package)

    def _node_surface(self, package: Package) -> NodeSurface:
        from docstow.languages.typescript.surface import NodeSurface

        key = str(package.files_root)
        if key not in self._node:
            self._node[key] = NodeSurface(
                package, self.scan.boundary, self._node_sibling, lambda: self.scan.packages
            )
        return self._node[key]

    def _node_sibling(self, name: str) -> NodeSurface | None:
        found = [each for each in self.scan.named(name, "node") if each.installed]
        return self._node_surface(found[0]) if found else None
