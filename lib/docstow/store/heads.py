"""Heads, which say what snapshot answers for a source now, and the stored form of all records.

A head is never deleted, and its generation and epoch never fall.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from docstow.core import auth
from docstow.core.errors import StoreError
from docstow.core.model import Head, Recipe, Revision, Snapshot, Source
from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.store.objects import Conflict, ObjectStore, Unchanged, escape
from docstow.store.objects.protocol import LONGEST_SEGMENT
from docstow.store.update import Codec, update

SCHEMA = 1
#: Schema of records whose blobs have a place, and of heads with an epoch. Releases that do not
#: know these would break the rules that they stand for, so they refuse this number.
PLACED = 2
#: Schema of records whose tables are in one blob.
PACKED = 3
#: Longer records, in bytes, are not copied into heads, which are read for all versions at once.
LONGEST_COPY = 32 * 1024
#: Anybody may ask for names that do not exist, so only so many answers are remembered.
NAMES_KEPT = 1024
_consistent: ContextVar[bool] = ContextVar("consistent", default=False)


class Fenced(Conflict):
    """A snapshot is of an epoch that is over: it may be deleted, so it cannot come to answer."""


@dataclass(frozen=True, slots=True)
class StoredHead:
    """A head, and the tag of the very state that was read."""

    head: Head
    etag: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """A head as this process last saw it; ``asked_at`` in seconds of the clock."""

    head: Head
    etag: str
    asked_at: float


class Heads:
    """The heads of a store, remembered for a few seconds. Safe to share between threads.

    A caller that is bound to sources is given the heads of those alone.

    Args:
        store: where they live.
        freshness_s: for so long a head is answered from memory; after that it is asked for with
            its tag. That a single source has none is never remembered.
        clock: monotonic seconds.
    """

    def __init__(
        self, store: ObjectStore, *, freshness_s: float, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._freshness_s = freshness_s
        self._clock = clock
        self._guard = threading.Lock()
        self._seen: dict[Source, _Seen] = {}
        self._changes = 0
        self._listed: dict[tuple[str, str], tuple[float, tuple[Head, ...]]] = {}

    def get(self, source: Source, *, fresh: bool = False) -> Head | None:
        """Return the head of a source, or None; ``fresh`` asks the store whatever is remembered."""
        if not auth.sees_head(source):
            return None
        seen = self._seen.get(source)
        asked_at = self._clock()
        if seen is None:
            stored = self._store.get(head_key(source))
        elif not fresh and self._is_young(seen):
            return seen.head
        else:
            changed = self._store.get_changed(head_key(source), seen.etag)
            if isinstance(changed, Unchanged):
                return self._remember(replace(seen, asked_at=asked_at))
            stored = changed
        if stored is None:
            with self._guard:
                self._seen.pop(source, None)
            return None
        head = decode_head(stored.body, head_key(source))
        return self._remember(_Seen(head, stored.etag, asked_at))

    def young(self, source: Source) -> Head | None:
        """Return the head of a source if :meth:`get` would not ask the store for it, or None."""
        seen = self._seen.get(source) if auth.sees_head(source) else None
        return seen.head if seen is not None and self._is_young(seen) else None

    def _is_young(self, seen: _Seen) -> bool:
        return not is_consistent() and self._clock() - seen.asked_at < self._freshness_s

    def remembered(self, kind: str, name: str) -> list[Head]:
        """Return the heads of a name that are in memory, however old; the store is not asked."""
        if not auth.sees_head(Source(kind, name)):
            return []
        with self._guard:
            seen = [each.head for each in self._seen.values()]
        return [head for head in seen if (head.source.kind, head.source.name) == (kind, name)]

    def named(self, kind: str, name: str) -> list[Head]:
        """Return all heads of a name, one per version and target, in the order of their keys.

        The answer, an empty one too, is remembered for as long as a head is.
        """
        if not auth.sees_head(Source(kind, name)):
            return []
        asked_at = self._clock()
        listed_at, listed = self._listed.get((kind, name), (-math.inf, ()))
        if asked_at - listed_at < self._freshness_s and not is_consistent():
            return list(listed)
        if len(escape(name)) > LONGEST_SEGMENT:
            return []  # callers ask for whatever they were given; no head can have this name
        changes = self._changes
        keys = [entry.key for entry in self._store.list(heads_prefix(kind, name))]
        found = zip(keys, in_parallel(self._store.get, keys), strict=True)
        heads = [decode_head(stored.body, key) for key, stored in found if stored is not None]
        with self._guard:
            if changes != self._changes:
                return heads  # one of them was changed meanwhile, so this is not worth keeping
            self._listed.pop((kind, name), None)
            self._listed[kind, name] = (asked_at, tuple(heads))
            if len(self._listed) > NAMES_KEPT:
                del self._listed[next(iter(self._listed))]
        return heads

    def names(self, kind: str) -> list[str]:
        """Return all names of a kind that have a head, in alphabetical order."""
        keys = (entry.key for entry in self._store.list(f"heads/{escape(kind)}/"))
        found = {unquote(key.split("/")[2]) for key in keys}
        # The names of pages' sources are ids, by which nobody is bound.
        return sorted(name for name in found if auth.sees(kind, name))

    def change(self, source: Source, change: Callable[[Head | None], Head]) -> Head:
        """Change a head, again from its new state if another writer was faster.

        Args:
            source: whose head to change.
            change: makes the new head of the current one. It may be called several times, and may
                raise to leave the head as it is.

        Raises:
            StoreError: others were faster every time.
        """
        asked_at = 0.0

        def changed(current: Head | None) -> Head:
            nonlocal asked_at
            asked_at = self._clock()
            return change(current)

        done = update(self._store, head_key(source), Codec(decode_head, encode_head), changed)
        if done.after is None:
            raise AssertionError("a change makes a head")
        if not done.written:
            return self._remember(_Seen(done.after, done.etag, asked_at))
        with self._guard:
            self._changes += 1
            self._listed.pop((source.kind, source.name), None)
        return self._remember(_Seen(done.after, done.etag, self._clock()))

    def _remember(self, seen: _Seen) -> Head:
        """Keep what was seen last: the answer to an older question never replaces a newer one."""
        with self._guard:
            newest = self._seen.get(seen.head.source)
            if newest is None or newest.asked_at <= seen.asked_at:
                self._seen[seen.head.source] = seen
                return seen.head
            return newest.head


@contextlib.contextmanager
def consistently() -> Iterator[None]:
    """Make all reads within see what any process published before they began."""
    token = _consistent.set(True)
    try:
        yield
    finally:
        _consistent.reset(token)


def is_consistent() -> bool:
    """Return whether reads must ask the store now instead of a cache."""
    return _consistent.get()


def point_to(head: Head, snapshot_id: str, keep: int) -> Head:
    """Return the head when it comes to name another snapshot, or none.

    Args:
        head: as it is.
        snapshot_id: what is to answer; empty for nothing.
        keep: how many snapshots it names afterwards at most, the one that answers included.
    """
    former = dict.fromkeys(filter(None, (head.snapshot_id, *head.earlier)))
    former.pop(snapshot_id, None)
    earlier = tuple(former)[: max(keep - 1, 0)]
    return replace(head, snapshot_id=snapshot_id, generation=head.generation + 1, earlier=earlier)


def end_epoch(head: Head) -> Head:
    """Return the head in its next epoch: what it does not name now can never be named again."""
    return replace(head, epoch=head.epoch + 1)


def replace_head(store: ObjectStore, seen: StoredHead, head: Head) -> bool:
    """Replace the very state of a head that was seen; False if others have changed it since."""
    try:
        store.swap(head_key(seen.head.source), encode_head(head), seen.etag)
    except Conflict:
        return False
    return True


def place_of(source: Source, epoch: int) -> str:
    """Return the part of a blob's key that says its source and the epoch of the source's head."""
    return f"{hashlib.sha256(source.key.encode()).hexdigest()[:16]}-{epoch}"


def blob_key(digest: str, place: str = "") -> str:
    """Return the key of a table: its SHA-256 in hex, and its place if it has one."""
    return f"blobs/{digest}.{place}.parquet" if place else f"blobs/{digest}.parquet"


def pack_key(digest: str, place: str) -> str:
    """Return the key of a pack of tables: its SHA-256 in hex, and its place."""
    return f"blobs/{digest}.{place}.pack"


def list_blobs(snapshot: Snapshot) -> list[tuple[str, int]]:
    """Return keys and lengths of a snapshot's blobs."""
    if snapshot.pack:
        return [(pack_key(snapshot.pack, snapshot.place), sum(snapshot.sizes.values()))]
    return [
        (blob_key(digest, snapshot.place), snapshot.sizes[name])
        for name, digest in snapshot.tables.items()
    ]


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


def has_copy(head: Head) -> bool:
    """Return whether a head holds the very record of what answers."""
    expected = head.records.get(head.snapshot_id)
    return bool(head.record) and record_digest(head.record.encode()) == expected


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Return the stored form of a snapshot's record."""
    return _encode(
        {
            "schema": PACKED if snapshot.pack else PLACED if snapshot.place else SCHEMA,
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
            **({"pack": snapshot.pack} if snapshot.pack else {}),
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
            pack=str(fields.get("pack", "")),
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
    """Return the stored form of a head, with the digests of those records that it names.

    The copy of a record that does not answer any more is left out.
    """
    records = {each: head.records[each] for each in head.named if each in head.records}
    copied = has_copy(head)
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
            **({"record": head.record} if copied else {}),
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
            record=str(fields.get("record", "")),
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
    if fields.get("schema") not in (SCHEMA, PLACED, PACKED):
        raise StoreError(
            f"{key} has schema {fields.get('schema')!r}, this release reads {SCHEMA} to {PACKED};"
            " use the release that wrote the store, or an empty store."
        )
    return fields


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
