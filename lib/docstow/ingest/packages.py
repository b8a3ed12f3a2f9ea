"""Packages: read from where a project has them, or fetched from a registry, and published.

No code of a package is run.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError, PackageNotFound
from docstow.core.model import (
    INSTALLED,
    NO_ATTRIBUTES,
    Document,
    Relation,
    Revision,
    Snapshot,
    Source,
)
from docstow.ingest.jobs import Job, source_of, success_fields
from docstow.languages.shared.language import of_kind
from docstow.text.invisible import drop_invisible

if TYPE_CHECKING:
    from docstow.ingest.publish import Publisher
    from docstow.languages.projects.packages import ProjectPackages
    from docstow.languages.shared.language import Language
    from docstow.languages.shared.project import About, Package, Scan
    from docstow.sources.packages import PackageRegistry
    from docstow.sources.packages.environments import PackageFiles
    from docstow.store.snapshots import Snapshots

log = logging.getLogger(__name__)

#: A package with fewer items than the first, from more lines of code than the second, says so.
_FEW_ITEMS, _MANY_LINES = 5, 1000
#: So many keywords are kept, and so many characters of each and of a licence.
_KEYWORDS, _LONGEST_STATED = 20, 120


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """A package where a project has it installed.

    Attributes:
        package: what the project says of it.
        project: the packages of the project.
    """

    package: Package
    project: ProjectPackages

    def __str__(self) -> str:
        return f"{self.package.name} {self.package.version}"

    @property
    def source(self) -> Source:
        """What it is stored as."""
        package, language = self.package, of_kind(self.package.ecosystem)
        name = language.spelling.package_key(package.name) if language else package.name
        return Source(package.ecosystem, name, package.version)


def is_readable(package: Package) -> bool:
    """Whether a package can be read: it is installed, and its kind is known."""
    return (
        package.installed
        and of_kind(package.ecosystem) is not None
        and package.files_root is not None
        and bool(package.version)
    )


def scan_unpacked(folder: Path) -> Scan:
    """Return what a folder has in which a package of a registry lies unpacked."""
    from docstow.languages.projects.scan import scan
    from docstow.languages.shared.scanning import ScanCache

    folder = folder.resolve()
    with TemporaryDirectory(prefix="docstow-", ignore_cleanup_errors=True) as scratch:
        return scan(folder, ScanCache.load(Path(scratch, "cache"), folder), {}, Path(scratch))


def open_unpacked(scan: Scan, revision: Revision) -> InstalledPackage:
    """Return a package of a registry where it lies unpacked, to be read as an installed one.

    Args:
        scan: of its folder, as of :func:`scan_unpacked`.
        revision: of the package.

    Raises:
        PackageNotFound: no package is there.
    """
    from docstow.languages.projects.packages import ProjectPackages

    project = ProjectPackages(scan)
    return InstalledPackage(project.package(revision.source.name), project)


def is_outdated(snapshot: Snapshot) -> bool:
    """Whether an older reader made a package's documents; today's may find more."""
    language = of_kind(snapshot.revision.source.kind)
    if language is None or language.reading is None:
        return True
    return snapshot.recipe.reader != language.reading().reader


class PackageIngest:
    """Ingests installed packages in the caller's thread, one at a time.

    Args:
        open_publisher: opens what makes snapshots.
    """

    def __init__(self, open_publisher: Callable[[], Publisher]) -> None:
        self._open_publisher = open_publisher
        self._lock = threading.Lock()
        #: Of editable packages, how their files were when they were ingested last.
        self._states: dict[Source, str] = {}

    def ingest(
        self,
        installed: InstalledPackage,
        revision: Revision | None = None,
        unpacked: Mapping[str, Any] = NO_ATTRIBUTES,
    ) -> Snapshot:
        """Publish an installed package as it is now.

        Args:
            installed: where it is.
            revision: as what it is published, where it was fetched from a registry.
            unpacked: facts of what was fetched with it.

        Raises:
            PackageNotFound: its files cannot be read.
        """
        from docstow.ingest.publish import Reading
        from docstow.languages.projects.packages import collect_documents, describe_scarcity
        from docstow.text.invisible import drop_from_document

        package, source = installed.package, installed.source
        language, surface = of_kind(package.ecosystem), installed.project.surface(package)
        if language is None or language.reading is None or surface is None:
            raise PackageNotFound(f"{package.name} has nothing that can be read.")
        reader = language.reading()
        with self._lock:
            state = _state(installed) if package.editable else ""
            read = collect_documents(reader.documents(surface), package.name)
            found = [drop_from_document(each) for each in read]
            boundary = installed.project.boundary(package)
            scarcity = describe_scarcity(package, boundary, found, language.fences)
            facts = {
                **_outline(package.name, language, found),
                "language": language.name,
                "description": drop_invisible(package.summary)[0],
                "import_names": list(package.import_names),
                **_describe_itself(reader.about(package)),
                **({"scarcity": scarcity} if scarcity else {}),
                **({"state": state} if state else {}),
                **_count_unread(installed, language, found),
                **unpacked,
            }
            unread = [line for each in found for line in each.attributes.get("left_out", ())]
            if unread:
                facts["left_out"] = [*facts.get("left_out", ()), *unread]
            revision = revision or Revision(source, source.version, origin=INSTALLED)
            reading = Reading(revision, reader.reader, found, _aliases(found), facts)
            snapshot = self._open_publisher().publish(reading).snapshot
            self._states[source] = state
            return snapshot

    def is_current(self, installed: InstalledPackage, snapshot: Snapshot) -> bool:
        """Whether a snapshot is of today's reader, and of the files as they are."""
        if is_outdated(snapshot):
            return False
        if not installed.package.editable:
            return True
        # The same documents are the same snapshot, whose facts are those of its first time.
        states = (self._states.get(installed.source), snapshot.facts.get("state"))
        return _state(installed) in states


class PackageTask:
    """Ingests packages of registries, for a worker or in the caller's thread.

    Args:
        snapshots: the published snapshots.
        open_registry: returns the registry of a kind of packages; None where there is none.
        packages: publishes what was unpacked.
        unpacked: unpacks what is fetched.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        open_registry: Callable[[str], PackageRegistry | None],
        packages: PackageIngest,
        unpacked: PackageFiles,
    ) -> None:
        self._snapshots = snapshots
        self._open_registry = open_registry
        self._packages = packages
        self._unpacked = unpacked

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Return the end of a job whose package was stored by others; None otherwise."""
        snapshot = self._snapshots.answering(source_of(job), fresh=True)
        if snapshot is None or is_outdated(snapshot):
            return None
        return success_fields(job, snapshot)

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Ingest a job's package, whose lease the worker holds.

        Raises:
            DocstowError: as the registry or the reader says.
        """
        source = source_of(job)
        return self.finished(job) or success_fields(
            job, self.ingest(source.kind, source.name, source.version)
        )

    def ingest(self, kind: str, name: str, requirement: str = "") -> Snapshot:
        """Fetch and publish a package now, even if it is stored already.

        Raises:
            PackageNotFound: there is no such registry, package or version, or nothing to read.
            InvalidParameter: the name or the requirement is invalid.
            TooLarge, UnreadableInput: it exceeds a limit, or is not what it should be.
            UpstreamError, UpstreamTimeout: the registry does not answer.
        """
        registry = self._open_registry(kind)
        if registry is None:
            raise PackageNotFound(f"No registry of {kind} packages is set, so {name} is not had.")
        revision = registry.resolve(name, requirement)
        log.info("stowing %s", revision.source.key)
        with self._unpacked.open(revision, registry.unpack) as found:
            unpacked = found.unpacked
            facts = {
                name: list(value)
                for name, value in (
                    ("beside", unpacked.beside),
                    ("left_out", unpacked.left_out),
                )
                if value
            }
            private = {"private": True} if registry.is_private(revision) else {}
            installed = open_unpacked(scan_unpacked(found.folder), revision)
            return self._packages.ingest(installed, revision, {**facts, **private})


def _count_unread(
    installed: InstalledPackage, language: Language, documents: Sequence[Document]
) -> Mapping[str, Any]:
    """Return items and lines of code of a package whose code is long and gives hardly any item."""
    from docstow.languages.projects.packages import list_files

    items = sum(each.kind not in {"page", "module"} for each in documents)
    if items >= _FEW_ITEMS:
        return {}
    boundary = installed.project.boundary(installed.package)
    lines = 0
    for each in list_files(installed.package, boundary):
        if PurePosixPath(each).suffix in language.fences:
            with contextlib.suppress(DocstowError):
                lines += boundary.read(each).count(b"\n")
    return {"few_items": {"items": items, "lines": lines}} if lines > _MANY_LINES else {}


def _describe_itself(about: About) -> Mapping[str, Any]:
    """Return the facts that a package states of itself, under the names that crates have."""
    stated = {
        "license": drop_invisible(about.licence)[0][:_LONGEST_STATED],
        "keywords": [drop_invisible(e)[0][:_LONGEST_STATED] for e in about.keywords[:_KEYWORDS]],
        "requires": about.requires[:_LONGEST_STATED],
    }
    return {name: value for name, value in stated.items() if value}


def _aliases(documents: Sequence[Document]) -> list[Relation]:
    """Return the paths by which documents of other paths can be found too."""
    paths = {each.path for each in documents}
    aliases = {
        str(each.attributes["target"]): each.path
        for each in reversed(documents)
        if each.attributes.get("target")
    }
    for each in documents:
        # A module with a scheme, such as ``node:fs``, is imported without it as well.
        scheme, _, bare = each.path.partition(":")
        if bare and scheme.isalpha():
            aliases.setdefault(bare, each.path)
    return [
        Relation(target, "alias", path)
        for target, path in sorted(aliases.items())
        if target not in paths
    ]


def _outline(name: str, language: Language, documents: Sequence[Document]) -> Mapping[str, Any]:
    """Return what a summary of the package shows, so that it need not read a table."""
    from docstow.ingest.overview import describe_package
    from docstow.languages.shared.guides import find_readme
    from docstow.text.chunking import first_sentence

    root = next((e for e in documents if e.kind == "module" and not e.parent), documents[0])
    page = find_readme(documents)
    own = {"url": (page or root).url, "summary": first_sentence(root.text), "modules": []}
    marks = language.examples or (language.name,)
    return own | describe_package(name, documents, root, page, language.spelling, marks)


def _state(installed: InstalledPackage) -> str:
    """Return a digest that changes whenever a file of the package does."""
    from docstow.languages.projects.packages import list_files

    root = installed.package.files_root
    if root is None:
        return ""
    digest = hashlib.sha256()
    boundary = installed.project.boundary(installed.package)
    for each in list_files(installed.package, boundary):
        with contextlib.suppress(OSError):
            status = (root / each).stat()
            digest.update(f"{each} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:32]
