"""Export a store into a bundle: what is stored now, without asking any upstream."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from docstow import sources
from docstow.core.errors import CrateNotFound, SourceNotFound, StoreError
from docstow.core.model import CRATE, LOCAL, Head, Registration, Snapshot, Source
from docstow.core.similar import similar_names
from docstow.core.versions import choose
from docstow.ops.bundle import archive
from docstow.ops.bundle.archive import Member
from docstow.ops.bundle.manifest import (
    MANIFEST,
    Entry,
    Manifest,
    Registered,
    blob_digest,
    blob_name,
    decode_manifest,
    encode_manifest,
    neutralize,
    record_id,
    record_name,
    sort_entries,
)
from docstow.sources import collection, kind_of
from docstow.sources.crates import CrateResolver
from docstow.sources.registry import Registry
from docstow.store.heads import encode_snapshot
from docstow.store.objects import ObjectStore
from docstow.store.snapshots import Snapshots
from docstow.store.usage import Pins

_STEP = 256 * 1024


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        manifest: all that is in it.
        sha256: the digest of its list of files, by which an import can be sure of all of it.
    """

    manifest: Manifest
    sha256: str


class BundleExport:
    """Writes bundles of a store.

    Args:
        store: where everything is.
        snapshots: its published snapshots.
        registry: its registered sources.
        resolver: finds the stored versions that a crate's name stands for.
        history: take the kept snapshots along with what answers.
    """

    def __init__(
        self,
        store: ObjectStore,
        snapshots: Snapshots,
        registry: Registry,
        resolver: CrateResolver,
        *,
        history: bool = False,
    ) -> None:
        self._store = store
        self._snapshots = snapshots
        self._registry = registry
        self._resolver = resolver
        self._history = history
        self._pins = Pins(store).pinned()
        self._registered_shared = {
            kind_of(each.kind).source(each): each
            for each in registry.all()
            if kind_of(each.kind).shared
        }

    def list_all(self) -> list[Entry]:
        """Return all that is stored or registered."""
        heads = (
            head
            for kind in sources.kinds().values()
            if not kind.has_pages
            for name in self._snapshots.names(kind.name)
            for head in self._snapshots.heads(kind.name, name)
            if head.snapshot_id
        )
        prose = (each for each in self._registry.all() if kind_of(each.kind).has_pages)
        return [*map(self._crate_entry, heads), *map(self._prose_entry, prose)]

    def find(self, word: str) -> Entry:
        """Return the source of a name: of pages their title, URI or id, of crates ``tokio@^1``.

        Raises:
            SourceNotFound: nothing that is stored is called that; with suggestions.
            CrateNotFound: the crate is stored, but no version that matches.
            InvalidParameter: the requirement is none.
        """
        try:
            registration = self._registry.get(word)
        except SourceNotFound as miss:
            return self._crate(word, miss)
        if kind_of(registration.kind).has_pages:
            return self._prose_entry(registration)
        return self._crate(registration.uri, None)

    def write(self, entries: Iterable[Entry], path: Path, *, force: bool = False) -> Exported:
        """Write a bundle; until it is whole, nothing is to be seen at its place.

        Args:
            entries: its sources, in any order.
            path: its place.
            force: replace a file that is there.

        Raises:
            InvalidParameter: there is a file and no force, or the place cannot be written.
            StoreError: something is not in the store, or is damaged.
            UnreadableInput, TooLarge: as an import of the bundle would.
        """
        files = _Files(self._store, self._snapshots)
        chosen = [files.add(entry) for entry in sort_entries(entries)]
        manifest = Manifest(chosen, files.members())
        body = encode_manifest(manifest)
        # What could not be imported is not worth writing.
        decode_manifest(body, path.name)
        archive.write(path, (MANIFEST, body), manifest.files, files.content, force=force)
        return Exported(manifest, hashlib.sha256(body).hexdigest())

    def _crate(self, word: str, miss: SourceNotFound | None) -> Entry:
        name, _, requirement = word.partition("@")
        rust, cargo = name.replace("-", "_"), name.replace("_", "-")
        stowed: dict[str, Head] = {}
        for kind, spelling in ((LOCAL, rust), (CRATE, name), (CRATE, cargo), (CRATE, rust)):
            heads = self._resolver.stored_heads(kind, spelling)
            if heads and (best := choose(requirement, heads)) is not None:
                return self._crate_entry(heads[best])
            stowed |= heads
        if stowed:
            raise CrateNotFound(
                f"No stowed version of {name} matches {requirement}; stowed: "
                f"{', '.join(sorted(stowed))}. An export asks no upstream: stow it first."
            )
        near = [*(miss.suggestions if miss else ()), *self._near(name)]
        near = sorted(near, key=lambda each: -each["score"])[:5]
        names = ", ".join(each.get("title") or each["name"] for each in near)
        raise SourceNotFound(
            f"Nothing that is stowed is called {word[:200]!r}. An export asks no upstream: stow it"
            f" first with docstow ingest.{f' Near it: {names}.' if names else ''}",
            suggestions=near,
        )

    def _near(self, name: str) -> Iterator[dict[str, Any]]:
        for kind in (LOCAL, CRATE):
            for other, score in similar_names(name, self._snapshots.names(kind)):
                yield {"name": other, "kind": kind, "score": round(score, 2)}

    def _crate_entry(self, head: Head) -> Entry:
        source = head.source
        return self._entry(source, head, head.checked_at, self._registered_shared.get(source))

    def _prose_entry(self, registration: Registration) -> Entry:
        head = self._snapshots.head(registration.source, fresh=True)
        checked_at = head.checked_at if head else registration.created_at
        return self._entry(registration.source, head, checked_at, registration)

    def _entry(
        self, source: Source, head: Head | None, checked_at: datetime, own: Registration | None
    ) -> Entry:
        return Entry(
            source,
            head.snapshot_id if head else "",
            checked_at,
            head.earlier if head and self._history else (),
            self._pins.get(source, ""),
            Registered(own.uri, own.title, dict(own.options), own.keep, bool(own.headers))
            if own
            else None,
        )


class _Files:
    """The files of a bundle, collected before the first of them is written."""

    def __init__(self, store: ObjectStore, snapshots: Snapshots) -> None:
        self._store = store
        self._snapshots = snapshots
        self._members: dict[str, Member] = {}
        #: Where a table is found again: its digest to a snapshot and the table's name.
        self._tables: dict[str, tuple[Snapshot, str]] = {}
        #: The snapshots by their content.
        self._records: dict[str, Snapshot] = {}

    def add(self, entry: Entry) -> Entry:
        """Collect a source's files; return the source as the bundle is to have it.

        Raises:
            StoreError: what answers for it is not in the store.
        """
        contents = []
        head = self._snapshots.head(entry.source)
        for identity in entry.snapshots:
            snapshot = self._snapshots.load(head, identity) if head is not None else None
            if snapshot is not None:
                self._add(snapshot)
                contents.append(snapshot.content)
            elif identity == entry.snapshot:
                reason = f"The snapshot of {entry.title} is not in the store; stow it again."
                raise StoreError(reason)
        if kind_of(entry.source.kind).pushed:
            self._add_texts(entry.source.name)
        answers = contents[0] if entry.snapshot else ""
        earlier = tuple(each for each in dict.fromkeys(contents) if each != answers)
        return replace(entry, snapshot=answers, earlier=earlier)

    def members(self) -> Sequence[Member]:
        """Return all files, in the order of their names."""
        return [self._members[name] for name in sorted(self._members)]

    def content(self, file: Member) -> Iterator[bytes]:
        """Yield the content of one of the files."""
        if digest := blob_digest(file.name):
            snapshot, table = self._tables[digest]
            path = self._snapshots.fetch(snapshot, [table])[table]
            with path.open("rb") as opened:
                while piece := opened.read(_STEP):
                    yield piece
        elif identity := record_id(file.name):
            yield encode_snapshot(neutralize(self._records[identity]))
        elif stored := self._store.get(file.name):
            yield stored.body

    def _add(self, snapshot: Snapshot) -> None:
        body = encode_snapshot(neutralize(snapshot))
        self._put(archive.member(record_name(snapshot.content), body))
        self._records.setdefault(snapshot.content, snapshot)
        for table, digest in snapshot.tables.items():
            self._put(Member(blob_name(digest), snapshot.sizes[table], digest))
            self._tables.setdefault(digest, (snapshot, table))

    def _add_texts(self, collection_id: str) -> None:
        for place in self._store.list(collection.prefix(collection_id)):
            if stored := self._store.get(place.key):
                self._put(archive.member(place.key, stored.body))

    def _put(self, file: Member) -> None:
        self._members[file.name] = file
