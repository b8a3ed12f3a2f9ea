"""Marks of use: on which days a source was read, so that eviction knows what is not.

This room knows that marks are cheap and never in the way: one PUT for each source and day of a
process, beside the requests, and one that fails is no matter. It does not know what uses them.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from docstow.core.errors import StoreError
from docstow.core.model import Source
from docstow.store.objects import AlreadyThere, ObjectStore
from docstow.store.records import head_key

PREFIX = "touched/"
#: Marks that wait beyond this are left out: the store does not keep up, and others follow.
MOST_WAITING = 1000


def _now() -> datetime:
    return datetime.now(UTC)


class Touched:
    """Writes the marks of a process. Safe to share between threads.

    Args:
        store: where they are, ``touched/<day>/<kind>/<name>/<version>``.
        clock: the time, with its zone.
    """

    def __init__(self, store: ObjectStore, *, clock: Callable[[], datetime] = _now) -> None:
        self._store = store
        self._clock = clock
        self._guard = threading.Lock()
        self._day = ""
        self._known: set[Source] = set()
        self._waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None

    def note(self, source: Source) -> None:
        """Mark a source as used today, unless this process has; returns at once."""
        day = self._clock().astimezone(UTC).date().isoformat()
        with self._guard:
            if day != self._day:
                self._day, self._known = day, set()
            if source in self._known or self._waiting.qsize() > MOST_WAITING:
                return
            self._known.add(source)
            if self._writer is None:
                self._writer = threading.Thread(target=self._write, name="touched", daemon=True)
                self._writer.start()
        self._waiting.put(f"{PREFIX}{day}/{head_key(source)[len('heads/') : -len('.json')]}")

    def close(self) -> None:
        """Wait for the marks that were noted so far."""
        with self._guard:
            writer, self._writer = self._writer, None
        if writer is not None:
            self._waiting.put(None)
            writer.join()

    def _write(self) -> None:
        while (key := self._waiting.get()) is not None:
            # A store that refuses, say one that is read-only, is no reason to answer less.
            with contextlib.suppress(AlreadyThere, StoreError):
                self._store.create(key, b"")
