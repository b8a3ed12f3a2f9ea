"""Clients that are slow: none holds a connection, and none keeps the server from ending."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from docstow.server.connections import GuardedConnection
from docstow.server.http import listen
from servers.command import serving
from servers.mcp_fixture_server import fixture_app

LIMIT_S = 120
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"


class Hasty(GuardedConnection):
    """A connection whose client has little time."""

    head_s = 0.3


class Few(GuardedConnection):
    """A connection of few."""

    most = 3


@contextlib.contextmanager
def _served(guard: type[GuardedConnection], **options: float) -> Iterator[tuple[str, int]]:
    app = fixture_app(**options)
    config = uvicorn.Config(app, lifespan="off", log_config=None, http=guard, ws="none")
    server = uvicorn.Server(config)
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[:2]
        finally:
            server.should_exit = True
            thread.join()


def _open(address: tuple[str, int], sent: bytes) -> socket.socket:
    opened = socket.create_connection(address, timeout=LIMIT_S)
    opened.sendall(sent)
    return opened


def _read(connection: socket.socket) -> bytes:
    """Return what comes until the server ends the connection."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            found += part
    connection.close()
    return found


@pytest.mark.parametrize("sent", [b"", b"POST", HEAD])
def test_half_open_connections_are_closed_while_others_are_answered(sent: bytes) -> None:
    with _served(Hasty) as address:
        half_open = [_open(address, sent) for _ in range(400)]
        url = f"http://{address[0]}:{address[1]}"
        assert httpx.get(f"{url}/health", timeout=LIMIT_S).status_code == 200
        assert {_read(each) for each in half_open} == {b""}


def test_a_second_request_has_its_own_time() -> None:
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    whole = HEAD + JSON + b"Content-Length: %d\r\n\r\n" % len(ping) + ping
    with _served(Hasty) as address:
        answers = _read(_open(address, whole + HEAD))
    assert answers.count(b"HTTP/1.1 200 OK") == 1


def test_a_body_that_does_not_come_is_refused() -> None:
    with _served(GuardedConnection, body_s=0.3) as address:
        answer = _read(_open(address, HEAD + JSON + b"Content-Length: 100\r\n\r\n{"))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"within 0.3 seconds" in answer


def test_beyond_the_cap_connections_go_that_have_sent_nothing() -> None:
    with _served(Few) as address:
        waiting = [_open(address, b"") for _ in range(3)]
        url = f"http://{address[0]}:{address[1]}"
        assert httpx.get(f"{url}/health", timeout=LIMIT_S).status_code == 200
        # The oldest had to go.
        assert _read(waiting[0]) == b""
        for each in waiting:
            each.close()


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_ends_whatever_its_clients_do(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path) as (process, url):
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        half_open = [_open(address, b"") for _ in range(400)]
        half_sent = [_open(address, HEAD + JSON + b"Content-Length: 99\r\n\r\n{") for _ in range(5)]
        assert httpx.get(f"{url}/health", timeout=LIMIT_S).status_code == 200
        process.send_signal(number)
        process.wait(LIMIT_S)
        for each in (*half_open, *half_sent):
            _read(each)
    assert process.returncode in (0, 130)
