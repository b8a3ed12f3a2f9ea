"""The manifest of a bundle: its sources, what answers for each, and the digest of each file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from docstow import __version__
from docstow.core.errors import TooLarge, UnreadableInput
from docstow.core.model import Snapshot, Source, source_id
from docstow.ops.bundle.archive import FILE_CAP, Member
from docstow.sources import kind_of, kinds
from docstow.sources.registry import LONGEST_TITLE, MOST_KEPT

FORMAT = "docstow-bundle"
SCHEMA = 1
#: The name of the first file of a bundle.
MANIFEST = "manifest.json"
#: What a record or a pushed text may weigh.
TEXT_CAP = 32 * 1024 * 1024
_BLOB = re.compile(r"blobs/([0-9a-f]{64})\.parquet")
_TEXT = re.compile(r"pushed/([0-9a-f]{64})/[0-9a-f]{16}\.json")
_RECORD = re.compile(r"snapshots/([0-9a-f]{64})\.json")
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Registered:
    """How a source is registered; what is secret stays behind.

    Attributes:
        uri: the canonical URI.
        title: for people.
        options: as its kind's origin knows them.
        keep: how many of its snapshots are kept.
        had_headers: headers were sent with its requests. They are secret, so they are not here.
    """

    uri: str
    title: str
    options: Mapping[str, Any]
    keep: int
    had_headers: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One source of a bundle.

    Attributes:
        source: what it is stowed under.
        snapshot: what answers, named by its content; empty where nothing does yet.
        checked_at: when the upstream was last asked; of two stores' the later one is the newer.
        earlier: kept snapshots that come along.
        pinned: why it is pinned; empty where it is not.
        registered: how it is registered; every source of prose is.
    """

    source: Source
    snapshot: str
    checked_at: datetime
    earlier: tuple[str, ...] = ()
    pinned: str = ""
    registered: Registered | None = None

    @property
    def title(self) -> str:
        """Return what people call it."""
        if kind_of(self.source.kind).has_pages and self.registered is not None:
            return f"{self.source.kind} {self.registered.title}"
        return self.source.key

    @property
    def snapshots(self) -> tuple[str, ...]:
        """Return every snapshot that belongs to it: what answers, then the kept ones."""
        return tuple(filter(None, (self.snapshot, *self.earlier)))


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that is in a bundle.

    Attributes:
        entries: its sources, in the order of their keys.
        files: its files, in the order of their names: tables, then texts, then records, so that
            nothing names what is not there yet.
    """

    entries: Sequence[Entry]
    files: Sequence[Member]

    @property
    def size(self) -> int:
        """Return what the files weigh together, in bytes."""
        return sum(file.size for file in self.files)


def neutralize(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot without what its store added: named by its content alone."""
    return replace(snapshot, id=snapshot.content, epoch=0, place="", pack="")


def record_name(identity: str) -> str:
    """Return the name of the file of a snapshot's record."""
    return f"snapshots/{identity}.json"


def blob_name(digest: str) -> str:
    """Return the name of the file of a table."""
    return f"blobs/{digest}.parquet"


def blob_digest(name: str) -> str:
    """Return the digest that names a table's file; empty if the name is no table's."""
    found = _BLOB.fullmatch(name)
    return found[1] if found else ""


def record_id(name: str) -> str:
    """Return the id of the snapshot whose record a file is; empty if it is no record's name."""
    found = _RECORD.fullmatch(name)
    return found[1] if found else ""


def text_owner(name: str) -> str:
    """Return the id of the collection whose text a file is; empty if it is no text's name."""
    found = _TEXT.fullmatch(name)
    return found[1] if found else ""


def encode_manifest(manifest: Manifest) -> bytes:
    """Return its stored form; the same content gives the same bytes, whenever it is written."""
    moments = [entry.checked_at for entry in manifest.entries]
    fields = {
        "format": FORMAT,
        "schema": SCHEMA,
        "tool": f"docstow {__version__}",
        "created_at": max(moments, default=datetime.min.replace(tzinfo=UTC)).isoformat(),
        "sources": [
            {**asdict(entry), "checked_at": entry.checked_at.astimezone(UTC).isoformat()}
            for entry in manifest.entries
        ],
        "files": [asdict(file) for file in manifest.files],
    }
    return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False).encode()


def decode_manifest(body: bytes, name: str) -> Manifest:
    """Read the stored form of a manifest, which a stranger may have written.

    Args:
        body: its bytes.
        name: what the bundle is called in messages.

    Raises:
        UnreadableInput: it is damaged, breaks a rule or is of another schema.
        TooLarge: a file claims to be larger than any should be.
    """
    try:
        fields = json.loads(body)
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise UnreadableInput(f"{name} is no bundle of docstow.")
        if fields["schema"] != SCHEMA:
            raise UnreadableInput(
                f"{name} has schema {fields['schema']!r}, this release reads {SCHEMA}; use the"
                " release that wrote it."
            )
        files = [_parse_member(each, name) for each in fields["files"]]
        entries = [_parse_entry(each) for each in fields["sources"]]
        _check_consistency(files, entries)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as fault:
        if isinstance(fault, UnreadableInput | TooLarge):
            raise
        raise UnreadableInput(
            f"{name} has a list of files that breaks its rules ({fault}); get it again."
        ) from fault
    return Manifest(entries, files)


def _parse_member(fields: Mapping[str, Any], bundle: str) -> Member:
    file = Member(
        _parse_text(fields["name"]), _parse_count(fields["size"]), _parse_text(fields["sha256"])
    )
    if set(fields) != {"name", "size", "sha256"} or not _HEX.fullmatch(file.sha256):
        raise ValueError(f"{file.name[:80]!r} is badly described")
    if not (blob_digest(file.name) or text_owner(file.name) or record_id(file.name)):
        raise ValueError(f"{file.name[:80]!r} is no name of a file")
    if blob_digest(file.name) not in ("", file.sha256):
        raise ValueError(f"{file.name} has another digest than its name")
    cap = FILE_CAP if blob_digest(file.name) else TEXT_CAP
    if file.size > cap:
        raise TooLarge(
            f"{bundle} claims {file.size} bytes for {file.name}; it may have {cap}.", limit=cap
        )
    return file


def _parse_entry(fields: Mapping[str, Any]) -> Entry:
    fields = dict(fields)
    registered = fields.pop("registered")
    source = {key: _parse_text(value) for key, value in fields.pop("source").items()}
    checked_at = datetime.fromisoformat(fields.pop("checked_at"))
    if checked_at.tzinfo is None:
        raise ValueError("a time has no zone")
    earlier = fields.pop("earlier")
    if not isinstance(earlier, list):
        raise TypeError("the kept snapshots are no list")
    return Entry(
        source=Source(**source),
        checked_at=checked_at,
        earlier=tuple(_parse_text(each) for each in earlier),
        registered=None if registered is None else _parse_registered(registered),
        **{key: _parse_text(value) for key, value in fields.items()},
    )


def _parse_registered(fields: Mapping[str, Any]) -> Registered:
    found = Registered(**fields)
    if not (_parse_text(found.uri).isprintable() and _parse_text(found.title).isprintable()):
        raise ValueError("a source's name cannot be printed")
    if not 1 <= _parse_count(found.keep) <= MOST_KEPT or len(found.title) > LONGEST_TITLE:
        raise ValueError("a registration is badly described")
    if not isinstance(found.options, dict) or not isinstance(found.had_headers, bool):
        raise TypeError("a registration is badly described")
    return found


def _check_consistency(files: Sequence[Member], entries: Sequence[Entry]) -> None:
    """Check every rule between files and sources; raise ValueError when one is broken."""
    names = [file.name for file in files]
    _check_ascending(names)
    _check_ascending([entry.source.key for entry in entries])
    for entry in entries:
        _check_entry(entry)
    wanted = [identity for entry in entries for identity in entry.snapshots]
    _check_ascending(sorted(wanted))
    records = {record_id(name) for name in names} - {""}
    if records != set(wanted):
        raise ValueError("the records are not those of the sources")
    collections = {each.source.name for each in entries if kind_of(each.source.kind).pushed}
    if not {text_owner(name) for name in names} <= {"", *collections}:
        raise ValueError("there are texts of no collection")


def _check_entry(entry: Entry) -> None:
    source, registered = entry.source, entry.registered
    if not source.key.isprintable():
        raise ValueError("a source's name cannot be printed")
    if not all(_HEX.fullmatch(identity) for identity in entry.snapshots):
        raise ValueError("an id of a snapshot is none")
    kind = kind_of(source.kind)
    if kind.has_pages:
        if registered is None or source != Source(
            source.kind, source_id(source.kind, registered.uri)
        ):
            raise ValueError(f"{source.key[:80]} is not what is registered")
    elif source.kind not in kinds():
        raise ValueError(f"there is no kind {source.kind[:80]!r}")
    elif kind.canonical is None:
        if registered is not None:
            raise ValueError(f"{source.key[:80]} cannot be registered")
    elif registered is not None and registered.uri != f"{source.name}@{source.version}":
        raise ValueError(f"{source.key[:80]} is not what is registered")
    if not kind.has_pages and not (entry.snapshot and source.name):
        raise ValueError(f"{source.key[:80]} has nothing that answers")


def _check_ascending(values: Sequence[str]) -> None:
    for former, value in pairwise(values):
        if former >= value:
            raise ValueError(f"{value[:120]!r} comes twice or in the wrong place")


def _parse_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:80]!r} is no text")
    return value


def _parse_count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"{str(value)[:80]!r} is no number of bytes")
    return value


def sort_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Return sources in the order that a bundle has them in, each once."""
    return [each for _, each in sorted({each.source.key: each for each in entries}.items())]
