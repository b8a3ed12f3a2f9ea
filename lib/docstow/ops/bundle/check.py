"""Check a bundle against its own manifest: every byte, before any of it is trusted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from docstow import sources
from docstow.core.errors import InvalidParameter, StoreError, TooLarge, UnreadableInput
from docstow.core.model import Snapshot
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
from docstow.sources import collection
from docstow.store.heads import decode_snapshot, head_key
from docstow.store.objects import check_key

_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Unpacked:
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


def unpack(path: Path, folder: Path, *, sha256: str, limit: int) -> Unpacked:
    """Check a whole bundle and put its files into a folder.

    Args:
        path: the bundle.
        folder: an empty folder.
        sha256: digest that its list of files must have; empty for any.
        limit: what its files may weigh together.

    Raises:
        UnreadableInput: it is damaged, was changed or is none.
        TooLarge: it claims more than the limit.
        InvalidParameter: the digest is none.
    """
    if sha256 and not _HEX.fullmatch(sha256 := sha256.strip().lower()):
        raise InvalidParameter("sha256", "must be 64 hexadecimal digits, as the export said")
    archive.check(path)
    with archive.open_archive(path) as reader:
        return _unpack(reader, path.name, sha256, limit, folder)


def _unpack(reader: archive.Reader, name: str, sha256: str, limit: int, folder: Path) -> Unpacked:
    """Read all of it, compare each file with the manifest, put tables and texts into the folder."""
    manifest = _read_manifest(reader, name, sha256, limit)
    sizes = {file.name: file.size for file in manifest.files}
    owners = {each: entry for entry in manifest.entries for each in entry.snapshots}
    records: dict[str, Snapshot] = {}
    unpacked = Unpacked(manifest, records, folder)
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
