"""A cache of what was found in a project's files, for as long as they are the same.

Several servers may use one cache: each writes it whole, and whoever reads none simply looks again.

A scan asks for facts and says which folders it lists. When it is over, all that it looked at is
known with its mark, and one look at these tells whether another scan would find anything else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

#: Raised with every change of what is remembered of a file.
_LAYOUT = "packages/2"
_LARGEST = 64 * 1024 * 1024
#: Clocks of file systems are this coarse, at worst: what has changed so lately may change again
#: and look the same.
_TICK_NS = 2_000_000_000

#: When something was changed last, its size, which one it is, and what may be done with it.
_Mark = tuple[int, int, int, int]


class ScanCache:
    """Facts by key, each with the mark of the file that it was read from.

    Facts are JSON values. Between :meth:`begin` and :meth:`end` those that are not asked for are
    forgotten.

    Args:
        path: where it is stored.
        root: the project's.
        known: facts by key, with their marks.
    """

    def __init__(self, path: Path, root: Path, known: dict[str, tuple[str, Any]]) -> None:
        self._path = path
        self._root = str(root)
        self._known = known
        self._asked: dict[str, tuple[str, Any]] = {}
        self._looked_at: dict[str, _Mark | None] = {}
        self._begun_ns = 0
        self.made = 0

    @classmethod
    def load(cls, folder: Path, root: Path) -> ScanCache:
        """Load what is stored of a project; nothing where that cannot be read.

        Args:
            folder: where all indexes are.
            root: the project's.
        """
        digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
        path = folder / f"{digest}.json.zst"
        known: dict[str, tuple[str, Any]] = {}
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, zstandard.ZstdError):
            body = zstandard.ZstdDecompressor().decompress(
                path.read_bytes(), max_output_size=_LARGEST
            )
            stored = json.loads(body)
            if stored["layout"] == _LAYOUT and stored["root"] == str(root):
                known = {key: (mark, fact) for key, (mark, fact) in stored["known"].items()}
        return cls(path, root, known)

    def begin(self) -> None:
        """Begin a scan."""
        self._asked, self.made = {}, 0
        self._looked_at, self._begun_ns = {}, time.time_ns()

    def recall(self, key: str, paths: tuple[Path, ...], make: Callable[[], Any]) -> Any:
        """Return the fact of a key, made anew unless its files are the same.

        Args:
            key: unique among all facts of the project.
            paths: the files; links are followed.
            make: finds it.

        Raises:
            OSError: one of the files is not there.
        """
        marks = []
        for path in paths:
            self.watch(path)
            # What is not there is asked again, for the reason.
            marks.append(self._looked_at[str(path)] or _mark(path))
        mark = " ".join(".".join(f"{each:x}" for each in some) for some in marks)
        known = self._known.get(key)
        if known is None or known[0] != mark:
            self.made += 1
            lasting = all(self._is_settled(each) for each in marks)
            known = (mark if lasting else "", make())
        self._asked[key] = known
        return known[1]

    def watch(self, path: Path) -> None:
        """Note, before it is looked at, that the scan depends on a folder, or on a file's being."""
        key = str(path)
        if key in self._looked_at:
            return
        try:
            self._looked_at[key] = _mark(key)
        except OSError:
            self._looked_at[key] = None

    def same(self) -> bool:
        """Return whether all that the last scan looked at is unchanged.

        False as well where that cannot be told, because something had changed shortly before.
        """
        if not all(self._is_settled(each) for each in self._looked_at.values() if each):
            return False
        return not self.changed()

    def changed(self) -> bool:
        """Return whether something has changed visibly since the scan looked at it."""
        for path, known in self._looked_at.items():
            try:
                if _mark(path) != known:
                    return True
            except OSError:
                if known is not None:
                    return True
        return False

    def _is_settled(self, mark: _Mark) -> bool:
        """Return whether a file is old enough that a further change of it would show."""
        return mark[0] <= self._begun_ns - _TICK_NS

    def end(self) -> None:
        """End a scan: what has changed is stored. Where that fails, the next scan takes longer."""
        changed = self.made or self._asked.keys() != self._known.keys()
        self._known = self._asked
        if changed:
            with contextlib.suppress(OSError):
                self._write()

    def _write(self) -> None:
        text = json.dumps(
            {"layout": _LAYOUT, "root": self._root, "known": self._known}, separators=(",", ":")
        )
        body = zstandard.ZstdCompressor(level=3).compress(text.encode())
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, scratch = tempfile.mkstemp(dir=self._path.parent, prefix=".index-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
            Path(scratch).replace(self._path)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise


def _mark(path: str | Path) -> _Mark:
    """Return what tells a file as it is from what it was; links are followed."""
    # The time of its status change would say more, and more often than something has changed: it
    # changes whenever another environment links to a file.
    status = os.stat(path)  # noqa: PTH116 - thousands are asked, and Path is slow
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode
