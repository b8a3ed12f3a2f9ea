"""Parse ``Cargo.lock``: which version of a package a project really uses.

It is a TOML file with ``[[package]]`` tables, in versions 1 to 4, which
``cargo/core/resolver/encode.rs`` describes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from docstow.core import toml
from docstow.core.errors import InvalidParameter
from docstow.core.records import dataclass
from docstow.core.similar import similar_names
from docstow.core.versions import Version
from docstow.languages.shared.project import LockedVersion

_LONGEST = 8 * 1024 * 1024
_HINTS = 3


@dataclass(frozen=True, slots=True)
class Package:
    """A package of a lock file.

    Attributes:
        name: as it spells itself.
        version: exact.
        source: registry or repository; empty for a package of the project's own folders.
        needs: what it depends on as the file writes it: ``name``, with the version behind it where
            several are locked, and the source behind that.
    """

    name: str
    version: str
    source: str
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lock:
    """A parsed lock file: its packages by folded name, the highest version first."""

    by_name: Mapping[str, Sequence[Package]]

    @property
    def own(self) -> list[Package]:
        """The packages of the project's own folders."""
        return [each for some in self.by_name.values() for each in some if not each.source]

    def named(self, name: str) -> Sequence[Package]:
        """Return the packages of a name, highest version first; ``-`` and ``_`` are the same."""
        return self.by_name.get(_folded(name), ())

    def needs(self, package: Package) -> list[Package]:
        """Return the packages that one depends on, in the file's order."""
        found = (self._needed(word) for word in package.needs)
        return [each for each in found if each is not None]

    def direct(self) -> dict[str, str]:
        """Return the versions of the packages that the project itself asks for, by name."""
        needed = (each for own in self.own for each in self.needs(own))
        return {each.name: each.version for each in needed if each.source}

    def locked(self, name: str) -> LockedVersion:
        """Return the version of a package that a project uses.

        Where several are locked it is the one that a package of the project itself depends on,
        and else the highest.

        Raises:
            InvalidParameter: the lock file has no such package.
        """
        found = self.named(name)
        if not found:
            raise InvalidParameter("lockfile", self._absent(name))
        users: dict[str, list[str]] = {}
        for own in self.own:
            for needed in self.needs(own):
                users.setdefault(f"{needed.name} {needed.version}", []).append(own.name)
        direct = [each for each in found if f"{each.name} {each.version}" in users]
        chosen = (direct or found)[0]
        versions = dict.fromkeys(each.version for each in found)
        others = tuple(each for each in versions if each != chosen.version)
        by = sorted(set(users.get(f"{chosen.name} {chosen.version}", ())))
        return LockedVersion(chosen.version, others, tuple(by[:_HINTS]))

    def _needed(self, word: str) -> Package | None:
        name, version, source = (*word.split(" ", 2), "", "")[:3]
        fitting = (
            package
            for package in self.named(name)
            if package.name == name
            and version in ("", package.version)
            and source.strip("()") in ("", package.source)
        )
        return next(fitting, None)

    def _absent(self, name: str) -> str:
        names = sorted({each.name for some in self.by_name.values() for each in some})
        near = [each for each, _ in similar_names(name, names, most=_HINTS)]
        hint = f" (it has {', '.join(near)})" if near else ""
        return f"has no package {name}{hint}; give a version instead"


@lru_cache(maxsize=4)
def parse(text: str) -> Lock:
    """Parse a ``Cargo.lock`` of any version.

    Raises:
        InvalidParameter: the text is no lock file.
    """
    if len(text) > _LONGEST:
        raise InvalidParameter("lockfile", f"must have at most {_LONGEST} characters")
    try:
        read = toml.loads(text)
        # Until 2018 the project's own package stood apart.
        tables = [*([read["root"]] if "root" in read else []), *_tables(read.get("package", []))]
        packages = [_package(table) for table in tables]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidParameter("lockfile", "must be the text of a Cargo.lock") from error
    by_name: dict[str, list[Package]] = {}
    for package in sorted(packages, key=lambda each: Version.parse(each.version), reverse=True):
        by_name.setdefault(_folded(package.name), []).append(package)
    return Lock(by_name)


def _tables(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _package(table: dict[str, Any]) -> Package:
    version = str(table["version"])
    Version.parse(version)
    needs = tuple(str(each) for each in _tables(table.get("dependencies", [])))
    return Package(str(table["name"]), version, str(table.get("source", "")), needs)


def _folded(name: str) -> str:
    return name.replace("-", "_").lower()
