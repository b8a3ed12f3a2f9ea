"""The threads of calls: quick ones wait neither for slow ones nor for ingests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from docstow.core.threads import in_parallel, waiting
from docstow.tools import Answer, Tool
from servers.mcp_fixture_server import fixture_app
from servers.web import serve

LIMIT_S = 120
#: Calls that wait for a place, and the one that has it.
FULL = 64 + 1


class Gate:
    """Tools that stay until the gate is opened, each call noted when it has begun."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.opened = threading.Event()

    def slow(self, arguments: Mapping[str, Any]) -> Answer:
        self.begun.release()
        assert self.opened.wait(LIMIT_S)
        return Answer(text="slow")

    def ingest(self, arguments: Mapping[str, Any]) -> Answer:
        def wait(_: int) -> None:
            with waiting():
                self.begun.release()
                assert self.opened.wait(LIMIT_S)

        in_parallel(wait, range(3))
        return Answer(text="ingested")


@contextmanager
def _served(**options: Any) -> Iterator[tuple[str, Gate]]:
    gate = Gate()
    tools = (
        Tool("quick", "fixtures", "Quick", "Answers.", (), lambda _: Answer(text="quick")),
        Tool("slow", "fixtures", "Slow", "Stays.", (), gate.slow, slow=True),
        Tool("ingest", "fixtures", "Ingest", "Waits.", (), gate.ingest),
    )
    app = fixture_app(*tools, max_concurrent_calls=1, max_slow_calls=1, **options)
    with serve(app) as url:
        try:
            yield url, gate
        finally:
            gate.opened.set()


def _call(url: str, tool: str) -> httpx.Response:
    return httpx.post(f"{url}/mcp/tools/{tool}", json={}, timeout=LIMIT_S)


def test_a_quick_call_is_answered_while_all_places_of_slow_ones_are_taken() -> None:
    with _served() as (url, gate), ThreadPoolExecutor(2) as threads:
        slow = [threads.submit(_call, url, "slow") for _ in range(2)]
        assert gate.begun.acquire(timeout=LIMIT_S)
        assert _call(url, "quick").text == "quick"
        assert not any(each.done() for each in slow)
        gate.opened.set()
        assert [each.result().text for each in slow] == ["slow", "slow"]


def test_a_batch_with_a_slow_call_is_slow() -> None:
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name}}
        for n, name in enumerate(("quick", "slow"))
    ]
    with _served() as (url, gate), ThreadPoolExecutor(1) as threads:
        both = threads.submit(httpx.post, f"{url}/mcp", json=calls, timeout=LIMIT_S)
        assert gate.begun.acquire(timeout=LIMIT_S)
        assert _call(url, "quick").text == "quick"
        gate.opened.set()
        assert [each["id"] for each in both.result().json()] == [0, 1]


def test_a_call_that_waits_for_ingests_leaves_its_place_to_others() -> None:
    with _served() as (url, gate), ThreadPoolExecutor(2) as threads:
        ingests = [threads.submit(_call, url, "ingest") for _ in range(2)]
        for _ in range(6):
            assert gate.begun.acquire(timeout=LIMIT_S)
        assert _call(url, "quick").text == "quick"
        assert not any(each.done() for each in ingests)
        gate.opened.set()
        assert [each.result().text for each in ingests] == ["ingested", "ingested"]
        # Every place is there again.
        assert _call(url, "quick").text == "quick"


def test_more_slow_calls_than_can_wait_are_told_to_come_again() -> None:
    async def crowd(url: str, gate: Gate) -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=url, timeout=LIMIT_S, limits=limits) as client:
            tasks = [
                asyncio.create_task(client.post("/mcp/tools/slow", json={})) for _ in range(70)
            ]
            done: list[httpx.Response] = []
            for each in asyncio.as_completed(tasks):
                done.append(await each)
                # Whoever is refused is answered first: the others stay until the gate opens.
                if len(done) == len(tasks) - FULL:
                    gate.opened.set()
            return done

    with _served() as (url, gate):
        answers = asyncio.run(crowd(url, gate))
    refused, others = answers[: 70 - FULL], answers[70 - FULL :]
    assert {each.status_code for each in others} == {200}
    assert {each.status_code for each in refused} == {429}
    assert refused[0].headers["retry-after"] == "5"
    assert refused[0].json()["error"] == "too_many_requests"
