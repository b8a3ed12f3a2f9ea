"""Which jobs have ended: how one did never changes, so nobody need read its record twice.

This room keeps that in memory and, for other processes, in one object that is derived: lost or
damaged, it is made again. It does not know what a job's record says.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping

from docstow.core.errors import StoreError
from docstow.store.objects import AlreadyThere, Conflict, Entry, ObjectStore

KEY = "upkeep/ended.json.gz"
SCHEMA = 1


class Ended:
    """The ends of jobs, each by the key and the time stamp of its record.

    Args:
        store: where they are kept.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._etag = ""
        self._states: dict[str, str] | None = None

    def among(self, entries: Iterable[Entry]) -> dict[str, str]:
        """Key to state of those records that are known to be of jobs that have ended."""
        states = self._known()
        known = {entry.key: states.get(_mark(entry), "") for entry in entries}
        return {key: state for key, state in known.items() if state}

    def note(self, entries: Iterable[Entry], states: Mapping[str, str]) -> None:
        """Know from now on how the jobs among these records have ended, and no others."""
        self._states = {_mark(entry): states[entry.key] for entry in entries if entry.key in states}

    def keep(self) -> None:
        """Write down what is known, for the next process; a store that fails costs only that."""
        fields = {"schema": SCHEMA, "ended": self._known()}
        body = gzip.compress(json.dumps(fields).encode(), mtime=0)
        try:
            if self._etag:
                self._etag = self._store.swap(KEY, body, self._etag)
            else:
                self._etag = self._store.create(KEY, body)
        except (AlreadyThere, Conflict, StoreError):
            self._states = None  # another has written what it knows, which will do

    def _known(self) -> dict[str, str]:
        if self._states is None:
            stored = self._store.get(KEY)
            self._states = _decode(stored.body) if stored else {}
            self._etag = stored.etag if stored else ""
        return self._states


def _mark(entry: Entry) -> str:
    # A record of that key that was written anew is another one.
    return f"{entry.key.rpartition('/')[2]} {entry.modified.timestamp():.0f}"


def _decode(body: bytes) -> dict[str, str]:
    try:
        fields = json.loads(gzip.decompress(body))
        return dict(fields["ended"]) if fields["schema"] == SCHEMA else {}
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
        return {}
