"""Composition of the sources that users add: registered, synced, pushed to, and read.

This room knows what such sources need of everything else. What is stowed of crates and packages,
and how any of it is asked for, it does not know.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.sources.registry import Registry

if TYPE_CHECKING:
    from docstow.core.model import Document, Registration, Snapshot
    from docstow.core.settings import Settings
    from docstow.embedding._embed import Embedder
    from docstow.ingest.collections import Collections
    from docstow.ingest.sync__sync import Sync
    from docstow.library.prose import Prose
    from docstow.runtime__upstreams import Upstreams
    from docstow.runtime__workers import Workers
    from docstow.sources.presets import Presets
    from docstow.store.objects import ObjectStore
    from docstow.store.snapshots import Snapshots


class Registered:
    """Live objects, each made once, when it is first asked for.

    Args:
        settings: what they are made from.
        store: where sources are registered and texts are pushed to.
        snapshots: published snapshots.
        workers: what has syncs done.
        upstreams: where the files of sources come from.
        embedder: the model that texts and queries are embedded with.
        crates: stows a crate of a name and a version, anew if that is asked for.
    """

    def __init__(
        self,
        settings: Settings,
        store: ObjectStore,
        snapshots: Snapshots,
        workers: Workers,
        upstreams: Upstreams,
        embedder: Callable[[], Embedder],
        crates: Callable[[str, str, bool], Snapshot],
    ) -> None:
        self._settings = settings
        self._store = store
        self._snapshots = snapshots
        self._workers = workers
        self._upstreams = upstreams
        self._embedder = embedder
        self._crates = crates
        self._lock = threading.RLock()

    @cached_property
    def registry(self) -> Registry:
        """The sources that users have added."""
        return Registry(self._store, freshness_s=self._settings.freshness_s)

    @property
    def prose(self) -> Prose:
        """Everything that was synced, for reading."""
        with self._lock:
            return self._prose

    @cached_property
    def _prose(self) -> Prose:
        from docstow.library.prose import Prose

        memory_bytes = self._settings.memory_bytes
        return Prose(self._snapshots, self.registry, self._embedder, memory_bytes)

    @property
    def sync(self) -> Sync:
        """Starts and runs the syncs of sources."""
        with self._lock:
            return self._sync

    @cached_property
    def _sync(self) -> Sync:
        from docstow.ingest.sync__sync import Sync

        return Sync(
            self.registry,
            self._workers.jobs,
            self._snapshots,
            self._upstreams.prose,
            self._embedder,
            self._workers.dispatch,
            crates=self._crates,
        )

    @property
    def collections(self) -> Collections:
        """The texts that clients push."""
        with self._lock:
            return self._collections

    @cached_property
    def _collections(self) -> Collections:
        from docstow.ingest.collections import Collections

        return Collections(
            self._store,
            self.registry,
            self.sync,
            self._answering,
            wait_s=self._settings.wait_s,
            max_bytes=self._settings.max_push,
        )

    def _answering(self, registration: Registration, path: str) -> tuple[Document, str] | None:
        """The document of a path in what answers for a source now, and the snapshot's id."""
        head = self._snapshots.head(registration.source, fresh=True)
        snapshot = self._snapshots.load(head.snapshot_id) if head and head.snapshot_id else None
        if snapshot is None:
            return None
        index = self.prose.index(snapshot)
        row = index.row_of(path)
        return None if row is None else (index.document(row), snapshot.id)

    @cached_property
    def presets(self) -> Presets:
        """The known sources that have a name."""
        from docstow.sources.presets import Presets

        file = self._settings.presets
        return Presets(Path(file).expanduser() if file else None)
