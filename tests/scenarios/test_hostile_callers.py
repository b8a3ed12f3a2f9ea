"""A server whose anonymous callers send code that is made to be slow answers the others."""

from __future__ import annotations

import os
import select
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from servers.command import serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are told by /proc"),
]

LIMIT_S = 240
#: Would take minutes and gigabytes of memory. A slow machine's parser gives it up, a fast one's
#: meets the limit of memory before.
HOSTILE = {"language": "typescript", "code": "a<b," * 49_000}
HONEST = {"language": "rust", "code": "use stowage::Hold;", "versions": {"stowage": "0.1.0"}}


def _workers(parent: int) -> dict[int, float]:
    """Return the child processes of one with the seconds that they have computed."""
    found = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            ticks = int(fields[11]) + int(fields[12])
            found[int(place.parent.name)] = ticks / os.sysconf("SC_CLK_TCK")
    return found


def test_a_search_is_answered_while_hostile_calls_go_on_and_the_server_ends(
    tmp_path: Path,
) -> None:
    with (
        serving(tmp_path, DOCSTOW_AUTH="anonymous:read") as (process, url),
        ThreadPoolExecutor(16) as threads,
    ):
        hostile = [
            threads.submit(
                httpx.post, f"{url}/mcp/tools/verify_code", json=HOSTILE, timeout=LIMIT_S
            )
            for _ in range(16)
        ]
        # As soon as one of them computes, in a process of its own.
        while not any(seconds > 1 for seconds in _workers(process.pid).values()):
            assert process.poll() is None
        found = httpx.post(
            f"{url}/mcp/tools/search_items",
            json={"crate": "stowage", "query": "hold"},
            timeout=LIMIT_S,
        )
        assert found.status_code == 200, found.text
        assert found.json()["results"]
        assert not all(each.done() for each in hostile)
        # Each can be read from when the process has ended.
        workers = [os.pidfd_open(pid) for pid in _workers(process.pid)]
        process.send_signal(signal.SIGTERM)
        process.wait(LIMIT_S)
        for worker in workers:
            assert select.select([worker], [], [], LIMIT_S)[0]
            os.close(worker)


def test_a_call_that_is_too_slow_is_an_error_of_its_own(tmp_path: Path) -> None:
    with serving(tmp_path, DOCSTOW_AUTH="anonymous:read") as (_, url):
        honest = httpx.post(f"{url}/mcp/tools/verify_code", json=HONEST, timeout=LIMIT_S)
        refused = httpx.post(f"{url}/mcp/tools/verify_code", json=HOSTILE, timeout=LIMIT_S)
        again = httpx.post(f"{url}/mcp/tools/verify_code", json=HONEST, timeout=LIMIT_S)
    assert honest.status_code == 200, honest.text
    problem = refused.json()
    assert (refused.status_code, problem["error"]) in {
        (413, "too_large"),
        (422, "unreadable_input"),
    }, refused.text
    assert "send" in problem["message"].lower()
    assert again.json() == honest.json()
