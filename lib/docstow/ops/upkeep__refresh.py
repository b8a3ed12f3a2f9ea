"""Refresh: what upkeep has others do: sources that are due are synced, lost messages sent again.

This room knows when something is due. It does none of it: a worker does, when the queue lets it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.core.model import Registration

if TYPE_CHECKING:
    from docstow.ingest.jobs.dispatch import Dispatch
    from docstow.ingest.jobs.store import Jobs
    from docstow.sources.registry import Registry

log = logging.getLogger(__name__)

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
