"""The threads that tool calls run in: quick calls wait neither for slow ones nor for ingests.

Places are given to callers in turn, so that whoever calls much waits for its own calls.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from docstow.core import threads
from docstow.core.errors import TooManyRequests
from docstow.core.records import dataclass
from docstow.core.turns import Turns
from docstow.server.limits import Rate
from docstow.server.worker_threads import WorkerThreads

T = TypeVar("T")

#: Calls that may wait for ingests beside those that compute.
_MOST_WAITING = 64
#: Slow calls that may wait for a place, and those of one caller; further ones are refused.
_LONGEST_QUEUE, _LONGEST_OF_ONE = 64, 16
_RETRY_AFTER_S = 5
#: For how long a quick call keeps the next one from beginning, in seconds.
_MOMENT_S = 0.02


class CallPools:
    """The pools of threads of one event loop.

    Args:
        quick: quick calls that run at once.
        slow: slow ones that run at once.
        rate: of slow calls of one caller.
        moment_s: for how long a quick call keeps the next one from beginning.
    """

    def __init__(self, quick: int, slow: int, rate: Rate, *, moment_s: float = _MOMENT_S) -> None:
        self._rate = rate
        self._quick = Places(quick)
        self._slow = Places(slow, longest=_LONGEST_QUEUE, longest_of_one=_LONGEST_OF_ONE)
        self._turns = Places(1)
        self._moment_s = moment_s
        self._waiting = _Waiting(_MOST_WAITING)
        # Whoever has a place has a thread.
        self._threads = WorkerThreads()

    async def run(self, call: Callable[[], T], *, slow: int, caller: str) -> T:
        """Run a call, or several, in a thread of their kind, and return what that returns.

        Args:
            call: does them.
            slow: how many of them are slow.
            caller: who is limited; nothing for one who is not.

        Raises:
            TooManyRequests: too many slow calls wait already, or too many were this caller's.
        """
        self._rate.take(caller, slow)
        place = _Place(self._slow if slow else self._quick, caller, self._waiting)
        await place.take()
        turn = _Turn(self._turns, caller, self._moment_s)
        try:
            if not slow:
                await turn.take()
            with threads.waiting_as(place.wait):
                return await self._threads.run(call)
        finally:
            turn.leave()
            place.leave()

    async def aside(self, call: Callable[[], T]) -> T:
        """Run what is no call of a tool, and waits for no place."""
        return await self._threads.run(call)


class Places:
    """Places that callers take in turn, in one event loop.

    One caller has all but one of them at most, so that another finds one soon.

    Args:
        total: how many there are.
        longest: calls that may wait; None for any number. Where one more comes, the last of whoever
            has most of them is refused.
        longest_of_one: the same of one caller.
    """

    def __init__(
        self, total: int, *, longest: int | None = None, longest_of_one: int | None = None
    ) -> None:
        self._free = total
        self._of_one = max(total - 1, 1)
        self._longest = longest
        self._longest_of_one = longest_of_one
        self._held: Counter[str] = Counter()
        self._waiting = Turns[tuple[str, asyncio.Future[None]]]()

    async def take(self, caller: str, *, admitted: bool = False) -> None:
        """Take a place, or wait for one; ``admitted`` calls are not refused.

        Raises:
            TooManyRequests: too many wait.
        """
        if self._free and self._may_take(caller):
            # Whoever waits then has as many as it may have.
            self._give(caller)
            return
        if not admitted:
            self._make_room(caller)
        waiting = caller, asyncio.get_running_loop().create_future()
        self._waiting.add(caller, waiting)
        try:
            await waiting[1]
        except asyncio.CancelledError:
            if waiting[1].done() and not waiting[1].cancelled():
                self.give_back(caller)
            raise
        finally:
            self._waiting.remove(caller, waiting)

    def give_back(self, caller: str) -> None:
        """Give a place back."""
        self._free += 1
        self._held[caller] -= 1
        if not self._held[caller]:
            del self._held[caller]
        while self._free:
            waiting = next((each for each in self._waiting if self._may_take(each[0])), None)
            if waiting is None:
                return
            self._waiting.serve(waiting[0], waiting)
            self._give(waiting[0])
            waiting[1].set_result(None)

    def _give(self, caller: str) -> None:
        self._free -= 1
        self._held[caller] += 1

    def _may_take(self, caller: str) -> bool:
        return not caller or self._held[caller] < self._of_one

    def _make_room(self, caller: str) -> None:
        """Refuse a call where too many wait: this one, or one of whoever has more."""
        own = self._waiting.of(caller)
        if caller and self._longest_of_one is not None and own >= self._longest_of_one:
            raise _too_many("of yours are")
        if self._longest is None or len(self._waiting) < self._longest:
            return
        found = self._waiting.longest()
        if not caller or found is None or self._waiting.of(found[0]) <= own + 1:
            raise _too_many("are")
        self._waiting.remove(found[0], found[1])
        found[1][1].set_exception(_too_many("of yours are"))


def _too_many(whose: str) -> TooManyRequests:
    return TooManyRequests(
        f"Too many slow calls (checks of code, packages, exports) {whose} under way; ask again in"
        f" {_RETRY_AFTER_S} seconds.",
        retry_after_s=_RETRY_AFTER_S,
    )


class _Turn:
    """The turn of a quick call, which lasts for a moment, or until the call is done.

    One interpreter computes for all threads: calls that begin one after another are done as soon as
    those that begin at once, and for less, as no thread fights for the interpreter whenever it
    leaves Python. A call that takes longer waits for a store or reads tables, and others go by.

    Args:
        pool: has one place, for the call whose turn it is.
        caller: whose call it is.
        moment_s: how long a turn lasts at most.
    """

    def __init__(self, pool: Places, caller: str, moment_s: float) -> None:
        self._pool = pool
        self._caller = caller
        self._moment_s = moment_s
        self._timer: asyncio.TimerHandle | None = None

    async def take(self) -> None:
        """Wait for the turn, and begin it."""
        await self._pool.take(self._caller)
        self._timer = asyncio.get_running_loop().call_later(self._moment_s, self.leave)

    def leave(self) -> None:
        """End the turn, if it has not ended; called in the event loop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._pool.give_back(self._caller)


@dataclass(slots=True)
class _Waiting:
    """How many more calls may wait for ingests; counted in the event loop."""

    left: int


class _Place:
    """The place of one call, which it gives up while it waits for an ingest.

    Args:
        pool: where it is to be.
        caller: whose it is.
        waiting: where it goes as long as all its threads that do anything wait.
    """

    def __init__(self, pool: Places, caller: str, waiting: _Waiting) -> None:
        self._pool = pool
        self._caller = caller
        self._waiting = waiting
        self._holds = False
        self._waits = False
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._waiters = 0

    async def take(self) -> None:
        """Take the place.

        Raises:
            TooManyRequests: too many calls wait for one.
        """
        await self._pool.take(self._caller)
        self._holds = True

    def leave(self) -> None:
        """Give the place up; called in the event loop."""
        if self._holds:
            self._pool.give_back(self._caller)
        if self._waits:
            self._waiting.left += 1
        self._holds = self._waits = False

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
        if not self._waiting.left:
            return
        self.leave()
        self._waiting.left -= 1
        self._waits = True

    async def _end(self) -> None:
        if self._waits:
            self.leave()
            await self._pool.take(self._caller, admitted=True)
            self._holds = True
