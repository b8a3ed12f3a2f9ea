"""Which files of a package have a word, stored on disk: to open thousands takes long.

A file of SQLite has, for each package as its files were, the numbers of the files with each word.
"""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path

from docstow.languages.python.cache_file import CacheFile, stored_bytes

#: Bytes that are stored; a package of 300 modules takes about one megabyte.
_MOST_STORED = 160 * 1024 * 1024
#: Longer ones are no names.
_LONGEST = 80
#: Everything but letters, digits and underscores of ASCII parts words.
_PARTED = bytes(
    each if (chr(each).isalnum() and each < 128) or each == 95 else 32 for each in range(256)
)
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS packages (
        number INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, traits TEXT NOT NULL,
        used REAL NOT NULL
    );
    CREATE TABLE IF NOT EXISTS words (
        package INTEGER NOT NULL REFERENCES packages ON DELETE CASCADE,
        word BLOB NOT NULL, files BLOB NOT NULL, PRIMARY KEY (package, word)
    ) WITHOUT ROWID;
"""
#: The word of files that may have any.
_ANY = b""
#: With what begins the word of a class's base.
_BASE = b"("
_FILES = "SELECT files FROM words WHERE package = ? AND word = ?"
_OLDEST = "DELETE FROM packages WHERE number IN (SELECT number FROM packages ORDER BY used LIMIT ?)"


class StoredWords:
    """The words of packages in a folder, which processes may share.

    Args:
        folder: made when missing.
    """

    def __init__(self, folder: Path) -> None:
        self._file = CacheFile(folder / "python-words.sqlite", _SCHEMA)

    def find(
        self, package: bytes, words: Iterable[str], *, bases: bool = False
    ) -> frozenset[int] | None:
        """Return the numbers of the files that have one of some words.

        Args:
            package: a digest of its files.
            words: of ASCII.
            bases: they count only as the last names of the bases of a class.

        Returns:
            None where the package is not stored, or a word is none that is.
        """
        wanted = [each.encode() for each in words]
        if any(len(each) > _LONGEST or each.translate(_PARTED) != each for each in wanted):
            return None
        wanted = [*(_BASE + each if bases else each for each in wanted), _ANY]

        def look(stored: sqlite3.Connection) -> frozenset[int] | None:
            with stored:
                # One transaction: what another process drops meanwhile is there to its end.
                stored.execute("BEGIN")
                number = _number(stored, package)
                if number is None:
                    return None
                rows = (stored.execute(_FILES, [number, each]).fetchone() for each in wanted)
                return frozenset(file for row in rows if row for file in array("H", row[0]))

        with suppress(ValueError):
            return self._file.run(look)
        return None  # It is damaged.

    def traits(self, package: bytes) -> str | None:
        """Return what else is stored of a package, which is kept longer for it; None if nothing."""

        def touch(stored: sqlite3.Connection) -> str | None:
            with stored:
                used = "UPDATE packages SET used = ? WHERE digest = ? RETURNING traits"
                row = stored.execute(used, [time.time(), package]).fetchone()
                return str(row[0]) if row else None

        return self._file.run(touch)

    def store(
        self,
        package: bytes,
        texts: Iterable[tuple[bytes, Collection[bytes]] | None],
        traits: Callable[[], str],
    ) -> None:
        """Store the words of a package; those that were used longest ago make room.

        Args:
            package: a digest of its files.
            texts: of its files, at most 65,536, each with the last names of its classes' bases;
                None for one that may have any word.
            traits: says what else is to be known of it, after its files were read.
        """
        found: dict[bytes, array[int]] = {}
        for number, each in enumerate(texts):
            text, bases = each or (_ANY, ())
            words = {*text.translate(_PARTED).split()} if each else {_ANY}
            for word in (*words, *(_BASE + name for name in bases)):
                if len(word) <= _LONGEST and not word[:1].isdigit():
                    found.setdefault(word, array("H")).append(number)

        def insert(stored: sqlite3.Connection) -> None:
            with stored:
                stored.execute("BEGIN IMMEDIATE")
                if _number(stored, package) is not None:
                    return
                added = "INSERT INTO packages (digest, traits, used) VALUES (?, ?, ?)"
                made = stored.execute(added, [package, traits(), time.time()]).lastrowid
                rows = ((made, each, found[each].tobytes()) for each in sorted(found))
                stored.executemany("INSERT INTO words VALUES (?, ?, ?)", rows)
                if stored_bytes(stored) > _MOST_STORED:
                    count = stored.execute("SELECT count(*) FROM packages").fetchone()[0]
                    stored.execute(_OLDEST, [count // 2])

        self._file.run(insert)


def _number(stored: sqlite3.Connection, package: bytes) -> int | None:
    row = stored.execute("SELECT number FROM packages WHERE digest = ?", [package]).fetchone()
    return int(row[0]) if row else None
