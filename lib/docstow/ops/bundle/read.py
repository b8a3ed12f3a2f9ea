"""Import a bundle into a store: first every byte is checked, then anything is stored.

Only what was found whole is published, source by source, as an ingest would publish it. Killed
anywhere, an import leaves each source as it was or as it is in the bundle; the same import once
more does the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from docstow import sources
from docstow.core.errors import SourceNotFound
from docstow.core.model import Head, Snapshot, in_epoch, source_id
from docstow.ops.bundle.check import Unpacked, unpack
from docstow.ops.bundle.manifest import Entry
from docstow.sources import collection, kind_of
from docstow.sources.registry import Registry
from docstow.store.objects import Conflict, ObjectStore
from docstow.store.snapshots import Snapshots
from docstow.store.update import RAW, attempts, update
from docstow.store.usage import Pins

if TYPE_CHECKING:
    from docstow.index.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one source of a bundle.

    Attributes:
        entry: the source.
        skipped: why the store's own snapshot was left in its place; empty if it was not.
        notes: what the user should know or do.
        failed: it is not as it should be: one of the notes tells why.
    """

    entry: Entry
    skipped: str = ""
    notes: tuple[str, ...] = ()
    failed: bool = False


class BundleImport:
    """Brings bundles into a store.

    Args:
        store: where everything is.
        snapshots: its published snapshots.
        registry: its registered sources.
        catalog: opens the catalogue of crates when it is first needed.
        sync: makes a snapshot of a collection's texts, given its id; returns why it failed, or
            nothing.
        limit: what the files of a bundle may weigh together.
        force: let the bundle's snapshots and texts answer even where the store's are newer.
    """

    def __init__(
        self,
        store: ObjectStore,
        snapshots: Snapshots,
        registry: Registry,
        catalog: Callable[[], Catalog],
        sync: Callable[[str], str],
        *,
        limit: int,
        force: bool = False,
    ) -> None:
        self._store = store
        self._snapshots = snapshots
        self._registry = registry
        self._catalog = catalog
        self._sync = sync
        self._limit = limit
        self._force = force

    def run(self, path: Path, *, sha256: str = "") -> Iterator[Imported]:
        """Check a whole bundle, store what is in it, and yield what came of each source.

        Args:
            path: the bundle.
            sha256: digest that its list of files must have; without it, only damage is noticed,
                and not that someone made another bundle of it.

        Raises:
            UnreadableInput: it is damaged, was changed or is none; the store is as it was.
            TooLarge: it claims more than the limit; the store is as it was.
            InvalidParameter: the digest is none.
            StoreError: the store cannot be used.
        """
        with TemporaryDirectory(prefix="docstow-") as folder:
            unpacked = unpack(path, Path(folder), sha256=sha256, limit=self._limit)
            for entry in unpacked.manifest.entries:
                yield self._publish(entry, unpacked)

    def _head(self, entry: Entry) -> Head | None:
        return self._snapshots.head(entry.source, fresh=True)

    def _find_reason_to_skip(self, entry: Entry, head: Head | None) -> str:
        """Return why a source is left as it is; empty where the bundle's is to answer."""
        own = entry.registered
        kind = kind_of(entry.source.kind)
        if kind.local_only and own and sources.spelling(kind.name, own.uri) != own.uri:
            return f"{own.uri} is no {kind.name}'s own path on this machine; ingest it where it is"
        if head is None or not head.snapshot_id or self._force:
            return ""
        if head.checked_at < entry.checked_at:
            return ""
        answers = self._snapshots.load(head)
        if answers is not None and answers.content == entry.snapshot:
            return ""
        return (
            f"the store's own snapshot is of {head.checked_at:%Y-%m-%d %H:%M}, the bundle's of "
            f"{entry.checked_at:%Y-%m-%d %H:%M}; --force takes the bundle's"
        )

    def _put_text(self, key: str, body: bytes) -> bool:
        """Store a pushed text; return False if there is another in its place, which stays."""

        def put(current: bytes | None) -> bytes:
            return body if current is None or self._force else current

        return update(self._store, key, RAW, put).after == body

    def _publish(self, entry: Entry, unpacked: Unpacked) -> Imported:
        """Let a source answer as it does in the bundle; return what came of it."""
        if reason := self._find_reason_to_skip(entry, self._head(entry)):
            return Imported(entry, reason)
        keep, notes = self._register(entry)
        failure = ""
        if kind_of(entry.source.kind).pushed and not self._put_texts(entry, unpacked):
            # The texts are the collection's truth, and neither store's snapshot has all of them.
            failure = self._sync(entry.source.name)
            notes.append(f"its texts could not be joined: {failure}" if failure else "texts joined")
        elif reason := self._replay(entry, unpacked, max(keep, 1 + len(entry.earlier))):
            return Imported(entry, reason, tuple(notes))
        if entry.pinned:
            Pins(self._store).pin(entry.source, entry.pinned)
        return Imported(entry, "", tuple(notes), failed=bool(failure))

    def _put_texts(self, entry: Entry, unpacked: Unpacked) -> bool:
        """Store a collection's texts; return whether the bundle's snapshot has all there are."""
        texts = unpacked.texts(entry.source.name)
        same = [self._put_text(key, path.read_bytes()) for key, path in texts.items()]
        there = self._store.list(collection.prefix(entry.source.name))
        known = all(same) and all(each.key in texts for each in there)
        return known and bool(entry.snapshot or not texts)

    def _register(self, entry: Entry) -> tuple[int, list[str]]:
        """Register what is not registered here; return how many snapshots to keep, and notes."""
        own, notes = entry.registered, list[str]()
        if own is None:
            return 1, notes
        kind = entry.source.kind
        try:
            registration = self._registry.get(source_id(kind, own.uri))
        except SourceNotFound:
            registration = None
        if registration is None or self._force:
            registration, _ = self._registry.create(
                kind, own.uri, title=own.title, options=own.options, keep=own.keep
            )
        if own.had_headers and not registration.headers:
            notes.append("its headers are secret and stayed behind: give them again with --header")
        return registration.keep if kind_of(kind).has_pages else 1, notes

    def _replay(self, entry: Entry, unpacked: Unpacked, keep: int) -> str:
        """Publish the kept snapshots and then what answers; return why not, if it is not to be.

        Readers never go back in time: kept snapshots older than what answers here are left out.
        """
        if not entry.snapshot:
            return ""
        head = self._head(entry)
        former = (unpacked.records[each] for each in reversed(entry.earlier))
        kept = sorted(former, key=lambda snapshot: snapshot.created_at)
        before = entry.checked_at - timedelta(microseconds=1)
        for snapshot in kept:
            if head is None or not head.snapshot_id or snapshot.created_at > head.checked_at:
                self._adopt(entry, snapshot, unpacked, min(snapshot.created_at, before), keep)
        return self._adopt(
            entry, unpacked.records[entry.snapshot], unpacked, entry.checked_at, keep
        )

    def _adopt(
        self, entry: Entry, snapshot: Snapshot, unpacked: Unpacked, now: datetime, keep: int
    ) -> str:
        """Let a snapshot answer, unless the store's own has become the newer; return why not."""
        for _ in attempts(f"The head of {entry.title}"):
            head = self._head(entry)
            if reason := self._find_reason_to_skip(entry, head):
                return reason
            with contextlib.suppress(Conflict):
                fence = {"expected_generation": head.generation if head else 0, "keep": keep}
                here = self._find_here(snapshot, head)
                if here is not None:
                    with self._listed(entry, here):
                        self._snapshots.republish(here, now, **fence)
                    return ""
                files = unpacked.tables(snapshot)
                expected = in_epoch(snapshot.content, head.epoch if head else 0)
                with self._listed(entry, replace(snapshot, id=expected), files):
                    adopted = self._snapshots.adopt(snapshot, files, now, **fence)
                if adopted.id != expected and kind_of(entry.source.kind).catalogued:
                    self._catalog().add(self._catalog().card(adopted))
                return ""
        raise AssertionError("the last attempt returns or raises")

    def _find_here(self, snapshot: Snapshot, head: Head | None) -> Snapshot | None:
        """Return the same snapshot if the store has it whole and its source's head names it."""
        found = (self._snapshots.load(head, each) for each in head.named) if head else ()
        same = [each for each in found if each is not None and each.content == snapshot.content]
        return self._snapshots.stored(same[0].revision.source, same[0].id) if same else None

    @contextlib.contextmanager
    def _listed(
        self, entry: Entry, snapshot: Snapshot, files: Mapping[str, Path] | None = None
    ) -> Iterator[None]:
        """Keep a crate's card in the catalogue while its head is swapped."""
        if not kind_of(entry.source.kind).catalogued:
            yield
            return
        from docstow.index.catalog import card_of

        catalog = self._catalog()
        card = card_of(snapshot, files) if files else catalog.card(snapshot)
        with catalog.listed(card):
            yield
