"""What a client with a session has said: its level of messages, and what it has cancelled.

All of it may be forgotten: a session that is not known has the defaults, so that any process may
answer any request. The other eras carry the same in each request.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from docstow.core.records import dataclass

#: The session of standard streams, which are one client's.
STREAMS = "streams"
#: What is sent to a client that has named no level.
DEFAULT_LEVEL = "info"
#: Sessions that are remembered; the one least recently used is forgotten.
_MOST = 10_000
#: Subscriptions of one session.
MOST_SUBSCRIPTIONS = 100


@dataclass(slots=True)
class _Session:
    level: str = DEFAULT_LEVEL
    running: dict[str | int, threading.Event] = field(default_factory=dict)
    subscribed: dict[str, str] = field(default_factory=dict)


class Sessions:
    """The sessions of one protocol; one without a name is never remembered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def level(self, session: str) -> str:
        """Return the least level of the messages that a client wants."""
        with self._lock:
            found = self._sessions.get(session)
            return DEFAULT_LEVEL if found is None else found.level

    def set_level(self, session: str, level: str) -> None:
        """Remember the least level that a client wants."""
        with self._lock:
            self._open(session).level = level

    @contextmanager
    def running(
        self, session: str, request: str | int | None, cancelled: threading.Event
    ) -> Iterator[None]:
        """Have an event set if the client cancels a request within."""
        if not session or request is None:
            yield
            return
        with self._lock:
            self._open(session).running[request] = cancelled
        try:
            yield
        finally:
            with self._lock:
                found = self._sessions.get(session)
                if found is not None and found.running.get(request) is cancelled:
                    del found.running[request]

    def cancel(self, session: str, request: object) -> None:
        """Cancel a request that is running; nothing if it has ended or was never there."""
        with self._lock:
            found = self._sessions.get(session)
            if found is not None and isinstance(request, str | int):
                cancelled = found.running.get(request)
                if cancelled is not None:
                    cancelled.set()

    def subscribe(self, session: str, uri: str, state: str) -> None:
        """Remember that a client wants to hear of a change of a resource, which is so now."""
        with self._lock:
            subscribed = self._open(session).subscribed
            subscribed[uri] = state
            while len(subscribed) > MOST_SUBSCRIPTIONS:
                del subscribed[next(iter(subscribed))]

    def unsubscribe(self, session: str, uri: str) -> None:
        """Forget it."""
        with self._lock:
            if (found := self._sessions.get(session)) is not None:
                found.subscribed.pop(uri, None)

    def subscribed(self, session: str) -> dict[str, str]:
        """Return the resources that a client has subscribed to, each with its last state."""
        with self._lock:
            found = self._sessions.get(session)
            return {} if found is None else dict(found.subscribed)

    def _open(self, session: str) -> _Session:
        """Return a session to write to; one without a name is for the moment only."""
        if not session:
            return _Session()
        found = self._sessions.setdefault(session, _Session())
        self._sessions.move_to_end(session)
        while len(self._sessions) > _MOST:
            self._sessions.popitem(last=False)
        return found
