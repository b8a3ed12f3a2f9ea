"""Processes with budgets: what one call does ends that call alone."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import CrateNotFound, DocstowError, InternalError, TooLarge
from docstow.core.processes import Budget, ProcessPool

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the system limits no computing")

HANDLER = """
import os, threading
from docstow.core.errors import CrateNotFound

def make(setup, send):
    calls = []
    def handle(request):
        calls.append(request)
        match request["do"]:
            case "count":
                print("printed")
                return {"pid": os.getpid(), "calls": len(calls), "setup": setup}
            case "burn":
                while True:
                    pass
            case "take":
                taken = bytearray(4 << 30)
                return {"taken": len(taken)}
            case "scatter":
                blocks = [bytearray(4096) for _ in range(20_000)]
                calls.append(blocks[::64])
                return {}
            case "wait":
                threading.Event().wait()
            case "tell":
                send({"job": request["job"]})
                return {}
            case "refuse":
                raise CrateNotFound("no such crate", suggestions=[{"name": "b", "score": 1}], n=2)
            case "fail":
                raise ZeroDivisionError("of nothing")
            case "leave":
                os._exit(3)
    return handle
"""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ProcessPool]]:
    (tmp_path / "handler_of_test.py").write_text(HANDLER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    made: list[ProcessPool] = []

    def make(*, cpu_s: int = 20, wall_s: float = 120.0, **options: Any) -> ProcessPool:
        budget = Budget(cpu_s, wall_s, 1 << 30)
        options = {"most": 2, **options}
        made.append(ProcessPool("handler_of_test:make", {"of": "a pool"}, budget=budget, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do it themselves")
def test_a_process_gives_memory_back_between_calls(make: Callable[..., ProcessPool]) -> None:
    pool = make()
    pid = pool.call({"do": "count"}, "state")["pid"]

    def pages() -> int:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])

    before = pages()
    pool.call({"do": "scatter"}, "state")
    full = pages()
    for _ in range(100):
        pool.call({"do": "count"}, "state")
        if pages() - before < (full - before) / 4:
            break
    else:
        pytest.fail(f"{before} pages, then {full}, at last {pages()}")


def test_a_process_keeps_its_state_for_the_next_call(make: Callable[..., ProcessPool]) -> None:
    pool = make()
    answers = [pool.call({"do": "count"}, "state") for _ in range(3)]
    (pid,) = pool.pids()
    setup = {"of": "a pool"}
    assert answers == [{"pid": pid, "calls": n, "setup": setup} for n in (1, 2, 3)]


def test_calls_on_one_state_at_once_read_it_once(make: Callable[..., ProcessPool]) -> None:
    pool = make()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: pool.call({"do": "count"}, "state"), range(8)))
    assert len({each["pid"] for each in found}) == 1
    assert sorted(each["calls"] for each in found) == list(range(1, 9))


def test_errors_come_as_they_were_raised(make: Callable[..., ProcessPool]) -> None:
    pool = make()
    with pytest.raises(CrateNotFound) as raised:
        pool.call({"do": "refuse"}, "")
    assert raised.value.body() == {
        "error": "crate_not_found",
        "message": "no such crate",
        "n": 2,
        "suggestions": [{"name": "b", "score": 1}],
    }
    with pytest.raises(RuntimeError, match="ZeroDivisionError: of nothing"):
        pool.call({"do": "fail"}, "")
    assert pool.call({"do": "count"}, "")["calls"] == 3


def test_messages_arrive_before_the_answer(make: Callable[..., ProcessPool]) -> None:
    received: list[Any] = []
    pool = make(receive=received.append)
    assert pool.call({"do": "tell", "job": "j1"}, "") == {}
    assert received == [{"job": "j1"}]


@pytest.mark.parametrize(("do", "limits"), [("burn", {"cpu_s": 1}), ("wait", {"wall_s": 1.0})])
def test_a_call_beyond_its_budget_ends_alone(
    make: Callable[..., ProcessPool], do: str, limits: dict[str, Any]
) -> None:
    pool = make(**limits)
    ended = threading.Event()
    raised: list[DocstowError] = []

    def exceed() -> None:
        try:
            pool.call({"do": do}, "hostile")
        except DocstowError as error:
            raised.append(error)
        ended.set()

    threading.Thread(target=exceed).start()
    if do == "burn":
        # Another call is answered meanwhile, in another process.
        assert pool.call({"do": "count"}, "honest")["calls"] == 1
    assert ended.wait(100)
    assert [type(each) for each in raised] == [TooLarge]
    if do == "burn":
        assert pool.call({"do": "count"}, "honest")["calls"] == 2


@pytest.mark.parametrize(("most", "first"), [(2, ["a", "b"]), (1, ["a", "a", "b"])])
def test_callers_take_turns(make: Callable[..., ProcessPool], most: int, first: list[str]) -> None:
    """One caller has all processes but one, and another's call comes before its later ones."""
    order: list[str] = []
    begun, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def note(message: Any) -> None:
        # The call goes on when this returns.
        order.append(message["job"])
        begun.release()
        assert go_on.acquire(timeout=100)

    pool = make(most=most, receive=note)

    def call(caller: str, number: int) -> None:
        pool.call({"do": "tell", "job": caller}, f"{caller} {number}", caller)

    with ThreadPoolExecutor(5) as threads:
        sent = [threads.submit(call, "a", 0)]
        assert begun.acquire(timeout=100)
        for number in range(1, 4):
            sent.append(threads.submit(call, "a", number))
        while pool.waiting() < 3:
            assert not sent[0].done()
        sent.append(threads.submit(call, "b", 0))
        if most == 1:
            while pool.waiting() < 4:
                assert not sent[0].done()
            go_on.release(2)
        for _ in range(len(first) - 1):
            assert begun.acquire(timeout=100)
        assert order == first
        go_on.release(5)
        for each in sent:
            each.result()
    assert sorted(order) == [*"aaaab"]


def test_memory_beyond_the_budget_ends_the_call(make: Callable[..., ProcessPool]) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("the system limits no memory of a process")
    pool = make()
    with pytest.raises(TooLarge):
        pool.call({"do": "take"}, "")
    assert pool.call({"do": "count"}, "")["calls"] == 1


def test_a_process_that_ends_by_itself_is_replaced(make: Callable[..., ProcessPool]) -> None:
    pool = make()
    with pytest.raises(InternalError):
        pool.call({"do": "leave"}, "")
    assert pool.call({"do": "count"}, "")["calls"] == 1


def test_a_closed_pool_leaves_no_process(make: Callable[..., ProcessPool]) -> None:
    pool = make()
    pid = pool.call({"do": "count"}, "")["pid"]
    with ThreadPoolExecutor(1) as threads:
        burning = threads.submit(pool.call, {"do": "burn"}, "")
        pool.close()
        with pytest.raises(DocstowError):
            burning.result(60)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(InternalError):
        pool.call({"do": "count"}, "")


def test_a_process_ends_with_the_one_that_began_it(make: Callable[..., ProcessPool]) -> None:
    del make  # the handler is where the program below finds it
    program = (
        "from docstow.core.processes import *\n"
        "pool = ProcessPool('handler_of_test:make', {}, most=1, budget=Budget(9, 99.0, 1 << 30))\n"
        "print(pool.call({'do': 'count'}, '')['pid'], flush=True)\n"
        "import threading; threading.Event().wait()"
    )
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stderr is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        # The process has the same standard error, which ends with the last that has it.
        assert parent.stderr.read() == "printed\n"
        assert pid != parent.pid
