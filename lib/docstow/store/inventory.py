"""Everything that a store holds of snapshots: heads, records and blobs, as one look finds them.

A look is not an instant: what it says of one head is true of that head alone, at the moment at
which it was read.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from docstow.core import threads
from docstow.core.errors import StoreError
from docstow.core.model import Head, Snapshot, Source
from docstow.store.heads import (
    StoredHead,
    blob_key,
    decode_head,
    decode_snapshot,
    find_mismatch,
    place_of,
    record_digest,
    snapshot_key,
)
from docstow.store.objects import Entry, ObjectStore, Stored
from docstow.store.update import RAW, update
from docstow.store.usage import TOUCHED_PREFIX

PARALLEL = 16
HEADS, SNAPSHOTS, BLOBS = "heads/", "snapshots/", "blobs/"
CLOCK = "upkeep/clock"
_BLOB = re.compile(
    r"blobs/(?P<digest>[0-9a-f]{64})(?:\.(?P<owner>[0-9a-f]{16})-(?P<epoch>\d+))?\.parquet"
)

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Blob:
    """What a blob's key says: ``owner`` is empty for one that older releases have written."""

    digest: str
    owner: str
    epoch: int


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
        requests: how many requests that took.
    """

    heads: dict[Source, StoredHead] = field(default_factory=dict)
    records: dict[str, Snapshot] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    listed: dict[str, Entry] = field(default_factory=dict)
    blobs: dict[str, Entry] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    requests: int = 0

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


def list_blobs(snapshot: Snapshot) -> list[tuple[str, int]]:
    """Return keys and lengths of a snapshot's blobs."""
    return [
        (blob_key(digest, snapshot.place), snapshot.sizes[name])
        for name, digest in snapshot.tables.items()
    ]


def parse_blob_key(key: str) -> Blob | None:
    """Return what a blob's key says; None if it is none of ours."""
    match = _BLOB.fullmatch(key)
    return match and Blob(match["digest"], match["owner"] or "", int(match["epoch"] or 0))


def owner_of(source: Source) -> str:
    """Return what the keys of a source's blobs say of it."""
    return place_of(source, 0).partition("-")[0]


def list_store(store: ObjectStore) -> Listing:
    """Look at everything.

    Raises:
        StoreError: the store cannot be used; a damaged object is none of that.
    """
    found = Listing()
    entries = [list(store.list(prefix)) for prefix in (BLOBS, SNAPSHOTS, HEADS)]
    found.requests = sum(1 + len(each) // 1000 for each in entries)
    blobs, records, heads = entries
    found.blobs = {entry.key: entry for entry in blobs}
    found.listed = {entry.key[len(SNAPSHOTS) : -len(".json")]: entry for entry in records}
    for key, stored in _read(store, [entry.key for entry in heads], found):
        try:
            head = decode_head(stored.body, key)
        except StoreError as error:
            found.unreadable[key] = error.message
        else:
            found.heads[head.source] = StoredHead(head, stored.etag)
    naming = {identity: head for head in found.all_heads() for identity in head.named}
    identities = list(dict.fromkeys((*found.listed, *naming)))
    keys = {snapshot_key(identity): identity for identity in identities}
    for key, stored in _read(store, list(keys), found):
        identity, digest = keys[key], record_digest(stored.body)
        try:
            snapshot = decode_snapshot(stored.body, key)
        except StoreError as error:
            found.unreadable[key] = error.message
            continue
        if reason := find_mismatch(snapshot, digest, identity, naming.get(identity)):
            found.unreadable[key] = reason
        else:
            found.records[identity], found.digests[identity] = snapshot, digest
    return found


def _read(store: ObjectStore, keys: Sequence[str], found: Listing) -> Iterator[tuple[str, Stored]]:
    """Yield the objects at some keys; those that are gone by now are left out."""
    found.requests += len(keys)
    for key, stored in zip(keys, in_parallel(store.get, keys), strict=True):
        if stored is not None:
            yield key, stored


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
