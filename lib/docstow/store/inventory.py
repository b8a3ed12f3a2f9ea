"""Everything that a store holds of snapshots: heads, records and blobs, as one look finds them.

A look is not an instant: what it says of one head is true of that head alone, at the moment at
which it was read.

Heads and records that a listing shows unchanged need not be read again: :class:`Inventory` keeps
what was read of them, by the tag of the state that it is of. A look by its help is as good as any
other, for the keys and tags are listed each time, and nothing is taken from it that is not of the
state which is listed. So whoever writes it last may; it is lost or damaged without harm.
"""

from __future__ import annotations

import gzip
import json
import sys
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypeVar

from docstow.core import threads
from docstow.core.errors import StoreError
from docstow.core.model import Head, Snapshot, Source
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.store.heads import (
    StoredHead,
    decode_head,
    decode_snapshot,
    encode_head,
    encode_snapshot,
    find_mismatch,
    list_blobs,
    place_of,
    record_digest,
    snapshot_key,
)
from docstow.store.objects import AlreadyThere, Conflict, Entry, ObjectStore
from docstow.store.update import RAW, update
from docstow.store.usage import TOUCHED_PREFIX

PARALLEL = 16
HEADS, SNAPSHOTS, BLOBS = "heads/", "snapshots/", "blobs/"
CLOCK = "upkeep/clock"
INVENTORY = "upkeep/inventory.json.gz"
INVENTORY_SCHEMA = 1
#: Most of it is digests, which no effort makes smaller.
_QUICK = 3
_BLOB = lazy_pattern(
    r"blobs/(?P<digest>[0-9a-f]{64})(?:\.(?P<owner>[0-9a-f]{16})-(?P<epoch>\d+))?\.(?:parquet|pack)"
)

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Blob:
    """What a blob's key says: ``owner`` is empty for one that older releases have written."""

    digest: str
    owner: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read of a head or record.

    Attributes:
        etag: names the state that was read.
        body: its stored form; that of a record without what is of no use for upkeep.
        digest: of a record's whole stored form; empty for a head.
    """

    etag: str
    body: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What former rounds have read of heads and records.

    Attributes:
        seen: by key.
        etag: of the object that holds it; empty if there is none.
    """

    seen: Mapping[str, Seen] = field(default_factory=dict)
    etag: str = ""


@dataclass(slots=True)
class Listing:
    """What one look at a store has found.

    Attributes:
        heads: by source.
        records: sound snapshots by id; those that heads name and those that are listed.
        digests: of the stored form of each of these, by id.
        listed: the listing's line of each record, by id.
        blobs: the listing's line of each blob, by key.
        unreadable: keys of heads and records that are damaged, each with the reason.
        seen: what the next inventory holds, by key; of a store whose listings have tags.
        requests: how many requests that took.
        left: how many heads and records were not read, for there were too many; nothing may be
            decided by such a look.
    """

    heads: dict[Source, StoredHead] = field(default_factory=dict)
    records: dict[str, Snapshot] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    listed: dict[str, Entry] = field(default_factory=dict)
    blobs: dict[str, Entry] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    seen: dict[str, Seen] = field(default_factory=dict)
    requests: int = 0
    left: int = 0

    def named(self, head: Head) -> list[Snapshot]:
        """Return the sound snapshots that a head names, those left out that are not there."""
        return [self.records[each] for each in head.named if each in self.records]

    def whole(self, head: Head) -> bool:
        """Return whether the records of all that a head names are there and sound."""
        return all(each in self.records for each in head.named)

    def weight(self, heads: Iterable[Head]) -> dict[str, int]:
        """Return the blobs that some heads name, by key, with their lengths in bytes."""
        return {
            key: size
            for head in heads
            for snapshot in self.named(head)
            for key, size in list_blobs(snapshot)
        }

    def all_heads(self) -> list[Head]:
        """Return every head that could be read."""
        return [each.head for each in self.heads.values()]


def parse_blob_key(key: str) -> Blob | None:
    """Return what a blob's key says; None if it is none of ours."""
    match = _BLOB.fullmatch(key)
    return match and Blob(match["digest"], match["owner"] or "", int(match["epoch"] or 0))


def owner_of(source: Source) -> str:
    """Return what the keys of a source's blobs say of it."""
    return place_of(source, 0).partition("-")[0]


def list_store(
    store: ObjectStore, inventory: Inventory | None = None, most: int = sys.maxsize
) -> Listing:
    """Look at everything.

    Args:
        store: what to look at.
        inventory: what need not be read if it has not changed. With one, records have only the
            counts and facts that upkeep goes by.
        most: how many heads and records to read at most.

    Raises:
        StoreError: the store cannot be used; a damaged object is none of that.
    """
    found = Listing()
    entries = [list(store.list(prefix)) for prefix in (BLOBS, SNAPSHOTS, HEADS)]
    found.requests = sum(1 + len(each) // 1000 for each in entries)
    blobs, records, heads = entries
    found.blobs = {entry.key: entry for entry in blobs}
    found.listed = {entry.key[len(SNAPSHOTS) : -len(".json")]: entry for entry in records}
    known = inventory.seen if inventory is not None else {}
    tags = {entry.key: entry.etag for entry in (*heads, *records) if entry.etag}
    reader = _Reader(store, known, tags, found, most)
    for key, state in reader.read([entry.key for entry in heads]):
        try:
            head = decode_head(state.body, key)
        except StoreError as error:
            found.unreadable[key] = error.message
            continue
        found.heads[head.source] = StoredHead(head, state.etag)
        reader.keep(key, state, partial(encode_head, replace(head, record="")))
    naming = {identity: head for head in found.all_heads() for identity in head.named}
    identities = list(dict.fromkeys((*found.listed, *naming)))
    keys = {snapshot_key(identity): identity for identity in identities}
    for key, state in reader.read(list(keys)):
        identity, digest = keys[key], state.digest
        try:
            snapshot = decode_snapshot(state.body, key)
        except StoreError as error:
            found.unreadable[key] = error.message
            continue
        if reason := find_mismatch(snapshot, digest, identity, naming.get(identity)):
            found.unreadable[key] = reason
            continue
        if inventory is not None:
            snapshot = _shorten(snapshot)
            reader.keep(key, state, partial(encode_snapshot, snapshot))
        found.records[identity], found.digests[identity] = snapshot, digest
    return found


class _State(NamedTuple):
    """What was read at a key, now or by a former round; ``digest`` of its whole stored form."""

    body: bytes
    etag: str
    digest: str


class _Reader:
    """Reads what the inventory does not know, and keeps what the next one is to hold."""

    def __init__(
        self,
        store: ObjectStore,
        known: Mapping[str, Seen],
        tags: Mapping[str, str],
        found: Listing,
        most: int,
    ) -> None:
        self._store = store
        self._known = known
        self._tags = tags
        self._found = found
        self._most = most

    def read(self, keys: Sequence[str]) -> Iterator[tuple[str, _State]]:
        """Yield what is at some keys; what is gone by now is left out, and what is too much."""
        unknown = [key for key in keys if self._find(key) is None]
        due, left = unknown[: self._most], unknown[self._most :]
        self._found.requests += len(due)
        self._found.left += len(left)
        self._most -= len(due)
        stored = dict(zip(due, in_parallel(self._store.get, due), strict=True))
        for key in keys:
            if seen := self._find(key):
                yield key, _State(seen.body.encode(), seen.etag, seen.digest)
            elif read := stored.get(key):
                yield key, _State(read.body, read.etag, record_digest(read.body))

    def keep(self, key: str, state: _State, encode: Callable[[], bytes]) -> None:
        """Note what was read, for the next inventory; ``encode`` makes what that is to hold."""
        if key in self._tags:
            seen = self._find(key) or Seen(state.etag, encode().decode(), state.digest)
            self._found.seen[key] = seen

    def _find(self, key: str) -> Seen | None:
        """Return what is known of the very state that was listed."""
        seen = self._known.get(key)
        return seen if seen is not None and seen.etag == self._tags.get(key) else None


def _shorten(snapshot: Snapshot) -> Snapshot:
    """Return a record with what upkeep goes by: blobs, documents, and whether it comes back."""
    return replace(
        snapshot,
        counts={name: n for name, n in snapshot.counts.items() if name == "documents"},
        facts={name: fact for name, fact in snapshot.facts.items() if name == "private"},
    )


def read_inventory(store: ObjectStore) -> Inventory:
    """Return what former rounds have read; nothing where that is missing or damaged."""
    stored = store.get(INVENTORY)
    if stored is None:
        return Inventory()
    try:
        fields = json.loads(gzip.decompress(stored.body))
        known = fields["schema"] == INVENTORY_SCHEMA
        seen = {key: Seen(*map(str, each)) for key, each in fields["seen"].items() if known}
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return Inventory(etag=stored.etag)
    return Inventory(seen, stored.etag)


def write_inventory(store: ObjectStore, former: Inventory, found: Listing) -> bool:
    """Keep what a look has read; return whether that is written.

    Args:
        store: where it is kept.
        former: what the look went by. If others have written one since, theirs stays: it is as
            good.
        found: the look.
    """
    if found.seen == former.seen:
        return False
    seen = {key: (each.etag, each.body, each.digest) for key, each in found.seen.items()}
    fields = {"schema": INVENTORY_SCHEMA, "seen": seen}
    body = gzip.compress(json.dumps(fields).encode(), _QUICK, mtime=0)
    try:
        if former.etag:
            store.swap(INVENTORY, body, former.etag)
        else:
            store.create(INVENTORY, body)
    except (AlreadyThere, Conflict):
        return False
    return True


def store_time(store: ObjectStore) -> datetime:
    """Return the time by the store's own clock; those of functions and laptops may be days off."""
    update(store, CLOCK, RAW, lambda _: uuid.uuid4().hex.encode())
    return next(entry.modified for entry in store.list(CLOCK) if entry.key == CLOCK)


def in_parallel(work: Callable[[_T], _R], items: Sequence[_T]) -> list[_R]:
    """Return the results of waiting for a store, in the order of the items."""
    return threads.in_parallel(work, items, PARALLEL)


def last_used(store: ObjectStore) -> Mapping[str, str]:
    """Return the last day, as ``2026-11-21``, on which each source was used, by its head's key.

    It is the day on which the store took the mark: the clock of whoever wrote it may be wrong.
    """
    days: dict[str, str] = {}
    for entry in store.list(TOUCHED_PREFIX):
        head = f"{HEADS}{entry.key.split('/', 2)[2]}.json"
        days[head] = max(entry.modified.date().isoformat(), days.get(head, ""))
    return days
