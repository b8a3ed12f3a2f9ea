"""Snapshots of an older recipe are made anew beside the searches that they still answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from docstow.ingest.jobs.model import FAILED, RENEW, SUCCESS, Job, subject
from docstow.ingest.jobs.store import Jobs
from docstow.store.objects import Conflict, ReadOnlyStore

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.ingest.jobs.enqueue import Enqueuer
    from docstow.ingest.publish import Ingest
    from docstow.store.snapshots import Snapshots

log = logging.getLogger(__name__)


#: After a failed attempt the next one waits for so many seconds.
RETRY_S = 60.0


class Renewals:
    """Has old snapshots made anew, and makes them.

    Args:
        snapshots: published snapshots.
        jobs: where renewals are written down.
        ingest: makes the write path when it is first needed.
        dispatch: sends jobs to a worker.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        jobs: Jobs,
        ingest: Callable[[], Ingest],
        dispatch: Callable[[], Enqueuer],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._snapshots = snapshots
        self._jobs = jobs
        self._ingest = ingest
        self._dispatch = dispatch
        self._clock = clock
        self._sent: dict[str, tuple[float, Job]] = {}

    def send(self, snapshot: Snapshot) -> str:
        """Have a snapshot made anew, unless that is under way.

        Returns:
            Why the last attempt failed, while the next one waits; else nothing.
        """
        sent_at, job = self._sent.get(snapshot.id, (0.0, None))
        if job is None or self._clock() - sent_at >= RETRY_S:
            source = snapshot.revision.source
            try:
                job, _ = self._dispatch().start(
                    subject(RENEW, source), kind=RENEW, source=source, rest_s=RETRY_S
                )
            except ReadOnlyStore:
                return "The store cannot be written."
            sent_at = self._clock()
        elif job.active:
            job = self._jobs.get(job.id)
        self._sent[snapshot.id] = (sent_at, job)
        return job.outward().reason().message if job.state == FAILED else ""

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """The end of a job whose source has nothing any more that is to be made anew."""
        return None if self._answering(job) is not None else {"state": SUCCESS}

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Make anew what answers for a job's source; the old one answers if that fails."""
        snapshot = self._answering(job)
        if snapshot is None:
            return {"state": SUCCESS}
        from docstow.ingest.publish import renewed

        ingest = self._ingest()
        if snapshot.recipe != renewed(snapshot.recipe, ingest.embedder):
            try:
                snapshot = ingest.renew(snapshot)
            except Conflict:
                log.info("%s was stowed anew meanwhile", job.lease)  # and by the recipe of today
                return {"state": SUCCESS}
            log.info("%s was made anew by the model %s", job.lease, snapshot.recipe.model)
        version = snapshot.revision.version
        return {"state": SUCCESS, "snapshot_id": snapshot.id, "version": version}

    def _answering(self, job: Job) -> Snapshot | None:
        return self._snapshots.answering(job.source, fresh=True) if job.source else None
