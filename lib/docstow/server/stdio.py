"""Serve MCP over stdin and stdout: one line of JSON for each message."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import BinaryIO
from uuid import uuid4

from docstow.server.mcp import DEFAULT, Pending, Protocol, Reply, Selection

log = logging.getLogger(__name__)

_MAX_LINE_BYTES = 16 * 1024 * 1024


def run(protocol: Protocol, selection: Selection = DEFAULT) -> None:
    """Serve this process's stdin until it ends.

    Stdout carries the protocol and nothing else: whatever a library prints goes to stderr.
    """
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as writer:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve(protocol, sys.stdin.buffer, writer, selection)


def serve(
    protocol: Protocol,
    reader: BinaryIO,
    writer: BinaryIO,
    selection: Selection = DEFAULT,
    *,
    threads: int = 8,
    look_s: float = 30.0,
    max_line_bytes: int = _MAX_LINE_BYTES,
) -> None:
    """Serve one client until its stream ends; answers come as they are ready, in any order.

    Args:
        protocol: MCP's side, with the tools.
        reader: the client's messages, one a line.
        writer: gets the answers, one a line.
        selection: the toolsets and the schema style to offer.
        threads: tools that run at once.
        look_s: how often resources of subscriptions are looked at for a change, in seconds.
        max_line_bytes: longer lines are refused, and not kept in memory.
    """
    answers = _Answers(writer)
    ended = Event()
    looking = Thread(target=_tell_changes, args=(protocol, answers, ended, look_s), daemon=True)
    looking.start()
    with _set_at_end(ended), ThreadPoolExecutor(threads, thread_name_prefix="tool") as pool:
        while line := reader.readline(max_line_bytes):
            if len(line) == max_line_bytes and not line.endswith(b"\n"):
                _skip_line(reader, max_line_bytes)
            # A line that was cut is no JSON any more and is answered so.
            if line.strip():
                outcome = protocol.receive(line, selection=selection)
                if isinstance(outcome, Pending):
                    pool.submit(answers.finish, outcome).add_done_callback(_report)
                else:
                    answers.write(outcome)


class _Answers:
    """Write answers, one line at a time."""

    def __init__(self, writer: BinaryIO) -> None:
        self._writer = writer
        self._lock = Lock()

    def finish(self, pending: Pending) -> None:
        """Run a message's calls and write its answer, after what they say meanwhile."""
        self.write(pending.run(uuid4().hex, lambda said: self.write(Reply(200, said))))

    def write(self, reply: Reply) -> None:
        """Write an answer, unless the message wants none."""
        if not reply.body:
            return
        try:
            with self._lock:
                self._writer.write(reply.body + b"\n")
                self._writer.flush()
        except OSError as error:
            # The client left without waiting; its stream ends at once and the loop with it.
            log.info("an answer could not be written: %s", error)


def _tell_changes(protocol: Protocol, answers: _Answers, ended: Event, look_s: float) -> None:
    """Tell the client of resources that have changed, until its stream ends."""
    while not ended.wait(look_s):
        for each in protocol.changes():
            answers.write(Reply(200, each))


@contextmanager
def _set_at_end(event: Event) -> Iterator[None]:
    try:
        yield
    finally:
        event.set()


def _report(finished: Future[None]) -> None:
    """Log an unexpected error; the errors of tools are answers by now."""
    if error := finished.exception():
        log.error("a message was left without an answer", exc_info=error)


def _skip_line(reader: BinaryIO, chunk: int) -> None:
    while (rest := reader.readline(chunk)) and not rest.endswith(b"\n"):
        pass
