"""Sweep: what no head names any more is deleted, and never anything else.

This room knows which objects are dead. It does not know what is evicted, nor why.

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

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from docstow.core.errors import StoreError
from docstow.core.model import Head, Snapshot, Source
from docstow.store.heads import fenced
from docstow.store.listing import (
    HEADS,
    SNAPSHOTS,
    Blob,
    Held,
    Inventory,
    blob,
    in_parallel,
    keys,
    owner,
    store_time,
    take,
)
from docstow.store.objects import AlreadyThere, Conflict, Entry, ObjectStore
from docstow.store.records import encode_head, head_key, snapshot_key

#: For so long readers may go on with what a head named.
GRACE = timedelta(hours=24)
#: When each dead object was first seen to be dead, by the store's clock.
LEDGER = "upkeep/dead.json"
SCHEMA = 1
ATTEMPTS = 10


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


def sweep(
    store: ObjectStore, *, grace: timedelta = GRACE, inventory: Inventory | None = None
) -> Swept:
    """End epochs that have left something behind, and delete what has been dead for long enough.

    Any number of sweeps may run at once, and any may die at any point.

    Args:
        store: what to sweep.
        grace: for how long readers may go on with what a head named; by the store's clock.
        inventory: a look at the store, however old; one is taken if it is left out.

    Raises:
        StoreError: the store cannot be used.
    """
    now = store_time(store)
    found = inventory or take(store)
    round_ = _Round(store, found, now - grace)
    dead = round_.dead()
    due, waiting = _noted(store, dead, now, grace)
    _delete(store, due)
    _forget(store, due)
    return Swept(
        fenced=round_.fenced,
        dead=waiting,
        deleted=len(due),
        bytes=sum(dead[key].size for key in due),
        unowned=round_.unowned,
        contended=round_.contended,
    )


class _Round:
    """One decision on each head of an inventory."""

    def __init__(self, store: ObjectStore, found: Inventory, oldest: datetime) -> None:
        self._store = store
        self._found = found
        self._oldest = oldest
        self._records: dict[Source, list[Snapshot]] = {}
        for snapshot in found.records.values():
            self._records.setdefault(snapshot.revision.source, []).append(snapshot)
        self._blobs: dict[str, list[tuple[Blob, Entry]]] = {}
        for entry in found.blobs.values():
            if (parsed := blob(entry.key)) is not None:
                self._blobs.setdefault(parsed.owner, []).append((parsed, entry))
        self.fenced = self.contended = self.unowned = 0

    def dead(self) -> dict[str, Entry]:
        """Everything that is dead, by key."""
        self._adopt_orphans()
        dead: dict[str, Entry] = {}
        for source, held in self._found.heads.items():
            dead |= self._of(source, held)
        owners = {owner(source) for source in self._found.heads}
        self.unowned = sum(
            len(blobs) for each, blobs in self._blobs.items() if each and each not in owners
        )
        return dead | {entry.key: entry for entry in self._shared(dead)}

    def _adopt_orphans(self) -> None:
        """A head for each record that has none: older releases wrote the head last."""
        unknown = {key for key in self._found.unreadable if key.startswith(HEADS)}
        for source, records in self._records.items():
            key = head_key(source)
            lines = [self._found.listed.get(each.id) for each in records]
            old = all(line is not None and line.modified <= self._oldest for line in lines)
            if source in self._found.heads or key in unknown or not old:
                continue
            epoch = max(each.epoch for each in records) + 1
            head = Head(source, "", 0, records[0].created_at, epoch=epoch)
            try:
                etag = self._store.create(key, encode_head(head))
            except AlreadyThere:
                self.contended += 1
                continue
            self.fenced += 1
            self._found.heads[source] = Held(head, etag)

    def _of(self, source: Source, held: Held) -> dict[str, Entry]:
        """What is dead of one source, after its epoch was ended if need be."""
        garbage = list(self._garbage(source, held.head))
        head = held.head
        if any(epoch == head.epoch and e.modified <= self._oldest for epoch, e in garbage):
            try:
                self._store.swap(head_key(source), encode_head(fenced(head)), held.etag)
                head = fenced(head)
                self.fenced += 1
            except Conflict:
                self.contended += 1
        return {entry.key: entry for epoch, entry in garbage if epoch < head.epoch}

    def _garbage(self, source: Source, head: Head) -> Iterator[tuple[int, Entry]]:
        """Epoch and line of every object of a source that its head does not name."""
        for snapshot in self._records.get(source, ()):
            line = self._found.listed.get(snapshot.id)
            if snapshot.id not in head.named and line is not None:
                yield snapshot.epoch, line
        if not self._found.whole(head):
            return  # what it names cannot be read, so its blobs are unknown: a matter for verify
        named = {key for made in self._found.named(head) for key, _ in keys(made)}
        for parsed, entry in self._blobs.get(owner(source), ()):
            if entry.key not in named:
                yield parsed.epoch, entry

    def _shared(self, dead: dict[str, Entry]) -> Iterator[Entry]:
        """The blobs of older releases that no record names which is alive."""
        if self._found.unreadable:
            return  # who knows what those name
        alive = {
            key
            for snapshot in self._found.records.values()
            if not snapshot.place and snapshot_key(snapshot.id) not in dead
            for key, _ in keys(snapshot)
        }
        yield from (entry for _, entry in self._blobs.get("", ()) if entry.key not in alive)


def _noted(
    store: ObjectStore, dead: dict[str, Entry], now: datetime, grace: timedelta
) -> tuple[list[str], int]:
    """Write down what is dead; the keys whose grace is over, and how many wait."""
    seen: dict[str, datetime] = {}

    def note(known: dict[str, datetime]) -> dict[str, datetime]:
        nonlocal seen
        seen = {key: min(known.get(key, now), now) for key in dead}
        return seen

    _change(store, note)
    due = [key for key in dead if now - seen[key] >= grace]
    return due, len(dead) - len(due)


def _delete(store: ObjectStore, due: list[str]) -> None:
    """Records first: no record is to name blobs that are gone, not even a dead one."""
    in_parallel(store.delete, [key for key in due if key.startswith(SNAPSHOTS)])
    in_parallel(store.delete, [key for key in due if not key.startswith(SNAPSHOTS)])


def _forget(store: ObjectStore, deleted: list[str]) -> None:
    gone = set(deleted)
    if gone:
        _change(store, lambda known: {key: at for key, at in known.items() if key not in gone})


def _change(
    store: ObjectStore, change: Callable[[dict[str, datetime]], dict[str, datetime]]
) -> None:
    """Change the ledger. It lengthens the grace of readers at most, so a lost one begins anew."""
    for _ in range(ATTEMPTS):
        stored = store.get(LEDGER)
        known = _decoded(stored.body) if stored else {}
        stamps = change(known)
        if stored is not None and stamps == known:
            return
        dead = {key: at.isoformat() for key, at in sorted(stamps.items())}
        body = json.dumps({"schema": SCHEMA, "dead": dead}, indent=1).encode()
        with contextlib.suppress(AlreadyThere, Conflict):
            if stored is None:
                store.create(LEDGER, body)
            else:
                store.swap(LEDGER, body, stored.etag)
            return
    raise StoreError(f"{LEDGER} was changed by others every time; sweep again later.")


def _decoded(body: bytes) -> dict[str, datetime]:
    try:
        dead = json.loads(body)["dead"]
        return {key: datetime.fromisoformat(at).astimezone(UTC) for key, at in dead.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
