"""A server for many minutes: 32 clients, ingests, killed workers, a store that throttles.

``python -m benchmarks.soak --minutes 20`` has ``docstow serve`` answer mixed calls, half the time
with hostile callers among them, and prints the waits by tool. It fails where something that was
acknowledged is gone, where memory, files or threads of the server have grown between two rests, or
where a call fails for which nothing was done to it.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import logging
import os
import random
import signal
import socket
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from benchmarks.measure import mib, ms, quantile, table
from docstow.core.auth import new_token, token_digest
from servers.command import serving
from servers.s3 import bucket
from servers.weather import Climate, Weather

CLIENTS, WRITERS, HOSTILE = 32, 4, 8
#: A store next door that refuses some requests and loses some answers.
THROTTLED = Climate(read_s=0.002, write_s=0.004, slow_down=0.02, lost=0.005)
#: Between two calls of a client, in seconds: each is a person's agent and no load test.
PAUSE_S = 0.5
#: Texts of a writer, which are written again and again.
TEXTS = 12
#: Between two kills of a process that reads code, and between two syncs, in seconds.
KILL_S, SYNC_S = 20.0, 15.0
#: What may be more at the second rest than at the first.
MOST_GROWTH = 1.10
#: Threads and files that a pool may still open after the first rest.
SLACK = 8
WAIT_S = 300.0
#: Longer than idle connections are kept: 75 seconds by the server, 90 to the store.
REST_S = 100.0

_POOLED = "socket to the store"
_JSON = {"Content-Type": "application/json"}
_LOCK = '[[package]]\nname = "stowage"\nversion = "0.1.0"\n'
_CODE = "use stowage::Hold;\nfn main() { let mut h = Hold::new(); h.stowe(1); }\n"
READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_items", {"crate": "stowage", "query": "put all pieces into the hold", "k": 5}),
    ("search_items", {"query": "balance a load", "k": 5}),
    ("get_item_doc", {"item_path": "stowage::Hold"}),
    ("get_package_summary", {"package": "stowage"}),
    ("get_module_tree", {"crate": "stowage"}),
    ("search_examples", {"crate": "stowage", "query": "stow"}),
    ("find_implementations", {"package": "stowage", "type": "Hold"}),
    ("get_dependencies", {"package": "stowage", "lockfile": _LOCK}),
    ("list_versions", {"package": "stowage"}),
    ("find_packages", {"query": "load a ship"}),
    ("ask", {"question": "how do I stow pieces", "lockfile": _LOCK}),
    ("search_docs", {"query": "harbour in the morning"}),
    ("list_sources", {}),
    ("list_collections", {}),
    ("verify_code", {"code": _CODE, "language": "rust", "versions": {"stowage": "0.1.0"}}),
)
#: Answered by a process of its own, which is killed now and then.
APART = {"verify_code"}
_WORDS = ("harbour", "tide", "crane", "quay", "rope", "ballast", "anchor", "pilot", "morning")


@dataclass(slots=True)
class Seen:
    """What clients saw, in each part of the run."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    waits: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, part: str, tool: str, wait_s: float, answer: httpx.Response | None) -> None:
        """Note one call."""
        status = 0 if answer is None else answer.status_code
        told = "" if answer is None else answer.text[:200]
        with self.lock:
            if status == 200:
                self.waits[part, tool].append(wait_s)
                return
            self.refused[tool, str(status)] += 1
            # The store refuses and loses requests, and processes are killed: both are told.
            expected = status in (202, 409, 429, 502, 503) or (
                tool in APART and status in (413, 500)
            )
            if not expected:
                self.faults.append(f"{tool}: {status} {told}")


@dataclass(frozen=True, slots=True)
class Rest:
    """What the server holds when nobody asks for anything.

    Attributes:
        resident: bytes of memory.
        files: descriptors that are open, but for the connections to the store, which are as many as
            calls were ever under way at once; ``kinds`` has these too.
        threads: there are.
        kinds: what the descriptors are of.
    """

    resident: int
    files: int
    threads: int
    kinds: Counter[str]


class Soak:
    """One run against one server.

    Args:
        url: its root.
        pid: its process.
        tokens: of the honest clients, then of the hostile.
    """

    def __init__(self, url: str, pid: int, tokens: list[str], folder: Path) -> None:
        self.url = url
        self.pid = pid
        self.part = "warm-up"
        self.seen = Seen()
        self.kills = 0
        self.hostile: Counter[str] = Counter()
        self.written: dict[tuple[str, str], list[int]] = {}
        self._tokens = tokens
        self._folder = folder

    def run(self, seconds: float, *, hostile: bool) -> None:
        """Have all clients call for a time."""
        stop = threading.Event()
        works: list[Callable[[threading.Event], None]] = [self._kill, self._sync]
        works += [lambda end, n=n: self._read(n, end) for n in range(CLIENTS - WRITERS)]  # type: ignore[misc]
        works += [lambda end, n=n: self._write(n, end) for n in range(WRITERS)]  # type: ignore[misc]
        if hostile:
            works += [self._many_connections, self._slow_bodies]
            works += [lambda end, n=n: self._expensive(n, end) for n in range(HOSTILE - 2)]  # type: ignore[misc]
        threads = [threading.Thread(target=each, args=(stop,), daemon=True) for each in works]
        for each in threads:
            each.start()
        stop.wait(seconds)
        stop.set()
        for each in threads:
            each.join(WAIT_S * 2)
            assert not each.is_alive(), "a client hangs"

    def rest(self) -> Rest:
        """Wait until nobody keeps a connection for later, and look at the server."""
        time.sleep(REST_S)
        place = Path(f"/proc/{self.pid}")
        status = (place / "status").read_text("ascii")
        fields = dict(line.split(":", 1) for line in status.splitlines())
        kinds = Counter(self._kinds(place))
        resident = int(fields["VmRSS"].split()[0]) * 1024
        files = kinds.total() - kinds[_POOLED]
        return Rest(resident, files, int(fields["Threads"]), kinds)

    def _kinds(self, place: Path) -> Iterator[str]:
        """Yield what each open file is; a client's side has the socket that listens, too."""
        port = f":{self._address()[1]:04X}"
        rows = [line.split() for line in (place / "net" / "tcp").read_text("ascii").splitlines()]
        inbound = {row[9] for row in rows if row[1].endswith(port)}
        known = {row[9] for row in rows}
        for each in (place / "fd").iterdir():
            with contextlib.suppress(OSError):
                kind, _, number = each.readlink().name.partition(":")
                inode = number.strip("[]")
                side = "socket of a client" if inode in inbound else _POOLED
                yield side if kind == "socket" and inode in known else kind

    def lost(self) -> list[str]:
        """Return what was acknowledged and is not there."""
        gone = []
        with self._client(0) as client:
            for (collection, uri), numbers in sorted(self.written.items()):
                answer = self._read_text(client, collection, uri)
                # A write whose answer was a refusal may have succeeded: any number since then.
                if not any(f"number {number}." in answer.text for number in numbers):
                    gone.append(f"{collection}/{uri}: {answer.status_code} {answer.text[:200]}")
        return gone

    def _read_text(self, client: httpx.Client, collection: str, uri: str) -> httpx.Response:
        asked, end = {"doc": uri, "source_id": collection}, time.monotonic() + WAIT_S
        while True:
            answer = client.post("/mcp/tools/get_doc", json=asked)
            if answer.status_code not in (202, 429, 502, 503) or time.monotonic() > end:
                return answer
            time.sleep(0.5)

    def _client(self, number: int) -> httpx.Client:
        headers = {**_JSON, "Authorization": f"Bearer {self._tokens[number]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=WAIT_S)

    def _ask(self, client: httpx.Client, tool: str, arguments: Mapping[str, Any]) -> int:
        part, begun, answer = self.part, time.perf_counter(), None
        with contextlib.suppress(httpx.HTTPError):
            answer = client.post(f"/mcp/tools/{tool}", json=arguments)
        self.seen.note(part, tool, time.perf_counter() - begun, answer)
        return 0 if answer is None else answer.status_code

    def _read(self, number: int, stop: threading.Event) -> None:
        dice = random.Random(number)
        with self._client(number) as client:
            while not stop.wait(dice.uniform(0, 2 * PAUSE_S)):
                self._ask(client, *dice.choice(READS))

    def _write(self, number: int, stop: threading.Event) -> None:
        dice, collection = random.Random(-number), f"notes-{number}"
        with self._client(CLIENTS - WRITERS + number) as client:
            self._ask(client, "create_collection", {"name": collection})
            while not stop.wait(dice.uniform(0, 2 * PAUSE_S)):
                uri, mark = f"note-{dice.randrange(TEXTS)}.md", dice.randrange(10**9)
                words = " ".join(dice.choices(_WORDS, k=60))
                text = f"# Note\n\nThis is number {mark}. {words}\n"
                arguments = {"collection": collection, "uri": uri, "text": text}
                status = self._ask(client, "push_document", arguments)
                known = self.written.get((collection, uri), [])
                if status in (200, 202):
                    self.written[collection, uri] = [mark]
                elif known:
                    self.written[collection, uri] = [*known, mark]

    def _sync(self, stop: threading.Event) -> None:
        """Change a folder and have it stowed again."""
        self._folder.mkdir(exist_ok=True)
        with self._client(0) as client:
            for number in itertools.count():
                for name in range(8):
                    words = " ".join(random.Random(number + name).choices(_WORDS, k=200))
                    (self._folder / f"{name}.md").write_text(f"# Page {name}\n\n{words}\n")
                uri = str(self._folder)
                self._ask(client, "create_source", {"kind": "folder", "uri": uri})
                self._ask(client, "start_sync", {"source_id": uri})
                if stop.wait(SYNC_S):
                    return

    def _kill(self, stop: threading.Event) -> None:
        """Kill one of the processes that read code now and then."""
        while not stop.wait(KILL_S):
            children = Path(f"/proc/{self.pid}/task").glob("*/children")
            pids = [int(pid) for each in children for pid in each.read_text().split()]
            if pids:
                with contextlib.suppress(OSError):
                    os.kill(random.Random(self.kills).choice(pids), signal.SIGKILL)
                    self.kills += 1

    def _expensive(self, number: int, stop: threading.Event) -> None:
        """Send what is large and made to be slow, as fast as it is answered."""
        calls = itertools.cycle(
            (
                ("verify_code", {"language": "typescript", "code": "a<b," * 49_000}),
                ("verify_code", {"language": "rust", "code": 'r#"' * 60_000}),
                ("search_items", {"query": "x " * 100_000}),
                ("list_versions", {"package": "stowage", "lockfile": "1." * 400_000}),
                ("ask", {"question": "hold " * 100, "lockfile": _LOCK * 5000}),
            )
        )
        with self._client(CLIENTS + number) as client:
            for tool, arguments in itertools.islice(calls, number, None):
                if stop.is_set():
                    return
                with contextlib.suppress(httpx.HTTPError):
                    status = client.post(f"/mcp/tools/{tool}", json=arguments).status_code
                    self.hostile[f"{tool} {status}"] += 1

    def _address(self) -> tuple[str, int]:
        parsed = httpx.URL(self.url)
        return parsed.host, parsed.port or 80

    def _many_connections(self, stop: threading.Event) -> None:
        """Hold as many connections as may be, which say nothing."""
        held: list[socket.socket] = []
        while not stop.wait(0.05):
            with contextlib.suppress(OSError):
                held.append(socket.create_connection(self._address(), timeout=5))
                self.hostile["connections"] += 1
            if len(held) > 400:
                held.pop(0).close()
        for each in held:
            each.close()

    def _slow_bodies(self, stop: threading.Event) -> None:
        """Send bodies a letter at a time."""
        head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        slow: list[socket.socket] = []
        while not stop.wait(0.2):
            with contextlib.suppress(OSError):
                slow.append(socket.create_connection(self._address(), timeout=5))
                slow[-1].sendall(head + b"Content-Length: 1000\r\n\r\n")
                self.hostile["slow bodies"] += 1
            slow = [each for each in slow[-100:] if _drips(each)]
        for each in slow:
            each.close()


def _drips(connection: socket.socket) -> bool:
    try:
        connection.sendall(b" ")
    except OSError:
        connection.close()
        return False
    return True


@contextlib.contextmanager
def soaked(folder: Path) -> Iterator[Soak]:
    """Start a server on a throttled bucket."""
    tokens = [new_token() for _ in range(CLIENTS + HOSTILE)]
    entries = [
        f"{'client' if number < CLIENTS else 'hostile'}-{number}:"
        f"{'admin' if number < CLIENTS else 'read'}:{token_digest(each)}"
        for number, each in enumerate(tokens)
    ]
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with bucket() as there, Weather(there, climate=THROTTLED) as weather:
        settings = {
            "DOCSTOW_STORE": there.at("soak"),
            "DOCSTOW_S3_ENDPOINT": weather.url,
            "DOCSTOW_AUTH": ",".join(entries),
            "DOCSTOW_LOG_LEVEL": "error",
        }
        with serving(folder, **settings) as (process, url):
            yield Soak(url, process.pid, tokens, folder / "pages")


def main(minutes: float) -> int:
    """Run, print what was seen, and return the exit status."""
    with TemporaryDirectory() as place, soaked(Path(place)) as soak:
        seconds = minutes * 60
        soak.run(seconds / 4, hostile=True)
        first = soak.rest()
        soak.part = "alone"
        soak.run(seconds / 4, hostile=False)
        soak.part = "beside hostile ones"
        soak.run(seconds / 2, hostile=True)
        last = soak.rest()
        gone = soak.lost()
    _print(soak, first, last, minutes)
    found = problems(first, last, soak.seen.faults, gone)
    print("\n" + ("\n".join(found) or "Nothing was lost, and nothing has grown."))
    return 1 if found else 0


def problems(first: Rest, last: Rest, faults: Sequence[str], gone: Sequence[str]) -> list[str]:
    """Return why a run has failed, a line each.

    Args:
        first: the server at rest after the warm-up.
        last: the same at the end.
        faults: calls that failed though nothing was done to them.
        gone: what was acknowledged and is not there.
    """
    found = [f"lost: {each}" for each in gone]
    found += sorted({f"failed: {each}" for each in faults})
    if last.resident > first.resident * MOST_GROWTH:
        found.append(f"memory grew from {mib(first.resident)} to {mib(last.resident)}")
    for name in ("files", "threads"):
        if getattr(last, name) > getattr(first, name) + SLACK:
            found.append(f"{name} grew from {getattr(first, name)} to {getattr(last, name)}")
    return found


def _print(soak: Soak, first: Rest, last: Rest, minutes: float) -> None:
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{minutes:g} minutes on {os.cpu_count()} cores with a load of {load} at the end")
    tools = sorted({tool for part, tool in soak.seen.waits if part != "warm-up"})
    rows = []
    for tool in tools:
        row = [f"`{tool}`"]
        for part in ("alone", "beside hostile ones"):
            waits = soak.seen.waits.get((part, tool), [])
            shown = [ms(quantile(waits, share)) for share in (0.5, 0.99)] if waits else ["", ""]
            row += [str(len(waits)), *shown]
        rows.append(row)
    heads = ["honest calls", "alone", "p50", "p99", "beside hostile ones", "p50", "p99"]
    table(f"Waits of {CLIENTS} clients", heads, rows)
    rests = [
        [name, mib(each.resident), str(each.files), str(each.threads)]
        for name, each in (("after the warm-up", first), ("at the end", last))
    ]
    table("The server at rest", ["", "memory", "files", "threads"], rests)
    for name, each in (("after the warm-up", first), ("at the end", last)):
        print(f"\nfiles {name}: {json.dumps(each.kinds, sort_keys=True)}")
    refused = ", ".join(f"{t} {s}: {n}" for (t, s), n in sorted(soak.seen.refused.items()))
    print(f"killed processes: {soak.kills}; texts written: {len(soak.written)}")
    print(f"refused: {refused or 'nothing'}")
    print(f"hostile: {json.dumps(soak.hostile, sort_keys=True)}")


if __name__ == "__main__":
    if not sys.platform.startswith("linux"):
        sys.exit("Files and threads of the server are told by /proc, which this system has not.")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    sys.exit(main(parser.parse_args().minutes))
