"""The finished-jobs index: how jobs have ended, so that their records need not be read again.

It is derived data: without it, or with a damaged one, the records are read.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping

from docstow.core.errors import StoreError
from docstow.store.objects import Entry, ObjectStore
from docstow.store.update import Codec, update

KEY = "upkeep/ended.json.gz"
SCHEMA = 1


class FinishedJobs:
    """The states of jobs that have ended, each by the key and the time stamp of its record.

    Args:
        store: where they are kept.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._states: dict[str, str] | None = None

    def find(self, entries: Iterable[Entry]) -> dict[str, str]:
        """Return key and state of those records that are known to be of jobs that have ended."""
        if self._states is None:
            stored = self._store.get(KEY)
            self._states = (_decode(stored.body, KEY) if stored else None) or {}
        states = {entry.key: self._states.get(_mark(entry), "") for entry in entries}
        return {key: state for key, state in states.items() if state}

    def note(self, entries: Iterable[Entry], states: Mapping[str, str]) -> None:
        """Know from now on how the jobs of these records have ended, and no others."""
        self._states = {_mark(entry): states[entry.key] for entry in entries if entry.key in states}

    def save(self) -> None:
        """Write down what is known, for the next process; a store that fails costs only that."""
        with contextlib.suppress(StoreError):
            update(self._store, KEY, _INDEX, lambda _: self._states)


def _mark(entry: Entry) -> str:
    # A record of that key that was written anew is another one.
    return f"{entry.key.rpartition('/')[2]} {entry.modified.timestamp():.0f}"


def _encode(states: dict[str, str]) -> bytes:
    return gzip.compress(json.dumps({"schema": SCHEMA, "ended": states}).encode(), mtime=0)


def _decode(body: bytes, _: str) -> dict[str, str] | None:
    try:
        fields = json.loads(gzip.decompress(body))
        return dict(fields["ended"]) if fields["schema"] == SCHEMA else None
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
        return None


_INDEX: Codec[dict[str, str]] = Codec(_decode, _encode)
