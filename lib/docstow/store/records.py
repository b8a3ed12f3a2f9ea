"""How snapshots and heads are written down: their keys, and JSON with a schema version.

This room knows the stored form. It does not know the store.
"""

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
#: Of records whose blobs have a place, and of heads with an epoch: older releases, which would
#: break the rules that these stand for, refuse them.
PLACED = 2


def place_of(source: Source, epoch: int) -> str:
    """What the blobs of a source bear in one epoch of its head."""
    return f"{hashlib.sha256(source.key.encode()).hexdigest()[:16]}-{epoch}"


def blob_key(digest: str, place: str = "") -> str:
    """Where a table's bytes are: named by their SHA-256 in hex, and by their place if any."""
    return f"blobs/{digest}.{place}.parquet" if place else f"blobs/{digest}.parquet"


def snapshot_key(identity: str) -> str:
    """Where a snapshot's record is."""
    return f"snapshots/{identity}.json"


def heads_prefix(kind: str, name: str) -> str:
    """What the keys of all heads of this name start with."""
    return f"heads/{escape(kind)}/{escape(name)}/"


def head_key(source: Source) -> str:
    """Where a source's head is: ``heads/<kind>/<name>/<version>[@<target>].json``, escaped."""
    target = f"@{escape(source.target)}" if source.target else ""
    return f"{heads_prefix(source.kind, source.name)}{escape(source.version)}{target}.json"


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """The snapshot's stored form."""
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
            "created_at": _stamp(snapshot.created_at),
            **(
                {"epoch": snapshot.epoch, "content": snapshot.content, "place": snapshot.place}
                if snapshot.place
                else {}
            ),
        }
    )


def decode_snapshot(body: bytes, key: str) -> Snapshot:
    """Read a stored snapshot; ``key`` is named in the error.

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
        raise _damaged(key) from fault


def encode_head(head: Head) -> bytes:
    """The head's stored form."""
    return _encode(
        {
            "schema": PLACED if head.epoch else SCHEMA,
            "source": asdict(head.source),
            "snapshot": head.snapshot_id,
            "generation": head.generation,
            "checked_at": _stamp(head.checked_at),
            "origin": head.origin,
            **({"earlier": list(head.earlier)} if head.earlier else {}),
            **({"epoch": head.epoch} if head.epoch else {}),
        }
    )


def decode_head(body: bytes, key: str) -> Head:
    """Read a stored head; ``key`` is named in the error.

    Raises:
        StoreError: it is damaged or of another schema.
    """
    fields = _decode(body, key)
    try:
        return Head(
            source=Source(**fields["source"]),
            snapshot_id=fields["snapshot"],
            generation=int(fields["generation"]),
            checked_at=datetime.fromisoformat(fields["checked_at"]),
            origin=fields["origin"],
            earlier=tuple(map(str, fields.get("earlier", ()))),
            epoch=int(fields.get("epoch", 0)),
        )
    except (KeyError, TypeError, ValueError) as fault:
        raise _damaged(key) from fault


def _encode(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False).encode()


def _decode(body: bytes, key: str) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except ValueError as fault:
        raise _damaged(key) from fault
    if not isinstance(fields, dict):
        raise _damaged(key)
    if fields.get("schema") not in (SCHEMA, PLACED):
        raise StoreError(
            f"{key} has schema {fields.get('schema')!r}, this release reads {SCHEMA} and {PLACED};"
            " use the release that wrote the store, or an empty store."
        )
    return fields


def _damaged(key: str) -> StoreError:
    return StoreError(f"{key} in the store is damaged; delete it and stow the source again.")


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
