"""Snapshots: published so that readers see the old one or the new one, whole.

This room knows the layout of the store and the order of writes. It does not know what the
tables hold, and imports nothing to read them with: a record is served without DuckDB or numpy.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from docstow.core.concurrency import in_parallel
from docstow.core.errors import StoreError
from docstow.core.model import Head, Recipe, Revision, Snapshot, Source, in_epoch, snapshot_id
from docstow.store.blobs import BlobCache, Blobs
from docstow.store.heads import Fenced, Heads, fenced, moved
from docstow.store.objects import AlreadyThere, Conflict, ObjectStore
from docstow.store.records import decode_snapshot, encode_snapshot, head_key, place_of, snapshot_key

__all__ = ["BlobCache", "Fenced", "Snapshots"]

#: How often a publisher begins again whose epoch was ended.
ATTEMPTS = 10
SNAPSHOTS_KEPT = 256
_ID = re.compile(r"[0-9a-f]{64}")


class Snapshots:
    """Publishes and reads snapshots. Safe to share between threads.

    Args:
        store: where they live.
        cache: local files of blobs; unused for a store whose objects are files here already.
        freshness_s: for so long a head is answered from memory.
        clock: monotonic seconds.
        used: told of every source of which a snapshot is asked for.
    """

    def __init__(
        self,
        store: ObjectStore,
        cache: BlobCache,
        *,
        freshness_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[Source], object] = lambda _: None,
    ) -> None:
        self._store = store
        self._used = used
        self._blobs = Blobs(store, cache)
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
        made = Snapshot(
            id="",
            revision=revision,
            recipe=recipe,
            tables={},
            sizes={},
            counts=counts,
            facts=facts,
            created_at=now,
            content=snapshot_id(revision, digests, recipe),
        )
        return self.adopt(made, tables, now, expected_generation=expected_generation, keep=keep)

    def adopt(
        self,
        made: Snapshot,
        tables: Mapping[str, Path],
        now: datetime,
        *,
        expected_generation: int | None = None,
        keep: int = 1,
    ) -> Snapshot:
        """Publish what another store's record says, from files of its tables.

        Args:
            made: its content stays; id, epoch and the place of its blobs become this store's.
            tables: table name to Parquet file.
            now: when the upstream was asked.
            expected_generation: see :meth:`republish`.
            keep: see :meth:`republish`.

        Raises:
            as :meth:`publish` does.
        """
        source = made.revision.source
        for epoch in self._epochs(source, now):
            upload = partial(self._blobs.upload, place=place_of(source, epoch))
            blobs = dict(zip(tables, in_parallel(upload, list(tables.values())), strict=True))
            snapshot = replace(
                made,
                id=in_epoch(made.content, epoch),
                tables={name: digest for name, (digest, _) in blobs.items()},
                sizes={name: size for name, (_, size) in blobs.items()},
                epoch=epoch,
                place=place_of(source, epoch),
            )
            with contextlib.suppress(Fenced):
                return self.republish(
                    self._record(snapshot), now, expected_generation=expected_generation, keep=keep
                )
        raise StoreError(
            f"The store was swept {ATTEMPTS} times while {source.key} was published; try again."
        )

    def _epochs(self, source: Source, now: datetime) -> Iterator[int]:
        """The epoch of a source's head, and what it is by then whenever it was ended meanwhile.

        The head comes first of all: whatever is written has one by which it can be given up.
        """
        for _ in range(ATTEMPTS):
            head = self._heads.get(source, fresh=True)
            if head is None:
                head = self._heads.change(source, lambda head: head or Head(source, "", 0, now))
            yield head.epoch

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
            Fenced: the snapshot was given up, and may be deleted at any moment: make it anew.
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
            if snapshot.epoch != head.epoch and snapshot.id not in head.named:
                raise Fenced(head_key(source))
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
        snapshot = self._loaded_or_read(identity)
        if snapshot is not None:
            self._used(snapshot.revision.source)
        return snapshot

    def _loaded_or_read(self, identity: str) -> Snapshot | None:
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

    def identity(self, revision: Revision, digests: list[str], recipe: Recipe) -> str:
        """The id under which these documents are published, or would be now."""
        content = snapshot_id(revision, digests, recipe)
        head = self._heads.get(revision.source, fresh=True)
        if head is None or not head.epoch:
            return content
        known = (self.load(identity) for identity in head.named)
        same = (each.id for each in known if each is not None and each.content == content)
        return next(same, in_epoch(content, head.epoch))

    def stowed(self, identity: str) -> Snapshot | None:
        """The snapshot of that id if all its blobs are there too, so that nothing is to be made."""
        snapshot = self.load(identity)
        if snapshot is None:
            return None
        return snapshot if self._blobs.whole(snapshot) else None

    def fetch(self, snapshot: Snapshot, names: Sequence[str] = ()) -> dict[str, Path]:
        """Local files of the snapshot's tables, verified; see :meth:`Blobs.fetch`."""
        return self._blobs.fetch(snapshot, names)

    def _record(self, snapshot: Snapshot) -> Snapshot:
        """Store a snapshot's record, or return the one that is there: it is immutable.

        Raises:
            Fenced: the blobs of the record that is there are lost, so its epoch was ended.
        """
        source = snapshot.revision.source
        with contextlib.suppress(AlreadyThere):
            self._store.create(snapshot_key(snapshot.id), encode_snapshot(snapshot))
            return snapshot
        earlier = self.stowed(snapshot.id)
        if earlier is not None:
            return earlier

        def end(head: Head | None) -> Head:
            head = head or Head(source, "", 0, snapshot.created_at)
            return fenced(head) if head.epoch == snapshot.epoch else head

        self._heads.change(source, end)
        raise Fenced(head_key(source))
