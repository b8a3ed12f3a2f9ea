"""Composition of what is stowed without a question: the sample, files, and crates ahead of time.

This room knows where each of them comes from. What answers for them afterwards it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.core.model import LOCAL, Source
from docstow.ingest.jobs.store import STOW, subject

if TYPE_CHECKING:
    from docstow.core.model import File, Snapshot
    from docstow.core.settings import Settings
    from docstow.ingest.preload import PreIngest
    from docstow.ingest.preload__together import Together
    from docstow.ingest.publish import Ingest
    from docstow.library import Library
    from docstow.runtime__upstreams import Upstreams
    from docstow.runtime__workers import Workers
    from docstow.store.objects import ObjectStore
    from docstow.store.snapshots import Snapshots

#: A small crate of docstow's own, as rustdoc JSON.
SAMPLE = Path(__file__).parent / "ingest" / "sample" / "stowage-0.1.0.json.zst"


class Stocking:
    """Has things stowed that nobody has asked for yet.

    Args:
        settings: where crates are stowed ahead, and how many at a time.
        store: where pins are.
        snapshots: published snapshots.
        workers: send jobs to a queue.
        upstreams: how large a file may be.
        ingest: the write path.
        library: stows crates.
    """

    def __init__(
        self,
        settings: Settings,
        store: ObjectStore,
        snapshots: Snapshots,
        workers: Workers,
        upstreams: Upstreams,
        ingest: Callable[[], Ingest],
        library: Callable[[], Library],
    ) -> None:
        self._settings = settings
        self._store = store
        self._snapshots = snapshots
        self._workers = workers
        self._upstreams = upstreams
        self._ingest = ingest
        self._library = library
        self._ahead: PreIngest | None = None

    def file(self, path: Path, *, version: str = "") -> Snapshot:
        """Stow a rustdoc JSON file; it then answers for its crate's name."""
        return self._ingest().file(self._read(path), version=version)

    def together(self, paths: Sequence[Path], *, version: str = "") -> Together:
        """Rustdoc JSON files that are stowed as one another's siblings."""
        from docstow.ingest.preload__together import Together

        return Together(self._ingest(), self._read, paths, version)

    def _read(self, path: Path) -> File:
        from docstow.sources.crates import read_file

        return read_file(path, self._upstreams.limits)

    def sample(self) -> None:
        """Stow the crate that comes with docstow, so that a first search needs no network."""
        source = Source(LOCAL, SAMPLE.name.partition("-")[0], "0.1.0")
        head = self._snapshots.head(source)
        if head is None or not head.snapshot_id:
            self.file(SAMPLE)

    def ahead(self, crates: Sequence[str]) -> PreIngest:
        """Begin to stow crates in the background; :meth:`progress` tells how far that is.

        They are pinned: eviction takes them last. Where a queue is set they are sent there.

        Args:
            crates: names, maybe with ``@`` and a version.
        """
        from docstow.ingest.preload import PreIngest
        from docstow.store.usage import PRE_INGESTED, Pins

        library, pins = self._library(), Pins(self._store)

        def stow(word: str) -> None:
            name, _, requirement = word.partition("@")
            if self._settings.queue_url:
                source, stowed = library.resolve(name, requirement)
                if not stowed:
                    subject_id = subject(STOW, source)
                    self._workers.dispatch.start(subject_id, kind=STOW, source=source)
            else:
                source = library.ensure(name, requirement).revision.source
            pins.move(source, PRE_INGESTED)

        self._ahead = PreIngest(crates, stow, self._settings.pre_ingest_workers)
        self._ahead.start()
        return self._ahead

    def progress(self) -> dict[str, Any] | None:
        """How far the crates are that are stowed ahead; None where there are none."""
        return None if self._ahead is None else self._ahead.progress()

    def close(self) -> None:
        """Begin no other crate, and wait a little for those that are under way."""
        if self._ahead is not None:
            self._ahead.stop()
