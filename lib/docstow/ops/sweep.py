"""Garbage collection: delete what no head names any more, and never anything else.

Why no head can ever name a record or blob that is missing, however publishers, evictors and
sweepers interleave, stall between any two requests, die, or read a wrong clock:

1.  Whatever is written belongs to a source and to one epoch of its head. A record says both; a
    blob's key has both. The head is there before they are (``Snapshots.adopt``), it is never
    deleted, and its epoch never falls.
2.  A publisher reads the epoch, writes blobs and then the record under it, and at last swaps the
    head. The swap is refused unless the snapshot is of the head's epoch, or is named by the head
    already. Records never change, and name blobs of their own source and epoch only.
3.  So an object of an epoch that is over, which the head does not name, is *dead*: no swap that can
    still succeed names it. It stays dead for ever, for epochs never fall. That needs one look at
    one state of the head; neither order nor age of what was listed matters.
4.  The sweeper ends an epoch by swapping the very state of the head in which it saw something that
    is not named. A publisher of that epoch who comes later is refused (``Fenced``), and begins
    again under the next one, with another id and other keys. So two who made the same snapshot
    under one epoch share all objects, and the same content made later shares none.
5.  Only dead objects are deleted. A DELETE that arrives a day late hits what is dead still; a PUT
    that arrives late writes what is dead at birth, and the next sweep finds it.
6.  A write whose answer is lost counts as done or not done, and both are covered: each step is
    decided anew on the state that is read next. A head's body never occurs twice, because either
    its generation, its epoch or its ``checked_at`` has risen; so a tag names one state.

Older releases named blobs by their digest alone, and snapshots of several sources share them. They
are named only by records of those releases, of which no more are made: such a blob is dead when
every such record that names it is. Releases without epochs refuse heads and records that have
them, but must not write to a store while upkeep runs on it.

None of this relies on clocks. Readers do: one that read a head goes on for a while with what it
named. So what is dead is first written down, with the store's time, and deleted a day later;
and an epoch is ended only for what is a day old, so that nobody who is at work is disturbed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from docstow.core.model import Head, Snapshot, Source
from docstow.store.heads import (
    StoredHead,
    encode_head,
    end_epoch,
    head_key,
    list_blobs,
    replace_head,
    snapshot_key,
)
from docstow.store.inventory import (
    HEADS,
    SNAPSHOTS,
    Blob,
    Listing,
    in_parallel,
    list_store,
    owner_of,
    parse_blob_key,
    store_time,
)
from docstow.store.objects import AlreadyThere, Entry, ObjectStore
from docstow.store.update import Codec, update

#: For so long readers may go on with what a head named.
GRACE = timedelta(hours=24)
#: When each dead object was first seen to be dead, by the store's clock.
LEDGER = "upkeep/dead.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep has done.

    Attributes:
        fenced: heads whose epoch was ended.
        dead: objects that wait for the end of their grace.
        deleted: objects that were deleted.
        bytes: what those weighed.
        unowned: blobs that belong to no head; they are left alone.
        contended: heads that others changed meanwhile; the next sweep comes back to them.
    """

    fenced: int = 0
    dead: int = 0
    deleted: int = 0
    bytes: int = 0
    unowned: int = 0
    contended: int = 0


def sweep(store: ObjectStore, *, grace: timedelta = GRACE, listing: Listing | None = None) -> Swept:
    """End epochs that have left something behind, and delete what has been dead for long enough.

    Any number of sweeps may run at once, and any may die at any point.

    Args:
        store: what to sweep.
        grace: for how long readers may go on with what a head named; by the store's clock.
        listing: a look at the store, however old; one is taken if it is left out.

    Raises:
        StoreError: the store cannot be used.
    """
    now = store_time(store)
    collector = _Collector(store, listing or list_store(store), now - grace)
    dead = collector.find_dead()
    due, waiting = _note(store, dead, now, grace)
    _delete(store, due)
    return Swept(
        fenced=collector.fenced,
        dead=waiting,
        deleted=len(due),
        bytes=sum(dead[key].size for key in due),
        unowned=collector.unowned,
        contended=collector.contended,
    )


class _Collector:
    """One decision on each head of a listing."""

    def __init__(self, store: ObjectStore, listing: Listing, oldest: datetime) -> None:
        self._store = store
        self._listing = listing
        self._oldest = oldest
        self._records: dict[Source, list[Snapshot]] = {}
        for snapshot in listing.records.values():
            self._records.setdefault(snapshot.revision.source, []).append(snapshot)
        self._blobs: dict[str, list[tuple[Blob, Entry]]] = {}
        for entry in listing.blobs.values():
            if (blob := parse_blob_key(entry.key)) is not None:
                self._blobs.setdefault(blob.owner, []).append((blob, entry))
        self.fenced = self.contended = self.unowned = 0

    def find_dead(self) -> dict[str, Entry]:
        """Return everything that is dead, by key, after ending epochs where need be."""
        self._adopt_orphans()
        dead: dict[str, Entry] = {}
        for source, stored in self._listing.heads.items():
            dead |= self._find_dead_of(source, stored)
        owners = {owner_of(source) for source in self._listing.heads}
        self.unowned = sum(
            len(blobs) for owner, blobs in self._blobs.items() if owner and owner not in owners
        )
        return dead | {entry.key: entry for entry in self._find_dead_shared(dead)}

    def _adopt_orphans(self) -> None:
        """Make a head for each record that has none: older releases wrote the head last."""
        unreadable = {key for key in self._listing.unreadable if key.startswith(HEADS)}
        for source, records in self._records.items():
            key = head_key(source)
            entries = [self._listing.listed.get(each.id) for each in records]
            old = all(entry is not None and entry.modified <= self._oldest for entry in entries)
            if source in self._listing.heads or key in unreadable or not old:
                continue
            epoch = max(each.epoch for each in records) + 1
            head = Head(source, "", 0, records[0].created_at, epoch=epoch)
            try:
                etag = self._store.create(key, encode_head(head))
            except AlreadyThere:
                self.contended += 1
                continue
            self.fenced += 1
            self._listing.heads[source] = StoredHead(head, etag)

    def _find_dead_of(self, source: Source, stored: StoredHead) -> dict[str, Entry]:
        """Return what is dead of one source, after ending its epoch if need be."""
        head, garbage = stored.head, list(self._find_garbage(source, stored.head))
        if any(epoch == head.epoch and e.modified <= self._oldest for epoch, e in garbage):
            if replace_head(self._store, stored, end_epoch(head)):
                head = end_epoch(head)
                self.fenced += 1
            else:
                self.contended += 1
        return {entry.key: entry for epoch, entry in garbage if epoch < head.epoch}

    def _find_garbage(self, source: Source, head: Head) -> Iterator[tuple[int, Entry]]:
        """Yield epoch and entry of every object of a source that its head does not name."""
        for snapshot in self._records.get(source, ()):
            record = self._listing.listed.get(snapshot.id)
            if snapshot.id not in head.named and record is not None:
                yield snapshot.epoch, record
        if not self._listing.whole(head):
            return  # what it names cannot be read, so its blobs are unknown: a matter for verify
        named = self._listing.weight([head])
        for blob, entry in self._blobs.get(owner_of(source), ()):
            if entry.key not in named:
                yield blob.epoch, entry

    def _find_dead_shared(self, dead: dict[str, Entry]) -> Iterator[Entry]:
        """Yield the blobs of older releases that no record names which is alive."""
        if self._listing.unreadable:
            return  # it is unknown what those name
        alive = {
            key
            for snapshot in self._listing.records.values()
            if not snapshot.place and snapshot_key(snapshot.id) not in dead
            for key, _ in list_blobs(snapshot)
        }
        yield from (entry for _, entry in self._blobs.get("", ()) if entry.key not in alive)


def _note(
    store: ObjectStore, dead: dict[str, Entry], now: datetime, grace: timedelta
) -> tuple[list[str], int]:
    """Write down what is dead; return the keys whose grace is over, and how many wait."""

    def note(known: dict[str, datetime] | None) -> dict[str, datetime]:
        return {key: min((known or {}).get(key, now), now) for key in dead}

    done = update(store, LEDGER, _LEDGER, note)
    due = [key for key, since in (done.after or {}).items() if now - since >= grace]
    return due, len(dead) - len(due)


def _delete(store: ObjectStore, due: list[str]) -> None:
    """Delete dead objects, records first: not even a dead one is to name blobs that are gone."""
    in_parallel(store.delete, [key for key in due if key.startswith(SNAPSHOTS)])
    in_parallel(store.delete, [key for key in due if not key.startswith(SNAPSHOTS)])
    gone = set(due)
    if gone:
        update(
            store,
            LEDGER,
            _LEDGER,
            lambda known: {key: since for key, since in (known or {}).items() if key not in gone},
        )


def _encode_ledger(stamps: dict[str, datetime]) -> bytes:
    dead = {key: since.isoformat() for key, since in sorted(stamps.items())}
    return json.dumps({"schema": SCHEMA, "dead": dead}, indent=1).encode()


def _decode_ledger(body: bytes, _: str) -> dict[str, datetime] | None:
    """Read the ledger; a damaged one only lengthens the grace of readers, so it begins anew."""
    try:
        dead = json.loads(body)["dead"]
        return {key: datetime.fromisoformat(since).astimezone(UTC) for key, since in dead.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


_LEDGER: Codec[dict[str, datetime]] = Codec(_decode_ledger, _encode_ledger)
