"""Audit: check that all that the heads promise is in the store, whole; and repair what is not.

Objects that no head names are no fault: the sweep takes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import unquote

from docstow.core.errors import StoreError
from docstow.core.model import Head, Snapshot, Source
from docstow.store.heads import (
    StoredHead,
    decode_head,
    decode_snapshot,
    encode_head,
    end_epoch,
    find_mismatch,
    head_key,
    list_blobs,
    record_digest,
    replace_head,
    snapshot_key,
)
from docstow.store.inventory import (
    BLOBS,
    HEADS,
    Listing,
    in_parallel,
    list_store,
    store_time,
)
from docstow.store.objects import Conflict, ObjectStore
from docstow.store.objects.protocol import EMPTY_SEGMENT


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it should be.

    Attributes:
        key: the object.
        reason: what is wrong with it.
        source: the source that suffers; None where it is none's alone.
        repair: what ``--repair`` does about it; empty where a person has to decide.
    """

    key: str
    reason: str
    source: Source | None
    repair: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What a look at everything has found."""

    heads: int
    snapshots: int
    blobs: int
    bytes: int
    requests: int
    faults: tuple[Fault, ...]


def verify(
    store: ObjectStore, others: Callable[[], Iterator[Fault]] = lambda: iter(())
) -> Verified:
    """Check every head, every record that one names, and every byte of every blob of those.

    A record must have the digest that its head holds, and be of the head's source. A head that
    moves on meanwhile is looked at again, so that no publisher makes a fault.

    Args:
        store: what to look at.
        others: the faults of what is no snapshot: registry, jobs and marks.

    Raises:
        StoreError: the store cannot be used.
    """
    found = list_store(store)
    promised = found.weight(found.all_heads())
    bad = _find_bad_blobs(store, promised)
    faults = [*_find_unreadable(found), *others()]
    for source, stored in found.heads.items():
        head = stored.head
        wrong = list(_find_faults(found, head, bad))
        if wrong and _has_moved_on(store, stored):
            again = list_store(store)
            head = again.heads.get(source, stored).head
            bad_now = _find_bad_blobs(store, again.weight([head]))
            wrong = list(_find_faults(again, head, bad_now))
        faults += wrong
    return Verified(
        heads=len(found.heads),
        snapshots=sum(len(head.named) for head in found.all_heads()),
        blobs=len(promised),
        bytes=sum(promised.values()),
        requests=found.requests + len(promised),
        faults=tuple(faults),
    )


def repair(
    store: ObjectStore, verified: Verified, adopt: Callable[[Snapshot], object]
) -> list[str]:
    """Do what can be done about faults; return what was done, a line each.

    A head comes to name those of its snapshots alone that are whole, and its epoch ends in the same
    swap. So what is damaged is dead, and in nobody's way: the sweep deletes it, and crates come
    back when somebody asks for them.

    Args:
        store: where the faults are.
        verified: what they are.
        adopt: publishes a snapshot anew from the files that its record names.

    Raises:
        StoreError: the store cannot be used.
    """
    done = []
    unreadable = {fault.key for fault in verified.faults}
    for source in dict.fromkeys(fault.source for fault in verified.faults if fault.source):
        if head_key(source) in unreadable:
            done.append(_replace_unreadable_head(store, source, adopt))
        elif line := _mend_head(store, source):
            done.append(line)
    for fault in verified.faults:
        if fault.source is None and fault.repair:
            store.delete(fault.key)
            done.append(f"{fault.key} was deleted")
    return done


def _find_bad_blobs(store: ObjectStore, promised: Mapping[str, int]) -> dict[str, str]:
    """Return what is wrong with blobs, by key; ``promised`` gives the length of each."""

    def check(key: str) -> str:
        stored = store.get(key)
        if stored is None:
            return "is not in the store"
        if len(stored.body) != promised[key]:
            return f"has {len(stored.body)} bytes and not {promised[key]}"
        digest = key.removeprefix(BLOBS)[:64]
        right = hashlib.sha256(stored.body).hexdigest() == digest
        return "" if right else "is damaged: its content has another digest"

    found = zip(promised, in_parallel(check, list(promised)), strict=True)
    return {key: reason for key, reason in found if reason}


def _find_unreadable(found: Listing) -> Iterator[Fault]:
    """Yield damaged heads, and damaged records that no head names but that publishers run into."""
    heads = [key for key in found.unreadable if key.startswith(HEADS)]
    for key in heads:
        source = _parse_head_key(key)
        how = "the newest snapshot of the source that is whole is published anew" if source else ""
        yield Fault(key, found.unreadable[key], source, how)
    named = {snapshot_key(each) for head in found.all_heads() for each in head.named}
    for key, reason in found.unreadable.items():
        if not heads and key not in named:
            yield Fault(key, reason, None, "it is deleted, as no head names it")


def _find_faults(found: Listing, head: Head, bad: dict[str, str]) -> Iterator[Fault]:
    """Yield what is wrong with the snapshots that a head names."""
    for identity in head.named:
        snapshot, key = found.records.get(identity), snapshot_key(identity)
        if identity != head.snapshot_id:
            how = "this former snapshot is kept no longer"
        else:
            how = "a former snapshot answers, if one is whole; else the source is to be stowed anew"
        if snapshot is None:
            reason = found.unreadable.get(key, "is not in the store")
            yield Fault(key, reason, head.source, how)
            continue
        for blob, _ in list_blobs(snapshot):
            if blob in bad:
                yield Fault(blob, bad[blob], head.source, how)


def _has_moved_on(store: ObjectStore, seen: StoredHead) -> bool:
    stored = store.get(head_key(seen.head.source))
    return stored is not None and stored.etag != seen.etag


def _mend_head(store: ObjectStore, source: Source) -> str:
    """Let a source's head name what is whole; return what was done, or nothing."""
    key = head_key(source)
    stored = store.get(key)
    if stored is None:
        return ""
    head = decode_head(stored.body, key)
    good = [each for each in head.named if _load_whole(store, each, head) is not None]
    if good == list(head.named):
        return ""
    first, *earlier = good or [""]
    mended = replace(
        head, snapshot_id=first, earlier=tuple(earlier), generation=head.generation + 1
    )
    if not replace_head(store, StoredHead(head, stored.etag), end_epoch(mended)):
        return f"{source.key} was changed by others meanwhile; verify again"
    for identity in set(head.named) - set(good):
        if _load_record(store, identity, head) is None:
            # It may say anything, so the sweep could not tell whose it is.
            store.delete(snapshot_key(identity))
    if first:
        return f"{source.key} is answered by the snapshot {first[:12]}"
    return f"{source.key} has to be stowed anew"


def _replace_unreadable_head(
    store: ObjectStore, source: Source, adopt: Callable[[Snapshot], object]
) -> str:
    """Put a head in the place of one that cannot be read; return what was done.

    Its epoch is not known any more: what it may have given up must not be named again, and may be
    deleted at any moment. So it begins far above all epochs that were ever counted, and a
    snapshot that is whole is copied into the new one.
    """
    key, far = head_key(source), int(store_time(store).timestamp())
    stored = store.get(key)
    head = Head(source, "", far, datetime.fromtimestamp(0, UTC), epoch=far)
    try:
        if stored is not None:
            store.swap(key, encode_head(head), stored.etag)
    except Conflict:
        return f"{source.key} was changed by others meanwhile; verify again"
    found = list_store(store)
    own = [each for each in found.records.values() if each.revision.source == source]
    for snapshot in sorted(own, key=lambda each: each.created_at, reverse=True):
        if _load_whole(store, snapshot.id, head) is not None:
            adopt(snapshot)
            return f"{source.key} is answered by what was the snapshot {snapshot.id[:12]}"
    return f"{source.key} has to be stowed anew"


def _load_record(store: ObjectStore, identity: str, head: Head) -> Snapshot | None:
    """Return a snapshot's record if it is there and is the one that the head stands for."""
    key = snapshot_key(identity)
    stored = store.get(key)
    try:
        snapshot = decode_snapshot(stored.body, key) if stored else None
    except StoreError:
        return None
    if stored is None or snapshot is None:
        return None
    mismatch = find_mismatch(snapshot, record_digest(stored.body), identity, head)
    return None if mismatch else snapshot


def _load_whole(store: ObjectStore, identity: str, head: Head) -> Snapshot | None:
    """Return a snapshot if its record and all its blobs are there and sound."""
    snapshot = _load_record(store, identity, head)
    if snapshot is None or _find_bad_blobs(store, dict(list_blobs(snapshot))):
        return None
    return snapshot


def _parse_head_key(key: str) -> Source | None:
    """Return the source whose head has this key; None if no source's head has it."""
    parts = key.removesuffix(".json").split("/")
    if len(parts) != 4:
        return None
    version, _, target = parts[3].partition("@")
    fields = (*parts[1:3], version, target)
    source = Source(*("" if each == EMPTY_SEGMENT else unquote(each) for each in fields))
    return source if head_key(source) == key else None
