"""The queue: messages about jobs, and the pool of this process that handles them."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from docstow.core.errors import UnreadableInput

log = logging.getLogger(__name__)

VERSION = 1

#: Pauses before a local message that was put off is tried again, in seconds: first and longest.
SOON_S, LATE_S = 0.02, 0.5

#: The most that one request to a queue may carry.
BATCH = 10


class Busy(Exception):
    """Another worker does this job; the message has to come again later."""


class EndOfQueue(Exception):
    """This process ends; the job stays queued in the store, and another one does it."""


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be done: ``task`` is the kind of the job ``job_id``, which says the rest."""

    task: str
    job_id: str

    def encode(self) -> str:
        """Return its form on a queue."""
        return json.dumps({"v": VERSION, "task": self.task, "job": self.job_id})


def decode(text: str) -> Message:
    """Read a message.

    Raises:
        UnreadableInput: it is none, or one of another version.
    """
    fields = _fields(text)
    if fields.get("v") != VERSION:
        raise UnreadableInput(
            f"The message has the version {fields.get('v')!r:.40}, and {VERSION} is known here; "
            "deploy all functions in the same release."
        )
    task, job_id = fields.get("task"), fields.get("job")
    if not isinstance(task, str) or not isinstance(job_id, str):
        raise UnreadableInput("The message lacks task or job; it was not sent by docstow.")
    return Message(task, job_id)


def find_job_id(text: str) -> str:
    """Return the id of the job that a message names, readable or not; empty if it names none."""
    with contextlib.suppress(UnreadableInput):
        return str(_fields(text).get("job") or "")
    return ""


def _fields(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput("The message is no JSON; it was not sent by docstow.") from error
    if not isinstance(fields, dict):
        raise UnreadableInput("The message is no JSON object; it was not sent by docstow.")
    return fields


class Queue(Protocol):
    """Where messages are sent.

    Attributes:
        joins: sending a message that is under way joins it, so that it may be sent at any time.
    """

    joins: bool

    def send(self, message: Message) -> Future[None] | None:
        """Send a message; return its end, where that can be waited for in this process."""

    def send_all(self, messages: Sequence[Message]) -> None:
        """Send many messages."""

    def close(self) -> None:
        """Take no more, and wait for what is under way in this process."""


class LocalQueue:
    """Runs messages in this process; two of one job that overlap are one.

    Each task has workers of its own, so that a long sync keeps no crate waiting. A message that
    finds another at its work gives its worker back and comes again: no worker waits for another.

    Args:
        handle: does what a message says; may raise :class:`Busy`.
        workers: how many messages of a task run at the same time.
    """

    joins = True

    def __init__(self, handle: Callable[[Message], object], workers: int) -> None:
        self._handle = handle
        self._workers = workers
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._ends: dict[str, Future[None]] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._closed = False
        self._lock = threading.RLock()

    def send(self, message: Message) -> Future[None]:
        """Run a message, or join the one of the same job that is waiting or running."""
        with self._lock:
            end = self._ends.get(message.job_id)
            if end is None:
                end = self._ends[message.job_id] = Future()
                self._submit(message, end, SOON_S)
            return end

    def send_all(self, messages: Sequence[Message]) -> None:
        """Run many messages."""
        for message in messages:
            self.send(message)

    def close(self) -> None:
        """Drop what has not begun, which stays queued in the store, and wait for what has."""
        with self._lock:
            self._closed = True
            for timer in self._timers.values():
                timer.cancel()
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            for end in self._ends.values():
                end.set_exception(EndOfQueue())
            self._ends.clear()

    def _submit(self, message: Message, end: Future[None], pause_s: float) -> None:
        with self._lock:
            self._timers.pop(message.job_id, None)
            if self._closed:
                self._settle(message, end, EndOfQueue())
                return
            pool = self._pools.get(message.task)
            if pool is None:
                name = f"docstow-{message.task}"
                pool = ThreadPoolExecutor(self._workers, thread_name_prefix=name)
                self._pools[message.task] = pool
            pool.submit(self._run, message, end, pause_s)

    def _run(self, message: Message, end: Future[None], pause_s: float) -> None:
        if self._closed:
            self._settle(message, end, EndOfQueue())
            return
        try:
            self._handle(message)
        except Busy:
            self._put_off(message, end, pause_s)
        except BaseException as error:  # noqa: BLE001 - whoever waits for the end is told
            log.warning("the job %s: %s", message.job_id, error)
            self._settle(message, end, error)
        else:
            self._settle(message, end, None)

    def _put_off(self, message: Message, end: Future[None], pause_s: float) -> None:
        with self._lock:
            if self._closed:
                self._settle(message, end, EndOfQueue())
                return
            longer = min(pause_s * 1.5, LATE_S)
            timer = threading.Timer(pause_s, self._submit, (message, end, longer))
            timer.daemon = True
            self._timers[message.job_id] = timer
            timer.start()

    def _settle(self, message: Message, end: Future[None], error: BaseException | None) -> None:
        with self._lock:
            if self._ends.pop(message.job_id, None) is None:
                return
        if error is None:
            end.set_result(None)
        else:
            end.set_exception(error)
