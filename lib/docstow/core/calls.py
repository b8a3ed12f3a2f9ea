"""The call that a thread works for: what it says of its progress, and whether it is still wanted.

Whoever waits or computes for long reports here; a server passes on what its protocol has room for.
Without a listener nothing is kept, so that what reports need not ask who calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field

from docstow.core.errors import Cancelled
from docstow.core.records import dataclass

#: The levels of messages, least first (RFC 5424, as MCP spells them).
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
#: What is at work when vectors are made; passages and examples are counted.
EMBEDDING = "embedding"
#: How often a wait looks whether its call is still wanted, in seconds.
LOOK_S = 0.25


@dataclass(frozen=True, slots=True)
class Listener:
    """Who made a call.

    Attributes:
        progress: is told how much is done, of how much (None: not known), and what is at work.
        tell: is told a level of :data:`LEVELS` and a message of ours.
        cancelled: is set once nobody wants the answer any more.
    """

    progress: Callable[[float, float | None, str], object] = lambda *_: None
    tell: Callable[[str, str], object] = lambda *_: None
    cancelled: threading.Event = field(default_factory=threading.Event)


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Set who hears of the work within; threads with a copy of the context have it, too."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(done: float, total: float | None = None, message: str = "") -> None:
    """Say how far the current call is; numbers of one call must not fall.

    Raises:
        Cancelled: nobody wants its answer any more.
    """
    check()
    if (listener := _listener.get()) is not None:
        listener.progress(done, total, message)


def tell(message: str, level: str = "info") -> None:
    """Say something of the current call to whoever made it.

    Raises:
        Cancelled: nobody wants its answer any more.
    """
    check()
    if (listener := _listener.get()) is not None:
        listener.tell(level, message)


def check() -> None:
    """Go on, if the answer of the current call is still wanted.

    Raises:
        Cancelled: it is not.
    """
    listener = _listener.get()
    if listener is not None and listener.cancelled.is_set():
        raise Cancelled("The client has cancelled this call.")
