"""The Lambda Runtime API on loopback: it runs a handler as AWS would, one event at a time."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

API = "/2018-06-01/runtime"
ARN = "arn:aws:lambda:eu-central-1:123456789012:function:under-test"

ENDED = "Runtime.ExitError"


class FunctionError(Exception):
    """The function failed; ``body`` is what it reported: errorType, errorMessage and so on."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(f"{body.get('errorType')}: {body.get('errorMessage')}")
        self.body = body


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One buffered write per answer and no Nagle, or each call takes 40 ms.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        if self.path.endswith("/restore/next"):
            self._reply(200, {}, b"")  # the snapshot was taken, and this is a copy of it
            return
        event = self.server.events.get()
        if event is None:
            self.close_connection = True
            return
        headers = {
            "Lambda-Runtime-Aws-Request-Id": str(uuid4()),
            "Lambda-Runtime-Deadline-Ms": str(int(time.time() * 1000) + 30_000),
            "Lambda-Runtime-Invoked-Function-Arn": ARN,
            "Content-Type": "application/json",
        }
        self._reply(200, headers, event)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._reply(202, {}, b'{"status":"OK"}')
        self.server.outcomes.put(FunctionError(body) if self.path.endswith("/error") else body)

    def _reply(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keep standard error for the function's own log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.events: queue.Queue[bytes | None] = queue.Queue()
        self.outcomes: queue.Queue[Any] = queue.Queue()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A function that was ended breaks its connection, which is no fault of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LambdaRuntime:
    """A function in a process of its own, under the real ``awslambdaric``.

    Args:
        handler: as in a template: ``functions/mcp/handler.handle`` or ``module.function``.
        folder: where the process starts; modules are found from there.
        environment: variables of the function, beside those of this process.
    """

    def __init__(
        self, handler: str, folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._handler = handler
        self._folder = folder
        self._environment = dict(environment or {})
        self._server = _Server()
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LambdaRuntime:
        self._thread.start()
        port = self._server.server_address[1]
        environment = {
            **os.environ,
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{port}",
            "AWS_LAMBDA_FUNCTION_NAME": "under-test",
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
            **self._environment,
        }
        command = [sys.executable, "-m", "awslambdaric", self._handler]
        self._process = subprocess.Popen(command, cwd=self._folder, env=environment)
        threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()
        return self

    def invoke(self, event: Mapping[str, Any]) -> Any:
        """Hand the function an event; returns its response.

        Raises:
            FunctionError: it failed, failed to start, or ended.
        """
        self._server.events.put(json.dumps(event).encode())
        outcome = self._server.outcomes.get()
        if isinstance(outcome, FunctionError):
            if outcome.body["errorType"] == ENDED:
                # No event will ever be answered again; the next caller must not wait for it.
                self._server.outcomes.put(outcome)
            raise outcome
        return outcome

    def kill(self) -> None:
        """End the process at once, as a platform that takes its machine away."""
        if self._process is not None:
            self._process.kill()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        ended = {"errorType": ENDED, "errorMessage": f"exit status {process.wait()}"}
        self._server.outcomes.put(FunctionError(ended))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
        self._server.events.put(None)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
