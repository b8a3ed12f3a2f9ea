"""Packages as sources: stowed from where a project has them installed, read from where stowed.

This room knows which version of a package answers. It does not know how packages are found or
read, nor how answers are shown. Nothing is fetched, and nothing of a package is run.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError, Forbidden, InvalidParameter, PackageNotFound
from docstow.core.model import Snapshot, Source
from docstow.languages.projects.documents import documents
from docstow.languages.shared.language import LANGUAGES, Language, of_kind
from docstow.languages.shared.version_requests import fitting, newness

if TYPE_CHECKING:
    from docstow.ingest.publish import Ingest
    from docstow.languages.projects import Projects
    from docstow.languages.projects.packages import ProjectPackages
    from docstow.languages.shared.project import Package
    from docstow.store.snapshots import Snapshots


@dataclass(frozen=True, slots=True)
class At:
    """A package where a project has it installed."""

    package: Package
    opened: ProjectPackages

    def __str__(self) -> str:
        return f"{self.package.name} {self.package.version}"

    @property
    def source(self) -> Source:
        """What it is stowed as."""
        language = of_kind(self.package.ecosystem)
        name = self.package.name
        key = language.spelling.package_key(name) if language is not None else name
        return Source(self.package.ecosystem, key, self.package.version)


@dataclass(frozen=True, slots=True)
class Where:
    """Where a version is at hand: in a project, in the store, or in both."""

    installed: bool
    stowed: bool


class Installed:
    """The packages of projects, and those that are stowed.

    Args:
        projects: that may be looked into; none of them where somebody else's machine asks.
        snapshots: where packages are stowed.
        ingest: makes the write path when it is first needed.
    """

    def __init__(
        self, projects: Projects, snapshots: Snapshots, ingest: Callable[[], Ingest]
    ) -> None:
        self._projects = projects
        self._snapshots = snapshots
        self._ingest = ingest
        self._lock = threading.Lock()
        #: Of editable packages, how their files were when they were stowed last.
        self._states: dict[Source, str] = {}

    def find(self, language: Language, name: str, version: str = "") -> Snapshot:
        """The snapshot that answers for a package, stowed now if a project has it installed.

        Args:
            language: whose package.
            name: the package's, or what is imported of it.
            version: exact, its beginning, or a requirement; empty for the installed one, and
                where there is none for the newest that is stowed.

        Raises:
            PackageNotFound: neither a project nor the store has it.
        """
        here = list(self._installed(language, name))
        stowed = self._stowed(language, here[0].source.name if here else name)
        best = fitting(version, [each.source.version for each in here])
        if best is not None:
            # What the project's own code gets comes first.
            chosen = next(e for e in here if not version.strip() or e.source.version == best)
            known = stowed.get(chosen.source.version)
            if known is None or not self._is_current(chosen, known):
                return self.stow(chosen)
            return known
        if best := fitting(version, stowed):
            return stowed[best]
        raise self._missing(language, name, version, [*(h.source.version for h in here), *stowed])

    def versions(self, language: Language, name: str) -> tuple[str, dict[str, Where]]:
        """A package's name, and its versions that are at hand, the newest first.

        Raises:
            PackageNotFound: there are none.
        """
        here = list(self._installed(language, name))
        stowed = self._stowed(language, here[0].source.name if here else name)
        installed = [each.source.version for each in here]
        known = sorted({*installed, *stowed}, key=newness, reverse=True)
        if not known:
            raise self._missing(language, name, "", [])
        sources = [each.source for each in here] or [s.revision.source for s in stowed.values()]
        return sources[0].name, {each: Where(each in installed, each in stowed) for each in known}

    def notice(self, snapshot: Snapshot) -> str:
        """What a caller should do about a package's documents; empty if nothing."""
        if not _is_outdated(snapshot):
            return ""
        name = snapshot.revision.source.name
        return (
            "an older release of docstow has read this package; where it is installed, "
            f"docstow ingest project DIR --package {name} reads it anew"
        )

    def at(self, snapshot: Snapshot) -> At | None:
        """Where the package of a snapshot is installed, if it is, in that version."""
        source = snapshot.revision.source
        language = of_kind(source.kind)
        found = self._installed(language, source.name) if language is not None else ()
        return next((each for each in found if each.source == source), None)

    def at_hand(self, language: Language, query: str, most: int) -> list[Snapshot]:
        """The newest stowed version of each package, those first that say words of the query."""
        found = []
        words = set(re.findall(r"[a-z]{3,}", query.lower()))
        for name in self._snapshots.names(language.kind):
            versions = self._versions(language, name)
            if (best := fitting("", versions)) is not None:
                told = f"{name} {versions[best].facts.get('description', '')}".lower()
                said = len(words & set(re.findall(r"[a-z]{3,}", told)))
                found.append((-said, name, versions[best]))
        return [snapshot for _, _, snapshot in sorted(found, key=lambda each: each[:2])[:most]]

    def stow(self, at: At) -> Snapshot:
        """Stow an installed package as it is now.

        Raises:
            PackageNotFound: its files cannot be read.
        """
        package, language = at.package, of_kind(at.package.ecosystem)
        surface = at.opened.surface(package)
        if language is None or language.reading is None or surface is None:
            raise PackageNotFound(f"{package.name} has nothing that can be read.")
        reading = language.reading()
        with self._lock:
            state = _state(at) if package.editable else ""
            facts = {
                "language": language.name,
                "description": package.summary,
                "import_names": list(package.import_names),
                **({"state": state} if state else {}),
            }
            made = documents(reading.documents(surface), package.name)
            snapshot = self._ingest().package(at.source, reading.reader, made, facts)
            self._states[at.source] = state
            return snapshot

    def _is_current(self, at: At, snapshot: Snapshot) -> bool:
        """Whether a snapshot is of today's reader, and of the files as they are."""
        if _is_outdated(snapshot):
            return False
        if not at.package.editable:
            return True
        # The same documents are the same snapshot, whose facts are those of its first time.
        return _state(at) in (self._states.get(at.source), snapshot.facts.get("state"))

    def of_project(
        self, name: str = "", wanted: Iterable[str] = (), *, direct: bool = True
    ) -> list[At]:
        """What of a project can be stowed: the packages named, or its direct ones, or all.

        Raises:
            EnvironmentNotFound: nothing is installed or locked.
            PackageNotFound: one that is named is not installed.
        """
        from docstow.languages.projects.packages import ProjectPackages

        opened = ProjectPackages(self._projects.scan(name)[1])
        if names := list(wanted):
            return [At(opened.package(each), opened) for each in names]
        found = [each for each in opened.scan.packages if _readable(each)]
        if direct and any(each.direct for each in found):
            found = [each for each in found if each.direct]
        return list({at.source: at for at in (At(each, opened) for each in found)}.values())

    def _installed(self, language: Language, name: str) -> Iterator[At]:
        """Where the projects have a package of that name, or one that is imported by it."""
        from docstow.languages.projects.packages import ProjectPackages

        for project in self._projects.names:
            try:
                scan = self._projects.scan(project)[1]
            except (Forbidden, InvalidParameter):
                return
            except DocstowError:
                continue
            found = [*scan.named(name, language.kind)]
            if (imported := scan.importing(name, language.name)) is not None:
                found.append(imported)
            opened = ProjectPackages(scan)
            yield from (At(each, opened) for each in found if _readable(each))

    def _stowed(self, language: Language, name: str) -> dict[str, Snapshot]:
        """The stowed versions of a package, by its name, or else by what is imported of it."""
        found = self._versions(language, language.spelling.package_key(name))
        if found or not name:
            return found
        for other in self._snapshots.names(language.kind):
            versions = self._versions(language, other)
            if any(name in each.facts.get("import_names", ()) for each in versions.values()):
                return versions
        return {}

    def _versions(self, language: Language, name: str) -> dict[str, Snapshot]:
        heads = self._snapshots.heads(language.kind, name)
        loaded = {h.source.version: self._snapshots.load(h) for h in heads}
        return {version: each for version, each in loaded.items() if each is not None}

    def _missing(
        self, language: Language, name: str, version: str, versions: list[str]
    ) -> PackageNotFound:
        from rapidfuzz import process

        if versions:
            known = ", ".join(dict.fromkeys(versions))
            return PackageNotFound(f"{name} {version} is not at hand; these are: {known}.")
        near = process.extract(name, self._snapshots.names(language.kind), limit=5, score_cutoff=60)
        return PackageNotFound(
            f"No {language.name} package {name!r} is installed in a project here or stowed; stow "
            f"it where it is installed: docstow ingest project DIR --package {name}.",
            suggestions=[{"name": each, "score": round(at / 100, 3)} for each, at, _ in near],
        )


def _is_outdated(snapshot: Snapshot) -> bool:
    """Whether an older reader made a package's documents; today's may find more."""
    return snapshot.recipe.reader != readers().get(snapshot.revision.source.kind)


def _state(at: At) -> str:
    """What tells the files of a package as they are from what they were."""
    from docstow.languages.shared import package_files as contents

    root = at.package.files_root
    if root is None:
        return ""
    digest = hashlib.sha256()
    for each in contents.files(at.package, at.opened.boundary(at.package)):
        with contextlib.suppress(OSError):
            status = (root / each).stat()
            digest.update(f"{each} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:32]


def readers() -> dict[str, str]:
    """Return the id of the reader of each kind of package; a change makes new snapshots."""
    found = (each for each in LANGUAGES.values() if each.reading is not None)
    return {each.kind: each.reading().reader for each in found if each.reading is not None}


def _readable(package: Package) -> bool:
    return (
        package.installed
        and of_kind(package.ecosystem) is not None
        and package.files_root is not None
        and bool(package.version)
    )
