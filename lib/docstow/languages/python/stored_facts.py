"""What modules bind, stored on disk for the next process: reading a module takes ten times as long.

A file of SQLite has the facts of each module under the digest of all that decides them: the file,
how it is read, and the code that reads it. Facts are stored as pickles, of which only their own
classes are loaded. The Python of a source of Cython is stored beside them, with the digests of the
files that it includes.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

from docstow.languages.python import source
from docstow.languages.python.cache_file import CacheFile, stored_bytes
from docstow.languages.python.source import facts as classes
from docstow.languages.python.source import read_module
from docstow.languages.python.source.facts import ModuleFacts
from docstow.languages.python.stored_words import StoredWords
from docstow.languages.shared import surface
from docstow.text import python_ast

#: Bytes of facts that are stored; a package of 100 modules takes about one megabyte.
_MOST_STORED = 64 * 1024 * 1024
#: What does not load is read anew.
_BROKEN = (
    *(pickle.UnpicklingError, zstandard.ZstdError),
    *(AttributeError, EOFError, TypeError, ValueError),
)
#: Bytes of the facts of one module.
_LARGEST = 64 * 1024 * 1024
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS facts (
        number INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, facts BLOB NOT NULL
    )
"""
_SELECT = "SELECT facts FROM facts WHERE digest = ?"
_INSERT = "INSERT OR REPLACE INTO facts (digest, facts) VALUES (?, ?)"
_DROP_HALF = """
    DELETE FROM facts WHERE number IN (
        SELECT number FROM facts ORDER BY number LIMIT (SELECT count(*) / 2 FROM facts)
    )
"""


class StoredFacts:
    """The facts of modules in a folder, which processes may share.

    It never fails: what cannot be stored or loaded is read anew.

    Attributes:
        words: of the files, stored beside them.

    Args:
        folder: made when missing.
    """

    def __init__(self, folder: Path) -> None:
        self._file = CacheFile(folder / "python-facts.sqlite", _SCHEMA)
        self.words = StoredWords(folder)

    def read(
        self, body: bytes, name: str, *, package: bool, version: tuple[int, int] | None = None
    ) -> ModuleFacts:
        """Read one file as :func:`read_module` does, unless its facts are stored.

        Raises:
            UnreadableInput: it is no Python that this interpreter can parse.
        """
        digest = _facts_key(body, name, package=package, version=version)
        facts = self._load(digest)
        if facts is None:
            facts = read_module(body, name, package=package, version=version)
            self._store(digest, facts)
        return facts

    def exports(
        self, body: bytes, name: str, *, package: bool, version: tuple[int, int] | None = None
    ) -> tuple[str, ...] | None:
        """Return ``__all__`` of one file without the rest of its facts; None where it has none.

        Raises:
            UnreadableInput: it is no Python that this interpreter can parse.
        """
        digest = _facts_key(b"__all__ " + body, name, package=package, version=version)
        with suppress(*_BROKEN):
            (names,) = json.loads(self._get(digest) or b"")
            return tuple(names) if names is not None else None
        found = self.read(body, name, package=package, version=version).exports
        self._put(digest, json.dumps([found]).encode())
        return found

    def translated(
        self,
        text: str,
        module: str,
        included: Callable[[str], str],
        translate: Callable[[Callable[[str], str]], str],
    ) -> str:
        """Return the Python of a source of Cython, stored while all is the same that it includes.

        Args:
            text: the source.
            module: its dotted name.
            included: returns the text of a file that it may include; empty where there is none.
            translate: makes the Python, given a function as ``included``.
        """
        digest = hashlib.sha256(repr((_translator(), module, text)).encode()).digest()
        with suppress(*_BROKEN):
            python, files = json.loads(self._get(digest) or b"")
            if all(_digest(included(name)) == known for name, known in files.items()):
                return str(python)
        asked: dict[str, str] = {}

        def noted(name: str) -> str:
            found = included(name)
            asked[name] = _digest(found)
            return found

        made = translate(noted)
        self._put(digest, json.dumps([made, asked]).encode())
        return made

    def _load(self, digest: bytes) -> ModuleFacts | None:
        with suppress(*_BROKEN):
            found = _Unpickler(io.BytesIO(self._get(digest) or b"")).load()
            return found if isinstance(found, ModuleFacts) else None
        return None

    def _store(self, digest: bytes, facts: ModuleFacts) -> None:
        plain = io.BytesIO()
        _Pickler(plain, protocol=5).dump(facts)
        self._put(digest, plain.getvalue())

    def _get(self, digest: bytes) -> bytes | None:
        """Return what is stored under a digest; None for nothing.

        Raises:
            ZstdError: it is damaged.
        """
        row = self._file.run(lambda stored: stored.execute(_SELECT, [digest]).fetchone())
        unpack = zstandard.ZstdDecompressor().decompress
        return unpack(row[0], max_output_size=_LARGEST) if row is not None else None

    def _put(self, digest: bytes, plain: bytes) -> None:
        """Store something; what was stored first is dropped where there is too much."""
        body = zstandard.ZstdCompressor(level=1).compress(plain)

        def insert(stored: sqlite3.Connection) -> None:
            with stored:
                stored.execute(_INSERT, [digest, body])
                if stored_bytes(stored) > _MOST_STORED:
                    stored.execute(_DROP_HALF)

        self._file.run(insert)


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


class _Pickler(pickle.Pickler):
    """Writes facts as calls of their classes, which load in half the time of states."""

    def reducer_override(self, value: object) -> Any:
        if not is_dataclass(value) or isinstance(value, type):
            return NotImplemented
        return type(value), tuple(getattr(value, each) for each in _fields(type(value)))


class _Unpickler(pickle.Unpickler):
    """Loads facts, and nothing that a pickle might name else."""

    def find_class(self, module: str, name: str) -> object:
        if (module, name) == ("builtins", "frozenset"):
            return frozenset
        for known in (classes, surface):
            if module == known.__name__ and isinstance(found := getattr(known, name), type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of facts")


def _facts_key(body: bytes, name: str, *, package: bool, version: tuple[int, int] | None) -> bytes:
    """Return a digest of all that decides what the facts of a file are."""
    read_by = repr((_reader(), sys.version_info[:2], name, package, version))
    return hashlib.sha256(read_by.encode() + body).digest()


@cache
def _reader() -> str:
    """Return a digest of the code that reads modules, whose next version may find more."""
    files = [Path(__file__), *(Path(each.__file__ or "") for each in (surface, python_ast))]
    return _digest_of([*files, *sorted(Path(source.__file__).parent.glob("*.py"))])


@cache
def _translator() -> str:
    """Return a digest of the code that translates Cython, whose next version may find more."""
    files = sorted(Path(__file__).parent.glob("cython_*.py"))
    return _digest_of([*files, Path(python_ast.__file__ or "")])


def _digest_of(files: Iterable[Path]) -> str:
    made = hashlib.sha256()
    for each in files:
        made.update(each.read_bytes())
    return made.hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
