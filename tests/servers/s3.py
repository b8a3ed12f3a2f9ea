"""S3 servers on loopback: moto's, a proxy that meddles with it, and one that ignores conditions."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import urlsplit

from moto.server import ThreadedMotoServer


@dataclass
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """What it gets back; ``cut`` breaks the connection after so many bytes of the body."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: int | None = None


class Lost(Exception):
    """The connection breaks without an answer."""


Respond = Callable[[Request], Answer]


@contextlib.contextmanager
def moto() -> Iterator[str]:
    """The address of moto's own server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no fault of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serve(respond: Respond) -> Iterator[str]:
    """The address of a server that answers with what ``respond`` returns."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or a body waits 40 ms for its headers' receipt

        def answer(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            if headers.get("expect") == "100-continue":
                self.send_response_only(100)
                self.end_headers()
            request = Request(self.command, self.path, headers, self.rfile.read(size))
            try:
                answer = respond(request)
            except Lost:
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if "content-length" not in {name.lower() for name in answer.headers}:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body[: answer.cut])
            self.close_connection = self.close_connection or answer.cut is not None

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

        def handle_expect_100(self) -> bool:
            return True

        def log_message(self, *args: object) -> None:
            return

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def forward(upstream: str) -> Respond:
    """Pass a request on to ``upstream`` and its answer back."""
    host = urlsplit(upstream).netloc

    def respond(request: Request) -> Answer:
        connection = http.client.HTTPConnection(host, timeout=30)
        headers = {n: v for n, v in request.headers.items() if n not in ("expect", "connection")}
        try:
            connection.request(request.method, request.path, request.body, headers)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        hop = ("transfer-encoding", "connection")
        return Answer(
            answer.status, {n: v for n, v in answer.getheaders() if n.lower() not in hop}, body
        )

    return respond


def fault(status: int, code: str) -> Answer:
    """An S3 error."""
    body = f"<Error><Code>{code}</Code><Message>{code} by the test server</Message></Error>"
    return Answer(status, {"Content-Type": "application/xml"}, body.encode())


class Careless:
    """An S3 server as some are: it accepts every conditional write and never looks at it."""

    ignored: ClassVar[tuple[str, ...]] = ("if-none-match", "if-match")

    def __init__(self, *, honoured: tuple[str, ...] = ()) -> None:
        self.honoured = honoured
        self.objects: dict[str, bytes] = {}

    def __call__(self, request: Request) -> Answer:
        path = urlsplit(request.path).path
        held = self.objects.get(path)
        etag = "" if held is None else f'"{hashlib.md5(held).hexdigest()}"'
        if request.method == "PUT":
            if "if-none-match" in self.honoured and "if-none-match" in request.headers and etag:
                return fault(412, "PreconditionFailed")
            self.objects[path] = request.body
            return Answer(200, {"ETag": f'"{hashlib.md5(request.body).hexdigest()}"'})
        if request.method == "DELETE":
            self.objects.pop(path, None)
            return Answer(204)
        if held is None:
            return fault(404, "NoSuchKey")
        return Answer(200, {"ETag": etag}, held)
