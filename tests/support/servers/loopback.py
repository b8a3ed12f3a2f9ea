"""A threaded HTTP server on 127.0.0.1 that logs requests and misbehaves on demand."""

from __future__ import annotations

import ssl
import struct
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import zstandard


@dataclass(frozen=True, slots=True)
class Request:
    """One request that came in; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""


class Handler(BaseHTTPRequestHandler):
    """What a fault is given: the request, and the means to answer it or not."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server
    place: str
    """The path asked for, percent-decoded, without its query."""
    asked: Request
    """The request that is being answered."""

    def do_GET(self) -> None:
        loopback = self.server.loopback
        self.place = unquote(urlsplit(self.path).path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        self.asked = Request(self.place, headers, self.command, body)
        fault = loopback.note(self.asked)
        (fault or loopback.answer)(self)

    do_POST = do_GET  # noqa: N815 - the base's name
    do_DELETE = do_GET  # noqa: N815 - the base's name

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keep standard error for the tests."""

    def reply(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer whole, or with 304 where the client has it already."""
        named = {name.lower(): value for name, value in (headers or {}).items()}
        if status == 200 and named.get("etag", "-") == self.headers.get("If-None-Match"):
            status, body = 304, b""
        self.begin(status, len(body), named)
        self.wfile.write(body)

    def begin(self, status: int, length: int, headers: Mapping[str, str] | None = None) -> None:
        """Send status and headers, announcing a body of that length."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()


Fault = Callable[[Handler], None]


def part_of(handler: Handler, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Answer with a body, or with the one range of it that the request names."""
    wanted = handler.headers.get("Range", "")
    named = {"Accept-Ranges": "bytes", **(headers or {})}
    known = handler.headers.get("If-Range", named.get("ETag", ""))
    if not wanted or known != named.get("ETag", ""):
        handler.reply(200, body, named)
        return
    first, _, last = wanted.removeprefix("bytes=").partition("-")
    begin = int(first) if first else max(0, len(body) - int(last))
    end = min(len(body), int(last) + 1) if first and last else len(body)
    if begin >= len(body):
        handler.reply(416, b"", {"Content-Range": f"bytes */{len(body)}"})
        return
    named["Content-Range"] = f"bytes {begin}-{end - 1}/{len(body)}"
    handler.reply(206, body[begin:end], named)


def cut(body: bytes, at: int, headers: Mapping[str, str] | None = None) -> Fault:
    """Announce a body, send its beginning and cut the connection."""

    def answer(handler: Handler) -> None:
        handler.begin(200, len(body), headers)
        handler.wfile.write(body[:at])
        handler.close_connection = True

    return answer


def status(code: int, **headers: str) -> Fault:
    """Answer with that status; ``retry_after="2"`` becomes a header."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.reply(code, b"not now", named)


def content(body: bytes, media_type: str = "application/octet-stream") -> Fault:
    """Answer 200 with that body."""
    return lambda handler: handler.reply(200, body, {"Content-Type": media_type})


def redirect(location: str, code: int = 302) -> Fault:
    """Answer with a redirect."""
    return lambda handler: handler.reply(code, b"", {"Location": location})


def drop(body: bytes = b"") -> Fault:
    """Announce twice the body, send it once and cut the connection."""

    def answer(handler: Handler) -> None:
        handler.begin(200, 2 * len(body) + 1)
        handler.wfile.write(body)
        handler.close_connection = True

    return answer


def drip(pieces: Iterable[bytes], turn: Callable[[], object], length: int = 1 << 20) -> Fault:
    """Send one piece after the other, calling ``turn`` (such as an event's wait) before each."""

    def answer(handler: Handler) -> None:
        handler.close_connection = True
        handler.begin(200, length)
        for piece in pieces:
            turn()
            handler.wfile.write(piece)

    return answer


def zstd_bomb(size: int) -> bytes:
    """A valid zstd frame of zeros (RFC 8878, run-length blocks), 4 bytes for each 128 KiB."""
    block = 128 * 1024
    blocks = -(-size // block)
    header = zstandard.FRAME_HEADER + b"\x00\x58"  # no checksum, window of 2 MiB
    run = struct.pack("<I", block << 3 | 1 << 1)[:3] + b"\x00"
    last = struct.pack("<I", block << 3 | 1 << 1 | 1)[:3] + b"\x00"
    return header + run * (blocks - 1) + last


class Loopback:
    """A server on a free port of 127.0.0.1; a context manager.

    Args:
        answer: answers requests that meet no fault.
        port: 0 for any.

    Attributes:
        url: its root, without a trailing slash.
        requests: every request so far, in order.
    """

    def __init__(
        self,
        answer: Callable[[Handler], None],
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self._planned: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._standing: dict[str, Fault] = {}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), Handler)
        self._server.loopback = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        if tls is not None:
            # The handshake is the thread's that answers, so that a failed one holds nobody up.
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def plan(self, part: str, *faults: Fault) -> None:
        """Let the next requests whose path contains ``part`` meet these faults, one each."""
        with self._lock:
            self._planned[part].extend(faults)

    def always(self, part: str, fault: Fault | None) -> None:
        """Let all requests whose path contains ``part`` meet this fault; None takes it away."""
        with self._lock:
            if fault is None:
                self._standing.pop(part, None)
            else:
                self._standing[part] = fault

    def paths(self, part: str = "") -> list[str]:
        """The paths asked for so far that contain ``part``."""
        with self._lock:
            return [request.path for request in self.requests if part in request.path]

    def note(self, request: Request) -> Fault | None:
        """Log a request and take the fault that is due for it."""
        with self._lock:
            self.requests.append(request)
            for part, faults in self._planned.items():
                if part in request.path and faults:
                    return faults.popleft()
            return next((f for part, f in self._standing.items() if part in request.path), None)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    loopback: Loopback

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up: stopping early is what some tests are about."""
        if not isinstance(sys.exception(), (ConnectionError, ssl.SSLError)):
            super().handle_error(request, client_address)
