"""Tidying: small objects that nobody needs any more.

This room knows how long jobs, leases and marks of use are of interest, by the store's clock. It
does not know snapshots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from docstow.heads import Heads
from docstow.inventory import in_parallel
from docstow.model import Head
from docstow.objects import Conflict, Entry, ObjectStore
from docstow.records import head_key
from docstow.registry import Registry

#: The newest job of a source stays whatever its age, for it says how the last sync went.
JOBS = timedelta(days=30)
#: No lease is held for longer than a day, whatever its holder's clock says.
LEASES = timedelta(days=2)
#: What was not used for so long is the first to go anyway.
TOUCHED = timedelta(days=90)


def tidy(store: ObjectStore, now: datetime) -> dict[str, int]:
    """Delete what is of no interest any more; how many objects of each kind.

    Args:
        store: what to tidy.
        now: by the store's clock.
    """
    old = {
        "jobs": list(_former_jobs(store, now - JOBS)),
        "leases": [e.key for e in store.list("leases/") if e.modified < now - LEASES],
        "touched": list(_days(store.list("touched/"), now - TOUCHED)),
    }
    for found in old.values():
        in_parallel(store.delete, found)
    return {kind: len(found) for kind, found in old.items()}


def drop_deleted(store: ObjectStore, registry: Registry, now: datetime, grace: timedelta) -> int:
    """Let the heads of deleted sources name nothing, once the grace is over; how many.

    A head that has come to answer again, because the source was added anew, is left alone.
    """
    dropped = 0
    written = {entry.key: entry.modified for entry in store.list("sources/")}
    heads = Heads(store, freshness_s=0, clock=lambda: 0.0)
    for record in registry.deleted():
        registration = record.registration
        head = heads.get(registration.source, fresh=True)
        at = written.get(f"sources/{registration.id}.json", now)
        if now - at < grace or head is None or head.snapshot_id or not head.earlier:
            continue

        try:
            heads.change(registration.source, partial(_dropped, seen=head))
        except Conflict:
            continue
        dropped += 1
    return dropped


def _dropped(current: Head | None, seen: Head) -> Head:
    if current is None or current.generation != seen.generation:
        raise Conflict(head_key(seen.source))
    return replace(current, earlier=(), generation=current.generation + 1)


def _former_jobs(store: ObjectStore, oldest: datetime) -> Iterator[str]:
    """Keys of old jobs, those left out that are the newest of their source."""
    entries = list(store.list("jobs/"))
    newest = {entry.key.rpartition("-")[0]: entry.key for entry in entries}.values()
    yield from (e.key for e in entries if e.modified < oldest and e.key not in newest)


def _days(entries: Iterator[Entry], oldest: datetime) -> Iterator[str]:
    day = oldest.date().isoformat()
    yield from (entry.key for entry in entries if entry.key.split("/")[1] < day)
