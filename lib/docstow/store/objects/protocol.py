"""The contract of every object store, and the spelling of its keys."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from docstow.core.errors import InvalidParameter, StoreError
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

# Common file systems allow 255 bytes a name, S3 allows 1024 a key; the rest is left to the prefix.
LONGEST_SEGMENT = 240
LONGEST_KEY = 800
EMPTY_SEGMENT = "~"
_ODD_BYTE = lazy_pattern(rb"[^a-z0-9_.-]|^\.|\.\Z")
_NOT_IN_A_KEY = lazy_pattern(r'[\x00-\x1f\x7f\\:*?"<>|]')
_logged: set[str] = set()

log = logging.getLogger(__name__)


class ReadOnlyStore(StoreError):
    """The store refuses to be written. What is there can be read, and is served."""


class AlreadyThere(Exception):
    """A create found its key taken. Callers handle it: no client ever sees it."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is already there")
        self.key = key


class Conflict(Exception):
    """A swap found another state than the one it was to replace. Callers handle it.

    Read the key again and decide anew, as :func:`docstow.store.update.update` does. If an answer
    was lost and a third writer came in between, the refused write may have been the current state
    for a moment: a swap's body must therefore stay right when it is written twice.
    """

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} was changed by another writer")
        self.key = key


@dataclass(frozen=True, slots=True)
class Stored:
    """An object's bytes, and the tag that names this state of it."""

    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The answer to a conditional read whose tag still holds."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a listing; ``size`` in bytes, ``modified`` with its time zone.

    ``etag`` names the state that was listed as :class:`Stored` does; it is empty where a listing
    does not tell it, as that of a directory.
    """

    key: str
    size: int
    modified: datetime
    etag: str = ""


class ObjectStore(Protocol):
    """Bytes under keys, with conditional writes. All methods may be called from many threads.

    Every method raises StoreError, with advice, when the store itself cannot be used,
    ReadOnlyStore when it cannot be written, and InvalidParameter for a key that :func:`check_key`
    refuses.
    """

    def get(self, key: str) -> Stored | None:
        """Return an object; None when it is absent."""
        ...

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        """Return an object unless its state is still the one named ``etag``."""
        ...

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        """Return ``size`` bytes of an object from ``start`` on; None when it is absent.

        They may be fewer where the object ends before; objects that are swapped are not read so.
        """
        ...

    def create(self, key: str, body: bytes) -> str:
        """Write an object that is not there yet; return its tag. Raises AlreadyThere."""
        ...

    def swap(self, key: str, body: bytes, etag: str) -> str:
        """Replace exactly the state named ``etag``; return the new tag.

        Raises Conflict, also if it is absent.
        """
        ...

    def list(self, prefix: str) -> Iterator[Entry]:
        """Yield all objects whose key starts with ``prefix``, in the order of their keys' bytes."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object; one that is absent is fine."""
        ...


@runtime_checkable
class LocalFiles(Protocol):
    """A store whose objects are files on this machine, which can be read in place."""

    def local_path(self, key: str) -> Path:
        """Return where the object's file is, or would be."""
        ...


def check_key(key: str) -> str:
    """Return a key if both kinds of store can hold it.

    Raises:
        InvalidParameter: it is empty, absolute, too long, climbs out (``..``), or has a segment
            that is empty or starts with a dot, or a character some file system refuses.
    """
    segments = key.split("/")
    if any(not segment or segment[0] == "." for segment in segments):
        raise InvalidParameter("key", f"{key!r} has a segment that is empty or starts with a dot")
    if _NOT_IN_A_KEY.search(key):
        raise InvalidParameter("key", f"{key!r} has a character that some file systems refuse")
    longest = max(len(segment.encode()) for segment in segments)
    if longest > LONGEST_SEGMENT or len(key.encode()) > LONGEST_KEY:
        raise InvalidParameter(
            "key", f"{key!r} is too long; {LONGEST_SEGMENT} bytes a segment, {LONGEST_KEY} in all"
        )
    return key


def escape(text: str) -> str:
    """Encode any text as one segment of a key; ``urllib.parse.unquote`` reads it back.

    All but lower-case letters, digits, ``_``, ``-`` and inner dots is percent-encoded: capital
    letters too, because on some file systems ``Foo`` and ``foo`` are the same name. The empty
    text becomes ``~``, which is otherwise encoded itself.
    """
    escaped = _ODD_BYTE.sub(lambda byte: b"%%%02X" % byte[0][0], text.encode())
    return escaped.decode() or EMPTY_SEGMENT


@contextlib.contextmanager
def tolerate_read_only(consequence: str) -> Iterator[None]:
    """Leave a block undone if the store cannot be written.

    Args:
        consequence: what that means, as the log says it, once for each process.
    """
    try:
        yield
    except ReadOnlyStore as error:
        if consequence not in _logged:
            _logged.add(consequence)
            log.warning("%s: %s", consequence, error.message)
