"""From a wish to a message: a job is written down, then sent, once or once more.

This room knows jobs and the queue. It does not know what any of them does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

from docstow.core.errors import DocstowError, InvalidParameter, JobNotFound, UnreadableInput
from docstow.core.model import Source
from docstow.ingest.jobs.queue import BATCH, Message, Queue, decode
from docstow.ingest.jobs.sqs import SqsQueue
from docstow.ingest.jobs.store import FAILED, INCREMENTAL, QUEUED, STOW, SYNC, Job, Jobs, subject

#: A job that waits for longer, in seconds, is sent once more when it is asked for again: its
#: message may never have been sent. One too many does no harm.
RESEND_S = 600.0


@dataclass(frozen=True, slots=True)
class Redriven:
    """What came of a dead message or a failed job: the job that does it anew, or why none does."""

    text: str
    job: Job | None = None
    reason: str = ""


class Dispatch:
    """Starts jobs and sends them.

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
        """Have something done, unless that is under way; its job, and its end in this process.

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

    def again(self, job: Job) -> Job:
        """Have done once more what a job that has ended was to do; the new job."""
        started, new = self._jobs.again(job)
        self._send(started, new=new)
        return started

    def crates(
        self, words: Sequence[str], resolve: Callable[[str], tuple[Source, bool]]
    ) -> Iterator[tuple[str, Job | DocstowError | None]]:
        """Have thousands of crates stowed, as many at a time as the queue takes.

        Args:
            words: what resolve takes.
            resolve: the crate that is meant, and whether it is stowed already.

        Yields:
            Each word with its job once that is sent; with the error that it met; with None if it
            is stowed already.
        """

        def started(word: str) -> tuple[Job, bool] | DocstowError | None:
            try:
                source, stowed = resolve(word)
            except DocstowError as error:
                return error
            if stowed:
                return None
            return self._jobs.start(subject(STOW, source), kind=STOW, source=source)

        with ThreadPoolExecutor(BATCH) as pool:
            for begin in range(0, len(words), BATCH):
                some = words[begin : begin + BATCH]
                found = list(pool.map(started, some))
                begun = [each for each in found if isinstance(each, tuple)]
                self._queue.send_all([_message(job) for job, new in begun if new])
                for word, each in zip(some, found, strict=True):
                    yield word, each[0] if isinstance(each, tuple) else each

    def requeue(self, older_s: float) -> list[Job]:
        """Send again the jobs that have been queued for so long that their message must be lost.

        Args:
            older_s: in seconds; longer than a message is on its way to a worker, all that wait
                before it included. One too many does no harm.
        """
        then = self._clock() - timedelta(seconds=older_s)
        lost = [j for j in self._jobs.active() if j.state == QUEUED and j.heartbeat <= then]
        for begin in range(0, len(lost), BATCH):
            some = lost[begin : begin + BATCH]
            self._queue.send_all([_message(job) for job in some])
            for job in some:
                with contextlib.suppress(JobNotFound):  # later ones have removed it meanwhile
                    self._jobs.change(job)  # its time begins anew: it is not sent every time
        return lost

    def redrive(self) -> Iterator[Redriven]:
        """Send anew what failed: every dead message, or every source's last job that failed.

        Raises:
            InvalidParameter: nobody knows where dead messages are.
            StoreError: the queue or the store cannot be used.
        """
        if not isinstance(self._queue, SqsQueue):
            last = {job.source_id: job for job in reversed(self._jobs.all())}
            for job in last.values():
                if job.state == FAILED:
                    yield Redriven(job.id, self.again(job))
            return
        if not self._queue.looks_at_dead:
            raise InvalidParameter("dead_letter_url", "name the queue of the messages that failed")
        for dead in self._queue.dead():
            try:
                job = self._jobs.get(decode(dead.text).job_id)
            except JobNotFound as error:
                yield Redriven(dead.text, reason=error.message)  # nothing can come of it any more
            except UnreadableInput as error:
                yield Redriven(dead.text, reason=error.message)
                continue
            else:
                if job.state == FAILED:
                    job = self.again(job)
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
