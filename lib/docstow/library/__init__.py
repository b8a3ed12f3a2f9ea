"""The library: which stored version of a crate or package answers, ingested first if need be."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    InvalidParameter,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.core.model import CRATE, LOCAL, Snapshot
from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.core.versions import Version, choose
from docstow.sources.crates import CrateResolver, library_name

if TYPE_CHECKING:
    from docstow.embedding import Embedder
    from docstow.index.catalog import Catalog
    from docstow.index.loaded import Index
    from docstow.index.search import ItemFilters
    from docstow.index.shortlist import Shortlist
    from docstow.languages.shared.language import Language
    from docstow.library.guides import Guides
    from docstow.library.packages import Packages
    from docstow.library.requests import RenewalRequests, StowRequests
    from docstow.sources.crates.index import Release
    from docstow.store.snapshots import Snapshots

#: What a search over everything says was asked for.
ALL = "all stowed crates"

#: No packages with their versions.
NOTHING: Mapping[str, str] = MappingProxyType({})

#: The tables of items that are read for a list of them, for the page of one, for a search among
#: them, and for one among their examples.
OUTLINE = ("documents", "relations")
PAGE = (*OUTLINE, "passages")
RANKED = (*PAGE, "postings", "anchor_postings")
EXAMPLES = ("documents", "examples", "example_postings")

#: How many packages a search over all stored ones looks into.
PACKAGES = 8


@dataclass(frozen=True, slots=True)
class ResolvedVersion:
    """A version that answers a request.

    Attributes:
        asked: the version or requirement as the caller gave it; ``latest`` for none.
        snapshot: what answers.
        notice: what the caller should know of how it was chosen; empty when all is as asked.
        substituted: another version may have answered if the upstream could have been asked.
    """

    asked: str
    snapshot: Snapshot
    notice: str = ""
    substituted: bool = False

    @property
    def name(self) -> str:
        """The crate's name as it spells itself."""
        return self.snapshot.revision.source.name

    @property
    def version(self) -> str:
        """The version that answers."""
        return self.snapshot.revision.version


@dataclass(frozen=True, slots=True)
class Listing:
    """The versions of a crate, newest first, and the one that a request resolves to."""

    name: str
    resolved: str
    versions: Sequence[Mapping[str, Any]]


class Library:
    """Everything stored of crates and packages, and the way to have more ingested.

    Args:
        snapshots: the published snapshots.
        open_catalog: opens the catalog of stored crates.
        resolver: finds the version of a crate that answers.
        open_crates: opens what has crates ingested.
        open_renewals: opens what has snapshots of an older recipe made again.
        open_installed: opens the packages of other languages.
        open_embedder: opens the model that queries are embedded with.
        memory_bytes: bound of the loaded indexes.
        open_guides: opens the guides of packages; None where there are only those that they carry.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        open_catalog: Callable[[], Catalog],
        resolver: CrateResolver,
        open_crates: Callable[[], StowRequests],
        open_renewals: Callable[[], RenewalRequests],
        open_installed: Callable[[], Packages],
        open_embedder: Callable[[], Embedder],
        memory_bytes: int,
        open_guides: Callable[[], Guides] | None = None,
    ) -> None:
        self._snapshots = snapshots
        self._open_catalog = open_catalog
        self._resolver = resolver
        self._open_crates = open_crates
        self._open_renewals = open_renewals
        self._open_installed = open_installed
        self._open_guides = open_guides
        self.open_embedder = open_embedder
        self._indexes = IndexCache(snapshots, memory_bytes)

    @property
    def installed(self) -> Packages:
        """The packages of other languages."""
        return self._open_installed()

    @property
    def guides(self) -> Guides | None:
        """The guides of packages; None where there are only those that they carry."""
        return self._open_guides() if self._open_guides is not None else None

    def crate(self, name: str, requirement: str = "", target: str = "") -> ResolvedVersion:
        """Return the snapshot that answers for a crate, ingested now if it is not stored.

        Args:
            name: the crate; ``-`` and ``_`` may be mixed up.
            requirement: an exact version, a Cargo requirement, or empty for the latest.
            target: compilation target of the docs; empty for the server's own.

        Raises:
            InvalidParameter: the target is none, or not that of a crate stored from a file.
            Ingesting: that takes longer than a caller should wait.
            CrateNotFound, VersionYanked, CrateNotDocumented, UpstreamError, UpstreamTimeout,
            UnsupportedFormat, TooLarge: as the upstream or the reader says.
        """
        try:
            revision, snapshot = self._resolver.resolve(name, requirement, target)
        except (UpstreamError, UpstreamTimeout) as error:
            return self._without_index(name, requirement, target, error)
        if snapshot is None:
            snapshot = self._open_crates().ingest(revision.source)
        return ResolvedVersion(requirement or "latest", snapshot)

    def _without_index(
        self, name: str, requirement: str, target: str, error: Exception
    ) -> ResolvedVersion:
        """Answer from what is stored while the index cannot be asked, and say so."""
        for spelling in dict.fromkeys((name, name.replace("_", "-"), name.replace("-", "_"))):
            snapshot = self._resolver.stored(CRATE, spelling, requirement, target)
            if snapshot is not None:
                notice = "the index of crates could not be asked; the best stowed version answers"
                return ResolvedVersion(requirement or "latest", snapshot, notice, substituted=True)
        raise error

    def stowed(self, name: str, version: str, target: str = "") -> ResolvedVersion | None:
        """Return a version of a crate if it is stored; no upstream is asked, nothing ingested."""
        for kind, spelling in ((LOCAL, library_name(name)), (CRATE, name)):
            if (snapshot := self._resolver.stored(kind, spelling, version, target)) is not None:
                return ResolvedVersion(version, snapshot)
        return None

    def package(self, language: Language, name: str, version: str = "") -> ResolvedVersion:
        """Return the snapshot that answers for a package of another language than Rust.

        Raises:
            as :meth:`Packages.find` does.
        """
        found = self.installed.find(language, name, version)
        notices = (found.notice, self.installed.notice(found.snapshot))
        notice = "; ".join(filter(None, notices))
        asked = version or "installed or newest"
        return ResolvedVersion(asked, found.snapshot, notice, substituted=found.substituted)

    def packages(self, language: Language, query: str) -> list[ResolvedVersion]:
        """Return the stored packages of a language that a search over all of them looks into."""
        found = self.installed.search(language, query, PACKAGES)
        return [ResolvedVersion("all stowed packages", each) for each in found]

    def across(
        self, query: str, filters: ItemFilters, project: Mapping[str, str] = NOTHING
    ) -> list[tuple[ResolvedVersion, float]]:
        """Return the stored crates that suit a query best, with scores; no upstream is asked.

        Args:
            query: what is looked for.
            filters: what may be in the list of items.
            project: crates that a project depends on, with their versions: they are preferred,
                and answer in these versions where they are stored.

        Raises:
            CrateNotFound: nothing is stored yet.
        """
        found = self._shortlist(query).choose(filters, project)
        versions = {library_name(name): version for name, version in project.items()}
        return [(self._of_project(snapshot, versions), score) for snapshot, score in found]

    def _of_project(self, snapshot: Snapshot, versions: Mapping[str, str]) -> ResolvedVersion:
        """Return a crate in the version that a project has of it, or as it is stored."""
        source = snapshot.revision.source
        wanted = versions.get(library_name(source.name))
        if wanted is None:
            return ResolvedVersion(ALL, snapshot)
        asked = f"lockfile: {wanted}"
        if source.version == wanted:
            return ResolvedVersion(asked, snapshot)
        if (stored := self.stowed(source.name, wanted, source.target)) is not None:
            return replace(stored, asked=asked)
        return ResolvedVersion(asked, snapshot, f"the project has {wanted}, which is not stowed")

    def several(
        self, query: str, wanted: Mapping[str, str], target: str = ""
    ) -> list[tuple[ResolvedVersion, float]]:
        """Return named crates, ingested now if they are not stored, scored as by :meth:`across`.

        Args:
            query: what is looked for.
            wanted: crate to version or requirement.
            target: compilation target of their docs, as for :meth:`crate`.

        Raises:
            as :meth:`crate` does, for the first crate that cannot be had.
        """
        stowed = in_parallel(lambda pair: self.crate(*pair, target), list(wanted.items()))
        score = self._shortlist(query).score
        return [(each, score(each.snapshot)) for each in stowed]

    def suits(self, query: str, stowed: Sequence[ResolvedVersion]) -> list[float]:
        """Return how well each crate suits a query, as by :meth:`across`; 0 for other packages."""
        if not any(each.snapshot.revision.source.kind in (CRATE, LOCAL) for each in stowed):
            return [0.0] * len(stowed)
        score = self._shortlist(query).score
        return [
            score(each.snapshot) if each.snapshot.revision.source.kind in (CRATE, LOCAL) else 0.0
            for each in stowed
        ]

    def _shortlist(self, query: str) -> Shortlist:
        from docstow.index.shortlist import Shortlist

        embedder, target = self.open_embedder(), self._resolver.target
        return Shortlist(self._open_catalog(), self._snapshots, embedder, target, query)

    def versions(self, name: str, requirement: str = "") -> Listing:
        """Return every version of a crate, newest first, and what a requirement resolves to.

        Raises:
            CrateNotFound: the crate is unknown, or no version matches the requirement.
            UpstreamError, UpstreamTimeout: the index could not be asked.
        """
        if local := self._resolver.stored_heads(LOCAL, library_name(name)):
            rows = [{"version": v, "yanked": False, "stowed": True} for v in local]
            return _listing(library_name(name), requirement, rows, choose(requirement, local))
        origin = self._resolver.origin
        spelling, releases = origin.releases(name)
        stowed = self._resolver.stored_heads(CRATE, spelling)
        rows = [
            {
                "version": release.version,
                "yanked": release.yanked,
                "stowed": release.version in stowed,
                **({"rust_version": release.rust_version} if release.rust_version else {}),
                **({"published": release.published} if release.published else {}),
            }
            for release in releases
        ]
        return _listing(spelling, requirement, rows, origin.resolve(name, requirement).version)

    def release(self, name: str, requirement: str = "") -> tuple[str, str]:
        """Return name and version of what the index has for a request; nothing is ingested.

        Raises:
            CrateNotFound: the crate was stored from a file: the index has no entry of it; or it
                is unknown, or no version matches.
            VersionYanked, UpstreamError, UpstreamTimeout: as the index says.
        """
        local = self._resolver.stored_heads(LOCAL, library_name(name))
        if choose(requirement, local) is not None:
            raise CrateNotFound(
                f"{name} was stowed from a file, which does not say what it depends on, and the "
                "index is not asked about it. Give its Cargo.lock as lockfile."
            )
        revision = self._resolver.resolve_upstream(name, requirement)
        return revision.source.name, revision.version

    def releases(self, names: Sequence[str]) -> dict[str, Sequence[Release]]:
        """Return what the index has of several crates; those that it does not have are left out.

        Raises:
            UpstreamError, UpstreamTimeout: the index cannot be asked.
        """

        def look_up(name: str) -> Sequence[Release]:
            try:
                return self._resolver.origin.releases(name)[1]
            except (CrateNotFound, CrateNotDocumented, InvalidParameter):
                return ()

        found = zip(names, in_parallel(look_up, names), strict=True)
        return {name: releases for name, releases in found if releases}

    def current(self, stowed: ResolvedVersion) -> tuple[ResolvedVersion, Embedder | None]:
        """Return what answers a search, with the model that its vectors can be compared with.

        A snapshot that was made by another recipe answers as it is, and a job makes it again from
        its own tables. Vectors of two models never meet: until the job is done there is no model
        if it is the model that changed, and only words count.

        Args:
            stowed: the snapshot that was chosen.

        Returns:
            The same, with a notice if it is being made again; and the model or None.
        """
        from docstow.index.profiles import profile_of

        snapshot, embedder = stowed.snapshot, self.open_embedder()
        recipe, source = snapshot.recipe, snapshot.revision.source
        if recipe == profile_of(source.kind).recipe(recipe.reader, embedder.id):
            return stowed, embedder
        failure = self._open_renewals().renew(snapshot)
        if recipe.model == embedder.id:
            return stowed, embedder
        notice = "the embedding model has changed: words alone are searched until "
        notice += f"{source.key} is embedded anew, which "
        notice += f"failed and is tried again in a minute: {failure}" if failure else "has begun"
        return replace(stowed, notice="; ".join(filter(None, (stowed.notice, notice)))), None

    def index(self, snapshot: Snapshot, tables: Collection[str] = ()) -> Index:
        """Return the loaded tables of a snapshot, from memory, the local cache or the store.

        Args:
            snapshot: which one.
            tables: what is read of it; see :meth:`IndexCache.get`.
        """
        return self._indexes.get(snapshot, tables)

    def indexes(self, snapshots: Sequence[Snapshot]) -> list[Index]:
        """Return the loaded tables of several snapshots, as :meth:`index` does of each."""
        return self._indexes.several(snapshots)


class IndexCache:
    """Loaded indexes, bounded by bytes; the one least recently used goes first.

    Args:
        snapshots: the published snapshots.
        limit: in bytes. One index may exceed it alone: a caller needs it now.
    """

    def __init__(self, snapshots: Snapshots, limit: int) -> None:
        self._snapshots = snapshots
        self._limit = limit
        self._loaded: OrderedDict[str, tuple[Index, frozenset[str]]] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, snapshot: Snapshot, tables: Collection[str] = ()) -> Index:
        """Return the index of a snapshot, from memory, the local cache or the store.

        Of callers that come at once, one loads it and the others wait.

        Args:
            snapshot: which one.
            tables: what the caller reads of it, fetched at once; all where none are named. Any
                others are fetched one by one when they are read.
        """
        from docstow.index.loaded import Index

        key = snapshot.id
        wanted = frozenset(snapshot.tables.keys() & tables or snapshot.tables)
        with self._lock:
            if (found := self._find(key, wanted)) is not None:
                return found
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            with self._lock:
                if (found := self._find(key, wanted)) is not None:
                    return found
            self._snapshots.fetch(snapshot, sorted(wanted))  # one by one they would queue up
            with self._lock:
                index, fetched = self._loaded.get(key, (None, frozenset[str]()))
                if index is None:
                    file = partial(self._snapshots.file, snapshot)
                    index = Index(snapshot, file, self._snapshots.cache)
                self._loaded[key] = index, fetched | wanted
                self._loaded.move_to_end(key)
                self._loading.pop(key, None)
                self._shrink()
        return index

    def several(self, snapshots: Sequence[Snapshot]) -> list[Index]:
        """Return the indexes of some snapshots; threads load them if any is not in memory."""
        with self._lock:
            found = [self._find(each.id, frozenset(each.tables)) for each in snapshots]
        loaded = [each for each in found if each is not None]
        return loaded if len(loaded) == len(snapshots) else in_parallel(self.get, snapshots)

    def _find(self, key: str, wanted: frozenset[str]) -> Index | None:
        index, fetched = self._loaded.get(key, (None, frozenset[str]()))
        if index is None or not wanted <= fetched:
            return None
        self._loaded.move_to_end(key)
        return index

    def _shrink(self) -> None:
        total = sum(index.nbytes() for index, _ in self._loaded.values())
        while total > self._limit and len(self._loaded) > 1:
            _, (oldest, _) = self._loaded.popitem(last=False)
            total -= oldest.nbytes()


def _listing(
    name: str, requirement: str, rows: list[dict[str, Any]], resolved: str | None
) -> Listing:
    if resolved is None:
        raise CrateNotFound(f"No stowed version of {name} matches {requirement}.")
    newest_first = sorted(rows, key=lambda row: Version.parse(row["version"]), reverse=True)
    return Listing(name, resolved, newest_first)
