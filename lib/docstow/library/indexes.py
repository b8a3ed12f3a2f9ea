"""Loaded indexes of snapshots, kept in memory within a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.store.snapshots import Snapshots


class Sized(Protocol):
    """An index whose size can be estimated."""

    def nbytes(self) -> int:
        """Return the bytes of memory that it takes."""


_Index = TypeVar("_Index", bound=Sized)


class IndexCache(Generic[_Index]):
    """Loaded indexes, bounded by bytes; the one least recently used goes first.

    Args:
        snapshots: the published snapshots.
        open_index: opens the index of a snapshot with what returns the file of each table.
        limit: in bytes. One index may exceed it alone: a caller needs it now.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        open_index: Callable[[Snapshot, Callable[[str], Path]], _Index],
        limit: int,
    ) -> None:
        self._snapshots = snapshots
        self._open_index = open_index
        self._limit = limit
        self._loaded: OrderedDict[str, _Index] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, snapshot: Snapshot) -> _Index:
        """Return the index of a snapshot, from memory, the local cache or the store.

        Of callers that come at once, one loads it and the others wait.
        """
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
            index = self._open_index(snapshot, partial(self._snapshots.file, snapshot))
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
