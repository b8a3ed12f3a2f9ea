"""Whether files and folders are still as they were when they were read."""

from __future__ import annotations

import os
import time
from pathlib import Path

#: Clocks of file systems are this coarse, at worst: what has changed so lately may change again
#: and look the same.
TICK_NS = 2_000_000_000

#: When something was changed last, and its size.
Stamp = tuple[int, int]


class Stamps:
    """The stamps of what was read, each taken before it was.

    Attributes:
        size: of all together, in bytes.
        are_settled: nothing was changed so lately that it may change again and look the same.
    """

    def __init__(self) -> None:
        self._known: dict[str, Stamp | None] = {}
        self.are_settled = True
        self.size = 0

    def note(self, path: Path) -> Stamp | None:
        """Return the stamp that a file or folder had at first; None where there is none."""
        key = str(path)
        if key not in self._known:
            stamp = self._known[key] = _stamp(key)
            if stamp is not None:
                self.size += stamp[1]
                self.are_settled &= stamp[0] <= time.time_ns() - TICK_NS
        return self._known[key]

    def are_same(self) -> bool:
        """Return whether nothing has changed; False where that cannot be told."""
        return self.are_settled and all(_stamp(key) == each for key, each in self._known.items())


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - thousands are asked, and Path is slow
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
