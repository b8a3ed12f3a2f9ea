"""Snapshots: published so that readers see the old one or the new one, whole.

This room knows the layout of the store and the order of writes. It does not know what the
tables hold, and imports nothing to read them with: a record is served without DuckDB or numpy.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from docstow.cache import BlobCache
from docstow.errors import StoreError
from docstow.heads import Heads, moved
from docstow.model import Head, Recipe, Revision, Snapshot, Source, snapshot_id
from docstow.objects import AlreadyThere, Conflict, LocalFiles, ObjectStore
from docstow.records import blob_key, decode_snapshot, encode_snapshot, head_key, snapshot_key

__all__ = ["BlobCache", "Snapshots", "in_parallel"]

PARALLEL = 8
SNAPSHOTS_KEPT = 256
_ID = re.compile(r"[0-9a-f]{64}")
_T = TypeVar("_T")
_R = TypeVar("_R")


class Snapshots:
    """Publishes and reads snapshots. Safe to share between threads.

    Args:
        store: where they live.
        cache: local files of blobs; unused for a store whose objects are files here already.
        freshness_s: for so long a head is answered from memory.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        store: ObjectStore,
        cache: BlobCache,
        *,
        freshness_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._cache = cache
        self._heads = Heads(store, freshness_s=freshness_s, clock=clock)
        self._guard = threading.Lock()
        self._loaded: OrderedDict[str, Snapshot] = OrderedDict()

    def publish(
        self,
        revision: Revision,
        recipe: Recipe,
        tables: Mapping[str, Path],
        digests: list[str],
        counts: Mapping[str, int],
        facts: Mapping[str, Any],
        now: datetime,
        *,
        expected_generation: int | None = None,
        keep: int = 1,
    ) -> Snapshot:
        """Store the tables, then the snapshot's record, then make it the answer of its source.

        What is already there counts as done, so a publish that was killed is simply repeated.

        Args:
            revision: what was fetched; its source is whose head changes.
            recipe: what made the tables.
            tables: table name to its Parquet file.
            digests: the documents' digests, in order; with revision and recipe they are the id.
            counts: rows by table and documents by kind.
            facts: what the source says of itself; JSON values.
            now: when the upstream was asked.
            expected_generation: see :meth:`republish`.
            keep: see :meth:`republish`.

        Raises:
            Conflict: the head moved on from ``expected_generation`` to another snapshot.
            StoreError: the store cannot be used.
        """
        blobs = dict(zip(tables, in_parallel(self._upload, list(tables.values())), strict=True))
        snapshot = Snapshot(
            id=snapshot_id(revision, digests, recipe),
            revision=revision,
            recipe=recipe,
            tables={name: digest for name, (digest, _) in blobs.items()},
            sizes={name: size for name, (_, size) in blobs.items()},
            counts=counts,
            facts=facts,
            created_at=now,
        )
        return self.republish(
            self._record(snapshot), now, expected_generation=expected_generation, keep=keep
        )

    def adopt(
        self,
        snapshot: Snapshot,
        now: datetime,
        *,
        earlier: Sequence[Snapshot] = (),
        expected_generation: int | None = None,
        keep: int = 1,
    ) -> Snapshot:
        """Publish a snapshot that another store made, and whose blobs are stored here by now.

        Args:
            snapshot: as its record was there.
            now: when the upstream was asked.
            earlier: snapshots of the same source that come along as kept ones.
            expected_generation: see :meth:`republish`.
            keep: see :meth:`republish`.

        Raises:
            Conflict: the head moved on from ``expected_generation`` to another snapshot.
            StoreError: the store cannot be used.
        """
        kept = [self._record(each) for each in earlier]
        adopted = self.republish(
            self._record(snapshot), now, expected_generation=expected_generation, keep=keep
        )
        if kept:
            self._remember(adopted, kept, keep)
        return adopted

    def _remember(self, snapshot: Snapshot, kept: Sequence[Snapshot], keep: int) -> None:
        """Let the head of what answers name further kept snapshots, those made last first."""

        def name(current: Head | None) -> Head:
            if current is None or current.snapshot_id != snapshot.id:
                raise Conflict(head_key(snapshot.revision.source))
            loaded = [self.load(each) for each in current.earlier]
            known = {each.id: each for each in (*loaded, *kept) if each is not None}
            known.pop(snapshot.id, None)
            newest = sorted(known.values(), key=lambda each: each.created_at, reverse=True)
            earlier = tuple(each.id for each in newest[: max(keep - 1, 0)])
            if earlier == current.earlier:
                return current
            return replace(current, earlier=earlier, generation=current.generation + 1)

        self._heads.change(snapshot.revision.source, name)

    def republish(
        self,
        snapshot: Snapshot,
        now: datetime,
        *,
        expected_generation: int | None = None,
        keep: int = 1,
    ) -> Snapshot:
        """Make a stowed snapshot the answer of its source: the last step of :meth:`publish`.

        The last one to publish wins. The generation rises by one whenever the head comes to name
        another snapshot or origin; if it names this one already, only ``checked_at`` is renewed.

        Args:
            snapshot: with record and blobs in the store.
            now: when the upstream was asked.
            expected_generation: the head's generation (0: no head) when the work began. A fence
                for sources that change: slow work never replaces what others published since.
                Exact versions of crates need none, as all who publish one publish the same.
            keep: how many of the source's snapshots the head names from now on, this one
                included. It may be one of those that are kept: going back is a normal move.

        Raises:
            Conflict: the head moved on from ``expected_generation`` to another snapshot.
            StoreError: the store cannot be used.
        """
        source, origin = snapshot.revision.source, snapshot.revision.origin

        def point(current: Head | None) -> Head:
            head = current or Head(source, "", 0, now)
            checked_at = max(head.checked_at, now)
            if (head.snapshot_id, head.origin) == (snapshot.id, origin):
                return replace(head, checked_at=checked_at)
            if expected_generation not in (None, head.generation):
                raise Conflict(head_key(source))
            return replace(moved(head, snapshot.id, keep), checked_at=checked_at, origin=origin)

        self._heads.change(source, point)
        return snapshot

    def withdraw(self, source: Source, now: datetime, *, keep: int = 1) -> Head:
        """Let no snapshot answer for a source any more, and fence off whoever is at work on one.

        What answered until now is kept as an earlier snapshot, as far as ``keep`` allows.
        """

        def empty(current: Head | None) -> Head:
            head = current or Head(source, "", 0, now)
            return replace(moved(head, "", keep + 1), checked_at=max(head.checked_at, now))

        return self._heads.change(source, empty)

    def touch(self, source: Source, now: datetime) -> Head | None:
        """Note that the upstream was asked and has nothing new; None if there is no head."""
        if self._heads.get(source, fresh=True) is None:
            return None

        def renew(current: Head | None) -> Head:
            if current is None:
                raise StoreError(f"The head of {source.key} was deleted; stow it again.")
            return replace(current, checked_at=max(current.checked_at, now))

        return self._heads.change(source, renew)

    def head(self, source: Source, *, fresh: bool = False) -> Head | None:
        """Which snapshot answers for the source; None if it was never stowed.

        Args:
            source: with its exact version.
            fresh: ask the store even if the answer in memory is young.
        """
        return self._heads.get(source, fresh=fresh)

    def heads(self, kind: str, name: str) -> list[Head]:
        """All heads of a name, one per version and target, in the order of their keys."""
        return self._heads.named(kind, name)

    def names(self, kind: str) -> list[str]:
        """All names of a kind that were ever stowed, in alphabetical order."""
        return self._heads.names(kind)

    def load(self, identity: str) -> Snapshot | None:
        """The record of a snapshot; None if there is none of that id.

        Raises:
            StoreError: it is damaged, or the store cannot be used.
        """
        with self._guard:
            if identity in self._loaded:
                self._loaded.move_to_end(identity)
                return self._loaded[identity]
        stored = self._store.get(snapshot_key(identity)) if _ID.fullmatch(identity) else None
        if stored is None:
            return None
        snapshot = decode_snapshot(stored.body, snapshot_key(identity))
        with self._guard:
            self._loaded[identity] = snapshot
            while len(self._loaded) > SNAPSHOTS_KEPT:
                self._loaded.popitem(last=False)
        return snapshot

    def stowed(self, identity: str) -> Snapshot | None:
        """The snapshot of that id if all its blobs are there too, so that nothing is to be made."""
        snapshot = self.load(identity)
        if snapshot is None:
            return None
        found = in_parallel(self._stored_size, list(snapshot.tables.values()))
        return snapshot if found == list(snapshot.sizes.values()) else None

    def fetch(self, snapshot: Snapshot, names: Sequence[str] = ()) -> dict[str, Path]:
        """Local files of the snapshot's tables, verified; all of them unless some are named.

        Open them soon, or ask again: the cache may drop a file half a minute after it was asked
        for. Asking for a file that is there costs microseconds.

        Raises:
            StoreError: there is no such table, or its blob is missing or damaged.
        """
        wanted = list(names or snapshot.tables)
        missing = [name for name in wanted if name not in snapshot.tables]
        if missing:
            raise StoreError(
                f"The snapshot {snapshot.id} has no table {', '.join(missing)}; it has"
                f" {', '.join(snapshot.tables)}. Stow its source again."
            )
        files = {
            name: self._at_hand(snapshot.tables[name], snapshot.sizes[name]) for name in wanted
        }
        absent = {snapshot.tables[name]: snapshot.sizes[name] for name in wanted if not files[name]}
        found = dict(zip(absent, in_parallel(self._obtain, list(absent.items())), strict=True))
        return {name: path or found[snapshot.tables[name]] for name, path in files.items()}

    def store_blob(self, body: bytes) -> str:
        """Store a table's bytes ahead of the snapshot that will name them; their digest."""
        digest = hashlib.sha256(body).hexdigest()
        with contextlib.suppress(AlreadyThere):
            self._store.create(blob_key(digest), body)
        return digest

    def _record(self, snapshot: Snapshot) -> Snapshot:
        """Store a snapshot's record, or return the one that is there: it is immutable.

        Only a record whose blobs are lost is replaced: others made the same documents into other
        bytes, and ours are there.
        """
        key, body = snapshot_key(snapshot.id), encode_snapshot(snapshot)
        with contextlib.suppress(AlreadyThere):
            self._store.create(key, body)
            return snapshot
        earlier = self.stowed(snapshot.id)
        if earlier is not None:
            return earlier
        stored = self._store.get(key)
        if stored is None:
            raise StoreError(f"{key} was deleted while it was being published; try again.")
        self._store.swap(key, body, stored.etag)
        with self._guard:
            self._loaded.pop(snapshot.id, None)
        return snapshot

    def _upload(self, path: Path) -> tuple[str, int]:
        """Store a file under its digest; digest and size."""
        body = path.read_bytes()
        return self.store_blob(body), len(body)

    def _stored_size(self, digest: str) -> int | None:
        return next((entry.size for entry in self._store.list(blob_key(digest))), None)

    def _at_hand(self, digest: str, size: int) -> Path | None:
        """The file of a blob if it is here: the store's own on this machine, or the cache's."""
        if isinstance(self._store, LocalFiles):
            path = self._store.local_path(blob_key(digest))
            # A file that cannot be read is asked of the store, which says why.
            with contextlib.suppress(OSError):
                if self._cache.is_sound(path, digest, size):
                    return path
        return self._cache.find(digest, size)

    def _obtain(self, blob: tuple[str, int]) -> Path:
        digest, size = blob
        return self._cache.obtain(digest, size, lambda: self._download(digest))

    def _download(self, digest: str) -> bytes:
        stored = self._store.get(blob_key(digest))
        if stored is None:
            raise StoreError(f"The blob {digest} is not in the store; stow its source again.")
        return stored.body


def in_parallel(work: Callable[[_T], _R], items: Sequence[_T]) -> list[_R]:
    """The results of waiting for stores or upstreams, in the order of the items."""
    if len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(PARALLEL, len(items))) as pool:
        return list(pool.map(work, items))
