"""Threads for an event loop's calls that block.

Those of anyio bring its whole backend into the process, a third of what the first request of a
function takes; executors of the standard library hold the end of a process up until their calls
have ended.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar
from weakref import WeakSet

T = TypeVar("T")

#: How long an idle thread stays, and how long the end of the process waits for it, in seconds.
_REST_S, _END_S = 10.0, 1.0
#: Those whose idle threads end before the process does.
_ALL: WeakSet[WorkerThreads] = WeakSet()


class WorkerThreads:
    """As many threads as calls run at once; one that is idle takes the next call.

    Who calls limits how many there are.
    """

    def __init__(self) -> None:
        self._calls = SimpleQueue[Callable[[], None] | None]()
        self._idle = threading.Semaphore(0)
        self._resting: set[threading.Thread] = set()
        _ALL.add(self)

    async def run(self, call: Callable[[], T]) -> T:
        """Run a call in a thread, in a copy of the current context; return what it returns.

        Where this is cancelled, the call goes on, and nobody gets what it returns.
        """
        loop, context = asyncio.get_running_loop(), copy_context()
        future: asyncio.Future[T] = loop.create_future()

        def do() -> None:
            try:
                settle = partial(future.set_result, context.run(call))
            except BaseException as error:  # noqa: BLE001 - it is raised where the call is awaited
                settle = partial(future.set_exception, error)
            # The loop may be gone by then, with whoever waited.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: None if future.done() else settle())

        if self._idle.acquire(blocking=False):
            self._calls.put(do)
        else:
            threading.Thread(target=self._serve, args=(do,), name="call", daemon=True).start()
        return await future

    def _serve(self, do: Callable[[], None] | None) -> None:
        this = threading.current_thread()
        while do is not None:
            do()
            # Nothing of a call stays with an idle thread.
            do = None
            self._resting.add(this)
            self._idle.release()
            do = self._next()
            self._resting.discard(this)

    def _next(self) -> Callable[[], None] | None:
        """Wait for a call; None where there is none for long."""
        try:
            return self._calls.get(timeout=_REST_S)
        except Empty:
            # One that counts on this thread may be coming.
            return None if self._idle.acquire(blocking=False) else self._calls.get()

    def end(self) -> None:
        """End the threads that are idle, so that they let go of what they opened."""
        resting = [each for each in tuple(self._resting) if self._idle.acquire(blocking=False)]
        for _ in resting:
            self._calls.put(None)
        for each in resting:
            each.join(_END_S)


def _end_all() -> None:
    for each in tuple(_ALL):
        each.end()


atexit.register(_end_all)
