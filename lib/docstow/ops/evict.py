"""Eviction: what was not used for longest makes room, as long as it can be had again.

This room knows sizes, days of use and what must stay. It deletes nothing: a head comes to name
nothing, and the sweep finds what it has left behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from docstow.core.model import Source
from docstow.sources import kind_of
from docstow.store.heads import moved
from docstow.store.listing import Held, Inventory, last_used
from docstow.store.objects import Conflict, ObjectStore
from docstow.store.records import encode_head, head_key


@dataclass(frozen=True, slots=True)
class Line:
    """A source that has snapshots.

    Attributes:
        source: what it is.
        snapshot: id of what answers; empty if only former ones are kept.
        documents: how many that one has.
        bytes: what its snapshots weigh.
        used: the day on which it was last used or stowed, as ``2026-11-21``.
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


def lines(store: ObjectStore, found: Inventory, pinned: Mapping[Source, str]) -> list[Line]:
    """Every source that has snapshots, in the order in which they would be evicted.

    Args:
        store: asked for the days of use.
        found: what the store holds.
        pinned: the marked sources, with the reasons.
    """
    days = last_used(store)
    made = []
    for source, held in found.heads.items():
        named = found.named(held.head)
        if not named:
            continue
        stowed = [found.listed[each.id].modified for each in named if each.id in found.listed]
        used = max([days.get(head_key(source), ""), *(_day(each) for each in stowed)])
        answering = found.records.get(held.head.snapshot_id)
        made.append(
            Line(
                source,
                held.head.snapshot_id,
                answering.counts.get("documents", 0) if answering else 0,
                sum(found.weight([held.head]).values()),
                used,
                pinned.get(source, ""),
                kind_of(source.kind).evictable,
            )
        )
    return sorted(made, key=lambda e: (not e.evictable, bool(e.pinned), e.used, e.source.key))


def evict(store: ObjectStore, found: Inventory, listed: list[Line], limit: int) -> list[Line]:
    """Let heads name nothing until what all of them name weighs no more than ``limit`` bytes.

    Crates of docs.rs alone are evicted, those that are pinned last: they come back when somebody
    asks for them. What was read from a file, synced or pushed stays, whatever it weighs.

    Args:
        store: where the heads are.
        found: a look at it; a head that has changed since is in use, so it stays.
        listed: what :func:`lines` made of that look.
        limit: bytes.

    Returns:
        What was evicted.
    """
    total = sum(found.weight(held.head for held in found.heads.values()).values())
    evicted = []
    for line in listed:
        if total <= limit or not line.evictable:
            break
        if _emptied(store, line.source, found.heads[line.source]):
            total -= line.bytes
            evicted.append(line)
    return evicted


def _emptied(store: ObjectStore, source: Source, held: Held) -> bool:
    """Swap the very state that was seen, so that what was published since is never lost."""
    try:
        store.swap(head_key(source), encode_head(moved(held.head, "", 1)), held.etag)
    except Conflict:
        return False
    return True


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
