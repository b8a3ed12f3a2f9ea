"""Packages of Python and TypeScript: which version answers, installed, stored or in a registry."""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.core import auth
from docstow.core.errors import (
    ConfigurationError,
    DocstowError,
    Forbidden,
    InvalidParameter,
    PackageNotFound,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.core.model import INSTALLED, Snapshot
from docstow.core.similar import similar_names
from docstow.ingest.packages import (
    InstalledPackage,
    PackageIngest,
    is_outdated,
    is_readable,
    open_unpacked,
    scan_unpacked,
)
from docstow.languages.shared.language import Language, of_kind

if TYPE_CHECKING:
    from pathlib import Path

    from docstow.core.model import Revision
    from docstow.index.cards import Entry
    from docstow.languages.projects import Projects
    from docstow.languages.shared.project import Scan
    from docstow.library.environments import PackageEnvironments
    from docstow.library.package_cards import PackageCards
    from docstow.library.requests import StowRequests
    from docstow.sources.packages import Listing as RegistryListing
    from docstow.sources.packages import PackageRegistry
    from docstow.sources.packages.environments import PackageFiles, Unpacked
    from docstow.store.snapshots import Snapshots

#: Scans of packages of registries that are kept.
_MOST_SCANS = 8


@dataclass(frozen=True, slots=True)
class Availability:
    """Where a version is: installed in a project, in the store, or both."""

    installed: bool
    stowed: bool


@dataclass(frozen=True, slots=True)
class FoundPackage:
    """What answers for a package.

    Attributes:
        snapshot: of the version that was chosen.
        notice: what the caller should know of how it was chosen.
        substituted: another version may have answered if the registry could have been asked.
    """

    snapshot: Snapshot
    notice: str = ""
    substituted: bool = False


class Packages:
    """The packages of projects, those that are stored, and those of registries.

    Args:
        projects: that may be looked into; none of them where somebody else's machine asks.
        snapshots: the published snapshots.
        cards: which packages are stored.
        packages: ingests what is installed.
        open_registry: returns the registry of a kind of packages; None where there is none.
        open_requests: returns what has packages of registries ingested.
        may_ask: whether the registry of a kind may be asked about what is installed, too.
        open_unpacked: returns what unpacks packages of registries.
        environments: makes environments of packages that no project has installed; None for none.
    """

    def __init__(
        self,
        projects: Projects,
        snapshots: Snapshots,
        cards: PackageCards,
        packages: PackageIngest,
        open_registry: Callable[[str], PackageRegistry | None] = lambda _: None,
        open_requests: Callable[[], StowRequests] | None = None,
        may_ask: Callable[[str], bool] = lambda _: False,
        open_unpacked: Callable[[], PackageFiles] | None = None,
        environments: PackageEnvironments | None = None,
    ) -> None:
        self._projects = projects
        self._snapshots = snapshots
        self._cards = cards
        self._packages = packages
        self._open_registry = open_registry
        self._open_requests = open_requests
        self._may_ask = may_ask
        self._open_unpacked = open_unpacked
        self.environments = environments
        self._lock = threading.Lock()
        self._scans: OrderedDict[str, Scan] = OrderedDict()

    def find(self, language: Language, name: str, version: str = "") -> FoundPackage:
        """Return what answers for a package, ingested now if it is not stored.

        What a project has installed comes first, then what the registry has.

        Args:
            language: whose package.
            name: the package's, or what is imported of it where it is installed or stored.
            version: exact, its beginning, or a requirement; empty for the installed one, and
                where there is none for the newest.

        Raises:
            PackageNotFound: no project has it, nor the store, nor the registry.
            InvalidParameter: the version is no request in the language's terms.
            Ingesting: that takes longer than a caller should wait.
            UpstreamError, UpstreamTimeout: the registry does not answer, and nothing is stored.
            TooLarge, UnreadableInput: as the registry's files are.
        """
        here = list(self._find_installed(language, name))
        stored = self._find_stored(language, here[0].source.name if here else name)
        versions = language.versions()
        best = versions.choose(version, [each.source.version for each in here])
        if best is not None:
            # What the project's own code gets comes first.
            chosen = next(e for e in here if not version.strip() or e.source.version == best)
            snapshot = stored.get(chosen.source.version)
            if snapshot is None or not self._packages.is_current(chosen, snapshot):
                snapshot = self.ingest(chosen)
            return FoundPackage(snapshot)
        known = [*(each.source.version for each in here), *stored]
        return self._find_upstream(language, name, version, stored, known)

    def _find_upstream(
        self,
        language: Language,
        name: str,
        version: str,
        stored: Mapping[str, Snapshot],
        known: list[str],
    ) -> FoundPackage:
        """Return what answers for a package that is not installed, ingested now if need be."""
        best = language.versions().choose(version, stored)
        if best is not None and version.strip() == best and not is_outdated(stored[best]):
            return FoundPackage(stored[best])
        try:
            registry = self._open_registry(language.kind)
        except ConfigurationError as error:
            if best is None:
                missing = self._missing(language, name, version, known)
                message = f"{missing.message} {error.message}"
                raise PackageNotFound(message, suggestions=missing.suggestions) from error
            return FoundPackage(stored[best])
        # What is imported by another name is stored under its own.
        name = next((each.revision.source.name for each in stored.values()), name)
        if registry is None or self._open_requests is None:
            if best is None:
                raise self._missing(language, name, version, known)
            return FoundPackage(stored[best])
        try:
            revision = registry.resolve(name, version)
            notice = _describe_release(registry.listing(name), revision.version)
            snapshot = stored.get(revision.version)
            if snapshot is None or is_outdated(snapshot):
                snapshot = self._open_requests().ingest(revision.source)
        except (UpstreamError, UpstreamTimeout) as error:
            if best is None:
                raise
            notice = f"{error.message.rstrip('.')}; the best stowed version answers"
            return FoundPackage(stored[best], notice, substituted=True)
        except PackageNotFound as error:
            if best is None:
                missing = self._missing(language, name, version, known)
                suggestions = error.suggestions or missing.suggestions
                raise PackageNotFound(error.message, suggestions=suggestions) from error
            return FoundPackage(stored[best])
        return FoundPackage(snapshot, notice)

    def listing(self, language: Language, name: str) -> RegistryListing | None:
        """Return what the registry has of a package; None where it is not asked or has nothing.

        Raises:
            UpstreamError, UpstreamTimeout: it does not answer.
        """
        try:
            registry = self._open_registry(language.kind)
            return registry.listing(name) if registry is not None else None
        except (ConfigurationError, PackageNotFound, InvalidParameter):
            return None

    def known_listing(self, snapshot: Snapshot) -> RegistryListing | None:
        """Return what a registry has of a package, if it may be asked about it; else None.

        A package that was read where a project has it installed may be nobody else's business: it
        is looked up where the settings name the registry, or where the list is here already.

        Raises:
            UpstreamError, UpstreamTimeout: the registry does not answer.
        """
        source = snapshot.revision.source
        language = of_kind(source.kind)
        if language is None:
            return None
        if snapshot.revision.origin != INSTALLED or self._may_ask(source.kind):
            return self.listing(language, source.name)
        try:
            registry = self._open_registry(source.kind)
        except ConfigurationError:
            return None
        return registry.cached(source.name) if registry is not None else None

    @contextlib.contextmanager
    def files(self, snapshot: Snapshot) -> Iterator[InstalledPackage]:
        """Give where the files of a stored version are: installed, else unpacked from its registry.

        Raises:
            PackageNotFound: they are nowhere: it was read from a project that is not here.
            TooLarge, UnreadableInput, UpstreamError, UpstreamTimeout: as the registry's files are.
        """
        if (installed := self.locate(snapshot)) is not None:
            yield installed
            return
        revision = snapshot.revision
        if revision.origin == INSTALLED:
            raise PackageNotFound(
                f"{revision.source.name} {revision.version} was read where a project had it "
                "installed, which is not here."
            )
        with self._unpack(revision) as found:
            yield found

    @contextlib.contextmanager
    def fetched(
        self, language: Language, name: str, version: str = ""
    ) -> Iterator[InstalledPackage]:
        """Give where a package of a registry lies unpacked; nothing is stowed.

        Args:
            language: whose package.
            name: as the registry has it.
            version: as for :meth:`find`.

        Raises:
            PackageNotFound: the registry has no such package or version, or there is none.
            InvalidParameter: the version is no request in the language's terms.
            TooLarge, UnreadableInput, UpstreamError, UpstreamTimeout: as the registry's files are.
        """
        try:
            revision = self.registry(language).resolve(name, version)
        except (UpstreamError, UpstreamTimeout):
            # What was unpacked already can be read without it.
            known = {
                number: each.revision
                for number, each in self._find_stored(language, name).items()
                if each.revision.origin != INSTALLED
            }
            best = language.versions().choose(version, known)
            if best is None:
                raise
            revision = known[best]
        with self._unpack(revision) as found:
            yield found

    @contextlib.contextmanager
    def _unpack(self, revision: Revision) -> Iterator[InstalledPackage]:
        if self._open_unpacked is None:
            raise PackageNotFound("Packages of registries are not unpacked here.")

        def unpack(revision: Revision, folder: Path) -> Unpacked:
            auth.require_credential(f"{revision.source.name} {revision.version} is not here yet")
            registry = self._open_registry(revision.source.kind)
            if registry is None:
                raise PackageNotFound(f"No registry has {revision.source.name}.")
            return registry.unpack(revision, folder)

        with self._open_unpacked().open(revision, unpack) as found:
            # Without a digest it is unpacked anew each time.
            scan = self._scan_fetched if revision.validator else scan_unpacked
            yield open_unpacked(scan(found.folder), revision)

    def _scan_fetched(self, folder: Path) -> Scan:
        """Return what is in a folder that is named by what lies there; kept of the last few.

        What was said of the package is kept with it.
        """
        key = str(folder)
        with self._lock:
            known = self._scans.pop(key, None)
        known = known or scan_unpacked(folder)
        with self._lock:
            self._scans[key] = known
            while len(self._scans) > _MOST_SCANS:
                self._scans.popitem(last=False)
        return known

    def registry(self, language: Language) -> PackageRegistry:
        """Return the registry of a language's packages.

        Raises:
            PackageNotFound: there is none.
        """
        registry = self._open_registry(language.kind)
        if registry is None:
            raise PackageNotFound(f"No registry of {language.name} packages is set.")
        return registry

    def versions(self, language: Language, name: str) -> tuple[str, dict[str, Availability]]:
        """Return a package's name, and the versions that are installed or stored, newest first.

        Raises:
            PackageNotFound: there are none.
        """
        here = list(self._find_installed(language, name))
        stored = self._find_stored(language, here[0].source.name if here else name)
        installed = [each.source.version for each in here]
        versions = sorted({*installed, *stored}, key=language.versions().order, reverse=True)
        if not versions:
            raise self._missing(language, name, "", [])
        sources = [each.source for each in here] or [s.revision.source for s in stored.values()]
        return sources[0].name, {v: Availability(v in installed, v in stored) for v in versions}

    def notice(self, snapshot: Snapshot) -> str:
        """Return what a caller should do about a package's documents; empty if nothing."""
        if not is_outdated(snapshot):
            return ""
        name = snapshot.revision.source.name
        return (
            "an older release of docstow has read this package; where it is installed, "
            f"docstow ingest project DIR --package {name} reads it anew"
        )

    def locate(self, snapshot: Snapshot) -> InstalledPackage | None:
        """Return where the package of a snapshot is installed in that version, if it is."""
        source = snapshot.revision.source
        language = of_kind(source.kind)
        found = self._find_installed(language, source.name) if language is not None else ()
        return next((each for each in found if each.source == source), None)

    def search(self, language: Language, query: str, most: int) -> list[Snapshot]:
        """Return the newest stored version of each package, those with words of the query first."""
        words = set(re.findall(r"[a-z]{3,}", query.lower()))

        def rank(entry: Entry) -> tuple[int, str]:
            text = f"{entry.source.name} {entry.about}".lower()
            return -len(words & set(re.findall(r"[a-z]{3,}", text))), entry.source.name

        best = sorted(self._cards.newest(language).values(), key=rank)
        found = (self._snapshots.answering(each.source) for each in best)
        # What was evicted a moment ago may have its card still.
        return list(itertools.islice(filter(None, found), most))

    def stowed(self, installed: InstalledPackage) -> Snapshot | None:
        """Return what is stored of a package as it is installed; None where it is to be read."""
        language = of_kind(installed.source.kind)
        if language is None:
            return None
        found = self._stored_versions(language, installed.source.name)
        snapshot = found.get(installed.source.version)
        current = snapshot is not None and self._packages.is_current(installed, snapshot)
        return snapshot if current else None

    def stored(self, language: Language, name: str, version: str) -> Snapshot | None:
        """Return a version of a package if it is stored; nothing is asked or ingested."""
        return self._find_stored(language, name).get(version)

    def stored_imports(self, language: Language, names: Collection[str]) -> dict[str, str]:
        """Return what is imported of stored packages of some names, each with its package."""
        found: dict[str, str] = {}
        for name, entry in sorted(self._cards.newest(language, names).items()):
            for each in entry.imports:
                found.setdefault(each, name)
        return found

    def ingest(self, installed: InstalledPackage) -> Snapshot:
        """Publish an installed package as it is now.

        Raises:
            PackageNotFound: its files cannot be read.
        """
        return self._packages.ingest(installed)

    def of_project(
        self, name: str = "", wanted: Iterable[str] = (), *, direct: bool = True
    ) -> list[InstalledPackage]:
        """Return what of a project can be read: the packages named, or its direct ones, or all.

        Raises:
            EnvironmentNotFound: nothing is installed or locked.
            PackageNotFound: one that is named is not installed.
        """
        from docstow.languages.projects.packages import ProjectPackages

        project = ProjectPackages(self._projects.scan(name)[1])
        if names := list(wanted):
            return [InstalledPackage(project.package(each), project) for each in names]
        found = [each for each in project.scan.packages if is_readable(each)]
        if direct and any(each.direct for each in found):
            found = [each for each in found if each.direct]
        installed = (InstalledPackage(each, project) for each in found)
        return list({each.source: each for each in installed}.values())

    def _find_installed(self, language: Language, name: str) -> Iterator[InstalledPackage]:
        """Yield where projects have a package of that name, or one that is imported by it."""
        from docstow.languages.projects.packages import ProjectPackages

        for project_name in self._projects.names:
            try:
                scan = self._projects.scan(project_name)[1]
            except (Forbidden, InvalidParameter):
                return
            except DocstowError:
                continue
            found = [*scan.named(name, language.kind)]
            if (imported := scan.importing(name, language.name)) is not None:
                found.append(imported)
            project = ProjectPackages(scan)
            here = (InstalledPackage(each, project) for each in found if is_readable(each))
            yield from (each for each in here if auth.sees_head(each.source))

    def _find_stored(self, language: Language, name: str) -> dict[str, Snapshot]:
        """Return the stored versions of a package of that name, or of one imported by it."""
        found = self._stored_versions(language, language.spelling.package_key(name))
        if found or not name:
            return found
        entries = self._cards.entries(language)
        other = next((each.source.name for each in entries if name in each.imports), "")
        return self._stored_versions(language, other) if other else {}

    def _stored_versions(self, language: Language, name: str) -> dict[str, Snapshot]:
        heads = self._snapshots.heads(language.kind, name)
        loaded = {h.source.version: self._snapshots.load(h) for h in heads}
        return {version: each for version, each in loaded.items() if each is not None}

    def _missing(
        self, language: Language, name: str, version: str, versions: list[str]
    ) -> PackageNotFound:
        if versions:
            known = ", ".join(dict.fromkeys(versions))
            return PackageNotFound(f"{name} {version} is not at hand; these are: {known}.")
        near = similar_names(name, self._cards.names(language))
        return PackageNotFound(
            f"No {language.name} package {name!r} is installed in a project here or stowed; stow "
            f"it where it is installed: docstow ingest project DIR --package {name}.",
            suggestions=[{"name": each, "score": score} for each, score in near],
        )


def _describe_release(listing: RegistryListing, version: str) -> str:
    """Return what its publisher says against a release; empty where nothing."""
    release = listing.release(version)
    if release is None or not (release.yanked or release.withdrawn):
        return ""
    what = "withdrawn" if release.yanked else "deprecated"
    reason = f": {release.withdrawn}" if release.withdrawn else ""
    return f"{listing.name} {version} is {what} by its publisher{reason}"
