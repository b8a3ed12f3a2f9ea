"""Upkeep: what is done with a store from time to time, by whoever has the time.

Each step is safe at any time, beside readers, publishers and other upkeep (``sweep`` says why),
and may be cut off anywhere. No model is loaded, and tables only to make lost cards anew.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from docstow.core.errors import DocstowError, StoreError
from docstow.core.model import Head, Registration, Snapshot
from docstow.ingest.jobs import LOGS_PREFIX, job_id_of
from docstow.ops.audit import Fault, Verified, repair, verify
from docstow.ops.evict import StoredSource, evict, list_sources
from docstow.ops.sweep import GRACE, Swept, sweep
from docstow.sources import kinds
from docstow.store.heads import Heads, replace_head
from docstow.store.inventory import (
    Inventory,
    Listing,
    in_parallel,
    list_store,
    read_inventory,
    store_time,
    write_inventory,
)
from docstow.store.objects import Conflict, ObjectStore
from docstow.store.snapshots import Snapshots
from docstow.store.usage import TOUCHED_PREFIX, Pins

if TYPE_CHECKING:
    from docstow.index.catalog import Catalog
    from docstow.ingest.jobs import Jobs
    from docstow.ingest.queue import Enqueuer
    from docstow.sources.registry import Registry

log = logging.getLogger(__name__)

_T = TypeVar("_T")

#: A job that is queued for longer than this, in seconds, has lost its message: twice what five
#: tries of an hour and a half each may take, all that wait before it included.
LOST_S = 12 * 3600.0

#: How many heads and records a round reads, some two minutes of S3; the next one goes on.
MOST_READ = 40_000

_NO_CARDS = {"cards": 0, "segments": 0}

#: The newest job of a source stays whatever its age, for it says how the last sync went.
JOBS_KEPT = timedelta(days=30)
#: No lease is held for longer than a day, whatever its holder's clock says.
LEASES_KEPT = timedelta(days=2)
#: What was not used for so long is the first to go anyway.
USAGE_KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent to workers.

    Attributes:
        synced: jobs of sources whose last sync had become too old.
        again: jobs whose messages were lost.
    """

    synced: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What one round of upkeep has done.

    Attributes:
        evicted: what had to make room.
        swept: what the sweep has found and deleted.
        dropped: deleted sources whose snapshots were given up.
        tidied: small objects that were deleted, and cards that were, by kind.
        sent: what was sent to workers.
        bytes: what all that the heads name weighs now.
        failed: steps that could not be done, with the reason; the others were.
        left: heads and records that are still to be read, as of a large store whose inventory is
            made anew; until a later round has read them nothing is evicted or swept.
    """

    evicted: list[StoredSource]
    swept: Swept
    dropped: int
    tidied: dict[str, int]
    sent: Sent
    bytes: int
    failed: dict[str, str]
    left: int = 0


class Upkeep:
    """The upkeep of a store.

    Args:
        store: where everything is.
        registry: which sources were deleted.
        snapshots: publishes anew what a repair has found whole.
        refresh: sends workers what is due.
        limit: bytes that the heads may name before the least used make room.
        open_catalog: opens the catalogue.
        grace: for how long readers may go on with what a head named.
    """

    def __init__(
        self,
        store: ObjectStore,
        registry: Registry,
        snapshots: Snapshots,
        refresh: Refresh,
        limit: int,
        open_catalog: Callable[[], Catalog],
        *,
        grace: timedelta = GRACE,
    ) -> None:
        self._store = store
        self._registry = registry
        self._snapshots = snapshots
        self._refresh = refresh
        self._limit = limit
        self._open_catalog = open_catalog
        self._grace = grace

    def list_sources(self) -> list[StoredSource]:
        """Return every source that has snapshots, in the order in which they would be evicted."""
        return self._order(list_store(self._store, read_inventory(self._store)))

    def evict(self) -> list[StoredSource]:
        """Let the least used sources make room; return those that had to."""
        evicted = self._evict(list_store(self._store, read_inventory(self._store)))
        if evicted:
            try:
                self._open_catalog().forget(each.source for each in evicted)
            except StoreError as error:  # a round does it, too
                log.warning("cards of what was evicted stay for now: %s", error.message)
        return evicted

    def _evict(self, found: Listing) -> list[StoredSource]:
        if sum(found.weight(found.all_heads()).values()) <= self._limit:
            return []  # marks of use and pins need not be read
        return evict(self._store, found, self._order(found), self._limit)

    def sweep(self) -> Swept:
        """Delete what is dead; see :func:`docstow.ops.sweep.sweep`."""
        return sweep(self._store, grace=self._grace)

    def verify(self) -> Verified:
        """Check everything that the store promises."""
        return verify(self._store, self._find_other_faults)

    def repair(self, verified: Verified) -> list[str]:
        """Do what can be done about faults; return a line for each."""
        return repair(self._store, verified, self._adopt)

    def run(self) -> Done:
        """Do one round. What fails is logged and does not stop the rest.

        Raises:
            StoreError: the store cannot be used at all.
        """
        now = store_time(self._store)
        failed: dict[str, str] = {}

        def attempt(step: str, work: Callable[[], _T], otherwise: _T) -> _T:
            try:
                return work()
            except DocstowError as error:
                log.warning("upkeep could not %s: %s", step, error.message)
                failed[step] = error.message
                return otherwise

        def drop() -> int:
            return drop_deleted(self._store, self._registry, now, self._grace)

        dropped = attempt("drop what was deleted", drop, 0)
        tidied = attempt("tidy", lambda: clean_up(self._store, now), dict[str, int]())
        former = read_inventory(self._store)
        found = look = list_store(self._store, former, MOST_READ)
        attempt(
            "keep the inventory",
            lambda: write_inventory(self._store, former, look),
            otherwise=False,
        )
        evicted, swept = list[StoredSource](), Swept()
        if found.left:
            log.info("%d heads and records are left for the next round", found.left)
        else:
            evicted = attempt("evict", lambda: self._evict(found), evicted)
            if evicted:
                found = list_store(self._store, Inventory(found.seen))
            tidied |= attempt(
                "maintain the catalogue", lambda: self._maintain_catalog(found, now), _NO_CARDS
            )
            swept = sweep(self._store, grace=self._grace, listing=found)
            attempt("renew heads", lambda: add_digests(self._store, found), 0)
        for key, reason in found.unreadable.items():
            log.error("%s: %s", key, reason)
            failed[key] = reason
        # Last, for what it sends may begin at once to change what was looked at.
        sent = attempt("refresh", lambda: self._refresh.send(now), Sent())
        weight = sum(found.weight(found.all_heads()).values())
        return Done(evicted, swept, dropped, tidied, sent, weight, failed, found.left)

    def _maintain_catalog(self, found: Listing, now: datetime) -> dict[str, int]:
        heads = {source: stored.head for source, stored in found.heads.items()}
        if not heads:
            return _NO_CARDS  # what reads cards takes a while to load
        from docstow.index.catalog_upkeep import CatalogUpkeep

        upkeep = CatalogUpkeep(self._open_catalog(), self._snapshots)
        done = upkeep.maintain(heads, now - self._grace, kinds())
        if done.made:
            log.info("the catalogue lacked %d cards, which were made anew", done.made)
        return {"cards": done.dropped, "segments": done.deleted}

    def _order(self, found: Listing) -> list[StoredSource]:
        return list_sources(self._store, found, Pins(self._store).pinned())

    def _adopt(self, snapshot: Snapshot) -> object:
        files = self._snapshots.fetch(snapshot)
        return self._snapshots.adopt(snapshot, files, snapshot.created_at)

    def _find_other_faults(self) -> Iterator[Fault]:
        """Yield the faults of what is no snapshot: registry, jobs and marks."""
        repairs = {
            "sources/": "",
            "jobs/": "it is deleted: nobody can read how that job went",
            LOGS_PREFIX: "it is deleted: nobody can read what that job logged",
            "pinned/": "it is deleted: the source is evicted as others are",
        }
        for prefix, how in repairs.items():
            keys = [entry.key for entry in self._store.list(prefix)]
            bodies = in_parallel(self._store.get, keys)
            for key, stored in zip(keys, bodies, strict=True):
                if stored is not None and not _has_schema(stored.body):
                    yield Fault(key, "cannot be read", None, how)


@dataclass(frozen=True, slots=True)
class Refresh:
    """Sends what is due.

    Attributes:
        registry: how old the snapshots of a source may become.
        jobs: when it was synced last.
        enqueuer: sends jobs to a worker.
    """

    registry: Registry
    jobs: Jobs
    enqueuer: Enqueuer

    def send(self, now: datetime) -> Sent:
        """Send what is due; one source that cannot be is logged and does not stop the rest.

        Raises:
            StoreError: the store or the queue cannot be used.
        """
        synced = []
        for registration in self.registry.all():
            try:
                if self._is_due(registration, now):
                    synced.append(self.enqueuer.start(registration.id)[0].id)
            except DocstowError as error:
                log.warning("%s is not refreshed: %s", registration.source.key, error.message)
        again = self.enqueuer.requeue(LOST_S)
        return Sent(tuple(synced), tuple(job.id for job in again))

    def _is_due(self, registration: Registration, now: datetime) -> bool:
        """Return whether its last job is too old; a failed one is not redone any sooner."""
        if not registration.refresh_hours:
            return False
        job = self.jobs.latest(registration.id)
        if job is None:
            return True
        age = now - (job.finished_at or job.heartbeat)
        return not job.active and age >= timedelta(hours=registration.refresh_hours)


def clean_up(store: ObjectStore, now: datetime) -> dict[str, int]:
    """Delete jobs, logs, leases and marks that are of no interest any more; return how many.

    Args:
        store: what to clean up.
        now: by the store's clock.
    """
    day = (now - USAGE_KEPT).date().isoformat()
    # Before the jobs: of a log that is listed here the record was there.
    logs = [entry.key for entry in store.list(LOGS_PREFIX)]
    former, kept = _find_former_jobs(store, now - JOBS_KEPT)
    old = {
        "jobs": former,
        "logs": [key for key in logs if job_id_of(key) not in kept],
        "leases": [e.key for e in store.list("leases/") if e.modified < now - LEASES_KEPT],
        "touched": [e.key for e in store.list(TOUCHED_PREFIX) if e.key.split("/")[1] < day],
    }
    for found in old.values():
        in_parallel(store.delete, found)
    return {kind: len(found) for kind, found in old.items()}


def _find_former_jobs(store: ObjectStore, oldest: datetime) -> tuple[list[str], set[str]]:
    """Return the keys of old jobs but the newest of each source, and the ids of all others."""
    entries = list(store.list("jobs/"))
    newest = set({entry.key.rpartition("-")[0]: entry.key for entry in entries}.values())
    former = [e.key for e in entries if e.modified < oldest and e.key not in newest]
    return former, {job_id_of(e.key) for e in entries} - set(map(job_id_of, former))


def drop_deleted(store: ObjectStore, registry: Registry, now: datetime, grace: timedelta) -> int:
    """Let the heads of deleted sources name nothing, once the grace is over; return how many.

    A head that has come to answer again, because the source was added anew, is left alone.
    """
    dropped = 0
    written = {entry.key: entry.modified for entry in store.list("sources/")}
    heads = Heads(store, freshness_s=0, clock=lambda: 0.0)
    for record in registry.deleted():
        registration = record.registration
        seen = heads.get(registration.source, fresh=True)
        at = written.get(f"sources/{registration.id}.json", now)
        if now - at < grace or seen is None or seen.snapshot_id or not seen.earlier:
            continue

        def drop(current: Head | None, generation: int = seen.generation) -> Head:
            if current is None or current.generation != generation:
                raise Conflict("the head has moved on")
            return replace(current, earlier=(), generation=generation + 1)

        try:
            heads.change(registration.source, drop)
        except Conflict:
            continue
        dropped += 1
    return dropped


def add_digests(store: ObjectStore, found: Listing) -> int:
    """Let heads that older releases wrote hold the digests of their records; return how many.

    Args:
        store: where the heads are.
        found: a look at it; a head that has changed since is left for the next round.
    """
    renewed = 0
    for seen in found.heads.values():
        head = seen.head
        missing = {
            each: found.digests[each]
            for each in head.named
            if each not in head.records and each in found.digests
        }
        if missing:
            changed = replace(head, records={**head.records, **missing})
            renewed += replace_head(store, seen, changed)
    return renewed


def _has_schema(body: bytes) -> bool:
    try:
        return "schema" in json.loads(body)
    except (ValueError, TypeError):
        return False
