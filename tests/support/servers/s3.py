"""Buckets for tests, a proxy that meddles with their server, and a server that ignores conditions.

Tests that need S3 take a :func:`bucket`: on SeaweedFS, on the server that
``DOCSTOW_TEST_S3_ENDPOINT`` names, or on moto's.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import ssl
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest

from docstow.store.objects import connect
from servers import seaweed


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

#: The server that tests use instead of those that they start.
NAMED = os.environ.get("DOCSTOW_TEST_S3_ENDPOINT", "")

#: What the contract of a store is held against; the last one has the buckets of other tests.
SERVERS = ("named",) if NAMED else ("moto", "seaweedfs")[: 2 if seaweed.program() else 1]

#: Parameters of what a directory does as a bucket does.
STORES = ("directory", pytest.param(SERVERS[-1], marks=pytest.mark.slow))


@contextlib.contextmanager
def moto() -> Iterator[str]:
    """The address of moto's own server.

    It looks at a write's condition first and writes then, and another thread may write in between;
    S3 does both in one. And a message that is sent while another is deleted gets lost.
    """
    from moto.s3.responses import S3Response
    from moto.server import ThreadedMotoServer  # a second, which most tests need not wait for
    from moto.sqs.models import Queue

    put, add, delete = S3Response.put_object, Queue.add_message, Queue.delete_message
    writing, changing = threading.Lock(), threading.Lock()

    def put_object(self: Any) -> Any:
        with writing:
            return put(self)

    def add_message(self: Queue, message: Any) -> None:
        with changing:
            add(self, message)

    def delete_message(self: Queue, receipt_handle: str) -> None:
        with changing:
            delete(self, receipt_handle)

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(S3Response, "put_object", put_object)
        patch.setattr(Queue, "add_message", add_message)
        patch.setattr(Queue, "delete_message", delete_message)
        server.start()
        try:
            host, port = server.get_host_and_port()
            yield f"http://{host}:{port}"
        finally:
            server.stop()


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of the tests' own.

    Attributes:
        name: of the bucket.
        endpoint: of its server.
        queues: address of a server of SQS: moto's, whoever has the bucket.
    """

    name: str
    endpoint: str
    queues: str

    def at(self, prefix: str = "") -> str:
        """The setting of a store in a part of it, or in the whole."""
        return f"s3://{self.name}/{prefix}".rstrip("/")


@contextlib.contextmanager
def bucket(endpoint: str = NAMED) -> Iterator[Bucket]:
    """A new, empty bucket, which is removed afterwards.

    Args:
        endpoint: of its server; empty for moto's. The credentials are ``testing`` both, but for
            the one that ``DOCSTOW_TEST_S3_ENDPOINT`` names: there they are those of the
            environment.
    """
    with moto() as own, pytest.MonkeyPatch.context() as patch:
        if not NAMED:
            patch.setenv("AWS_ACCESS_KEY_ID", "testing")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        with created(endpoint or own) as name:
            yield Bucket(name, endpoint or own, own)


@contextlib.contextmanager
def created(endpoint: str) -> Iterator[str]:
    """The name of a new bucket on a server, which is removed with all that it holds."""
    client, name = connect(endpoint=endpoint), f"docstow-test-{uuid.uuid4().hex}"
    client.create_bucket(Bucket=name)
    try:
        yield name
    finally:
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=name):
            for entry in page.get("Contents", ()):
                client.delete_object(Bucket=name, Key=entry["Key"])
        client.delete_bucket(Bucket=name)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no fault of ours."""
        if not isinstance(sys.exception(), (ConnectionError, ssl.SSLError)):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serve(respond: Respond, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server that answers with what ``respond`` returns, by TLS if so told."""

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
    if tls is not None:
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http{'s' * (tls is not None)}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Forward:
    """Passes requests on to ``upstream``, or to ``queues`` what is for SQS, and the answers back.

    Connections are kept until it is closed, where the other side keeps them.
    """

    def __init__(self, upstream: str, queues: str = "") -> None:
        self._upstream = upstream
        self._queues = queues
        self._idle: dict[str, list[http.client.HTTPConnection]] = {}
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Answer:
        """Pass a request on."""
        url = self._queues if "x-amz-target" in request.headers else self._upstream
        headers = {n: v for n, v in request.headers.items() if n not in ("expect", "connection")}
        connection = self._take(url)
        try:
            try:
                answer = _ask(connection, request, headers)
            except ConnectionError:  # the other side had closed it while it was idle
                connection.close()
                answer = _ask(connection, request, headers)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.setdefault(url, []).append(connection)
        return answer

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._lock:
            for each in self._idle.values():
                for connection in each:
                    connection.close()
            self._idle.clear()

    def _take(self, url: str) -> http.client.HTTPConnection:
        with self._lock:
            if idle := self._idle.get(url):
                return idle.pop()
        target = urlsplit(url)
        if target.scheme == "https":
            return http.client.HTTPSConnection(target.netloc, timeout=30)
        return http.client.HTTPConnection(target.netloc, timeout=30)


def _ask(
    connection: http.client.HTTPConnection, request: Request, headers: dict[str, str]
) -> Answer:
    connection.request(request.method, request.path, request.body, headers)
    answer = connection.getresponse()
    body = answer.read()
    hop = ("transfer-encoding", "connection")
    return Answer(
        answer.status, {n: v for n, v in answer.getheaders() if n.lower() not in hop}, body
    )


def forward(upstream: str, queues: str = "") -> Respond:
    """Pass requests on as :class:`Forward` does, each over a connection of its own."""

    def respond(request: Request) -> Answer:
        with contextlib.closing(Forward(upstream, queues)) as forwarded:
            return forwarded(request)

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
