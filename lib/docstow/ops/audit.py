"""Audit: whether all that the heads promise is in the store, whole; and what can be done if not.

This room knows what may be damaged and how far the damage goes. Objects that no head names are
no fault: the sweep takes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import unquote

from docstow.core.errors import StoreError
from docstow.core.model import Head, Snapshot, Source
from docstow.store.heads import fenced
from docstow.store.listing import BLOBS, HEADS, Held, Inventory, in_parallel, keys, store_time, take
from docstow.store.objects import Conflict, ObjectStore
from docstow.store.objects.protocol import EMPTY_SEGMENT
from docstow.store.records import decode_head, decode_snapshot, encode_head, head_key, snapshot_key


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
    """Look at every head, every record that one names, and every byte of every blob of those.

    A head that moves on meanwhile is looked at again, so that no publisher makes a fault.

    Args:
        store: what to look at.
        others: the faults of what is no snapshot: registry, jobs and marks.

    Raises:
        StoreError: the store cannot be used.
    """
    found = take(store)
    promised = found.weight(held.head for held in found.heads.values())
    bad = _bad(store, promised)
    faults = [*_unreadable(found), *others()]
    for source, held in found.heads.items():
        wrong = list(_wrong(found, held, bad))
        if wrong and _moved_on(store, source, held):
            again = take(store)
            held = again.heads.get(source, held)
            wrong = list(_wrong(again, held, _bad(store, again.weight([held.head]))))
        faults += wrong
    return Verified(
        heads=len(found.heads),
        snapshots=sum(len(held.head.named) for held in found.heads.values()),
        blobs=len(promised),
        bytes=sum(promised.values()),
        requests=found.requests + len(promised),
        faults=tuple(faults),
    )


def repair(
    store: ObjectStore, verified: Verified, adopt: Callable[[Snapshot], object]
) -> list[str]:
    """Do what can be done about faults; what was done, a line each.

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
            done.append(_begun_anew(store, source, adopt))
        elif line := _mended(store, source):
            done.append(line)
    for fault in verified.faults:
        if fault.source is None and fault.repair:
            store.delete(fault.key)
            done.append(f"{fault.key} was deleted")
    return done


def _bad(store: ObjectStore, promised: Mapping[str, int]) -> dict[str, str]:
    """What is wrong with some blobs, given with their lengths; those left out that are right."""

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


def _unreadable(found: Inventory) -> Iterator[Fault]:
    """Damaged heads, and damaged records that no head names but that stand in publishers' way."""
    heads = [key for key in found.unreadable if key.startswith(HEADS)]
    for key in heads:
        source = _source(key)
        how = "the newest snapshot of the source that is whole is published anew" if source else ""
        yield Fault(key, found.unreadable[key], source, how)
    named = {snapshot_key(each) for held in found.heads.values() for each in held.head.named}
    for key, reason in found.unreadable.items():
        if not heads and key not in named:
            yield Fault(key, reason, None, "it is deleted, as no head names it")


def _wrong(found: Inventory, held: Held, bad: dict[str, str]) -> Iterator[Fault]:
    """What is wrong with the snapshots that a head names."""
    source = held.head.source
    for identity in held.head.named:
        made, key = found.records.get(identity), snapshot_key(identity)
        if made is None:
            reason = found.unreadable.get(key, "is not in the store")
            yield Fault(key, reason, source, _without(held.head, identity))
        elif made.revision.source != source or made.id != identity:
            yield Fault(key, "is of another source", source, _without(held.head, identity))
        else:
            for blob, _ in keys(made):
                if blob in bad:
                    yield Fault(blob, bad[blob], source, _without(held.head, identity))


def _without(head: Head, identity: str) -> str:
    if identity != head.snapshot_id:
        return "this former snapshot is kept no longer"
    return "a former snapshot answers, if one is whole; else the source is to be stowed anew"


def _moved_on(store: ObjectStore, source: Source, held: Held) -> bool:
    stored = store.get(head_key(source))
    return stored is not None and stored.etag != held.etag


def _mended(store: ObjectStore, source: Source) -> str:
    """Let a source's head name what is whole; what was done, or nothing."""
    key = head_key(source)
    stored = store.get(key)
    if stored is None:
        return ""
    head = decode_head(stored.body, key)
    good = [each for each in head.named if _whole(store, each, source) is not None]
    if good == list(head.named):
        return ""
    first, *earlier = good or [""]
    mended = replace(head, snapshot_id=first, earlier=tuple(earlier))
    mended = fenced(replace(mended, generation=head.generation + 1))
    try:
        store.swap(key, encode_head(mended), stored.etag)
    except Conflict:
        return f"{source.key} was changed by others meanwhile; verify again"
    for identity in set(head.named) - set(good):
        _clear(store, snapshot_key(identity))
    if first:
        return f"{source.key} is answered by the snapshot {first[:12]}"
    return f"{source.key} has to be stowed anew"


def _clear(store: ObjectStore, key: str) -> None:
    """Delete a dead record that cannot be read: the sweep cannot tell whose it is."""
    stored = store.get(key)
    try:
        if stored is not None:
            decode_snapshot(stored.body, key)
    except StoreError:
        store.delete(key)


def _begun_anew(store: ObjectStore, source: Source, adopt: Callable[[Snapshot], object]) -> str:
    """Put a head in the place of one that cannot be read; what was done.

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
    found = take(store)
    own = [each for each in found.records.values() if each.revision.source == source]
    for made in sorted(own, key=lambda each: each.created_at, reverse=True):
        if _whole(store, made.id, source) is not None:
            adopt(made)
            return f"{source.key} is answered by what was the snapshot {made.id[:12]}"
    return f"{source.key} has to be stowed anew"


def _whole(store: ObjectStore, identity: str, source: Source) -> Snapshot | None:
    """The snapshot if it is there, sound and of that source."""
    key = snapshot_key(identity)
    stored = store.get(key)
    try:
        made = decode_snapshot(stored.body, key) if stored else None
    except StoreError:
        return None
    if made is None or made.revision.source != source or made.id != identity:
        return None
    return None if _bad(store, dict(keys(made))) else made


def _source(key: str) -> Source | None:
    """Whose head this key is."""
    parts = key.removesuffix(".json").split("/")
    if len(parts) != 4:
        return None
    version, _, target = parts[3].partition("@")
    words = (*parts[1:3], version, target)
    source = Source(*("" if each == EMPTY_SEGMENT else unquote(each) for each in words))
    return source if head_key(source) == key else None
