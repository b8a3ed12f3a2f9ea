"""Turns: what many callers wait for is given to one caller after another, however much each asks.

Within one caller's calls the first that came is the first; among callers it is the one whose last
turn was longest ago (round robin).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from itertools import chain
from typing import Generic, TypeVar

T = TypeVar("T")


class Turns(Generic[T]):
    """What waits, by caller. Not safe to share between threads by itself."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def __iter__(self) -> Iterator[T]:
        """Yield all that waits, of the caller first whose turn it is."""
        return chain.from_iterable(self._waiting.values())

    def add(self, caller: str, waiting: T) -> None:
        """Put something behind all else of its caller."""
        self._waiting.setdefault(caller, deque()).append(waiting)

    def remove(self, caller: str, waiting: T) -> bool:
        """Take something out, and return whether it waited."""
        queue = self._waiting.get(caller)
        if queue is None or waiting not in queue:
            return False
        queue.remove(waiting)
        if not queue:
            del self._waiting[caller]
        return True

    def serve(self, caller: str, waiting: T) -> None:
        """Take something out that has its turn: its caller comes last now."""
        if self.remove(caller, waiting) and caller in self._waiting:
            self._waiting.move_to_end(caller)

    def of(self, caller: str) -> int:
        """Return how much of a caller's waits."""
        return len(self._waiting.get(caller, ()))

    def longest(self) -> tuple[str, T] | None:
        """Return the caller of whom most waits, and what of that came last; None if none does."""
        if not self._waiting:
            return None
        caller = max(self._waiting, key=self.of)
        return caller, self._waiting[caller][-1]
