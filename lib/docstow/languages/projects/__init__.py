"""The projects that a server may look into, by name."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core import auth
from docstow.core.errors import ConfigurationError, EnvironmentNotFound, Forbidden, InvalidParameter
from docstow.core.records import dataclass
from docstow.core.visibility import PROJECT

if TYPE_CHECKING:
    from docstow.languages.projects.scan import Scans
    from docstow.languages.shared.project import Scan


@dataclass(frozen=True, slots=True)
class Project:
    """A directory with a name that no other project of the server has."""

    name: str
    root: Path


class Projects:
    """All projects of a server; what a scan finds of one is kept until it changes.

    Args:
        roots: their directories.
        cache: where indexes are stored.
        local: whether whoever asks is a user of this machine. Others could learn what is none of
            their business. To a caller that is bound to sources no project is there but those
            that it is bound to.

    Raises:
        ConfigurationError: a root is no directory.
    """

    def __init__(self, roots: Sequence[Path], cache: Path, *, local: bool) -> None:
        mistakes = [f"root: {each} is not a directory" for each in roots if not each.is_dir()]
        if mistakes:
            raise ConfigurationError("\n".join(mistakes), mistakes=mistakes)
        self._projects = _name_roots(roots)
        self._folder = cache / "projects"
        self._local = local
        self._lock = threading.Lock()
        self._scanning: dict[str, threading.Lock] = {}
        self._scans: dict[str, Scans] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in the order in which they were given."""
        return tuple(self._seen())

    def _seen(self) -> dict[str, Project]:
        """Return the projects that the current caller sees, by name."""
        found = self._projects.items()
        return {name: each for name, each in found if auth.sees(PROJECT, name)}

    def get(self, name: str = "") -> Project:
        """Return a project by its name or directory; the only one, or the first, for no name.

        Raises:
            Forbidden: the server is not on its users' machine, or the directory is not a root.
            InvalidParameter: there is no such project, or none at all.
        """
        if not self._local:
            raise Forbidden(
                "Projects are looked into on your own machine alone; run docstow there: "
                "docstow serve --stdio, or docstow serve --root DIR on loopback."
            )
        if not (seen := self._seen()):
            raise InvalidParameter("root", "no project root: start with --root DIR")
        if not name:
            return next(iter(seen.values()))
        if found := seen.get(name):
            return found
        for each in seen.values():
            if name.rstrip("/\\") == str(each.root):
                return each
        known = ", ".join(seen)
        if "/" in name or "\\" in name or name in {".", "..", "~"}:
            raise Forbidden(
                f"Only the projects that the server was started with are read: {known}; to have "
                "another, start it with --root DIR."
            )
        raise InvalidParameter("root", f"there is no project of that name; there are {known}")

    def scan(self, name: str = "") -> tuple[Project, Scan]:
        """Return what is installed or locked in a project now.

        Args:
            name: as for :meth:`get`.

        Raises:
            EnvironmentNotFound: nothing is.
        """
        from docstow.languages.projects.scan import Scans
        from docstow.languages.shared.scanning import ScanCache

        project = self.get(name)
        with self._lock:
            turn = self._scanning.setdefault(project.name, threading.Lock())
        with turn:
            scans = self._scans.get(project.name)
            if scans is None:
                scans = Scans(project.root, ScanCache.load(self._folder, project.root))
                self._scans[project.name] = scans
            return project, scans.now()

    def names_with(self, package: str) -> list[str]:
        """Return the names of the projects in which a package is installed or locked."""
        found = []
        for name in self.names:
            with contextlib.suppress(EnvironmentNotFound):
                if self.scan(name)[1].named(package):
                    found.append(name)
        return found


def _name_roots(roots: Sequence[Path]) -> dict[str, Project]:
    """Name each root by its directory, with as much of what is above it as tells it apart."""
    real = list(dict.fromkeys(each.resolve() for each in roots))
    found: dict[str, Project] = {}
    for root in real:
        parts = [part for part in root.parts if part != root.anchor] or ["root"]
        others = [each.parts for each in real if each != root]
        length = 1
        while length < len(parts) and any(
            each[-length:] == tuple(parts[-length:]) for each in others
        ):
            length += 1
        name = "/".join(parts[-length:])
        found[name] = Project(name, root)
    return found
