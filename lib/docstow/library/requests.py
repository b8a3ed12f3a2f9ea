"""Requests for work: each enqueues a job for a worker, and may wait for its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

from docstow.core import auth, calls
from docstow.core.errors import Ingesting
from docstow.core.model import Snapshot, Source
from docstow.core.threads import waiting
from docstow.ingest.jobs import (
    FAILED,
    INCREMENTAL,
    RENEW,
    STOW,
    SUCCESS,
    Job,
    Jobs,
    subject,
)
from docstow.ingest.queue import Busy, EndOfQueue
from docstow.store.objects import ReadOnlyStore

if TYPE_CHECKING:
    from docstow.ingest.queue import Enqueuer
    from docstow.sources.registry import Registry
    from docstow.store.snapshots import Snapshots

#: For so many seconds a failed job's reason is the answer, and the job is not tried again: a caller
#: who was told to ask again learns it.
_REST_S = 15.0

#: What a caller is told to wait before the next question, in seconds.
_RETRY_AFTER_S = 5

#: After a failed renewal the next one waits for so many seconds.
_RENEWAL_REST_S = 60.0


class StowRequests:
    """Has crates and packages ingested. Safe to share between threads.

    Args:
        snapshots: the published snapshots.
        jobs: where ingests are written down.
        enqueuer: sends jobs to a worker.
        wait_s: how long a caller waits for an ingest, in seconds.
        pause: sleeps.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        jobs: Jobs,
        enqueuer: Enqueuer,
        *,
        wait_s: float,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._snapshots = snapshots
        self._jobs = jobs
        self._enqueuer = enqueuer
        self._wait_s = wait_s
        self._pause = pause

    def ingest(self, source: Source) -> Snapshot:
        """Have a crate or package ingested by a worker, and wait a while for that.

        Raises:
            Ingesting: it takes longer than a caller should wait.
            Unauthorized: the caller may not have anything ingested.
            DocstowError: what the worker met.
        """
        auth.require_credential(f"{source.name} {source.version} is not stowed yet")
        until = time.monotonic() + self._wait_s
        calls.tell(f"{source.name} {source.version} is not stowed yet: it is fetched and indexed")
        while True:
            job, end = self._enqueuer.start(
                subject(STOW, source), kind=STOW, source=source, rest_s=_REST_S
            )
            job = self._wait(job, end, until)
            if job.state == SUCCESS:
                # What ended in this process has left its head in memory.
                snapshot = self._snapshots.answering(source, fresh=end is None)
                if snapshot is not None:
                    return snapshot
            if job.state == FAILED and not job.abandoned:
                raise job.reason()
            if job.active or time.monotonic() >= until:
                raise Ingesting(
                    f"{source.name} {source.version} is being stowed; ask again in a few seconds.",
                    job_id=job.id,
                    retry_after_s=_RETRY_AFTER_S,
                )

    def _wait(self, job: Job, end: Future[None] | None, until: float) -> Job:
        if end is None:
            return _poll(self._jobs, job, until, self._pause, first_s=0.05, longest_s=1.0)
        # Only what runs in this process has a future; the jobs of others are polled.
        if not end.done():
            with waiting():
                _await(end, until, self._wait_s)
        job = self._jobs.get(job.id)
        if job.active and end.done() and not isinstance(error := end.exception(), EndOfQueue):
            raise error or Busy(job.id)
        return job


class RenewalRequests:
    """Has snapshots of an older recipe made again.

    Args:
        jobs: where renewals are written down.
        enqueuer: sends jobs to a worker.
        clock: monotonic seconds.
    """

    def __init__(
        self, jobs: Jobs, enqueuer: Enqueuer, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._jobs = jobs
        self._enqueuer = enqueuer
        self._clock = clock
        self._sent: dict[str, tuple[float, Job]] = {}

    def renew(self, snapshot: Snapshot) -> str:
        """Have a snapshot made again, unless that is under way.

        Returns:
            Why the last attempt failed, while the next one waits; else nothing.
        """
        sent_at, job = self._sent.get(snapshot.id, (0.0, None))
        if job is None or self._clock() - sent_at >= _RENEWAL_REST_S:
            source = snapshot.revision.source
            try:
                job, _ = self._enqueuer.start(
                    subject(RENEW, source), kind=RENEW, source=source, rest_s=_RENEWAL_REST_S
                )
            except ReadOnlyStore:
                return "The store cannot be written."
            sent_at = self._clock()
        elif job.active:
            job = self._jobs.get(job.id)
        self._sent[snapshot.id] = (sent_at, job)
        return job.outward().reason().message if job.state == FAILED else ""


class SyncRequests:
    """Has registered sources synced. Safe to share between threads.

    Args:
        registry: the registered sources.
        jobs: where syncs are written down.
        enqueuer: sends jobs to a worker.
        pause: sleeps.
    """

    def __init__(
        self,
        registry: Registry,
        jobs: Jobs,
        enqueuer: Enqueuer,
        *,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._registry = registry
        self._jobs = jobs
        self._enqueuer = enqueuer
        self._pause = pause

    def start(self, ref: str, mode: str = INCREMENTAL, *, join_running: bool = True) -> Job:
        """Have a source synced; return the job that does it, which may be under way already.

        Args:
            ref: what the registry finds the source by.
            mode: ``incremental``, or ``full``, in which no file is taken for unchanged.
            join_running: see :meth:`Jobs.start`.

        Raises:
            SourceNotFound: no source is called that.
            InvalidParameter: there is no such mode.
        """
        registration = self._registry.get(ref)
        job, _ = self._enqueuer.start(registration.id, mode, join_running=join_running)
        return job

    def wait(self, job_id: str, seconds: float) -> Job:
        """Return a job when it has ended, or as it is after so many seconds.

        Raises:
            JobNotFound: there is none of that id.
        """
        until = time.monotonic() + seconds
        job = self._jobs.get(job_id)
        return _poll(self._jobs, job, until, self._pause, first_s=0.01, longest_s=0.5)


def _await(end: Future[None], until: float, seconds: float) -> None:
    """Wait for work of this process until a time, and say how much of that has passed."""
    while not end.done() and (left := until - time.monotonic()) > 0:
        calls.report(max(seconds - left, 0), seconds, "seconds of the wait for an ingest")
        wait([end], min(left, calls.LOOK_S))


def _poll(
    jobs: Jobs,
    job: Job,
    until: float,
    pause: Callable[[float], object],
    *,
    first_s: float,
    longest_s: float,
) -> Job:
    """Return a job when it has ended, or as it is when the time is up.

    Args:
        jobs: where it is written down.
        job: as it was read last.
        until: on the monotonic clock, in seconds.
        pause: sleeps.
        first_s: the first pause between two looks.
        longest_s: the longest one.
    """
    if not job.active:
        return job
    pause_s = first_s
    with waiting():
        while (left := until - time.monotonic()) > 0:
            pause(min(pause_s, left))
            pause_s = min(pause_s * 1.5, longest_s)
            job = jobs.get(job.id)
            calls.report(job.progress.done, job.progress.total, job.progress.current)
            if not job.active:
                break
    return job
