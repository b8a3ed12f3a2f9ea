"""Work that runs beside the caller: a bounded pool of local workers.

This room knows how a job is sent and shared. It does not know what a job does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Result = TypeVar("Result")


class LocalQueue(Generic[Result]):
    """Runs jobs in this process; two jobs of one key that overlap are one job.

    Args:
        workers: how many jobs run at the same time.
    """

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="docstow-job")
        self._running: dict[str, Future[Result]] = {}
        # A job may end before its callback is added, which then runs at once, within `send`.
        self._lock = threading.RLock()

    def send(self, key: str, job: Callable[[], Result]) -> Future[Result]:
        """Queue a job, or join the one of the same key that is queued or running."""
        with self._lock:
            future = self._running.get(key)
            if future is None:
                future = self._pool.submit(job)
                self._running[key] = future
                future.add_done_callback(lambda done: self._forget(key, done))
            return future

    def _forget(self, key: str, done: Future[Result]) -> None:
        with self._lock:
            if self._running.get(key) is done:
                del self._running[key]

    def close(self) -> None:
        """Drop what has not begun and wait for what has."""
        self._pool.shutdown(wait=True, cancel_futures=True)
