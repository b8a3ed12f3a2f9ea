"""Blobs: the tables of snapshots, as objects of the store and as files on this machine.

This room knows that a blob is named by what is in it, and where a file of one is found or put. It
does not know what the tables hold, nor which snapshot answers for a source.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path

from docstow.core.concurrency import in_parallel
from docstow.core.errors import SnapshotGone, StoreError
from docstow.core.model import Snapshot
from docstow.store.blobs import BlobCache
from docstow.store.objects import AlreadyThere, LocalFiles, ObjectStore
from docstow.store.records import blob_key


class Blobs:
    """Stores and fetches tables. Safe to share between threads.

    Args:
        store: where they live.
        cache: local files of them; unused for a store whose objects are files here already.
    """

    def __init__(self, store: ObjectStore, cache: BlobCache) -> None:
        self._store = store
        self._cache = cache

    def upload(self, path: Path, place: str) -> tuple[str, int]:
        """Store a file under its digest; digest and size in bytes."""
        body = path.read_bytes()
        digest = hashlib.sha256(body).hexdigest()
        with contextlib.suppress(AlreadyThere):
            self._store.create(blob_key(digest, place), body)
        return digest, len(body)

    def whole(self, snapshot: Snapshot) -> bool:
        """Whether the store has all tables of a snapshot, each of its size."""
        keys = [blob_key(digest, snapshot.place) for digest in snapshot.tables.values()]
        return in_parallel(self._stored_size, keys) == list(snapshot.sizes.values())

    def _stored_size(self, key: str) -> int | None:
        return next((entry.size for entry in self._store.list(key)), None)

    def fetch(self, snapshot: Snapshot, names: Sequence[str] = ()) -> dict[str, Path]:
        """Local files of the snapshot's tables, verified; all of them unless some are named.

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
            name: self._at_hand(snapshot, snapshot.tables[name], snapshot.sizes[name])
            for name in wanted
        }
        absent = {snapshot.tables[name]: snapshot.sizes[name] for name in wanted if not files[name]}

        def obtain(blob: tuple[str, int]) -> Path:
            digest, size = blob
            return self._cache.obtain(digest, size, lambda: self._download(snapshot, digest))

        found = dict(zip(absent, in_parallel(obtain, list(absent.items())), strict=True))
        return {name: path or found[snapshot.tables[name]] for name, path in files.items()}

    def _at_hand(self, snapshot: Snapshot, digest: str, size: int) -> Path | None:
        """The file of a blob if it is here: the store's own on this machine, or the cache's."""
        if isinstance(self._store, LocalFiles):
            path = self._store.local_path(blob_key(digest, snapshot.place))
            # A file that cannot be read is asked of the store, which says why.
            with contextlib.suppress(OSError):
                if self._cache.is_sound(path, digest, size):
                    return path
        return self._cache.find(digest, size)

    def _download(self, snapshot: Snapshot, digest: str) -> bytes:
        stored = self._store.get(blob_key(digest, snapshot.place))
        if stored is None:
            raise SnapshotGone(f"The blob {digest} is not in the store; stow its source again.")
        return stored.body
