"""A file of SQLite in the cache folder, which processes share: what it lacks is made anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

#: While another process writes, what is asked for is made anew after so many seconds.
_WAIT_S = 0.2
_SIZE = """
    SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
T = TypeVar("T")


class CacheFile:
    """Tables that never fail: what cannot be read or written is as if it were not there.

    Args:
        path: of the file; its folder is made when missing.
        schema: statements that make the tables that are missing.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do something with the file; return None where it cannot be used."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            with closing(sqlite3.connect(self._path, timeout=_WAIT_S)) as stored:
                # What is lost with the power is made anew.
                stored.execute("PRAGMA synchronous = OFF")
                stored.execute("PRAGMA foreign_keys = ON")
                stored.executescript(self._schema)
                return work(stored)
        except sqlite3.OperationalError:
            return None  # it is in use for too long, or the folder cannot be written to
        except (sqlite3.DatabaseError, OSError):
            with suppress(OSError):
                self._path.unlink()
            return None


def stored_bytes(stored: sqlite3.Connection) -> int:
    """Return how many bytes of a file are in use."""
    return int(stored.execute(_SIZE).fetchone()[0])
