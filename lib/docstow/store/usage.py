"""What eviction goes by: marks of use, and pins on sources that are to be evicted last."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from docstow.core.errors import StoreError
from docstow.core.model import Source
from docstow.core.threads import in_parallel
from docstow.store.heads import SCHEMA, head_key
from docstow.store.objects import AlreadyThere, ObjectStore, tolerate_read_only
from docstow.store.update import RAW, update

TOUCHED_PREFIX, PINNED_PREFIX = "touched/", "pinned/"
#: Marks that wait beyond this are left out: the store does not keep up, and others follow.
MOST_WAITING = 1000
#: Why a source is pinned: it belongs to the crates that are ingested ahead of any question.
PRE_INGESTED = "pre-ingest"
_UNMARKED = "uses are not marked, so that eviction goes by the days of publishing"


class UsageMarks:
    """Writes the marks of use of a process. Safe to share between threads.

    Args:
        store: where they are, ``touched/<day>/<kind>/<name>/<version>``.
        clock: the time, with its zone.
    """

    def __init__(
        self, store: ObjectStore, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._store = store
        self._clock = clock
        self._guard = threading.Lock()
        self._day = ""
        self._marked: set[Source] = set()
        self._waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None

    def note(self, source: Source) -> None:
        """Mark a source as used today, unless this process has; return at once."""
        day = self._clock().astimezone(UTC).date().isoformat()
        with self._guard:
            if day != self._day:
                self._day, self._marked = day, set()
            if source in self._marked or self._waiting.qsize() > MOST_WAITING:
                return
            self._marked.add(source)
            if self._writer is None:
                self._writer = threading.Thread(target=self._write, name="usage", daemon=True)
                self._writer.start()
        self._waiting.put(
            f"{TOUCHED_PREFIX}{day}/{head_key(source)[len('heads/') : -len('.json')]}"
        )

    def close(self) -> None:
        """Wait for the marks that were noted so far."""
        with self._guard:
            writer, self._writer = self._writer, None
        if writer is not None:
            self._waiting.put(None)
            writer.join()

    def _write(self) -> None:
        while (key := self._waiting.get()) is not None:
            # A store that refuses is no reason to answer less.
            with contextlib.suppress(AlreadyThere, StoreError), tolerate_read_only(_UNMARKED):
                self._store.create(key, b"")


class Pins:
    """The pins of a store, ``pinned/<kind>/<name>/<version>.json``. Safe to share among threads.

    Args:
        store: where they are.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def pin(self, source: Source, reason: str) -> None:
        """Pin a source; a pin that is there is replaced only where the reason is another.

        Raises:
            StoreError: the store cannot be used.
        """
        body = json.dumps({"schema": SCHEMA, "source": asdict(source), "reason": reason}).encode()
        update(self._store, _key(source), RAW, lambda _: body)

    def move(self, source: Source, reason: str) -> None:
        """Pin a source in the place of the other versions that are pinned for that reason."""
        self.pin(source, reason)
        folder = _key(source).rpartition("/")[0] + "/"
        for other, why in self._read(folder).items():
            if why == reason and other.target == source.target and other != source:
                self.unpin(other)

    def unpin(self, source: Source) -> None:
        """Remove a source's pin, if it has one."""
        self._store.delete(_key(source))

    def pinned(self) -> Mapping[Source, str]:
        """Return every pinned source with the reason, in the order of their keys.

        Raises:
            StoreError: a pin is damaged, or the store cannot be used.
        """
        return self._read(PINNED_PREFIX)

    def _read(self, prefix: str) -> dict[Source, str]:
        keys = [entry.key for entry in self._store.list(prefix)]
        found = zip(keys, in_parallel(self._store.get, keys), strict=True)
        return dict(_decode(stored.body, key) for key, stored in found if stored is not None)


def _key(source: Source) -> str:
    return PINNED_PREFIX + head_key(source).removeprefix("heads/")


def _decode(body: bytes, key: str) -> tuple[Source, str]:
    try:
        fields = json.loads(body)
        return Source(**fields["source"]), str(fields["reason"])
    except (ValueError, KeyError, TypeError) as fault:
        raise StoreError(f"{key} in the store is damaged; delete it.") from fault
