"""Upkeep: what is done with a store from time to time, by whoever has the time.

This room knows the order of the steps; each is safe at any time, beside readers, publishers and
other upkeep (``sweep`` says why), and may be cut off anywhere. It loads no table and no model.
"""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from docstow.core.errors import DocstowError
from docstow.core.model import Head, Registration, Snapshot
from docstow.ops import audit as audit
from docstow.ops import evict as evict
from docstow.ops import sweep as sweep
from docstow.ops.audit import Fault, Verified
from docstow.ops.evict import Line
from docstow.ops.sweep import GRACE, Swept
from docstow.sources.registry import Registry
from docstow.store import listing as inventory
from docstow.store.heads import Heads
from docstow.store.listing import Inventory, in_parallel
from docstow.store.objects import Conflict, Entry, ObjectStore
from docstow.store.records import head_key, snapshot_key
from docstow.store.snapshots import Snapshots
from docstow.store.usage import Pins

if TYPE_CHECKING:
    from docstow.ingest.jobs.dispatch import Dispatch
    from docstow.ingest.jobs.store import Jobs
    from docstow.sources.registry import Registry


# Refresh


#: A job that is queued for longer than this, in seconds, has lost its message: twice what five
#: tries of an hour and a half each may take, all that wait before it included.
LOST_S = 12 * 3600.0


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent to workers.

    Attributes:
        synced: jobs of sources whose last sync had become too old.
        again: jobs whose messages were lost.
    """

    synced: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


class Refresh:
    """Sends what is due.

    Args:
        registry: how old the snapshots of a source may become.
        jobs: when it was synced last.
        dispatch: sends jobs to a worker.
    """

    def __init__(self, registry: Registry, jobs: Jobs, dispatch: Dispatch) -> None:
        self._registry = registry
        self._jobs = jobs
        self._dispatch = dispatch

    def send(self, now: datetime) -> Sent:
        """Send what is due; one source that cannot be is logged and does not stop the rest.

        Raises:
            StoreError: the store or the queue cannot be used.
        """
        synced = []
        for registration in self._registry.all():
            try:
                if self._is_due(registration, now):
                    synced.append(self._dispatch.start(registration.id)[0].id)
            except DocstowError as error:
                log.warning("%s is not refreshed: %s", registration.source.key, error.message)
        again = self._dispatch.requeue(LOST_S)
        return Sent(tuple(synced), tuple(job.id for job in again))

    def _is_due(self, registration: Registration, now: datetime) -> bool:
        """Whether its last job, good or bad, is too old: one that fails is not asked for sooner."""
        if not registration.refresh_hours:
            return False
        job = self._jobs.latest(registration.id)
        if job is None:
            return True
        age = now - (job.finished_at or job.heartbeat)
        return not job.active and age >= timedelta(hours=registration.refresh_hours)


# Tidying


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


log = logging.getLogger(__name__)


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Done:
    """What one round of upkeep has done.

    Attributes:
        evicted: what had to make room.
        swept: what the sweep has found and deleted.
        dropped: deleted sources whose snapshots were given up.
        tidied: small objects that were deleted, and cards of crates that were, by kind.
        sent: what was sent to workers.
        bytes: what all that the heads name weighs now.
        failed: steps that could not be done, with the reason; the others were.
    """

    evicted: list[Line]
    swept: Swept
    dropped: int
    tidied: dict[str, int]
    sent: Sent
    bytes: int
    failed: dict[str, str]


class Upkeep:
    """The upkeep of a store.

    Args:
        store: where everything is.
        registry: which sources were deleted.
        snapshots: publishes anew what a repair has found whole.
        refresh: sends workers what is due.
        limit: bytes that the heads may name before the least used make room.
        grace: for how long readers may go on with what a head named.
    """

    def __init__(
        self,
        store: ObjectStore,
        registry: Registry,
        snapshots: Snapshots,
        refresh: Refresh,
        limit: int,
        *,
        grace: timedelta = GRACE,
    ) -> None:
        self._store = store
        self._registry = registry
        self._snapshots = snapshots
        self._refresh = refresh
        self._limit = limit
        self._grace = grace

    def lines(self) -> list[Line]:
        """Every source that has snapshots, in the order in which they would be evicted."""
        return self._lines(inventory.take(self._store))

    def evict(self) -> list[Line]:
        """Let the least used sources make room; those that had to."""
        found = inventory.take(self._store)
        return evict.evict(self._store, found, self._lines(found), self._limit)

    def sweep(self) -> Swept:
        """Delete what is dead; see :func:`docstow.ops.sweep.sweep`."""
        return sweep.sweep(self._store, grace=self._grace)

    def verify(self) -> Verified:
        """Look at everything that the store promises."""
        return audit.verify(self._store, self._others)

    def repair(self, verified: Verified) -> list[str]:
        """Do what can be done about faults; a line each."""
        return audit.repair(self._store, verified, self._adopt)

    def run(self) -> Done:
        """One round. What fails is told and does not stop the rest.

        Raises:
            StoreError: the store cannot be used at all.
        """
        now = inventory.store_time(self._store)
        failed: dict[str, str] = {}

        def tried(step: str, work: Callable[[], _T], otherwise: _T) -> _T:
            try:
                return work()
            except DocstowError as error:
                log.warning("upkeep could not %s: %s", step, error.message)
                failed[step] = error.message
                return otherwise

        def drop() -> int:
            return drop_deleted(self._store, self._registry, now, self._grace)

        dropped = tried("drop what was deleted", drop, 0)
        tidied = tried("tidy", lambda: tidy(self._store, now), dict[str, int]())
        evicted = tried("evict", self.evict, list[Line]())
        found = inventory.take(self._store)
        tidied["cards"] = tried("tidy cards", lambda: drop_cards(self._store, found), 0)
        swept = sweep.sweep(self._store, grace=self._grace, inventory=found)
        for key, reason in found.unreadable.items():
            log.error("%s: %s", key, reason)
            failed[key] = reason
        # Last, for what it sends may begin at once to change what was looked at.
        sent = tried("refresh", lambda: self._refresh.send(now), Sent())
        weight = sum(found.weight(held.head for held in found.heads.values()).values())
        return Done(evicted, swept, dropped, tidied, sent, weight, failed)

    def _lines(self, found: inventory.Inventory) -> list[Line]:
        return evict.lines(self._store, found, Pins(self._store).pinned())

    def _adopt(self, snapshot: Snapshot) -> object:
        files = self._snapshots.fetch(snapshot)
        return self._snapshots.adopt(snapshot, files, snapshot.created_at)

    def _others(self) -> Iterator[Fault]:
        """The faults of what is no snapshot: registry, jobs and marks."""
        kinds = {
            "sources/": "",
            "jobs/": "it is deleted: nobody can read how that job went",
            "pinned/": "it is deleted: the source is evicted as others are",
        }
        for prefix, how in kinds.items():
            keys = [entry.key for entry in self._store.list(prefix)]
            bodies = inventory.in_parallel(self._store.get, keys)
            for key, stored in zip(keys, bodies, strict=True):
                if stored is not None and not _is_record(stored.body):
                    yield Fault(key, "cannot be read", None, how)


def _is_record(body: bytes) -> bool:
    try:
        return "schema" in json.loads(body)
    except (ValueError, TypeError):
        return False
