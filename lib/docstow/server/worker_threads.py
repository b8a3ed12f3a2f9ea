"""Threads for an event loop's calls that block.

Those of anyio bring its whole backend into the process, a third of what the first request of a
function takes; executors of the standard library hold the end of a process up until their calls
have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class WorkerThreads:
    """As many threads as calls run at once; one that is idle takes the next call.

    Who calls limits how many there are.
    """

    def __init__(self) -> None:
        self._calls = SimpleQueue[Callable[[], None]]()
        self._idle = threading.Semaphore(0)

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
        while do is not None:
            do()
            # Nothing of a call stays with an idle thread.
            do = None
            self._idle.release()
            do = self._calls.get()
