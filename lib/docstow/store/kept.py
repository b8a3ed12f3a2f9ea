"""What was read of many objects, by the tag of the state that was read.

A process reads those again that have changed; one object keeps the rest for the next process. It
is derived: the keys and tags are listed each time, and whoever finds it lost, damaged or old reads
more.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from docstow.core.errors import StoreError
from docstow.core.threads import in_parallel
from docstow.store.objects import AlreadyThere, Conflict, ObjectStore

SCHEMA = 1
#: So many reads are worth a look at what others have kept, and worth keeping.
MANY = 32

_T = TypeVar("_T")


class Kept(Generic[_T]):
    """What was read of the objects of one sort. Safe to share between threads.

    Args:
        store: where they are.
        key: of the object that keeps it.
        encode: makes a JSON value of what was read.
        decode: the other way round; may raise ValueError, KeyError or TypeError.
    """

    def __init__(
        self,
        store: ObjectStore,
        key: str,
        encode: Callable[[_T], Any],
        decode: Callable[[Any], _T],
    ) -> None:
        self._store = store
        self._key = key
        self._encode = encode
        self._decode = decode
        self._guard = threading.Lock()
        self._known: Mapping[str, tuple[str, _T]] = {}
        self._asked = False

    def read(
        self, tags: Mapping[str, str], read: Callable[[str], tuple[str, _T] | None]
    ) -> dict[str, _T]:
        """Return what is at some keys, those left out that are gone by now.

        Args:
            tags: of each key as it was listed; empty for what has none, which is read each time.
            read: reads what is at a key, with the tag of that state.
        """
        known = self._known
        changed = _changed(tags, known)
        if len(changed) >= MANY and not self._asked:
            known = {**self._load(), **known}
            self._asked = True
            changed = _changed(tags, known)
        found = {key: known[key] for key in tags.keys() - set(changed)}
        states = zip(changed, in_parallel(read, changed), strict=True)
        found |= {key: state for key, state in states if state is not None}
        with self._guard:
            self._known = found
        if len([key for key in changed if tags[key]]) >= MANY:
            self._save(found)
        return {key: found[key][1] for key in tags if key in found}

    def _load(self) -> dict[str, tuple[str, _T]]:
        stored = self._store.get(self._key)
        try:
            fields = json.loads(gzip.decompress(stored.body)) if stored else {}
            if fields.get("schema") != SCHEMA:
                return {}
            return {key: (tag, self._decode(each)) for key, (tag, each) in fields["known"].items()}
        except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _save(self, known: Mapping[str, tuple[str, _T]]) -> None:
        """Keep what is known; if others do so at this moment, theirs is as good."""
        fields = {key: (tag, self._encode(each)) for key, (tag, each) in known.items() if tag}
        body = gzip.compress(json.dumps({"schema": SCHEMA, "known": fields}).encode(), mtime=0)
        with contextlib.suppress(StoreError, AlreadyThere, Conflict):
            if (stored := self._store.get(self._key)) is not None:
                self._store.swap(self._key, body, stored.etag)
            else:
                self._store.create(self._key, body)


def _changed(tags: Mapping[str, str], known: Mapping[str, tuple[str, Any]]) -> list[str]:
    return [key for key, tag in tags.items() if not tag or key not in known or known[key][0] != tag]
