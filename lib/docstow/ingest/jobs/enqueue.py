"""Enqueue jobs: a job is written down, then its message is sent, once or once more."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

from docstow.core.errors import DocstowError, InvalidParameter, JobNotFound, UnreadableInput
from docstow.core.model import Source
from docstow.ingest.jobs.model import FAILED, INCREMENTAL, QUEUED, STOW, SYNC, Job, subject
from docstow.ingest.jobs.queue import BATCH, Message, Queue, decode
from docstow.ingest.jobs.sqs import SqsQueue
from docstow.ingest.jobs.store import Jobs

#: A job that waits for longer, in seconds, is sent once more when it is asked for again: its
#: message may never have been sent. One too many does no harm.
RESEND_S = 600.0


@dataclass(frozen=True, slots=True)
class Redriven:
    """What came of a dead letter or a failed job: the job that does it anew, or why none does."""

    text: str
    job: Job | None = None
    reason: str = ""


class Enqueuer:
    """Starts jobs and sends their messages.

    Args:
        jobs: where they are written down.
        queue: what brings them to a worker.
        clock: the time, with its zone.
    """

    def __init__(self, jobs: Jobs, queue: Queue, clock: Callable[[], datetime]) -> None:
        self._jobs = jobs
        self._queue = queue
        self._clock = clock

    def start(
        self,
        source_id: str,
        mode: str = INCREMENTAL,
        *,
        kind: str = SYNC,
        source: Source | None = None,
        join_running: bool = True,
        rest_s: float = 0.0,
    ) -> tuple[Job, Future[None] | None]:
        """Start a job, unless one is under way; return it, and its end in this process.

        Args and errors are those of :meth:`Jobs.start`.
        """
        job, new = self._jobs.start(
            source_id,
            mode,
            kind=kind,
            source=source,
            join_running=join_running,
            rest_s=rest_s,
        )
        return job, self._send(job, new=new)

    def repeat(self, job: Job) -> Job:
        """Start another job that does the same as one that has ended; return it."""
        started, new = self._jobs.repeat(job)
        self._send(started, new=new)
        return started

    def crates(
        self, names: Sequence[str], resolve: Callable[[str], tuple[Source, bool]]
    ) -> Iterator[tuple[str, Job | DocstowError | None]]:
        """Start jobs that ingest thousands of crates, as many at a time as the queue takes.

        Args:
            names: of crates, as ``resolve`` takes them.
            resolve: returns the crate that a name means, and whether it is stored already.

        Yields:
            Each name with its job once that is sent; with the error that it met; with None if it
            is stored already.
        """

        def start(name: str) -> tuple[Job, bool] | DocstowError | None:
            try:
                source, stored = resolve(name)
            except DocstowError as error:
                return error
            if stored:
                return None
            return self._jobs.start(subject(STOW, source), kind=STOW, source=source)

        with ThreadPoolExecutor(BATCH) as pool:
            for begin in range(0, len(names), BATCH):
                batch = names[begin : begin + BATCH]
                outcomes = list(pool.map(start, batch))
                started = [each for each in outcomes if isinstance(each, tuple)]
                self._queue.send_all([_message(job) for job, new in started if new])
                for name, outcome in zip(batch, outcomes, strict=True):
                    yield name, outcome[0] if isinstance(outcome, tuple) else outcome

    def requeue(self, older_s: float) -> list[Job]:
        """Send again the jobs that have been queued for so long that their message must be lost.

        Among them are those that :class:`Jobs` has queued again because whoever ran them died.

        Args:
            older_s: in seconds; longer than a message is on its way to a worker, all that wait
                before it included. One too many does no harm.
        """
        then = self._clock() - timedelta(seconds=older_s)
        lost = [j for j in self._jobs.active() if j.state == QUEUED and j.heartbeat <= then]
        for begin in range(0, len(lost), BATCH):
            batch = lost[begin : begin + BATCH]
            for job in batch:
                with contextlib.suppress(JobNotFound):  # later ones have removed it meanwhile
                    self._jobs.change(job)  # its time begins anew: it is not sent every time
            self._queue.send_all([_message(job) for job in batch])
        return lost

    def redrive(self) -> Iterator[Redriven]:
        """Send anew what failed: every dead letter, or every source's last job that failed.

        Raises:
            InvalidParameter: the queue of dead letters is not named.
            StoreError: the queue or the store cannot be used.
        """
        if not isinstance(self._queue, SqsQueue):
            last = {job.source_id: job for job in reversed(self._jobs.all())}
            for job in last.values():
                if job.state == FAILED:
                    yield Redriven(job.id, self.repeat(job))
            return
        if not self._queue.has_dead_letters:
            raise InvalidParameter("dead_letter_url", "name the queue of the messages that failed")
        for dead in self._queue.dead_letters():
            try:
                job = self._jobs.get(decode(dead.text).job_id)
            except JobNotFound as error:
                yield Redriven(dead.text, reason=error.message)  # nothing can come of it any more
            except UnreadableInput as error:
                yield Redriven(dead.text, reason=error.message)
                continue
            else:
                if job.state == FAILED:
                    job = self.repeat(job)
                elif job.active:
                    self._queue.send(_message(job))
                yield Redriven(dead.text, job)
            self._queue.forget(dead)

    def _send(self, job: Job, *, new: bool) -> Future[None] | None:
        waits = self._clock() - job.heartbeat > timedelta(seconds=RESEND_S)
        lost = job.state == QUEUED and waits
        if lost and not new:
            self._jobs.change(job)  # its time begins anew, so that not every question sends it
        if new or lost or (job.active and self._queue.joins):
            return self._queue.send(_message(job))
        return None


def _message(job: Job) -> Message:
    return Message(job.kind, job.id)
