"""The threads of calls: quick ones wait neither for slow ones nor for ingests, and take turns."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx

from docstow.core import auth
from docstow.core.auth import Policy, new_token, parse, token_digest
from docstow.core.errors import TooManyRequests
from docstow.core.threads import in_parallel, waiting
from docstow.server.limits import UNLIMITED
from docstow.server.pools import CallPools, Places
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


def test_quick_calls_compute_one_after_another() -> None:
    running: list[int] = []
    most = 0

    def compute(number: int) -> int:
        nonlocal most
        running.append(number)
        found = sum(hash(str(each)) & 1 for each in range(2000))
        most = max(most, len(running))
        running.remove(number)
        return found

    async def crowd() -> None:
        pools = CallPools(16, 16, UNLIMITED.slow, moment_s=LIMIT_S)
        calls = [pools.run(partial(compute, n), slow=0, caller="") for n in range(64)]
        await asyncio.gather(*calls)

    asyncio.run(crowd())
    assert most == 1


def test_a_quick_call_that_takes_long_lets_others_by() -> None:
    begun = threading.Barrier(8)

    async def crowd() -> list[int]:
        pools = CallPools(16, 16, UNLIMITED.slow)
        # Each waits until all have begun.
        calls = [pools.run(partial(begun.wait, LIMIT_S), slow=0, caller="") for _ in range(8)]
        return await asyncio.gather(*calls)

    assert sorted(asyncio.run(crowd())) == list(range(8))


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

    with _served(policy=Policy(open=True, loopback=True)) as (url, gate):
        answers = asyncio.run(crowd(url, gate))
    refused, others = answers[: 70 - FULL], answers[70 - FULL :]
    assert {each.status_code for each in others} == {200}
    assert {each.status_code for each in refused} == {429}
    assert refused[0].headers["retry-after"] == "5"
    assert refused[0].json()["error"] == "too_many_requests"


def _turns(
    callers: Sequence[str], *, total: int = 1, longest: int | None = None, of_one: int | None = None
) -> tuple[list[str], list[str]]:
    """Return the callers in whose order places were given, and those who were refused.

    All come while ``total`` places are taken by ``"first"``; then one place is free at a time.
    """

    async def crowd() -> tuple[list[str], list[str]]:
        places = Places(total, longest=longest, longest_of_one=of_one)
        given: list[str] = []
        refused: list[str] = []

        async def call(caller: str) -> None:
            try:
                await places.take(caller)
            except TooManyRequests:
                refused.append(caller)
                return
            given.append(caller)
            await asyncio.sleep(0)  # others see what is given
            places.give_back(caller)

        for _ in range(total):
            await places.take("")
        tasks = [asyncio.create_task(call(caller)) for caller in callers]
        await asyncio.sleep(0)
        for _ in range(total):
            places.give_back("")
        await asyncio.gather(*tasks)
        return given, refused

    return asyncio.run(crowd())


def test_callers_take_turns() -> None:
    given, refused = _turns([*"aaaaa", *"bb", "c"])
    assert given == [*"abcabaaa"]
    assert not refused


def test_the_last_call_of_whoever_has_most_is_refused_for_another() -> None:
    given, refused = _turns([*"aaaa", *"bbb"], longest=4)
    assert (given, sorted(refused)) == ([*"abab"], [*"aab"])


def test_one_caller_has_a_longest_queue() -> None:
    given, refused = _turns([*"aaaa", "b"], of_one=2)
    assert (given, refused) == ([*"aba"], [*"aa"])


def test_one_caller_leaves_a_place_to_others() -> None:
    async def crowd() -> None:
        places = Places(3)
        for _ in range(2):
            await places.take("a")
        third = asyncio.create_task(places.take("a"))
        await asyncio.sleep(0)
        await places.take("b")
        assert not third.done()
        places.give_back("b")
        await asyncio.sleep(0)
        assert not third.done()
        places.give_back("a")
        await third

    asyncio.run(crowd())


def test_a_call_that_is_given_up_leaves_its_place() -> None:
    async def crowd() -> None:
        places = Places(1)
        await places.take("a")
        gone, given_up = (asyncio.create_task(places.take("b")) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait([gone])
        places.give_back("a")  # to the second one, which is cancelled before it runs
        given_up.cancel()
        await asyncio.wait([given_up])
        await places.take("c")

    asyncio.run(crowd())


def test_sixteen_calls_of_one_caller_keep_no_other_waiting() -> None:
    """Hostile calls of one token wait for one another, and that of another token comes next."""
    hostile, honest = new_token(), new_token()
    policy = parse(
        [f"hostile:read:{token_digest(hostile)}", f"honest:read:{token_digest(honest)}"],
        exposed=True,
    )
    order: list[str] = []
    begun, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def stay(_: Mapping[str, Any]) -> Answer:
        order.append(auth.caller().name)
        begun.release()
        assert go_on.acquire(timeout=LIMIT_S)
        return Answer(text="done")

    def call(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        url = f"{root}/mcp/tools/slow"
        return httpx.post(url, json={}, headers=headers, timeout=LIMIT_S).status_code

    tool = Tool("slow", "fixtures", "Slow", "Stays.", (), stay, slow=True)
    app = fixture_app(tool, policy=policy, max_slow_calls=4)
    with serve(app) as root, ThreadPoolExecutor(17) as threads:
        sent = [threads.submit(call, hostile) for _ in range(16)]
        for _ in range(3):
            assert begun.acquire(timeout=LIMIT_S)
        # All places but one are theirs: the honest call begins at once, whoever else waits.
        sent.append(threads.submit(call, honest))
        assert begun.acquire(timeout=LIMIT_S)
        assert order == ["hostile"] * 3 + ["honest"]
        go_on.release(17)
        assert [each.result() for each in sent] == [200] * 17
