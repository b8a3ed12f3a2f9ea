"""Warm answers over HTTP and MCP on connections that stay, alone and beside other work.

The server is ``docstow serve`` in a process of its own; its CPU is what the system says of it.
The floor of each figure is an empty route of the same server on the same connection, in turns.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import mib, ms, quantile, table
from benchmarks.probe import QUESTIONS
from servers import command

_TICKS_S = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
_JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

#: What else the server does meanwhile, and how many clients check code.
_VERIFIERS = {"verify_code": 1, "16 clients of verify_code": 16}
BESIDE = ("", "ingests", *_VERIFIERS)

CODE = "use tokio::sync::Mutex;\nfn main() { let m = Mutex::new(1); m.lockk(); }\n"


@dataclass(frozen=True, slots=True)
class Server:
    """A running server.

    Attributes:
        port: that it listens on.
        pid: of its process.
    """

    port: int
    pid: int

    def cpu_s(self) -> float:
        """Return the CPU seconds that it has taken so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * _TICKS_S

    def resident(self) -> int:
        """Return the bytes of memory that it has."""
        return int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1]) * 4096


class Client:
    """One connection that stays."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def empty(self) -> None:
        """Ask the route that does nothing."""
        self._ask("GET", "/health", None)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool over plain HTTP."""
        self._ask("POST", f"/mcp/tools/{tool}", arguments)

    def mcp(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool over MCP."""
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self._ask("POST", "/mcp", message)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> None:
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, path, sent, _JSON if sent else {})
        answer = self._connection.getresponse()
        told = answer.read()
        assert answer.status == 200, told


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Serve the store below a folder, for as long as a block runs."""
    settings = {"DOCSTOW_STORE": f"{folder}/store", "DOCSTOW_CACHE": f"{folder}/cache"}
    process, url = command.start({**settings, "DOCSTOW_FRESHNESS_S": "60"}, quiet=True)
    with process:
        try:
            yield Server(int(url.rpartition(":")[2]), process.pid)
        finally:
            process.terminate()


def works(crates: Sequence[str], pages: int) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """What is asked by name, each with the calls of a round."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for crate in crates:
        asked = [{"crate": crate, "query": query} for query in QUESTIONS]
        found[f"search_items, {crate}"] = [("search_items", each) for each in asked]
    item = {"crate": crates[-1], "item_path": crates[-1].replace("-", "_")}
    found[f"get_item_doc, {crates[-1]}"] = [("get_item_doc", item)] * len(QUESTIONS)
    found[f"search_docs, {pages} pages"] = [("search_docs", {"query": each}) for each in QUESTIONS]
    return found


def warm(
    folder: Path, crates: Sequence[str], pages: int, rounds: int
) -> dict[str, tuple[float, float]]:
    """Print what a request takes, in turns with an empty route; p50 and CPU seconds by name."""
    found: dict[str, tuple[float, float]] = {}
    with serve(folder) as server:
        client = Client(server.port)
        asked = works(crates, pages)
        ways: dict[str, Callable[[], None]] = {}
        walls: dict[str, list[float]] = {}
        cpus: dict[str, list[float]] = {}

        def rounded(ask: Callable[[str, Mapping[str, Any]], None], calls: Any) -> None:
            for tool, arguments in calls:
                begun = time.perf_counter()
                ask(tool, arguments)
                current.append(time.perf_counter() - begun)

        for name, calls in asked.items():
            ways[f"{name}, HTTP"] = lambda calls=calls: rounded(client.call, calls)  # type: ignore[misc]
            ways[f"{name}, MCP"] = lambda calls=calls: rounded(client.mcp, calls)  # type: ignore[misc]
        empty: list[tuple[str, dict[str, Any]]] = [("", {})] * 50
        ways["an empty route"] = lambda: rounded(lambda *_: client.empty(), empty)
        for number in range(rounds + 1):
            for name, way in ways.items():
                current: list[float] = []
                begun = server.cpu_s()
                way()
                if number:  # the first round fills what is kept
                    walls.setdefault(name, []).extend(current)
                    cpus.setdefault(name, []).append((server.cpu_s() - begun) / len(current))
        memory = server.resident()
    floor = statistics.mean(cpus["an empty route"])
    rows = []
    for name in ways:
        cpu = statistics.mean(cpus[name])
        found[name] = quantile(walls[name], 0.5), cpu
        spread = [ms(quantile(walls[name], share)) for share in (0.5, 0.05, 0.95)]
        rows.append([name, *spread, ms(cpu), f"{cpu / max(floor, 1e-6):.1f}"])
    heads = ["warm, one connection", "wall p50", "p5", "p95", "CPU", "to an empty route"]
    table(f"Warm requests ({mib(memory)} of memory)", heads, rows)
    return found


def load(folder: Path, crate: str, seconds: float) -> None:
    """Print requests a second and waits of 1, 16 and 64 connections, alone and beside others."""
    heads = ["search_items", "requests", "wall p50", "p95", "p99", "CPU of the server"]
    title = f"Load, {seconds:.0f} s each; the clients share the cores"
    table(title, heads, _load(folder, crate, seconds))


def _load(folder: Path, crate: str, seconds: float) -> Iterator[list[str]]:
    calls = [("search_items", {"crate": crate, "query": query}) for query in QUESTIONS]
    with serve(folder) as server:
        for tool, arguments in calls:
            Client(server.port).call(tool, arguments)
        for beside, count in itertools.product(BESIDE, (1, 16, 64)):
            with _beside(server.port, beside, crate):
                begun = server.cpu_s(), time.perf_counter()
                end = time.monotonic() + seconds
                with ThreadPoolExecutor(count) as pool:
                    asked = [pool.submit(_ask_until, server.port, calls, end) for _ in range(count)]
                    waits = [wait for each in asked for wait in each.result()]
                cpu, wall = server.cpu_s() - begun[0], time.perf_counter() - begun[1]
            yield [
                f"{count} connections" + (f" beside {beside}" if beside else ""),
                f"{len(waits) / wall:.0f}/s",
                *[ms(quantile(waits, share)) for share in (0.5, 0.95, 0.99)],
                ms(cpu / len(waits)),
            ]


def _ask_until(
    port: int, calls: Sequence[tuple[str, Mapping[str, Any]]], end: float
) -> list[float]:
    client, waits = Client(port), list[float]()
    for tool, arguments in itertools.cycle(calls):
        begun = time.perf_counter()
        client.call(tool, arguments)
        waits.append(time.perf_counter() - begun)
        if time.monotonic() >= end:
            return waits
    return waits


@contextmanager
def _beside(port: int, what: str, crate: str) -> Iterator[None]:
    """Have the server do something else all the time."""
    stop = threading.Event()

    def ingest() -> None:
        client = Client(port)
        client.call("create_collection", {"name": "bench"})
        for number in itertools.takewhile(lambda _: not stop.is_set(), itertools.count()):
            text = f"# Note {number}\n\n" + "What was seen of the harbour today. " * 20
            client.call("push_document", {"collection": "bench", "uri": f"n{number}", "text": text})

    if what in _VERIFIERS:
        # A process of its own, so that what is measured does not wait for these clients' threads.
        command = [sys.executable, __file__, str(port), crate, str(_VERIFIERS[what])]
        path = os.pathsep.join(filter(None, sys.path))
        with subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE
        ) as clients:
            assert clients.stdout is not None
            clients.stdout.readline()  # each has had an answer
            try:
                yield
            finally:
                clients.kill()
        return
    threads = [threading.Thread(target=ingest, daemon=True)] if what else []
    for each in threads:
        each.start()
    try:
        yield
    finally:
        stop.set()
        for each in threads:
            each.join()


def verify(port: int, crate: str, count: int) -> None:
    """Have so many clients check code until the process is killed; say when each has begun."""
    begun = threading.Barrier(count + 1)

    def ask() -> None:
        client, arguments = Client(port), {"code": CODE, "language": "rust"}
        client.call("verify_code", {**arguments, "versions": {crate: ""}})
        begun.wait()
        while True:
            client.call("verify_code", {**arguments, "versions": {crate: ""}})

    for _ in range(count):
        threading.Thread(target=ask, daemon=True).start()
    begun.wait()
    print("begun", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    verify(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
