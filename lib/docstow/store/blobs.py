"""Blobs: tables in the store, and the local cache of them, all named by their digest."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from docstow.core.errors import SnapshotGone, StoreError
from docstow.core.model import Snapshot
from docstow.core.threads import in_parallel
from docstow.store.heads import blob_key, list_blobs
from docstow.store.objects import AlreadyThere, LocalFiles, ObjectStore
from docstow.store.packs import find_places, read_places

HOLD_S = 30.0
_LEFTOVER_AGE_S = 3600.0
_UNFINISHED = ".unfinished"


class BlobCache:
    """A byte-bounded, least-recently-used cache on disk; processes may share the directory.

    A file's time stamp says when it was last handed out. A file is trusted after its
    digest was verified once in this process, and for its size after that.

    Args:
        directory: made when missing.
        limit_bytes: what the files may weigh together. A file handed out less than ``hold_s`` ago
            stays even if that exceeds the limit, as does the newest: somebody is about to read it.
        hold_s: how long a reader may take from being handed a path to opening it.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        directory: Path,
        limit_bytes: int,
        *,
        hold_s: float = HOLD_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.directory = directory
        self.limit_bytes = limit_bytes
        self._hold_s = hold_s
        self._clock = clock
        self._verified: set[Path] = set()
        self._filling = tuple(threading.Lock() for _ in range(256))
        self._adding = threading.Lock()

    def find(self, digest: str, size: int) -> Path | None:
        """Return the file of this digest if it is here and sound; remove one that is damaged."""
        path = self.directory / digest
        with self._explained():
            if self.is_sound(path, digest, size):
                if self._mark_used(path):
                    return path
            else:
                _remove(path)
        return None

    def obtain(
        self,
        blobs: Mapping[str, int],
        download: Callable[[Sequence[str]], Sequence[bytes | memoryview]],
    ) -> dict[str, Path]:
        """Return the files of some digests, downloaded if need be by one thread for all that ask.

        Args:
            blobs: the size of each digest's file.
            download: returns the bodies of those digests whose files are not here.

        Raises:
            StoreError: what was downloaded is not what the digest names, or the disk is full.
        """
        with contextlib.ExitStack() as stack:
            # In one order, so that no two threads wait for each other.
            for number in sorted({int(digest[:2], 16) for digest in blobs}):
                stack.enter_context(self._filling[number])
            found = {digest: self.find(digest, size) for digest, size in blobs.items()}
            absent = [digest for digest, path in found.items() if path is None]
            for digest, body in zip(absent, download(absent) if absent else (), strict=True):
                if hashlib.sha256(body).hexdigest() != digest:
                    raise StoreError(
                        f"The table {digest} in the store is damaged: its content has another"
                        " digest. Delete its blob and stow the source again."
                    )
                found[digest] = self.add(digest, body)
        return {digest: path for digest, path in found.items() if path is not None}

    def find_derived(self, name: str) -> Path | None:
        """Return the file that :meth:`add` has made of a blob; the reader sees if it is sound."""
        path = self.directory / name
        return path if self._mark_used(path) else None

    def _mark_used(self, path: Path) -> bool:
        """Note that a file is handed out; return False if it is not there."""
        now = self._clock()
        try:
            os.utime(path, (now, now))
        except OSError:  # a cache that this process may only read serves it as well
            return path.exists()
        return True

    def is_sound(self, path: Path, digest: str, size: int) -> bool:
        """Return whether a file has this size and, on first sight, this digest."""
        try:
            if path.stat().st_size != size:
                self._verified.discard(path)
                return False
            if path not in self._verified:
                with path.open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                        return False
                self._verified.add(path)
        except FileNotFoundError:
            self._verified.discard(path)
            return False
        return True

    def add(self, name: str, *parts: bytes | memoryview) -> Path:
        """Write a file whole or not at all, after making room for it.

        Args:
            name: the digest of its content; of what is derived from a blob, that one's digest
                with a suffix.
            parts: of its content, one after another.

        Raises:
            StoreError: the disk is full, or the directory cannot be used.
        """
        path = self.directory / name
        unfinished = self.directory / f"{uuid.uuid4().hex}{_UNFINISHED}"
        with self._explained(), self._adding:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._make_room(sum(map(len, parts)))
            try:
                with unfinished.open("wb") as file:
                    file.writelines(parts)
                now = self._clock()
                os.utime(unfinished, (now, now))
                # On Windows a file that another process reads stays: it is the same content.
                with contextlib.suppress(PermissionError):
                    unfinished.replace(path)
                    self._verified.add(path)
            finally:
                unfinished.unlink(missing_ok=True)
        return path

    def _make_room(self, size: int) -> None:
        """Remove the least recently used files until ``size`` more bytes fit."""
        files = sorted(_scan(self.directory))
        total = size + sum(weight for _, weight, _ in files)
        now = self._clock()
        for used_at, weight, path in files:
            if path.suffix == _UNFINISHED:
                # Another process is writing it, unless that process is long gone.
                removable = now - used_at > _LEFTOVER_AGE_S
            else:
                removable = total > self.limit_bytes and now - used_at >= self._hold_s
            if removable and _remove(path):
                self._verified.discard(path)
                total -= weight

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            raise StoreError(
                f"The cache {self.directory} cannot be used: {fault.strerror or fault}. Free some"
                " space, lower the cache's limit, or name another directory."
            ) from fault


def _scan(directory: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield time of last use, size and path of every file."""
    with os.scandir(directory) as scan:
        for each in scan:
            with contextlib.suppress(FileNotFoundError):
                # Folders are of others: scans of projects, unpacked packages.
                if not each.is_file(follow_symlinks=False):
                    continue
                status = each.stat()
                yield status.st_mtime, status.st_size, Path(each.path)


def _remove(path: Path) -> bool:
    """Remove a file; return False if it is in use, which only Windows minds."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return False
    return True


class Blobs:
    """Stores and fetches tables. Safe to share between threads.

    Args:
        store: where they live.
        cache: local files of them; unused for a store whose objects are files here already.
    """

    def __init__(self, store: ObjectStore, cache: BlobCache) -> None:
        self._store = store
        self._cache = cache

    def upload(self, made: Snapshot, tables: Mapping[str, Path], place: str) -> Snapshot:
        """Store a snapshot's tables in one blob, or each in its own where these are read in place.

        Args:
            made: the snapshot.
            tables: table name to Parquet file, in the order in which they are to lie.
            place: of the blobs.

        Returns:
            The snapshot with its tables' digests and sizes.
        """
        bodies = {name: path.read_bytes() for name, path in tables.items()}
        stored = replace(
            made,
            tables={name: hashlib.sha256(body).hexdigest() for name, body in bodies.items()},
            sizes={name: len(body) for name, body in bodies.items()},
            place=place,
            pack="",
        )
        if bodies and not isinstance(self._store, LocalFiles):
            pack = b"".join(bodies.values())
            stored = replace(stored, pack=hashlib.sha256(pack).hexdigest())
            bodies = {"": pack}
        keys = [key for key, _ in list_blobs(stored)]
        in_parallel(lambda blob: self._create(*blob), list(zip(keys, bodies.values(), strict=True)))
        return stored

    def _create(self, key: str, body: bytes) -> None:
        with contextlib.suppress(AlreadyThere):
            self._store.create(key, body)

    def whole(self, snapshot: Snapshot) -> bool:
        """Return whether the store has all blobs of a snapshot, each of its size."""
        blobs = list_blobs(snapshot)
        found = in_parallel(self._stored_size, [key for key, _ in blobs])
        return found == [size for _, size in blobs]

    def _stored_size(self, key: str) -> int | None:
        return next((entry.size for entry in self._store.list(key)), None)

    def fetch(self, snapshot: Snapshot, names: Sequence[str] = ()) -> dict[str, Path]:
        """Return local files of a snapshot's tables, verified; all of them unless some are named.

        Open them soon, or ask again: the cache may drop a file half a minute after it was asked
        for. Asking for a file that is there costs microseconds.

        Raises:
            StoreError: there is no such table, or its blob is missing or damaged.
        """
        wanted = list(names or snapshot.tables)
        missing = [name for name in wanted if name not in snapshot.tables]
        if missing:
            raise StoreError(
                f"The snapshot {snapshot.id} has no table {', '.join(missing)}; it has"
                f" {', '.join(snapshot.tables)}. Stow its source again."
            )
        files = {
            name: self._find_local(snapshot, snapshot.tables[name], snapshot.sizes[name])
            for name in wanted
        }
        absent = {snapshot.tables[name]: snapshot.sizes[name] for name in wanted if not files[name]}
        found = self._cache.obtain(absent, partial(self._download, snapshot))
        return {name: path or found[snapshot.tables[name]] for name, path in files.items()}

    def is_local(self, snapshot: Snapshot) -> bool:
        """Return whether the files of all tables of a snapshot are here."""
        tables = snapshot.tables.items()
        return all(self._find_local(snapshot, d, snapshot.sizes[name]) for name, d in tables)

    def _find_local(self, snapshot: Snapshot, digest: str, size: int) -> Path | None:
        """Return the file of a blob if it is here: the store's own, or the cache's."""
        if isinstance(self._store, LocalFiles):
            path = self._store.local_path(blob_key(digest, snapshot.place))
            # A file that cannot be read is asked of the store, which says why.
            with contextlib.suppress(OSError):
                if self._cache.is_sound(path, digest, size):
                    return path
        return self._cache.find(digest, size)

    def _download(self, snapshot: Snapshot, digests: Sequence[str]) -> list[memoryview]:
        """Return the tables of some digests, as they are in the store."""
        places = find_places(snapshot)
        return read_places([places[digest] for digest in digests], self._read)

    def _read(self, key: str, start: int, size: int) -> bytes:
        found = self._store.get_range(key, start, size)
        if found is None:
            raise SnapshotGone(f"{key} is not in the store; stow its source again.")
        return found
