"""Environments and packages that a scan finds, chosen by names, imports and versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from docstow.core.spelling import folded, of_ecosystem, of_name
from docstow.languages.shared.boundary import Boundary


@dataclass(frozen=True, slots=True)
class Package:
    """One package in one version.

    Attributes:
        ecosystem: whose package it is.
        name: as its registry spells it: ``pillow``, ``@types/node``.
        version: exact; empty where nothing says it.
        location: the folder of its files relative to the project's root; absolute where the
            environment is elsewhere, empty where it is only locked.
        import_names: what a program imports: ``PIL``; of Node the package's own name.
        direct: whether the project itself asks for it.
        language: ``python``, ``typescript``, ``javascript``, ``rust`` or ``go``.
        summary: what it says of itself in one line.
        installed: whether its files are here.
        editable: whether they are a checkout, installed by reference.
        problem: why it cannot be read, if so.
        files_root: of Python the folder in which the import names are found (``site-packages``,
            the ``src`` of an editable one); of others the package's own folder. Absolute.
        info_root: the ``.dist-info`` folder of a Python distribution. Absolute.
    """

    ecosystem: str
    name: str
    version: str
    location: str
    import_names: tuple[str, ...]
    direct: bool
    language: str
    summary: str
    installed: bool
    editable: bool
    problem: str = ""
    files_root: Path | None = field(default=None, repr=False)
    info_root: Path | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class About:
    """What a version of a package says of itself.

    Attributes:
        summary: in one line; empty where it says nothing.
        keywords: for searches.
        licence: its identifier or name; empty where none is stated.
        requires: the versions of the interpreter or engine that it is for; empty for any.
    """

    summary: str = ""
    keywords: tuple[str, ...] = ()
    licence: str = ""
    requires: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was passed over: where it is, relative to the root, and why."""

    location: str
    reason: str


@dataclass(frozen=True, slots=True)
class Environment:
    """Where packages are: a virtual environment, the ``node_modules`` of a folder, a lock file.

    Attributes:
        ecosystem: whose packages these are.
        kind: ``venv``, ``conda``, ``pypackages``, ``node_modules`` or ``lockfile``.
        location: relative to the root.
        detail: ``Python 3.12``, ``pnpm``; empty where nothing says it.
        packages: direct ones first, then by name.
    """

    ecosystem: str
    kind: str
    location: str
    detail: str
    packages: tuple[Package, ...]


@dataclass(frozen=True)
class Scan:
    """What is installed or locked in a project.

    Attributes:
        environments: what answers first comes first.
        problems: what was passed over.
        boundary: what may be opened for these packages.
        took_ms: how long it took.
        looked_at: how many packages and files were read; the others were known.
        cache: a folder where what is read of packages may be stored; None for no such folder.
        idle: what was made of it and may be used again, by what made it; it goes with the scan.
    """

    environments: tuple[Environment, ...]
    problems: tuple[Problem, ...]
    boundary: Boundary = field(repr=False)
    took_ms: float
    looked_at: int
    cache: Path | None = field(default=None, repr=False, compare=False)
    idle: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def packages(self) -> tuple[Package, ...]:
        """All packages, in the order of their environments."""
        return tuple(each for one in self.environments for each in one.packages)

    def named(self, name: str, ecosystem: str = "") -> tuple[Package, ...]:
        """Return packages of that name, the one that the project's own code gets first."""
        found = self._by_name.get(folded(name), ())
        exact = {each.ecosystem for each in found if each.name == name and not _folds(each)}
        if exact:
            # Node tells apart what registries of Python take for the same: lodash.get, lodash-get.
            found = tuple(e for e in found if e.ecosystem not in exact or e.name == name)
        return tuple(each for each in found if ecosystem in ("", each.ecosystem))

    def importing(self, imported: str, language: str) -> Package | None:
        """Return the package that an import leads to.

        Args:
            imported: a dotted name of Python, a path of Rust, a specifier of JavaScript, an
                import path of Go.
            language: of the code.
        """
        spelling = of_name(language)
        if spelling is None:
            return None
        parts = spelling.import_parts(imported)
        names = self._by_import.get(spelling.ecosystem, {})
        for end in range(len(parts), 0, -1):
            if found := names.get(spelling.import_separator.join(parts[:end])):
                return found
        # What a distribution that is only locked is imported as is not known; often as itself.
        unknown = (e for e in self.named(parts[0], spelling.ecosystem) if not e.import_names)
        return next((each for each in unknown if not each.installed), None)

    @cached_property
    def _by_name(self) -> dict[str, tuple[Package, ...]]:
        found: dict[str, list[Package]] = {}
        for each in self.packages:
            found.setdefault(folded(each.name), []).append(each)
        return {name: tuple(sorted(some, key=_rank)) for name, some in found.items()}

    @cached_property
    def _by_import(self) -> dict[str, dict[str, Package]]:
        found: dict[str, dict[str, Package]] = {}
        for each in sorted(self.packages, key=_rank):
            for name in each.import_names:
                found.setdefault(each.ecosystem, {}).setdefault(name, each)
        return found


def ordered(packages: Iterable[Package]) -> tuple[Package, ...]:
    """Sort packages: direct ones first, then by name and place."""
    return tuple(
        sorted(packages, key=lambda each: (not each.direct, folded(each.name), each.location))
    )


def _folds(package: Package) -> bool:
    spelling = of_ecosystem(package.ecosystem)
    return spelling is None or spelling.folds


def _rank(package: Package) -> tuple[bool, bool, bool, int]:
    """Sort installed packages before locked ones, those the project asks for before others.

    What is imported by another name, as a second version may be, comes behind.
    """
    spelling = of_ecosystem(package.ecosystem)
    by_name = spelling is not None and spelling.import_separator == "/"
    alias = by_name and package.name not in package.import_names
    nested = package.location.count("node_modules/")
    return not package.installed, not package.direct, alias, nested


@dataclass(frozen=True, slots=True)
class Locked:
    """One locked package.

    Attributes:
        name: as the file spells it.
        version: exact; empty for what comes from a repository or an address without one.
        direct: whether the project asks for it; None where the file does not say.
        summary: in one line, where the file has it.
        imported: what it is imported as where that is another name: an alias of Node.
    """

    name: str
    version: str
    direct: bool | None = None
    summary: str = ""
    imported: str = ""


@dataclass(frozen=True, slots=True)
class LockedVersion:
    """The versions of a package that a lock file has.

    Attributes:
        version: the one that answers.
        others: further versions that are locked, highest first.
        direct: the project's own packages that depend on the answering version directly.
    """

    version: str
    others: tuple[str, ...] = ()
    direct: tuple[str, ...] = ()

    def notice(self, name: str) -> str:
        """Return the reason for the version; empty where there was no choice."""
        if not self.others:
            return ""
        by = f"what {', '.join(self.direct)} depends on" if self.direct else "the highest"
        return f"the lock file has {name} {', '.join(self.others)} too; {self.version} is {by}"
