"""What was found of a project's files, for as long as they are the same.

This room knows marks of files and the stored index. It does not know what was found. Several
servers may use one index: each writes it whole, and whoever reads none simply looks again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

#: Raised with every change of what is remembered of a file.
_LAYOUT = "packages/2"
_LARGEST = 64 * 1024 * 1024


class Memory:
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
        self.made = 0

    @classmethod
    def load(cls, folder: Path, root: Path) -> Memory:
        """What is stored of a project; nothing where that cannot be read.

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

    def recall(self, key: str, mark: str, make: Callable[[], Any]) -> Any:
        """The fact of a key, made anew unless its mark is the same.

        Args:
            key: unique among all facts of the project.
            mark: of the file, as :func:`mark` gives it.
            make: finds it.
        """
        known = self._known.get(key)
        if known is None or known[0] != mark:
            self.made += 1
            known = (mark, make())
        self._asked[key] = known
        return known[1]

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


def mark(*paths: Path) -> str:
    """What tells files as they are from what they were; links are followed.

    Raises:
        OSError: one of them is not there.
    """
    # Times of status change would say more, and more often than something has changed: they
    # change whenever another environment links to a file.
    found = (path.stat() for path in paths)
    return " ".join(
        f"{each.st_mtime_ns:x}.{each.st_size:x}.{each.st_ino:x}.{each.st_mode:o}" for each in found
    )
