"""Upkeep: what is done with a store from time to time, by whoever has the time.

This room knows the order of the steps; each is safe at any time, beside readers, publishers and
other upkeep (``sweep`` says why), and may be cut off anywhere. It loads no table and no model.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from docstow.core.errors import DocstowError
from docstow.core.model import Snapshot
from docstow.ops import audit as audit
from docstow.ops import evict as evict
from docstow.ops import sweep as sweep
from docstow.ops import upkeep__tidy as tidy
from docstow.ops.audit import Fault, Verified
from docstow.ops.evict import Line
from docstow.ops.sweep import GRACE, Swept
from docstow.ops.upkeep__refresh import Refresh, Sent
from docstow.sources.registry import Registry
from docstow.store import listing as inventory
from docstow.store.objects import ObjectStore
from docstow.store.snapshots import Snapshots
from docstow.store.usage import Pins

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
            return tidy.drop_deleted(self._store, self._registry, now, self._grace)

        dropped = tried("drop what was deleted", drop, 0)
        tidied = tried("tidy", lambda: tidy.tidy(self._store, now), dict[str, int]())
        evicted = tried("evict", self.evict, list[Line]())
        found = inventory.take(self._store)
        tidied["cards"] = tried("tidy cards", lambda: tidy.drop_cards(self._store, found), 0)
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
