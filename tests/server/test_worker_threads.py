"""Threads for calls: who is idle takes the next one, and none holds the process up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from docstow.server.worker_threads import WorkerThreads

CALLER: ContextVar[str] = ContextVar("CALLER", default="nobody")
LIMIT_S = 60


def test_a_call_has_its_callers_context_and_returns_or_raises() -> None:
    def fail() -> None:
        raise LookupError("nothing is there")

    async def ask(name: str) -> str:
        CALLER.set(name)
        return await threads.run(CALLER.get)

    async def ask_all() -> list[str]:
        with pytest.raises(LookupError, match="nothing is there"):
            await threads.run(fail)
        return await asyncio.gather(*map(ask, "abc"))

    threads = WorkerThreads()
    assert asyncio.run(ask_all()) == ["a", "b", "c"]
    # Of another loop, as a function has one for each request.
    assert asyncio.run(ask_all()) == ["a", "b", "c"]


def test_an_idle_thread_takes_the_next_call_and_calls_at_once_have_one_each() -> None:
    threads, together = WorkerThreads(), threading.Barrier(3)

    def meet() -> int:
        together.wait(LIMIT_S)
        return threading.get_ident()

    async def ask() -> set[int]:
        first = set(await asyncio.gather(*(threads.run(meet) for _ in range(3))))
        second = set(await asyncio.gather(*(threads.run(meet) for _ in range(3))))
        assert len(first) == len(second) == 3
        return first | second

    # One may not have come to rest when the next calls begin.
    assert len(asyncio.run(ask())) <= 5


def test_a_cancelled_call_leaves_the_others_alone() -> None:
    threads, opened = WorkerThreads(), threading.Event()

    async def ask() -> int:
        waiting = asyncio.create_task(threads.run(lambda: opened.wait(LIMIT_S)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        opened.set()
        return await threads.run(lambda: 7)

    assert asyncio.run(ask()) == 7


def test_idle_threads_end_before_the_process_does_so_that_they_let_go_of_what_they_hold() -> None:
    threads, let_go = WorkerThreads(), threading.Event()
    held = threading.local()

    class Held:
        def __del__(self) -> None:
            let_go.set()

    def hold() -> threading.Thread:
        held.one = Held()
        return threading.current_thread()

    thread = asyncio.run(threads.run(hold))
    while thread.is_alive():
        threads.end()
    assert let_go.wait(LIMIT_S)


PROGRAM = """
import asyncio, sys, threading
from docstow.server.worker_threads import WorkerThreads

async def main():
    begun = threading.Event()
    def wait():
        begun.set()
        threading.Event().wait()
    asyncio.create_task(WorkerThreads().run(wait))
    while not begun.is_set():
        await asyncio.sleep(0)
    await WorkerThreads().run(lambda: None)
    print("asyncio" in sys.modules, "anyio" in sys.modules)

asyncio.run(main())
"""


def test_a_process_ends_while_calls_are_under_way_and_anyio_is_not_needed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    assert done.stdout == "True False\n"
