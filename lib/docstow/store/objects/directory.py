"""The directory store: an object is a plain file, a write is a lock and an atomic rename."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from docstow.core.errors import StoreError
from docstow.store.objects.protocol import (
    AlreadyThere,
    Conflict,
    Entry,
    ReadOnlyStore,
    Stored,
    Unchanged,
    check_key,
)

LEFTOVER_AGE_S = 24 * 3600.0
LOCK_TIMEOUT_S = 60.0
_OWN = ".docstow"  # locks and unfinished files; no key can start with a dot, so none is listed
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
_WINDOWS_PAUSES_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)

_T = TypeVar("_T")


class DirectoryStore:
    """Objects as files below ``root``, safe for threads and processes of one machine.

    A tag is the content's digest and the file's time stamp, which every swap raises: the same
    bytes written again are another state. Writes are durable when they return. What is written is
    for its owner alone, as some objects hold secrets; folders that are there keep their rights.
    A directory that this user may only read can be opened; every write raises ReadOnlyStore then.

    Raises:
        StoreError: ``root`` cannot be made or used; the message says why and what to do.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            with self._explained("open"):
                self._own_folder("locks")
                _remove_leftovers(self._own_folder("unfinished"))
        except ReadOnlyStore:
            if not (root.is_dir() and os.access(root, os.R_OK | os.X_OK)):
                raise

    def get(self, key: str) -> Stored | None:
        """Return an object; None when it is absent."""
        path = self.local_path(key)
        with self._explained("read"):
            return _retry_on_windows(lambda: _read(path))

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        """Return an object unless its state is still the one named ``etag``."""
        stored = self.get(key)
        return Unchanged() if stored is not None and stored.etag == etag else stored

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        """Return ``size`` bytes of an object from ``start`` on; None when it is absent."""
        path = self.local_path(key)
        with self._explained("read"):
            return _retry_on_windows(lambda: _read_range(path, start, size))

    def create(self, key: str, body: bytes) -> str:
        """Write an object that is not there yet; return its tag. Raises AlreadyThere."""
        path = self.local_path(key)
        with self._explained("write"):
            if path.exists():
                raise AlreadyThere(key)
            with self._unfinished(body, time.time_ns()) as unfinished, self._locked(key):
                if path.exists():
                    raise AlreadyThere(key)
                return self._place(unfinished, path, body)

    def swap(self, key: str, body: bytes, etag: str) -> str:
        """Replace exactly the state named ``etag``; return the new tag.

        Raises Conflict, also if it is absent.
        """
        path = self.local_path(key)
        with self._explained("write"), self._locked(key):
            current = _retry_on_windows(lambda: _read(path))
            if current is None or current.etag != etag:
                raise Conflict(key)
            # 10 µs: some file systems count in steps of 100 ns.
            stamp = max(time.time_ns(), path.stat().st_mtime_ns + 10_000)
            with self._unfinished(body, stamp) as unfinished:
                return self._place(unfinished, path, body)

    def list(self, prefix: str) -> Iterator[Entry]:
        """Yield all objects whose key starts with ``prefix``, in the order of their keys' bytes."""
        folder = prefix.rpartition("/")[0]
        if folder:
            check_key(folder)
        with self._explained("list"):
            yield from _walk(self.root / folder, f"{folder}/" if folder else "", prefix)

    def delete(self, key: str) -> None:
        """Remove an object; one that is absent is fine."""
        path = self.local_path(key)
        with self._explained("delete from"), self._locked(key):
            _retry_on_windows(lambda: path.unlink(missing_ok=True))

    def local_path(self, key: str) -> Path:
        """Return where the object's file is, or would be."""
        return self.root / check_key(key)

    def _own_folder(self, name: str) -> Path:
        """Return a folder for what is no object, made when missing."""
        folder = self.root / _OWN / name
        if not folder.is_dir():
            _make_folders(folder)
        return folder

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """Exclude all other writers of ``key``: 256 locks serve all keys."""
        # 75 ms of imports that a process which only reads does not need.
        from filelock import FileLock, Timeout

        name = hashlib.sha256(key.encode()).hexdigest()[:2]
        lock = FileLock(self._own_folder("locks") / name, timeout=LOCK_TIMEOUT_S)
        try:
            lock.acquire(poll_interval=0.005)
        except Timeout as fault:
            raise StoreError(
                f"Another process has held a lock of the store {self.root} for"
                f" {LOCK_TIMEOUT_S:.0f} seconds; end it, or try again later."
            ) from fault
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def _unfinished(self, body: bytes, stamp_ns: int) -> Iterator[Path]:
        """Write a durable file with ``body`` beside the objects, removed unless it is renamed."""
        path = self._own_folder("unfinished") / uuid.uuid4().hex
        try:
            with open(path, "wb", opener=_for_its_owner) as file:
                file.write(body)
                file.flush()
                os.utime(path, ns=(stamp_ns, stamp_ns))
                os.fsync(file.fileno())
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _place(self, unfinished: Path, path: Path, body: bytes) -> str:
        """Rename a finished file to its key, durably; return the tag of the new state."""
        made = _make_folders(path.parent)
        etag = _etag(body, unfinished.stat().st_mtime_ns)
        _retry_on_windows(lambda: unfinished.replace(path))
        for folder in (path.parent, *(parent.parent for parent in made)):
            _sync_folder(folder)
        return etag

    @contextlib.contextmanager
    def _explained(self, action: str) -> Iterator[None]:
        """Turn the operating system's errors into StoreError, with advice."""
        try:
            yield
        except OSError as fault:
            refused = fault.errno in _REFUSED and action not in ("read", "list")
            raise (ReadOnlyStore if refused else StoreError)(
                f"Cannot {action} the store {self.root}: {fault.strerror or fault}."
                f" {_advice(fault.errno)}"
            ) from fault


def _advice(number: int | None) -> str:
    if number in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space, evict sources, or name a directory on another disk."
    if number in _REFUSED:
        return "Give this user the right to read and write there, or name another directory."
    if number in (errno.ENOTDIR, errno.EEXIST, errno.EISDIR):
        return "A file stands where a directory is needed; move it, or name another directory."
    return "Check the disk, or name another directory."


def _etag(body: bytes, stamp_ns: int) -> str:
    return f"{hashlib.sha256(body).hexdigest()[:32]}-{stamp_ns:x}"


def _read(path: Path) -> Stored | None:
    """Return bytes and tag of one state: both come from the same open file."""
    try:
        with path.open("rb") as file:
            body = file.read()
            return Stored(body, _etag(body, os.fstat(file.fileno()).st_mtime_ns))
    except FileNotFoundError:
        return None


def _read_range(path: Path, start: int, size: int) -> bytes | None:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(size)
    except FileNotFoundError:
        return None


def _walk(folder: Path, below: str, prefix: str) -> Iterator[Entry]:
    """Yield the files under ``folder``, whose keys start with ``below``, in their keys' order."""
    try:
        with os.scandir(folder) as scan:
            found = [(each.name + "/" * each.is_dir(), each) for each in scan]
    except (FileNotFoundError, NotADirectoryError):
        return
    for name, each in sorted(found, key=lambda pair: pair[0].encode()):
        key = below + name
        if name.startswith(".") or not (key.startswith(prefix) or prefix.startswith(key)):
            continue
        if name.endswith("/"):
            yield from _walk(Path(each.path), key, prefix)
            continue
        with contextlib.suppress(FileNotFoundError):  # deleted since the scan
            status = each.stat()
            yield Entry(key, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed writers left behind; what is younger may belong to a living one."""
    oldest = time.time() - LEFTOVER_AGE_S
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # gone by now, in use, or on a read-only disk
            if path.stat().st_mtime < oldest:
                path.unlink()


def _for_its_owner(path: str, flags: int) -> int:
    """Open a file that no other user can read; Windows has its rights from the folder."""
    return os.open(path, flags, 0o600)


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it, for their owner alone; return those that were missing."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        folder.mkdir()  # raises what the operating system has to say
    return missing


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _retry_on_windows(action: Callable[[], _T]) -> _T:
    """Try again for a second on Windows, where a file that someone reads cannot be replaced."""
    for pause in _WINDOWS_PAUSES_S if os.name == "nt" else ():
        try:
            return action()
        except PermissionError:
            time.sleep(pause)
    return action()
