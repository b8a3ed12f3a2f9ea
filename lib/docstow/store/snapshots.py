"""Snapshots: published so that readers see the old one or the new one, whole.

A record is only trusted when a head names it and it has the digest that the head holds. Nothing
here reads tables: a record is served without DuckDB or numpy.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from docstow.core import auth
from docstow.core.errors import StoreError
from docstow.core.model import Head, Recipe, Revision, Snapshot, Source, in_epoch, snapshot_id
from docstow.core.patterns import lazy_pattern
from docstow.store.blobs import BlobCache, Blobs
from docstow.store.heads import (
    LONGEST_COPY,
    Fenced,
    Heads,
    damaged,
    decode_snapshot,
    encode_snapshot,
    end_epoch,
    find_mismatch,
    has_copy,
    head_key,
    place_of,
    point_to,
    record_digest,
    snapshot_key,
)
from docstow.store.objects import AlreadyThere, Conflict, ObjectStore

__all__ = ["BlobCache", "Fenced", "Snapshots"]

#: How often a publisher begins again whose epoch was ended.
ATTEMPTS = 10
SNAPSHOTS_KEPT = 256
_ID = lazy_pattern(r"[0-9a-f]{64}")


class Snapshots:
    """Publishes and reads snapshots. Safe to share between threads.

    Args:
        store: where they live.
        cache: local files of blobs; unused for a store whose objects are files here already.
        freshness_s: for so long a head is answered from memory.
        clock: monotonic seconds.
        used: called with every source of which a snapshot is read.
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
        self.cache = cache
        self._blobs = Blobs(store, cache)
        self._heads = Heads(store, freshness_s=freshness_s, clock=clock)
        self._guard = threading.Lock()
        #: Records by id, each with the digest of its stored form.
        self._loaded: OrderedDict[str, tuple[Snapshot, str]] = OrderedDict()

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
            uploaded = self._blobs.upload(made, tables, place_of(source, epoch))
            snapshot = replace(uploaded, id=in_epoch(made.content, epoch), epoch=epoch)
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
            yield self._heads.change(source, lambda head: head or Head(source, "", 0, now)).epoch

    def republish(
        self,
        snapshot: Snapshot,
        now: datetime,
        *,
        expected_generation: int | None = None,
        keep: int = 1,
    ) -> Snapshot:
        """Make a stored snapshot the answer of its source: the last step of :meth:`publish`.

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
            return replace(point_to(head, snapshot.id, keep), checked_at=checked_at, origin=origin)

        self._change(source, point, published=snapshot)
        return snapshot

    def withdraw(self, source: Source, now: datetime, *, keep: int = 1) -> Head:
        """Let no snapshot answer for a source any more, and fence off whoever is at work on one.

        What answered until now is kept as an earlier snapshot, as far as ``keep`` allows.
        """

        def empty(current: Head | None) -> Head:
            head = current or Head(source, "", 0, now)
            return replace(point_to(head, "", keep + 1), checked_at=max(head.checked_at, now))

        return self._change(source, empty)

    def touch(self, source: Source, now: datetime) -> Head | None:
        """Note that the upstream was asked and has nothing new; None if there is no head."""
        if self._heads.get(source, fresh=True) is None:
            return None

        def renew(current: Head | None) -> Head:
            if current is None:
                raise StoreError(f"The head of {source.key} was deleted; stow it again.")
            return replace(current, checked_at=max(current.checked_at, now))

        return self._change(source, renew)

    def head(self, source: Source, *, fresh: bool = False) -> Head | None:
        """Return the head of a source; None if it was never stored.

        Args:
            source: with its exact version.
            fresh: ask the store even if the answer in memory is young.
        """
        return self._heads.get(source, fresh=fresh)

    def heads(self, kind: str, name: str) -> list[Head]:
        """Return all heads of a name, one per version and target, in the order of their keys."""
        return self._heads.named(kind, name)

    def names(self, kind: str) -> list[str]:
        """Return all names of a kind that were ever stored, in alphabetical order."""
        return self._heads.names(kind)

    def answering(self, source: Source, *, fresh: bool = False) -> Snapshot | None:
        """Return the snapshot that answers for a source now; None if there is none.

        Raises:
            StoreError: its head or record is damaged, or the store cannot be used.
        """
        head = self._heads.get(source, fresh=fresh)
        return self.load(head) if head is not None else None

    def is_at_hand(self, source: Source) -> bool:
        """Return whether :meth:`answering` answers for a source without asking the store."""
        head = self._heads.young(source)
        return head is not None and head.snapshot_id in self._loaded

    def find_local(self, kind: str, name: str) -> list[Snapshot]:
        """Return what answers for the versions of a name and is here whole, the newest first.

        Only what this process has read and the local files are looked at: the store is not asked.
        """
        found = []
        for head in self._heads.remembered(kind, name):
            with self._guard:
                loaded = self._loaded.get(head.snapshot_id)
            if loaded is None or find_mismatch(*loaded, head.snapshot_id, head):
                continue
            if not auth.sees_snapshot(loaded[0].revision):
                continue
            if self._blobs.is_local(loaded[0]):
                found.append(loaded[0])
        return sorted(found, key=lambda each: each.created_at, reverse=True)

    def load(self, head: Head, identity: str = "") -> Snapshot | None:
        """Return the record of a snapshot that a head names; None if it is not in the store.

        A caller that is bound to sources is given those of these alone.

        Args:
            head: holds the digest of the record, unless an older release wrote it.
            identity: one of the ids that the head names; without it, what answers now.

        Raises:
            StoreError: the record is damaged or another one is in its place, or the store cannot
                be used.
        """
        identity = identity or head.snapshot_id
        if identity not in head.named or (loaded := self._load(identity, head)) is None:
            return None
        if find_mismatch(*loaded, identity, head):
            # The record or the head that was remembered may be the older one.
            with self._guard:
                self._loaded.pop(identity, None)
            current = self._heads.get(head.source, fresh=True)
            if current is not None and identity in current.records:
                head = current
            if (loaded := self._load(identity)) is None:
                return None
            if find_mismatch(*loaded, identity, head):
                with self._guard:
                    self._loaded.pop(identity, None)
                raise damaged(snapshot_key(identity))
        snapshot, _ = loaded
        if not auth.sees_snapshot(snapshot.revision):
            return None
        self._used(snapshot.revision.source)
        return snapshot

    def _load(self, identity: str, head: Head | None = None) -> tuple[Snapshot, str] | None:
        """Return a record and the digest of its stored form, neither of them checked.

        The copy that a head holds, if one is given, stands for the record.
        """
        with self._guard:
            if identity in self._loaded:
                self._loaded.move_to_end(identity)
                return self._loaded[identity]
        if head is not None and identity == head.snapshot_id and has_copy(head):
            body = head.record.encode()
            snapshot = decode_snapshot(body, head_key(head.source))
            return self._remember(identity, snapshot, body)
        stored = self._store.get(snapshot_key(identity)) if _ID.fullmatch(identity) else None
        if stored is None:
            return None
        snapshot = decode_snapshot(stored.body, snapshot_key(identity))
        return self._remember(identity, snapshot, stored.body)

    def _remember(self, identity: str, snapshot: Snapshot, body: bytes) -> tuple[Snapshot, str]:
        with self._guard:
            loaded = self._loaded[identity] = snapshot, record_digest(body)
            self._loaded.move_to_end(identity)
            while len(self._loaded) > SNAPSHOTS_KEPT:
                self._loaded.popitem(last=False)
        return loaded

    def _change(
        self,
        source: Source,
        change: Callable[[Head | None], Head],
        published: Snapshot | None = None,
    ) -> Head:
        """Change a head, which then holds the digest of every record that it names.

        That of the snapshot that is ``published`` is always taken anew: its record may have been
        deleted and written again.
        """
        renewed = published.id if published is not None else ""

        def with_digests(current: Head | None) -> Head:
            head = change(current)
            records = dict(head.records)
            for identity in head.named:
                if identity in records and identity != renewed:
                    continue
                with contextlib.suppress(StoreError):  # a damaged record is a matter for verify
                    loaded = self._load(identity)
                    unsure = replace(head, records={})
                    if loaded is None or find_mismatch(*loaded, identity, unsure):
                        continue
                    if identity != renewed or loaded[0] == published:
                        records[identity] = loaded[1]
            copied = replace(head, records=records, record=self._copy(head, records))
            same = (records, copied.record) == (head.records, head.record)
            return head if same else copied

        return self._heads.change(source, with_digests)

    def _copy(self, head: Head, records: Mapping[str, str]) -> str:
        """Return the stored form of the record of what answers; empty if it is long or unsure."""
        if has_copy(replace(head, records=records)):
            return head.record
        with self._guard:
            snapshot, digest = self._loaded.get(head.snapshot_id, (None, ""))
        body = encode_snapshot(snapshot) if snapshot is not None else b""
        known = digest == records.get(head.snapshot_id) == record_digest(body)
        return body.decode() if known and len(body) <= LONGEST_COPY else ""

    def source_of(self, identity: str) -> Source | None:
        """Return whose snapshot has an id, be it kept or not; None if there is no such record.

        Raises:
            StoreError: the record is damaged, or the store cannot be used.
        """
        loaded = self._load(identity)
        if loaded is None or not auth.sees_snapshot(loaded[0].revision):
            return None
        return loaded[0].revision.source

    def stored(self, source: Source, identity: str) -> Snapshot | None:
        """Return a snapshot that its source's head names and all of whose blobs are there.

        Such a one need not be made again; see :meth:`republish`.
        """
        return self._stored(self._heads.get(source, fresh=True), identity)

    def find(
        self, revision: Revision, digests: list[str], recipe: Recipe
    ) -> tuple[str, Snapshot | None]:
        """Return the id under which these documents are published, or would be now.

        With it, what is :meth:`stored` under it, by the same look at the head.
        """
        head = self._heads.get(revision.source, fresh=True)
        identity = snapshot_id(revision, digests, recipe)
        if head is not None and head.epoch:
            named = (self.load(head, each) for each in head.named)
            same = (each.id for each in named if each is not None and each.content == identity)
            identity = next(same, in_epoch(identity, head.epoch))
        return identity, self._stored(head, identity)

    def _stored(self, head: Head | None, identity: str) -> Snapshot | None:
        if head is None:
            return None
        with self._guard:
            self._loaded.pop(identity, None)  # a copy does not tell that the record is there
        snapshot = self.load(replace(head, record=""), identity)
        return snapshot if snapshot is not None and self._blobs.whole(snapshot) else None

    def fetch(self, snapshot: Snapshot, names: Sequence[str] = ()) -> dict[str, Path]:
        """Return local files of the snapshot's tables, verified; see :meth:`Blobs.fetch`."""
        return self._blobs.fetch(snapshot, names)

    def file(self, snapshot: Snapshot, name: str) -> Path:
        """Return the local file of one table; see :meth:`fetch`."""
        return self.fetch(snapshot, [name])[name]

    def _record(self, snapshot: Snapshot) -> Snapshot:
        """Store a snapshot's record, or return the one that is there: it is immutable.

        Raises:
            Fenced: the record that is there cannot be trusted or its blobs are lost, so its epoch
                was ended.
        """
        source, body = snapshot.revision.source, encode_snapshot(snapshot)
        with contextlib.suppress(AlreadyThere):
            self._store.create(snapshot_key(snapshot.id), body)
            self._remember(snapshot.id, snapshot, body)
            return snapshot
        there = self.stored(source, snapshot.id) or self._find_same(snapshot, body)
        if there is not None:
            return there

        def end(head: Head | None) -> Head:
            head = head or Head(source, "", 0, snapshot.created_at)
            return end_epoch(head) if head.epoch == snapshot.epoch else head

        self._change(source, end)
        raise Fenced(head_key(source))

    def _find_same(self, snapshot: Snapshot, body: bytes) -> Snapshot | None:
        """Return the record in a snapshot's place if it differs only in when it was made.

        No head names it yet, so nothing but the snapshot itself can vouch for it.
        """
        stored = self._store.get(snapshot_key(snapshot.id))
        try:
            there = decode_snapshot(stored.body, snapshot_key(snapshot.id)) if stored else None
        except StoreError:
            return None
        if stored is None or there is None:
            return None
        if encode_snapshot(replace(there, created_at=snapshot.created_at)) != body:
            return None
        self._remember(there.id, there, stored.body)
        return there if self._blobs.whole(there) else None
