"""Loaded indexes of snapshots, kept in memory within a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.index.loaded import Index
    from docstow.store.snapshots import Snapshots


class IndexCache:
    """Loaded indexes, bounded by bytes; the one least recently used goes first.

    Args:
        snapshots: the published snapshots.
        limit: in bytes. One index may exceed it alone: a caller needs it now.
    """

    def __init__(self, snapshots: Snapshots, limit: int) -> None:
        self._snapshots = snapshots
        self._limit = limit
        self._loaded: OrderedDict[str, Index] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, snapshot: Snapshot) -> Index:
        """Return the index of a snapshot, from memory, the local cache or the store.

        Of callers that come at once, one loads it and the others wait.
        """
        from docstow.index.loaded import Index

        key = snapshot.id
        with self._lock:
            if (found := self._loaded.get(key)) is not None:
                self._loaded.move_to_end(key)
                return found
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            with self._lock:
                if (found := self._loaded.get(key)) is not None:
                    return found
            self._snapshots.fetch(snapshot)  # all at once; one by one they would queue up
            index = Index(snapshot, partial(self._snapshots.file, snapshot))
            with self._lock:
                self._loaded[key] = index
                self._loading.pop(key, None)
                self._shrink()
        return index

    def _shrink(self) -> None:
        total = sum(index.nbytes() for index in self._loaded.values())
        while total > self._limit and len(self._loaded) > 1:
            _, oldest = self._loaded.popitem(last=False)
            total -= oldest.nbytes()
