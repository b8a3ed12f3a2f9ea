"""The worker: does the job of a message, whichever queue brought it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from docstow.core.errors import (
    DocstowError,
    InternalError,
    JobNotFound,
    StoreError,
    TooManyRequests,
    UnreadableInput,
)
from docstow.ingest.jobs.model import FAILED, FULL, QUEUED, RUNNING, SUCCESS, Job, with_error
from docstow.ingest.jobs.queue import Busy, Message
from docstow.store.objects import Conflict

if TYPE_CHECKING:
    from docstow.ingest.jobs.store import Jobs
    from docstow.store.leases import Leases

log = logging.getLogger(__name__)

#: The kind of error of a job that was cut off by the platform's limit of time.
OUT_OF_TIME = "out_of_time"


class Task(Protocol):
    """A kind of job."""

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Return the job's fields at its end if all that it is to do has been done; else None."""

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Do it; return the job's fields at its end. Doing it twice does no harm."""


class Worker:
    """Does jobs, one at a time for each source.

    Args:
        jobs: where they are written down.
        leases: keep two processes from doing one job twice.
        tasks: what each kind of job does.
        lease_s: how long the lease of a process that died is held.
        clock: the time, with its zone.
    """

    def __init__(
        self,
        jobs: Jobs,
        leases: Leases,
        tasks: Mapping[str, Task],
        *,
        lease_s: float,
        clock: Callable[[], datetime],
    ) -> None:
        self._jobs = jobs
        self._leases = leases
        self._tasks = tasks
        self._lease_s = lease_s
        self._clock = clock

    def handle(self, message: Message, *, last: bool = True) -> Job | None:
        """Do a message's job in this thread, unless it has been done; return the job at its end.

        The same message twice is done once. An error that another try would meet again ends the
        job, which then says why, and the message is done. Others leave the job queued and are
        raised; at the last try they end it and are raised.

        Args:
            message: what is to be done.
            last: whether the message will not come again.

        Raises:
            Busy: another process is at it.
            UnreadableInput: there is no such task.
            StoreError: the store cannot be used.
        """
        task = self._tasks.get(message.task)
        if task is None:
            raise UnreadableInput(f"There is no task {message.task!r:.60} in this release.")
        try:
            job = self._jobs.stored(message.job_id)
        except JobNotFound as error:
            log.warning("a message is dropped: %s", error.message)
            return None
        if job.abandoned:
            job = self._replace_abandoned(job)  # it was taken for dead before its message came
        if not job.active:
            return job
        if (fields := task.finished(job)) is not None:
            return self._jobs.change(job, **fields)
        lease = self._leases.acquire(job.lease, self._lease_s)
        if lease is None:
            raise Busy(job.lease)
        with self._leases.kept(lease):
            begun = {"state": RUNNING, "started_at": self._clock(), "errors": (), "error_count": 0}
            job = self._jobs.change(job, **begun)
            return self._perform(task, job, last=last) if job.active else job

    def _replace_abandoned(self, job: Job) -> Job:
        """Return the job that does an abandoned one's work: one that has ended since, or anew."""
        since = self._jobs.latest(job.source_id)
        if since is not None and since.state == SUCCESS and since.mode in (job.mode, FULL):
            return since
        return self._jobs.repeat(job)[0]

    def _perform(self, task: Task, job: Job, *, last: bool) -> Job:
        try:
            fields = task.perform(job)
        except Busy:
            self._jobs.change(job, state=QUEUED)
            raise
        except Exception as error:
            retry = not _is_permanent(error)
            self._give_up(job, *_describe(job, error), last=last or not retry)
            if retry:
                raise  # so that the message comes again, or goes where failures are kept
            return self._jobs.stored(job.id)
        return self._jobs.change(job, **fields)

    def out_of_time(self, message: Message, *, last: bool) -> None:
        """Write down that a job is about to be cut off, to be tried again if it may be."""
        reason = "There was no time left for this try; what it had begun is begun anew."
        self.fail(message.job_id, OUT_OF_TIME, reason, last=last)

    def fail(self, job_id: str, kind: str, message: str, *, last: bool = True) -> None:
        """Write down why a job is not done, for good or until the next try."""
        with contextlib.suppress(JobNotFound):
            self._give_up(self._jobs.stored(job_id), kind, message, {}, last=last)

    def _give_up(
        self, job: Job, kind: str, message: str, details: Mapping[str, Any], *, last: bool
    ) -> None:
        log.warning("the job %s %s: %s", job.id, "failed" if last else "is tried again", message)
        state = FAILED if last else QUEUED
        self._jobs.change(job, state=state, **with_error(job, kind, "", message, details))


def _is_permanent(error: Exception) -> bool:
    """Return whether another try would meet the same error: it lies in what was asked for."""
    if not isinstance(error, DocstowError) or isinstance(error, TooManyRequests):
        return False
    return error.status < StoreError.status


def _describe(job: Job, error: Exception) -> tuple[str, str, dict[str, Any]]:
    """Return kind, message and details of an error as the job's record has them."""
    if isinstance(error, DocstowError):
        details = error.body()
        return details.pop("error"), details.pop("message"), details
    if isinstance(error, Conflict):
        return "conflict", "Others changed the source meanwhile; start it again.", {}
    log.error("the job %s failed", job.id, exc_info=error)
    return InternalError.code, "Something went wrong inside; see the log.", {}
