"""Parsed pages of a site, kept between its survey and the reading of each."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

#: Pages are kept up to so many bytes: their trees need some twenty times as many.
_MOST_BYTES = 6 << 20


class Trees:
    """Trees of pages by their bytes. What has no room is parsed again."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Any] = {}
        self._left = _MOST_BYTES

    def keep(self, body: bytes, tree: Any) -> None:
        """Keep the tree of a page if there is room."""
        if len(body) <= self._left:
            self._kept[_key(body)] = tree
            self._left -= len(body)

    def take(self, body: bytes) -> Any | None:
        """Return the tree of a page, which is changed as it is read, and keep it no longer."""
        return self._kept.pop(_key(body), None) if self._kept else None


def _key(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).digest()
