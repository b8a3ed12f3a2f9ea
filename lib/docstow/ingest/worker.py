"""The worker: does the job of a message, whichever queue brought it."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from docstow.core import auth
from docstow.core.errors import (
    DocstowError,
    InternalError,
    JobNotFound,
    StoreError,
    TooManyRequests,
    UnreadableInput,
)
from docstow.ingest.job_logs import JobLog
from docstow.ingest.jobs import (
    ABANDONED,
    FAILED,
    FULL,
    QUEUED,
    RUNNING,
    SUCCESS,
    Job,
    Jobs,
    source_of,
    with_error,
)
from docstow.ingest.queue import Busy, Message, decode, job_id_of
from docstow.store.objects import Conflict

if TYPE_CHECKING:
    from docstow.ingest.queue import SqsQueue
    from docstow.store.leases import Leases
    from docstow.store.objects import ObjectStore

log = logging.getLogger(__name__)

#: The kind of error of a job that was cut off by the platform's limit of time.
OUT_OF_TIME = "out_of_time"

#: Pauses before the second try of SQS and before any, in seconds; each is twice the one before.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 30, 900
#: Pause of a message of SQS whose job another worker does, in seconds.
BUSY_PAUSE_S = 10
#: No message is begun with less time left than this, in seconds; and so long before the end what
#: is under way is written down as cut off.
LEAST_S, RESERVE_S = 15.0, 5.0


class Task(Protocol):
    """A kind of job."""

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Return the job's fields at its end if all that it is to do has been done; else None."""

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Do it; return the job's fields at its end. Doing it twice does no harm."""


class StowTask:
    """Stows crates and packages, each by the task of its kind.

    Args:
        crates: of those that no other is for.
        tasks: by the kind of the source.
    """

    def __init__(self, crates: Task, tasks: Mapping[str, Task]) -> None:
        self._crates = crates
        self._tasks = tasks

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Return the job's fields at its end if it is stored; else None."""
        return self._task(job).finished(job)

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Ingest it; return the job's fields at its end."""
        return self._task(job).perform(job)

    def _task(self, job: Job) -> Task:
        return self._tasks.get(source_of(job).kind, self._crates)


class Worker:
    """Does jobs, one at a time for each source.

    Args:
        jobs: where they are written down.
        leases: keep two processes from doing one job twice.
        tasks: what each kind of job does.
        store: where the lines are kept that a job logs.
        lease_s: how long the lease of a process that died is held.
        clock: the time, with its zone.
    """

    def __init__(
        self,
        jobs: Jobs,
        leases: Leases,
        tasks: Mapping[str, Task],
        store: ObjectStore,
        *,
        lease_s: float,
        clock: Callable[[], datetime],
    ) -> None:
        self._jobs = jobs
        self._leases = leases
        self._tasks = tasks
        self._store = store
        self._lease_s = lease_s
        self._clock = clock
        self._running: dict[str, tuple[Job, JobLog]] = {}

    @auth.calling(auth.OWNER)
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
            if not job.active:
                return job
            lines = JobLog(self._store, job.id)
            self._running[job.id] = (job, lines)
            try:
                with lines.kept():
                    return self._perform(task, job, last=last)
            finally:
                self._running.pop(job.id, None)

    def stop(self) -> list[Job]:
        """Give up the jobs that are under way, without waiting for them: this process ends now.

        Returns:
            Those that were given up, which have failed and can be started again.

        Raises:
            StoreError: the store cannot be written.
        """
        stopped = []
        for job, lines in list(self._running.values()):
            error = with_error(job, ABANDONED, "", "It was stopped before its end; start it again.")
            lines.write()
            with contextlib.suppress(JobNotFound):
                stopped.append(self._jobs.change(job, state=FAILED, **error))
        self._leases.release_all()
        return [job for job in stopped if job.abandoned]

    def _replace_abandoned(self, job: Job) -> Job:
        """Return the job that does an abandoned one's work: one that has ended since, or anew."""
        since = self._jobs.latest(job.source_id)
        if since is not None and since.state == SUCCESS and since.mode in (job.mode, FULL):
            return since
        return self._jobs.repeat(job)[0]

    def _perform(self, task: Task, job: Job, *, last: bool) -> Job:
        log.info("the job %s begins: %s %s", job.id, job.kind, job.lease)
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
        log.info("the job %s is done", job.id)
        self._write_lines(job.id)
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
        running = self._running.get(job.id)
        with running[1].taking() if running else contextlib.nullcontext():  # for any thread
            told = "failed" if last else "is tried again"
            log.warning("the job %s %s: %s", job.id, told, message)
        self._write_lines(job.id)
        state = FAILED if last else QUEUED
        self._jobs.change(job, state=state, **with_error(job, kind, "", message, details))

    def _write_lines(self, job_id: str) -> None:
        """Write what a job has logged, before its record says that it has ended."""
        if (running := self._running.get(job_id)) is not None:
            running[1].write()


class SqsEvents:
    """Handles the events by which SQS delivers messages to a function.

    Args:
        worker: does what a message says.
        queue: where they come from.
        most: how often a message comes before it goes to the dead letters.
        reserve_s: so long before the platform's limit a job counts as cut off.
    """

    def __init__(
        self, worker: Worker, queue: SqsQueue, most: int, *, reserve_s: float = RESERVE_S
    ) -> None:
        self._worker = worker
        self._queue = queue
        self._most = most
        self._reserve_s = reserve_s

    def handle(
        self, event: Mapping[str, Any], left_s: Callable[[], float]
    ) -> dict[str, list[dict[str, str]]]:
        """Handle the records of an event; return which of them have to come again.

        Args:
            event: as the platform gives it.
            left_s: how much time the function has left, in seconds.
        """
        again = [
            {"itemIdentifier": record["messageId"]}
            for record in event["Records"]
            if not self._handle(record, left_s())
        ]
        return {"batchItemFailures": again}

    def _handle(self, record: Mapping[str, Any], left_s: float) -> bool:
        """Handle a record; return whether it is done."""
        attempt = int(record["attributes"]["ApproximateReceiveCount"])
        last = attempt >= self._most
        pause_s = min(FIRST_PAUSE_S << min(attempt - 1, 10), LONGEST_PAUSE_S)
        try:
            message = decode(record["body"])
        except UnreadableInput as error:
            return self._reject(record, error)
        if left_s < LEAST_S:
            return self._send_later(record, message, 0)  # what came with it has used up the time
        try:
            with self._watch_time(record, message, left_s, last=last):
                self._worker.handle(message, last=last)
        except Busy:
            return self._send_later(record, message, BUSY_PAUSE_S)
        except UnreadableInput as error:
            return self._reject(record, error)
        except DocstowError as error:
            log.warning("try %d of the job %s: %s", attempt, message.job_id, error.message)
        except Exception:
            log.exception("try %d of the job %s", attempt, message.job_id)
        else:
            return True
        # A message of the last try that comes once more goes to the dead letters instead.
        self._postpone(record, 0 if last else pause_s)
        return False

    def _send_later(self, record: Mapping[str, Any], message: Message, seconds: int) -> bool:
        """Send a new message for what was not begun; return whether the old one is done.

        The queue counts how often a message was received, and to wait is no try: else what had
        waited would rest for longer after its first failure, and soon end with the dead letters.
        """
        try:
            self._queue.send(message, delay_s=seconds)
        except StoreError:
            self._postpone(record, seconds)
            return False
        return True

    def _reject(self, record: Mapping[str, Any], error: UnreadableInput) -> bool:
        """Send back at once what no try can read, until it is with the dead letters."""
        log.error("the message %s cannot be read: %s", record["messageId"], error.message)
        with contextlib.suppress(StoreError):  # the others of its batch are done all the same
            self._worker.fail(job_id_of(record["body"]), error.code, error.message)
        self._postpone(record, 0)
        return False

    def _postpone(self, record: Mapping[str, Any], seconds: int) -> None:
        with contextlib.suppress(StoreError):  # it comes when its time is up
            self._queue.postpone(record["receiptHandle"], seconds)

    @contextlib.contextmanager
    def _watch_time(
        self, record: Mapping[str, Any], message: Message, left_s: float, *, last: bool
    ) -> Iterator[None]:
        """Have a job tried again that the platform is about to cut off, and write that down."""

        def cut_off() -> None:
            # Else it would come when the longest of jobs had ended; its lease ends sooner.
            self._postpone(record, 0 if last else FIRST_PAUSE_S)
            try:
                self._worker.out_of_time(message, last=last)
            except StoreError as error:
                log.warning("the job %s is cut off untold: %s", message.job_id, error.message)

        timer = threading.Timer(left_s - self._reserve_s, cut_off)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


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
