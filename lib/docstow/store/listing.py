"""Everything that a store holds of snapshots: heads, records and blobs, as one look finds them.

This room knows how they are listed and read, many at a time. It changes nothing, and does not
know what is to be kept. A look is not an instant: what it says of one head is true of that head
alone, at the moment at which it was read.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from docstow.core import concurrency as parallel
from docstow.core.errors import StoreError
from docstow.core.model import Head, Snapshot, Source
from docstow.store.objects import AlreadyThere, Conflict, Entry, ObjectStore
from docstow.store.records import blob_key, decode_head, decode_snapshot, place_of, snapshot_key

PARALLEL = 16
HEADS, SNAPSHOTS, BLOBS = "heads/", "snapshots/", "blobs/"
CLOCK = "upkeep/clock"
_BLOB = re.compile(
    r"blobs/(?P<digest>[0-9a-f]{64})(?:\.(?P<owner>[0-9a-f]{16})-(?P<epoch>\d+))?\.parquet"
)

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Held:
    """A head, and the tag of the very state that was read."""

    head: Head
    etag: str


@dataclass(frozen=True, slots=True)
class Blob:
    """What a blob's key says: ``owner`` is empty for one that older releases have written."""

    digest: str
    owner: str
    epoch: int


@dataclass(slots=True)
class Inventory:
    """What one look at a store has found.

    Attributes:
        heads: by source.
        records: snapshots by id; those that heads name and those that are listed.
        listed: the listing's line of each record, by id.
        blobs: the listing's line of each blob, by key.
        unreadable: keys of heads and records that are damaged, each with the reason.
        requests: how many requests that took.
    """

    heads: dict[Source, Held] = field(default_factory=dict)
    records: dict[str, Snapshot] = field(default_factory=dict)
    listed: dict[str, Entry] = field(default_factory=dict)
    blobs: dict[str, Entry] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    requests: int = 0

    def named(self, head: Head) -> list[Snapshot]:
        """The snapshots that a head names, those left out whose records are not there."""
        return [self.records[each] for each in head.named if each in self.records]

    def whole(self, head: Head) -> bool:
        """Whether the records of all that a head names could be read."""
        return all(each in self.records for each in head.named)

    def weight(self, heads: Iterable[Head]) -> dict[str, int]:
        """The blobs that some heads name, by key, with their lengths in bytes."""
        return {
            key: size for head in heads for made in self.named(head) for key, size in keys(made)
        }


def keys(snapshot: Snapshot) -> list[tuple[str, int]]:
    """Keys and lengths of a snapshot's blobs."""
    return [
        (blob_key(digest, snapshot.place), snapshot.sizes[name])
        for name, digest in snapshot.tables.items()
    ]


def blob(key: str) -> Blob | None:
    """What a blob's key says; None if it is none of ours."""
    match = _BLOB.fullmatch(key)
    return match and Blob(match["digest"], match["owner"] or "", int(match["epoch"] or 0))


def owner(source: Source) -> str:
    """What the keys of a source's blobs say of it."""
    return place_of(source, 0).partition("-")[0]


def take(store: ObjectStore) -> Inventory:
    """Look at everything.

    Raises:
        StoreError: the store cannot be used; a damaged object is none of that.
    """
    found = Inventory()
    listing = [list(store.list(prefix)) for prefix in (BLOBS, SNAPSHOTS, HEADS)]
    found.requests = sum(1 + len(each) // 1000 for each in listing)
    blobs, records, heads = listing
    found.blobs = {entry.key: entry for entry in blobs}
    found.listed = {entry.key[len(SNAPSHOTS) : -len(".json")]: entry for entry in records}
    for held in _read(store, [entry.key for entry in heads], _head, found):
        found.heads[held.head.source] = held
    named = (identity for held in found.heads.values() for identity in held.head.named)
    wanted = [snapshot_key(each) for each in dict.fromkeys((*found.listed, *named))]
    for snapshot in _read(store, wanted, lambda body, _, key: decode_snapshot(body, key), found):
        found.records[snapshot.id] = snapshot
    return found


def _head(body: bytes, etag: str, key: str) -> Held:
    return Held(decode_head(body, key), etag)


def _read(
    store: ObjectStore,
    wanted: Sequence[str],
    decode: Callable[[bytes, str, str], _T],
    into: Inventory,
) -> list[_T]:
    """What is at some keys; damaged ones are noted, those that are gone by now left out."""
    into.requests += len(wanted)
    found = []
    for key, stored in zip(wanted, in_parallel(store.get, wanted), strict=True):
        if stored is None:
            continue
        try:
            found.append(decode(stored.body, stored.etag, key))
        except StoreError as error:
            into.unreadable[key] = error.message
    return found


def store_time(store: ObjectStore) -> datetime:
    """The time by the store's own clock; those of functions and laptops may be a day off."""
    body = uuid.uuid4().hex.encode()
    current = store.get(CLOCK)
    try:
        if current is None:
            store.create(CLOCK, body)
        else:
            store.swap(CLOCK, body, current.etag)
    except (AlreadyThere, Conflict):
        pass  # another has set it this moment
    return next(entry.modified for entry in store.list(CLOCK) if entry.key == CLOCK)


def in_parallel(work: Callable[[_T], _R], items: Sequence[_T]) -> list[_R]:
    """The results of waiting for a store, in the order of the items."""
    return parallel.in_parallel(work, items, PARALLEL)


def last_used(store: ObjectStore) -> Mapping[str, str]:
    """The last day, as ``2026-11-21``, on which each source was used, by its head's key.

    It is the day on which the store took the mark: the clock of whoever wrote it may be wrong.
    """
    days: dict[str, str] = {}
    for entry in store.list("touched/"):
        head = f"{HEADS}{entry.key.split('/', 2)[2]}.json"
        days[head] = max(entry.modified.date().isoformat(), days.get(head, ""))
    return days
