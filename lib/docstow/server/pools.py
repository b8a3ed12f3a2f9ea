"""The threads that tool calls run in: quick calls wait neither for slow ones nor for ingests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from anyio import CapacityLimiter, WouldBlock, to_thread

from docstow.core import threads
from docstow.core.errors import TooManyRequests
from docstow.server.limits import Rate

T = TypeVar("T")

#: Calls that may wait for ingests beside those that compute.
_MOST_WAITING = 64
#: Slow calls that may wait for a place; further ones are refused.
_LONGEST_QUEUE = 64
_RETRY_AFTER_S = 5


class CallPools:
    """The pools of threads of one event loop.

    Args:
        quick: quick calls that run at once.
        slow: slow ones that run at once.
        rate: of slow calls of one caller.
    """

    def __init__(self, quick: int, slow: int, rate: Rate) -> None:
        self._rate = rate
        self._quick = CapacityLimiter(quick)
        self._slow = CapacityLimiter(slow)
        self._waiting = CapacityLimiter(_MOST_WAITING)
        # Whoever has a place has a thread.
        self._threads = CapacityLimiter(quick + slow + _MOST_WAITING)

    async def run(self, call: Callable[[], T], *, slow: int, caller: str) -> T:
        """Run a call, or several, in a thread of their kind, and return what that returns.

        Args:
            call: does them.
            slow: how many of them are slow.
            caller: who is limited.

        Raises:
            TooManyRequests: too many slow calls wait already, or too many were this caller's.
        """
        self._rate.take(caller, slow)
        pool = self._slow if slow else self._quick
        if slow and pool.statistics().tasks_waiting >= _LONGEST_QUEUE:
            raise TooManyRequests(
                "Too many slow calls (checks of code, packages, exports) are under way; ask again"
                f" in {_RETRY_AFTER_S} seconds.",
                retry_after_s=_RETRY_AFTER_S,
            )
        place = _Place(pool, self._waiting)
        await pool.acquire_on_behalf_of(place)
        try:
            with threads.waiting_as(place.wait):
                return await to_thread.run_sync(call, limiter=self._threads)
        finally:
            place.leave()


class _Place:
    """The place of one call, which it gives up while it waits for an ingest.

    Args:
        pool: where it is; the place is taken.
        waiting: where it goes as long as all its threads that do anything wait.
    """

    def __init__(self, pool: CapacityLimiter, waiting: CapacityLimiter) -> None:
        self._pool = pool
        self._waiting = waiting
        self._held: CapacityLimiter | None = pool
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._waiters = 0

    def leave(self) -> None:
        """Give the place up; called in the event loop."""
        if self._held is not None:
            self._held.release_on_behalf_of(self)
            self._held = None

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Be among those that wait within; called in a thread of the call."""
        with self._lock:
            self._waiters += 1
            if self._waiters == 1:
                asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result()
        try:
            yield
        finally:
            with self._lock:
                self._waiters -= 1
                if not self._waiters:
                    asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()

    async def _begin(self) -> None:
        try:
            self._waiting.acquire_on_behalf_of_nowait(self)
        except WouldBlock:
            return
        self.leave()
        self._held = self._waiting

    async def _end(self) -> None:
        if self._held is self._waiting:
            self.leave()
            await self._pool.acquire_on_behalf_of(self)
            self._held = self._pool
