"""The installed packages of a project: found by name, with their surfaces and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from docstow.core.errors import PackageNotFound, UnreadableInput
from docstow.languages.shared import package_files
from docstow.languages.shared.language import LANGUAGES, of_ecosystem
from docstow.languages.shared.project import Package, Scan
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import Surface


class ProjectPackages:
    """The packages that a scan found; each surface is opened when it is first asked for.

    Args:
        scan: of one project.
    """

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self._openers: dict[str, Callable[[Package], Surface]] = {}

    def package(self, name: str) -> Package:
        """Return an installed package by its name, or by what is imported of it.

        Raises:
            PackageNotFound: there is none; near names are suggested.
        """
        found = self.scan.named(name)
        languages = [each.name for each in LANGUAGES.values() if each.documented]
        imported = (self.scan.importing(name, each) for each in languages)
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

    def surface(self, package: Package) -> Surface | None:
        """Return what a package offers; None where there is no reader for its language."""
        if package.ecosystem not in self._openers:
            language = of_ecosystem(package.ecosystem)
            if language is None or language.reading is None:
                return None
            self._openers[package.ecosystem] = language.reading().surfaces(self.scan)
        return self._openers[package.ecosystem](package)

    def boundary(self, package: Package) -> Boundary:
        """Return the package's own folder, which nothing of it leads out of."""
        if package.files_root is None:
            raise PackageNotFound(f"{package.name} is not installed here.")
        self.scan.boundary.inside(package.files_root)
        return Boundary(package.files_root)

    def file(self, package: Package, path: str) -> tuple[str, bytes]:
        """Read one file of a package, and its path with all links resolved.

        Raises:
            Forbidden: the path leads out of the package.
            DocumentNotFound: there is no such file.
            TooLarge, UnreadableInput: it cannot be shown.
        """
        boundary = self.boundary(package)
        real = boundary.inside(path).relative_to(boundary.root)
        shown = PurePosixPath(*real.parts).as_posix()
        if not package_files.owns(package, shown):
            raise UnreadableInput(
                f"{path} is not a file of {package.name}; call without file_path for its tree."
            )
        return shown, boundary.read(path)
