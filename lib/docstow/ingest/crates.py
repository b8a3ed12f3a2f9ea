"""How a crate that is not stowed becomes so: asked for as a job, waited for, fetched and read.

This room knows when the upstream is fetched from and how long a caller waits. It does not know
which version answers a request.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any

from docstow.core import auth as access
from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    Ingesting,
    TooLarge,
    VersionYanked,
)
from docstow.core.model import File, Revision, Snapshot, Source
from docstow.ingest.jobs.model import FAILED, STOW, SUCCESS, Job, subject
from docstow.ingest.jobs.queue import Busy, EndOfQueue
from docstow.ingest.jobs.store import Jobs

if TYPE_CHECKING:
    from concurrent.futures import Future

    from docstow.ingest.jobs.enqueue import Enqueuer
    from docstow.ingest.publish import Ingest
    from docstow.sources.crates.origin import CrateOrigin
    from docstow.store.leases import Leases
    from docstow.store.snapshots import Snapshots

log = logging.getLogger(__name__)

#: Pauses between looks at a job that another process runs, in seconds: first and longest.
SOON_S, LATE_S = 0.05, 1.0

#: For so long, in seconds, a failed job's reason answers, and is not looked for anew: whoever was
#: told to ask again gets to know it.
REST_S = 15.0

#: What a caller is told to wait before the next question, in seconds.
RETRY_AFTER_S = 5


class Stowing:
    """Has crates stowed, and stows them. Safe to share between threads.

    Args:
        snapshots: published snapshots.
        jobs: where ingests are written down.
        leases: keep two processes from doing one ingest twice.
        origin: makes the docs.rs origin when it is first needed.
        ingest: makes the write path when it is first needed.
        dispatch: sends jobs to a worker.
        wait_s: how long a caller waits for an ingest, in seconds.
        lease_s: how long the lease of an ingest that died is held, in seconds.
        pause: sleeps; given so that tests need not.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        jobs: Jobs,
        leases: Leases,
        origin: Callable[[], CrateOrigin],
        ingest: Callable[[], Ingest],
        dispatch: Callable[[], Enqueuer],
        *,
        wait_s: float,
        lease_s: float,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._snapshots = snapshots
        self._jobs = jobs
        self._leases = leases
        self._origin = origin
        self._ingest = ingest
        self._dispatch = dispatch
        self._wait_s = wait_s
        self._lease_s = lease_s
        self._pause = pause

    def current(self, source: Source, *, fresh: bool = False) -> Snapshot | None:
        """The snapshot that answers for a source, if one does."""
        return self._snapshots.answering(source, fresh=fresh)

    def wanted(self, source: Source) -> Snapshot:
        """Have a crate stowed by a worker, and wait a while for that.

        Raises:
            Ingesting: it takes longer than a caller should wait.
            Unauthorized: the caller may not have anything stowed.
            DocstowError: what the worker met.
        """
        access.require_credential(f"{source.name} {source.version} is not stowed yet")
        until = time.monotonic() + self._wait_s
        while True:
            job, end = self._dispatch().start(
                subject(STOW, source), kind=STOW, source=source, rest_s=REST_S
            )
            job = self._waited(job, end, until)
            if job.state == SUCCESS and (stowed := self.current(source, fresh=True)) is not None:
                return stowed
            if job.state == FAILED and not job.abandoned:
                raise job.reason()
            if job.active or time.monotonic() >= until:
                raise Ingesting(
                    f"{source.name} {source.version} is being stowed; ask again in a few seconds.",
                    job_id=job.id,
                    retry_after_s=RETRY_AFTER_S,
                )

    def _waited(self, job: Job, end: Future[None] | None, until: float) -> Job:
        """The job when it has ended, or as it is when the time is up."""
        if end is not None:
            # The end of what runs in this process is told; others' jobs have to be looked at.
            wait([end], max(until - time.monotonic(), 0))
            job = self._jobs.get(job.id)
            if job.active and end.done() and not isinstance(error := end.exception(), EndOfQueue):
                raise error or Busy(job.id)
            return job
        pause = SOON_S
        while job.active and (left := until - time.monotonic()) > 0:
            self._pause(min(pause, left))
            pause = min(pause * 1.5, LATE_S)
            job = self._jobs.get(job.id)
        return job

    def once(self, revision: Revision) -> Snapshot:
        """Stow a crate in this thread, unless it has been.

        Raises:
            Busy: another process is at it.
            DocstowError: as the upstream or the reader says.
        """
        lease = self._leases.acquire(revision.source.key, self._lease_s)
        if lease is None:
            if (snapshot := self.current(revision.source)) is not None:
                return snapshot
            raise Busy(revision.source.key)
        with self._leases.kept(lease):
            return self.current(revision.source) or self.anew(revision)

    def anew(self, revision: Revision) -> Snapshot:
        """Fetch and stow a crate now, even if it is stowed already."""
        log.info("stowing %s", revision.source.key)
        origin = self._origin()
        release = origin.release(revision)

        def sibling(package: str, version: str) -> File | None:
            try:
                part = origin.resolve(package, version, target=revision.source.target)
                return origin.fetch(part)
            except (CrateNotFound, CrateNotDocumented, VersionYanked, TooLarge) as error:
                log.warning("%s lacks a part: %s", revision.source.key, error.message)
                return None

        facts = release.facts() if release else {}
        return self._ingest().crate(revision, origin.fetch(revision), facts, sibling)

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """The end of a job whose crate has been stowed by others."""
        snapshot = self.current(_source(job), fresh=True)
        return None if snapshot is None else _ended(job, snapshot)

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Stow a job's crate; its worker holds the lease.

        Raises:
            DocstowError: as the upstream or the reader says.
        """
        source = _source(job)
        stowed = self.current(source, fresh=True)
        if stowed is None:
            revision = self._origin().resolve(source.name, source.version, target=source.target)
            stowed = self.anew(revision)
        return _ended(job, stowed)


def _source(job: Job) -> Source:
    if job.source is None:
        raise ValueError(f"the job {job.id} names no crate")
    return job.source


def _ended(job: Job, snapshot: Snapshot) -> Mapping[str, Any]:
    """The fields of a job by which a snapshot answers for its source."""
    counts = {"documents": snapshot.counts.get("documents", 0)}
    return {
        "state": SUCCESS,
        "counts": {**job.counts, **counts},
        "snapshot_id": snapshot.id,
        "version": snapshot.revision.version,
    }
