"""From a crate's name to its loaded index: what is stowed, and what must be stowed first.

This room knows which version answers a request and when the index is asked. It does not know
how answers are shown, nor how a crate comes to be stowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from docstow.core.concurrency import in_parallel
from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    InvalidParameter,
    PackageNotFound,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.core.model import CRATE, LOCAL, Head, Snapshot, Source
from docstow.core.versions import Version, choose
from docstow.ingest.jobs.queue import Busy
from docstow.library.indexes import IndexCache

if TYPE_CHECKING:
    from docstow.embedding import Embedder
    from docstow.index.catalog import Catalog
    from docstow.index.cross_crate import Shortlist
    from docstow.index.loaded import Index
    from docstow.index.search import Filters
    from docstow.ingest.crates import Stowing
    from docstow.ingest.renewal import Renewals
    from docstow.languages.shared.language import Language
    from docstow.library.packages import Installed
    from docstow.sources.crates.index import Release
    from docstow.sources.crates.origin import CrateOrigin
    from docstow.store.snapshots import Snapshots

#: What a search over everything says was asked for.
ALL = "all stowed crates"

#: How many packages a search over all stowed ones looks into.
PACKAGES = 8

#: Pause between looks at a head that another process is about to publish, in seconds.
POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Stowed:
    """A crate's version that answers a request.

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
    """Everything stowed, and the way to stow what is asked for.

    A crate that was stowed from a file answers for its name: neither docs.rs nor the index is
    asked about it, unless a version is wanted that no file holds. So the name of a private
    crate never leaves the machine.

    Args:
        snapshots: published snapshots.
        catalog: opens the catalogue of stowed crates when it is first needed.
        stowing: stows what is not.
        renewals: make anew what another recipe has made.
        origin: makes the docs.rs origin when it is first needed.
        embedder: the model that queries are embedded with.
        target: compilation target of the docs; empty for each crate's default.
        memory_bytes: bound of the loaded indexes.
        pause: sleeps; given so that tests need not.
        installed: the packages of other languages.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        catalog: Callable[[], Catalog],
        stowing: Stowing,
        renewals: Renewals,
        origin: Callable[[], CrateOrigin],
        embedder: Callable[[], Embedder],
        *,
        target: str,
        memory_bytes: int,
        pause: Callable[[float], object],
        installed: Installed | None = None,
    ) -> None:
        self._snapshots = snapshots
        self._catalog = catalog
        self._stowing = stowing
        self._renewals = renewals
        self._origin = origin
        self.embedder = embedder
        self._target = target
        self._pause = pause
        self.installed = installed
        self._indexes: IndexCache[Index] = IndexCache(memory_bytes)

    def crate(self, name: str, requirement: str = "") -> Stowed:
        """The snapshot that answers for a crate, stowed now if it is not yet.

        Args:
            name: the crate; ``-`` and ``_`` may be mixed up.
            requirement: an exact version, a Cargo requirement, or empty for the latest.

        Raises:
            Ingesting: stowing takes longer than a caller should wait.
            CrateNotFound, VersionYanked, CrateNotDocumented, UpstreamError, UpstreamTimeout,
            UnsupportedFormat, TooLarge: as the upstream or the reader says.
        """
        asked = requirement or "latest"
        if (local := self._stowed_version(LOCAL, _lib_name(name), requirement)) is not None:
            return Stowed(asked, local)
        try:
            revision = self._origin().resolve(name, requirement, target=self._target)
        except (UpstreamError, UpstreamTimeout) as error:
            return self._without_index(name, requirement, error)
        stowing = self._stowing
        return Stowed(asked, stowing.current(revision.source) or stowing.wanted(revision.source))

    def package(self, language: Language, name: str, version: str = "") -> Stowed:
        """The snapshot that answers for a package of another language than Rust.

        Raises:
            PackageNotFound: it is neither installed in a project here nor stowed.
        """
        if self.installed is None:
            raise PackageNotFound("Packages are not looked into here.")
        snapshot = self.installed.find(language, name, version)
        notice = self.installed.notice(snapshot)
        return Stowed(version or "installed or newest stowed", snapshot, notice)

    def packages(self, language: Language, query: str) -> list[Stowed]:
        """The stowed packages of a language that a search over all of them looks into."""
        found = self.installed.at_hand(language, query, PACKAGES) if self.installed else []
        return [Stowed("all stowed packages", each) for each in found]

    def across(self, query: str, filters: Filters) -> list[tuple[Stowed, float]]:
        """The stowed crates that suit a query best, with scores; no upstream is asked.

        Raises:
            CrateNotFound: nothing is stowed yet.
        """
        found = self._shortlist(query).across(filters)
        return [(Stowed(ALL, snapshot), score) for snapshot, score in found]

    def several(self, query: str, wanted: Mapping[str, str]) -> list[tuple[Stowed, float]]:
        """Named crates, stowed now if they are not yet, with scores as :meth:`across` gives them.

        Args:
            query: what is looked for.
            wanted: crate to version or requirement.

        Raises:
            as :meth:`crate` does, for the first crate that cannot be had.
        """
        stowed = in_parallel(lambda pair: self.crate(*pair), list(wanted.items()))
        score = self._shortlist(query).score
        return [(each, score(each.snapshot)) for each in stowed]

    def _shortlist(self, query: str) -> Shortlist:
        from docstow.index.cross_crate import Shortlist

        return Shortlist(self._catalog(), self._snapshots, self.embedder(), self._target, query)

    def indexes(self, snapshots: Sequence[Snapshot]) -> list[Index]:
        """The loaded tables of several snapshots, as :meth:`index` gives each."""
        return in_parallel(self.index, snapshots)

    def stow(self, name: str, requirement: str = "", *, target: str = "") -> Snapshot:
        """Fetch and stow a crate now, however long it takes, even if it is stowed already."""
        revision = self._origin().resolve(name, requirement, target=target or self._target)
        return self._stowing.anew(revision)

    def ensure(self, name: str, requirement: str = "", *, patient: bool = True) -> Snapshot:
        """Stow a crate in the caller's thread, however long it takes, unless it is stowed already.

        Raises:
            Busy: another process is at it, and the caller is not patient.
            DocstowError: as :meth:`crate` does, but never Ingesting.
        """
        if (local := self._stowed_version(LOCAL, _lib_name(name), requirement)) is not None:
            return local
        revision = self._origin().resolve(name, requirement, target=self._target)
        while (snapshot := self._stowing.current(revision.source)) is None:
            try:
                return self._stowing.once(revision)
            except Busy:
                if not patient:
                    raise
                self._pause(POLL_S)
        return snapshot

    def resolve(self, name: str, requirement: str = "") -> tuple[Source, bool]:
        """What answers a request, and whether it is stowed already; nothing is fetched.

        Raises:
            CrateNotFound, VersionYanked, UpstreamError, UpstreamTimeout: as the index says.
        """
        if (local := self._stowed_version(LOCAL, _lib_name(name), requirement)) is not None:
            return local.revision.source, True
        source = self._origin().resolve(name, requirement, target=self._target).source
        return source, self._stowing.current(source) is not None

    def versions(self, name: str, requirement: str = "") -> Listing:
        """Every version of a crate, newest first, and the one that a requirement resolves to.

        Raises:
            CrateNotFound: the crate is unknown, or no version matches the requirement.
            UpstreamError, UpstreamTimeout: the index could not be asked.
        """
        if local := self._stowed_heads(LOCAL, _lib_name(name)):
            rows = [{"version": v, "yanked": False, "stowed": True} for v in local]
            return _listing(_lib_name(name), requirement, rows, choose(requirement, local))
        origin = self._origin()
        spelling, releases = origin.releases(name)
        stowed = self._stowed_heads(CRATE, spelling)
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
        """Name and version of what the index has for a request; nothing is fetched or stowed.

        Raises:
            CrateNotFound: the crate was stowed from a file: the index has no entry of it; or it
                is unknown, or no version matches.
            VersionYanked, UpstreamError, UpstreamTimeout: as the index says.
        """
        if choose(requirement, self._stowed_heads(LOCAL, _lib_name(name))) is not None:
            raise CrateNotFound(
                f"{name} was stowed from a file, which does not say what it depends on, and the "
                "index is not asked about it. Give its Cargo.lock as lockfile."
            )
        revision = self._origin().resolve(name, requirement, target=self._target)
        return revision.source.name, revision.version

    def releases(self, names: Sequence[str]) -> dict[str, Sequence[Release]]:
        """What the index has of several crates; those that it does not have are left out.

        Raises:
            UpstreamError, UpstreamTimeout: the index cannot be asked.
        """

        def look_up(name: str) -> Sequence[Release]:
            try:
                return self._origin().releases(name)[1]
            except (CrateNotFound, CrateNotDocumented, InvalidParameter):
                return ()

        return {
            n: found for n, found in zip(names, in_parallel(look_up, names), strict=True) if found
        }

    def current(self, stowed: Stowed) -> tuple[Stowed, Embedder | None]:
        """What answers a search, with the model that its vectors can be compared with.

        A snapshot that was made by another recipe answers as it is, and a job makes it anew from
        its own tables. Vectors of two models never meet: until the job is done there is no model
        if it is the model that changed, and only words count.

        Args:
            stowed: the snapshot that was chosen.

        Returns:
            The same, with a notice if it is being made anew; and the model or None.
        """
        from docstow.ingest.publish import renewed

        snapshot, embedder = stowed.snapshot, self.embedder()
        if snapshot.recipe == renewed(snapshot.recipe, embedder):
            return stowed, embedder
        failure = self._renewals.send(snapshot)
        if snapshot.recipe.model == embedder.id:
            return stowed, embedder
        notice = "the embedding model has changed: words alone are searched until "
        notice += f"{snapshot.revision.source.key} is embedded anew, which "
        notice += f"failed and is tried again in a minute: {failure}" if failure else "has begun"
        return replace(stowed, notice="; ".join(filter(None, (stowed.notice, notice)))), None

    def index(self, snapshot: Snapshot) -> Index:
        """The loaded tables of a snapshot, from memory, the local cache or the store."""
        return self._indexes.get(snapshot.id, lambda: self._load(snapshot))

    def _load(self, snapshot: Snapshot) -> Index:
        from docstow.index.loaded import Index

        self._snapshots.fetch(snapshot)  # all at once; one by one they would queue up

        return Index(snapshot, lambda name: self._snapshots.fetch(snapshot, [name])[name])

    def _stowed_heads(self, kind: str, name: str) -> dict[str, Head]:
        return {
            head.source.version: head
            for head in self._snapshots.heads(kind, name)
            if head.snapshot_id and (kind == LOCAL or head.source.target == self._target)
        }

    def _stowed_version(self, kind: str, name: str, requirement: str) -> Snapshot | None:
        """The best version among those that the store has, no upstream asked."""
        heads = self._stowed_heads(kind, name)
        best = choose(requirement, heads)
        return self._snapshots.load(heads[best]) if best is not None else None

    def _without_index(self, name: str, requirement: str, error: Exception) -> Stowed:
        """Answer from what is stowed while the index cannot be asked, and say so."""
        for spelling in dict.fromkeys((name, name.replace("_", "-"), name.replace("-", "_"))):
            snapshot = self._stowed_version(CRATE, spelling, requirement)
            if snapshot is not None:
                notice = "the index of crates could not be asked; the best stowed version answers"
                return Stowed(requirement or "latest", snapshot, notice, substituted=True)
        raise error


def _listing(
    name: str, requirement: str, rows: list[dict[str, Any]], resolved: str | None
) -> Listing:
    if resolved is None:
        raise CrateNotFound(f"No stowed version of {name} matches {requirement}.")
    newest_first = sorted(rows, key=lambda row: Version.parse(row["version"]), reverse=True)
    return Listing(name, resolved, newest_first)


def _lib_name(name: str) -> str:
    """A file names the library, which Rust spells with ``_`` whatever its package does."""
    return name.replace("-", "_")
