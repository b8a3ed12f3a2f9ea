"""Eviction: sources that were not used for longest make room, if they can be fetched again.

Nothing is deleted here: a head comes to name nothing, and the sweep finds what it has left behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from docstow.core.model import Snapshot, Source
from docstow.sources import PACKAGE_KINDS, kind_of
from docstow.store.heads import head_key, point_to, replace_head
from docstow.store.inventory import Listing, last_used
from docstow.store.objects import ObjectStore


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A source that has snapshots.

    Attributes:
        source: what it is.
        snapshot: id of what answers; empty if only former ones are kept.
        documents: how many that one has.
        bytes: what its snapshots weigh.
        used: the day on which it was last used or published, as ``2026-11-21``.
        pinned: why it is evicted after all others; empty if it is not.
        evictable: whether it can be fetched again when somebody asks for it.
    """

    source: Source
    snapshot: str
    documents: int
    bytes: int
    used: str
    pinned: str
    evictable: bool


def list_sources(
    store: ObjectStore, listing: Listing, pinned: Mapping[Source, str]
) -> list[StoredSource]:
    """Return every source that has snapshots, in the order in which they would be evicted.

    Args:
        store: asked for the days of use.
        listing: what the store holds.
        pinned: the marked sources, with the reasons.
    """
    days = last_used(store)
    found = []
    for source, stored in listing.heads.items():
        head = stored.head
        named = listing.named(head)
        if not named:
            continue
        records = [listing.listed[each.id] for each in named if each.id in listing.listed]
        published = [entry.modified.date().isoformat() for entry in records]
        answering = listing.records.get(head.snapshot_id)
        found.append(
            StoredSource(
                source,
                head.snapshot_id,
                answering.counts.get("documents", 0) if answering else 0,
                sum(listing.weight([head]).values()),
                max([days.get(head_key(source), ""), *published]),
                pinned.get(source, ""),
                _comes_back(source, answering),
            )
        )
    return sorted(found, key=lambda e: (not e.evictable, bool(e.pinned), e.used, e.source.key))


def _comes_back(source: Source, answering: Snapshot | None) -> bool:
    """Return whether a source can be fetched again, by what is recorded of it.

    A package that came from a registry can, unless it took a credential, which whoever asks next
    may not have; one that was read where it is installed cannot.
    """
    if source.kind not in PACKAGE_KINDS or answering is None:
        return kind_of(source.kind).evictable
    address = answering.revision.url
    return address.startswith(("http://", "https://")) and not answering.facts.get("private")


def evict(
    store: ObjectStore, listing: Listing, sources: list[StoredSource], limit: int
) -> list[StoredSource]:
    """Let heads name nothing until what all of them name weighs no more than ``limit`` bytes.

    Only crates of docs.rs and packages of registries are evicted, those that are pinned last: they
    come back when somebody asks for them. What was read from a file, synced or pushed stays,
    whatever it weighs.

    Args:
        store: where the heads are.
        listing: a look at it; a head that has changed since is in use, so it stays.
        sources: what :func:`list_sources` made of that look.
        limit: bytes.

    Returns:
        What was evicted.
    """
    total = sum(listing.weight(listing.all_heads()).values())
    evicted = []
    for each in sources:
        if total <= limit or not each.evictable:
            break
        seen = listing.heads[each.source]
        if replace_head(store, seen, point_to(seen.head, "", 1)):
            total -= each.bytes
            evicted.append(each)
    return evicted
