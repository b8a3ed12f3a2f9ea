"""The stored form of snapshots and heads: their keys, and JSON with a schema version."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from docstow.core.errors import StoreError
from docstow.core.model import Head, Recipe, Revision, Snapshot, Source
from docstow.store.objects import escape

SCHEMA = 1
#: Schema of records whose blobs have a place, and of heads with an epoch. Releases that do not
#: know these would break the rules that they stand for, so they refuse this number.
PLACED = 2


def place_of(source: Source, epoch: int) -> str:
    """Return the part of a blob's key that says its source and the epoch of the source's head."""
    return f"{hashlib.sha256(source.key.encode()).hexdigest()[:16]}-{epoch}"


def blob_key(digest: str, place: str = "") -> str:
    """Return the key of a table: its SHA-256 in hex, and its place if it has one."""
    return f"blobs/{digest}.{place}.parquet" if place else f"blobs/{digest}.parquet"


def snapshot_key(identity: str) -> str:
    """Return the key of a snapshot's record."""
    return f"snapshots/{identity}.json"


def heads_prefix(kind: str, name: str) -> str:
    """Return the prefix of the keys of all heads of a name."""
    return f"heads/{escape(kind)}/{escape(name)}/"


def head_key(source: Source) -> str:
    """Return ``heads/<kind>/<name>/<version>[@<target>].json``, each part escaped."""
    target = f"@{escape(source.target)}" if source.target else ""
    return f"{heads_prefix(source.kind, source.name)}{escape(source.version)}{target}.json"


def record_digest(body: bytes) -> str:
    """Return the digest by which a head holds a snapshot's record: SHA-256 in hex."""
    return hashlib.sha256(body).hexdigest()


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Return the stored form of a snapshot's record."""
    return _encode(
        {
            "schema": PLACED if snapshot.place else SCHEMA,
            "id": snapshot.id,
            "revision": asdict(snapshot.revision),
            "recipe": asdict(snapshot.recipe),
            "tables": {
                name: {"blob": digest, "bytes": snapshot.sizes[name]}
                for name, digest in snapshot.tables.items()
            },
            "counts": dict(snapshot.counts),
            "facts": dict(snapshot.facts),
            "created_at": _format_time(snapshot.created_at),
            **(
                {"epoch": snapshot.epoch, "content": snapshot.content, "place": snapshot.place}
                if snapshot.place
                else {}
            ),
        }
    )


def decode_snapshot(body: bytes, key: str) -> Snapshot:
    """Read the stored form of a snapshot's record; ``key`` is named in the error.

    Raises:
        StoreError: it is damaged or of another schema.
    """
    fields = _decode(body, key)
    try:
        revision = dict(fields["revision"])
        source = Source(**revision.pop("source"))
        tables: Mapping[str, Mapping[str, Any]] = fields["tables"]
        return Snapshot(
            id=fields["id"],
            revision=Revision(source=source, **revision),
            recipe=Recipe(**fields["recipe"]),
            tables={name: table["blob"] for name, table in tables.items()},
            sizes={name: table["bytes"] for name, table in tables.items()},
            counts=fields["counts"],
            facts=fields["facts"],
            created_at=datetime.fromisoformat(fields["created_at"]),
            epoch=int(fields.get("epoch", 0)),
            content=str(fields.get("content", fields["id"])),
            place=str(fields.get("place", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise damaged(key) from fault


def find_mismatch(snapshot: Snapshot, digest: str, identity: str, head: Head | None) -> str:
    """Return why a record is not the one that is expected at its key; empty if it is.

    Args:
        snapshot: what the record says.
        digest: of its stored form, see :func:`record_digest`.
        identity: the id in its key.
        head: the head that names it; None if none does.
    """
    if snapshot.id != identity or (head is not None and snapshot.revision.source != head.source):
        return "is of another source"
    if head is not None and head.records.get(identity, digest) != digest:
        return "is damaged: its content has another digest"
    return ""


def encode_head(head: Head) -> bytes:
    """Return the stored form of a head, with the digests of those records that it names."""
    records = {each: head.records[each] for each in head.named if each in head.records}
    return _encode(
        {
            "schema": PLACED if head.epoch else SCHEMA,
            "source": asdict(head.source),
            "snapshot": head.snapshot_id,
            "generation": head.generation,
            "checked_at": _format_time(head.checked_at),
            "origin": head.origin,
            **({"earlier": list(head.earlier)} if head.earlier else {}),
            **({"epoch": head.epoch} if head.epoch else {}),
            **({"records": records} if records else {}),
        }
    )


def decode_head(body: bytes, key: str) -> Head:
    """Read the stored form of the head at ``key``.

    Raises:
        StoreError: it is damaged, of another schema, or the head of another source.
    """
    fields = _decode(body, key)
    try:
        head = Head(
            source=Source(**fields["source"]),
            snapshot_id=fields["snapshot"],
            generation=int(fields["generation"]),
            checked_at=datetime.fromisoformat(fields["checked_at"]),
            origin=fields["origin"],
            earlier=tuple(map(str, fields.get("earlier", ()))),
            epoch=int(fields.get("epoch", 0)),
            records=dict(fields.get("records", {})),
        )
        misplaced = head_key(head.source) != key
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise damaged(key) from fault
    if misplaced:
        raise damaged(key)
    return head


def damaged(key: str) -> StoreError:
    """Return the error about an object that cannot be what was written."""
    return StoreError(f"{key} in the store is damaged; delete it and stow the source again.")


def _encode(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False).encode()


def _decode(body: bytes, key: str) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except ValueError as fault:
        raise damaged(key) from fault
    if not isinstance(fields, dict):
        raise damaged(key)
    if fields.get("schema") not in (SCHEMA, PLACED):
        raise StoreError(
            f"{key} has schema {fields.get('schema')!r}, this release reads {SCHEMA} and {PLACED};"
            " use the release that wrote the store, or an empty store."
        )
    return fields


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
