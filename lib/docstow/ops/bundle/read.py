"""Import a bundle into a store: first every byte is checked, then anything is stored.

Only what was found whole is published, source by source, as an ingest would publish it. Killed
anywhere, an import leaves each source as it was or as it is in the bundle; the same import once
more does the rest.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from docstow import sources
from docstow.core.errors import (
    InvalidParameter,
    SourceNotFound,
    StoreError,
    TooLarge,
    UnreadableInput,
)
from docstow.core.model import Head, Snapshot, in_epoch, source_id
from docstow.ops.bundle import archive
from docstow.ops.bundle.manifest import (
    MANIFEST,
    Entry,
    Manifest,
    blob_digest,
    blob_name,
    decode_manifest,
    neutralize,
    record_id,
    record_name,
    text_owner,
)
from docstow.sources import collection, kind_of
from docstow.sources.registry import Registry
from docstow.store.heads import decode_snapshot, head_key
from docstow.store.objects import Conflict, ObjectStore, check_key
from docstow.store.snapshots import Snapshots
from docstow.store.update import RAW, attempts, update
from docstow.store.usage import Pins

if TYPE_CHECKING:
    from docstow.index.catalog import Catalog

_HEX = re.compile(r"[0-9a-f]{64}")


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
        catalog: opens the catalogue when it is first needed.
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
            unpacked = _unpack(path, Path(folder), sha256, self._limit)
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

    def _publish(self, entry: Entry, unpacked: _Unpacked) -> Imported:
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

    def _put_texts(self, entry: Entry, unpacked: _Unpacked) -> bool:
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

    def _replay(self, entry: Entry, unpacked: _Unpacked, keep: int) -> str:
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
        self, entry: Entry, snapshot: Snapshot, unpacked: _Unpacked, now: datetime, keep: int
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
                    with self._listed(here):
                        self._snapshots.republish(here, now, **fence)
                    return ""
                files = unpacked.tables(snapshot)
                expected = in_epoch(snapshot.content, head.epoch if head else 0)
                with self._listed(replace(snapshot, id=expected), files):
                    adopted = self._snapshots.adopt(snapshot, files, now, **fence)
                if adopted.id != expected:
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
        self, snapshot: Snapshot, files: Mapping[str, Path] | None = None
    ) -> Iterator[None]:
        """Keep a source's card in the catalogue while its head is swapped."""
        from docstow.index.cards import card_of

        catalog = self._catalog()
        card = card_of(snapshot, files) if files else catalog.card(snapshot)
        with catalog.listed(card):
            yield


@dataclass(frozen=True, slots=True)
class _Unpacked:
    """A bundle whose every byte was checked.

    Attributes:
        manifest: its list of files.
        records: its snapshots by their content.
        folder: where its tables and texts are; those files whose names it was asked for.
    """

    manifest: Manifest
    records: Mapping[str, Snapshot]
    folder: Path

    def path(self, name: str) -> Path:
        """Return where a file is."""
        return self.folder / name.replace("/", "-")

    def tables(self, snapshot: Snapshot) -> dict[str, Path]:
        """Return the files of a snapshot's tables."""
        items = snapshot.tables.items()
        return {table: self.path(blob_name(digest)) for table, digest in items}

    def texts(self, collection_id: str) -> dict[str, Path]:
        """Return the files of a collection's texts by their keys."""
        names = (file.name for file in self.manifest.files)
        return {name: self.path(name) for name in names if text_owner(name) == collection_id}


def _unpack(path: Path, folder: Path, sha256: str, limit: int) -> _Unpacked:
    """Compare each file of a bundle with the manifest; put tables and texts into the folder.

    Args and errors are those of :meth:`BundleImport.run`.
    """
    if sha256 and not _HEX.fullmatch(sha256 := sha256.strip().lower()):
        raise InvalidParameter("sha256", "must be 64 hexadecimal digits, as the export said")
    archive.check(path)
    with archive.open_archive(path) as reader:
        return _unpack_files(reader, path.name, sha256, limit, folder)


def _unpack_files(
    reader: archive.Reader, name: str, sha256: str, limit: int, folder: Path
) -> _Unpacked:
    manifest = _read_manifest(reader, name, sha256, limit)
    sizes = {file.name: file.size for file in manifest.files}
    owners = {each: entry for entry in manifest.entries for each in entry.snapshots}
    records: dict[str, Snapshot] = {}
    unpacked = _Unpacked(manifest, records, folder)
    for file in manifest.files:
        if blob_digest(file.name):
            with unpacked.path(file.name).open("wb") as opened:
                opened.writelines(reader.content(file))
            continue
        body = b"".join(reader.content(file))
        if identity := record_id(file.name):
            records[identity] = _read_record(body, file.name)
            _check_tables(records[identity], owners[identity], sizes)
        else:
            _check_text(body, file.name)
            unpacked.path(file.name).write_bytes(body)
    reader.end()
    named = {digest for each in records.values() for digest in each.tables.values()}
    if extra := {blob_digest(each) for each in sizes} - named - {""}:
        raise UnreadableInput(f"{name} has the table {min(extra)}, which no snapshot names.")
    return unpacked


def _read_manifest(reader: archive.Reader, name: str, sha256: str, limit: int) -> Manifest:
    """Read the manifest, and check that a store would take what it says."""
    body = reader.first(MANIFEST)
    digest = hashlib.sha256(body).hexdigest()
    if sha256 not in ("", digest):
        raise UnreadableInput(
            f"{name} is not the bundle that was asked for: its list of files has the digest"
            f" {digest}, not {sha256}."
        )
    manifest = decode_manifest(body, name)
    if manifest.size > limit:
        raise TooLarge(
            f"{name} holds {manifest.size} bytes, the limit is {limit}; raise"
            " store_limit if all of it is wanted.",
            limit=limit,
        )
    for entry in manifest.entries:
        _check_name(entry, name)
    return manifest


def _check_name(entry: Entry, name: str) -> None:
    """Check that this store could hold and register a source, before anything is stored."""
    own, kind, canonical = entry.registered, entry.source.kind, True
    try:
        check_key(head_key(entry.source))
        if own is not None:
            of_kind = sources.find(kind)
            of_kind.checked_options(own.options, own.uri)
            canonical = of_kind.local_only or of_kind.canonical_uri(own.uri) == own.uri
    except (InvalidParameter, TypeError, ValueError, AttributeError) as error:
        raise UnreadableInput(f"{name} has {entry.title}, which nobody can add: {error}") from error
    if not canonical:
        raise UnreadableInput(f"{name} has {entry.title} with an address that is not canonical.")


def _read_record(body: bytes, name: str) -> Snapshot:
    try:
        snapshot = decode_snapshot(body, name)
    except StoreError as error:
        raise UnreadableInput(f"{name} in the bundle is no record of a snapshot.") from error
    sound = (
        record_name(snapshot.id) == name
        and snapshot == neutralize(snapshot)
        and snapshot.created_at.tzinfo is not None
        and all(isinstance(each, dict) for each in (snapshot.counts, snapshot.facts))
        and all(isinstance(each, str) for each in asdict(snapshot.recipe).values())
    )
    if not sound:
        raise UnreadableInput(f"{name} in the bundle is the record of another snapshot.")
    return snapshot


def _check_tables(snapshot: Snapshot, entry: Entry, sizes: Mapping[str, int]) -> None:
    """Check that a snapshot is one of a source, and that all its tables are in the bundle."""
    if snapshot.revision.source != entry.source:
        raise UnreadableInput(f"The snapshot {snapshot.id} is not one of {entry.title}.")
    for table, digest in snapshot.tables.items():
        if sizes.get(blob_name(digest)) != snapshot.sizes[table]:
            raise UnreadableInput(f"The table {table} of {entry.title} is not in the bundle.")


def _check_text(body: bytes, name: str) -> None:
    try:
        text = collection.decode(body)
        if collection.key(text_owner(name), text.path) == name:
            return
    except (UnreadableInput, TypeError, AttributeError):
        pass
    raise UnreadableInput(f"{name} in the bundle is no pushed text.")
