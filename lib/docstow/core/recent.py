"""Texts that were made lately, bounded by their characters."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class RecentTexts:
    """Texts that are made once as long as they are asked for. Safe to share between threads.

    Args:
        most: characters of all of them; what nobody has asked for the longest goes first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._texts: OrderedDict[Hashable, str] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], str]) -> str:
        """Return a text, which is made if it is not kept.

        Args:
            key: says all that the text depends on.
            make: makes it; of several threads that ask at once each may.
        """
        with self._lock:
            if (text := self._texts.get(key)) is not None:
                self._texts.move_to_end(key)
                return text
        text = make()
        with self._lock:
            self._size += len(text) - len(self._texts.pop(key, ""))
            self._texts[key] = text
            while self._size > self._most:
                self._size -= len(self._texts.popitem(last=False)[1])
        return text
