"""Composition of what has work done: jobs, what brings them, and what runs beside callers.

This room knows the settings of all that. What each kind of job does it is given.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.core.errors import ConfigurationError, DocstowError
from docstow.ingest.jobs.dispatch import Dispatch
from docstow.ingest.jobs.queue import LocalQueue, Queue
from docstow.ingest.jobs.sqs__sqs import SqsQueue
from docstow.ingest.jobs.store import Jobs
from docstow.ingest.jobs.worker import Work
from docstow.store.leases import Leases

if TYPE_CHECKING:
    from docstow.core.settings import Settings
    from docstow.ingest.jobs.sqs import Deliveries
    from docstow.ingest.jobs.worker import Task
    from docstow.ops.upkeep import Upkeep
    from docstow.store.objects import ObjectStore

log = logging.getLogger(__name__)

#: A server that has just begun has other things to do than upkeep, for so many seconds.
FIRST_UPKEEP_S = 60.0


def _now() -> datetime:
    return datetime.now(UTC)


class Workers:
    """Live objects, each made once, when it is first asked for.

    Args:
        settings: what they are made from.
        store: where jobs and leases are.
        tasks: what each kind of job does, asked for when the first one is done.
    """

    def __init__(
        self, settings: Settings, store: ObjectStore, tasks: Callable[[], Mapping[str, Task]]
    ) -> None:
        self._settings = settings
        self._store = store
        self._tasks = tasks
        self._lock = threading.RLock()
        self._closed = threading.Event()

    @cached_property
    def leases(self) -> Leases:
        """The leases of this process."""
        return Leases(self._store, f"{socket.gethostname()}/{os.getpid()}")

    @cached_property
    def jobs(self) -> Jobs:
        """What was written down of every ingest and sync."""
        lease_s = self._settings.lease_s
        return Jobs(self._store, _now, lease_s=lease_s, held=lambda key: self.leases.held(key))

    @property
    def queue(self) -> Queue:
        """What brings jobs to a worker: the queue that is set, or the workers of this process."""
        with self._lock:
            return self._queue

    @cached_property
    def _queue(self) -> Queue:
        settings = self._settings
        if settings.queue_url:
            dead = settings.dead_letter_url
            return SqsQueue(settings.queue_url, dead, region=settings.s3_region)
        return LocalQueue(lambda message: self.work.handle(message), settings.workers)

    @cached_property
    def dispatch(self) -> Dispatch:
        """Starts jobs."""
        return Dispatch(self.jobs, self.queue, _now)

    @cached_property
    def work(self) -> Work:
        """What is done for a message, whichever queue brings it."""
        lease_s = self._settings.lease_s
        return Work(self.jobs, self.leases, self._tasks(), lease_s=lease_s, clock=_now)

    def deliveries(self) -> Deliveries:
        """What the queue's messages come to, in a function that it calls.

        Raises:
            ConfigurationError: no queue is set.
        """
        from docstow.ingest.jobs.sqs import Deliveries

        queue = self.queue
        if not isinstance(queue, SqsQueue):
            raise ConfigurationError("queue_url: name the queue whose messages are handled")
        return Deliveries(self.work, queue, self._settings.max_receive_count)

    def requeue(self) -> None:
        """Begin to send again, in the background, what a process that died had queued."""
        older_s = self._settings.lease_s

        def send() -> None:
            # What was queued just before a process died is old enough at the second look.
            for pause in (0.0, older_s):
                if self._closed.wait(pause):
                    return
                try:
                    for job in self.dispatch.requeue(older_s):
                        log.info("the job %s of an earlier process goes on", job.id)
                except DocstowError as error:
                    log.warning("jobs of earlier processes are left alone: %s", error.message)

        if isinstance(self.queue, LocalQueue):
            threading.Thread(target=send, name="requeue", daemon=True).start()

    def keep_up(self, upkeep: Callable[[], Upkeep]) -> None:
        """Begin to do upkeep now and then in the background, where no schedule does it."""
        period_s = self._settings.upkeep_hours * 3600

        def rounds() -> None:
            pause_s = min(FIRST_UPKEEP_S, period_s)
            while not self._closed.wait(pause_s):
                pause_s = period_s
                try:
                    done = upkeep().run()
                except DocstowError as error:
                    log.warning("there is no upkeep now: %s", error.message)
                else:
                    for line in done.evicted:
                        log.info("%s had to make room", line.source.key)

        if period_s and isinstance(self.queue, LocalQueue):
            threading.Thread(target=rounds, name="upkeep", daemon=True).start()

    def close(self) -> None:
        """Begin nothing any more, and wait for what this process is at."""
        self._closed.set()
        if "_queue" in self.__dict__:
            self._queue.close()
