"""Tidying: small objects that nobody needs any more.

This room knows how long jobs, leases and marks of use are of interest, by the store's clock. It
does not know snapshots.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from docstow.core.model import Head
from docstow.sources.registry import Registry
from docstow.store.heads import Heads
from docstow.store.listing import Inventory, in_parallel
from docstow.store.objects import Conflict, Entry, ObjectStore
from docstow.store.records import head_key, snapshot_key

#: The newest job of a source stays whatever its age, for it says how the last sync went.
JOBS = timedelta(days=30)
#: No lease is held for longer than a day, whatever its holder's clock says.
LEASES = timedelta(days=2)
#: What was not used for so long is the first to go anyway.
TOUCHED = timedelta(days=90)
#: The shards of the catalogue, as ``catalog`` keeps them.
CATALOG = "catalog/"


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


def drop_cards(store: ObjectStore, found: Inventory) -> int:
    """Take the cards of crates that were given up out of the catalogue; how many.

    A card stays as long as its snapshot's record is there, which goes a day after the head has
    ceased to name it; searches pass over a card that lags. Who publishes adds the card before the
    record and once more after it, so that one that is dropped in between comes back.

    Args:
        store: where the catalogue is.
        found: a look at the store, however old.
    """
    shards = [entry.key for entry in store.list(CATALOG) if entry.key.endswith(".json.gz")]
    return sum(in_parallel(lambda key: _cards_dropped(store, key, set(found.records)), shards))


def _cards_dropped(store: ObjectStore, key: str, alive: set[str]) -> int:
    stored = store.get(key)
    try:
        fields = json.loads(gzip.decompress(stored.body)) if stored else {"cards": []}
        # What the look has not seen may have come since, so that the store is asked once more.
        kept = [
            card
            for card in fields["cards"]
            if card["snapshot"] in alive or store.get(snapshot_key(card["snapshot"])) is not None
        ]
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
        return 0  # whoever reads it next makes it anew
    dropped = len(fields["cards"]) - len(kept)
    if stored is None or not dropped:
        return 0
    body = json.dumps({**fields, "cards": kept}, ensure_ascii=False).encode()
    try:
        store.swap(key, gzip.compress(body, mtime=0), stored.etag)
    except Conflict:
        return 0  # the next round comes back to it
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
