"""Loaded indexes, kept in memory within a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Weighing(Protocol):
    """Anything that knows what memory it takes."""

    def nbytes(self) -> int:
        """Bytes, or an estimate of them."""


_Index = TypeVar("_Index", bound=Weighing)


class IndexCache(Generic[_Index]):
    """Loaded indexes, bounded by bytes; the one least recently used goes first.

    Args:
        limit: bytes. One index may exceed it alone: a caller needs it now.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._loaded: OrderedDict[str, _Index] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: str, load: Callable[[], _Index]) -> _Index:
        """The index of that key; of callers that come at once, one loads and the others wait."""
        with self._lock:
            if (found := self._loaded.get(key)) is not None:
                self._loaded.move_to_end(key)
                return found
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            with self._lock:
                if (found := self._loaded.get(key)) is not None:
                    return found
            index = load()
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
