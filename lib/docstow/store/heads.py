"""Heads: which snapshot answers for a source now.

A head is never deleted, and its generation and epoch never fall.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import unquote

from docstow.core import concurrency
from docstow.core.model import Head, Source
from docstow.store.objects import Conflict, ObjectStore, Unchanged, escape
from docstow.store.objects.protocol import LONGEST_SEGMENT
from docstow.store.records import decode_head, encode_head, head_key, heads_prefix
from docstow.store.update import Codec, update

#: Anybody may ask for names that do not exist, so only so many answers are remembered.
NAMES_KEPT = 1024
HEAD: Codec[Head] = Codec(decode_head, encode_head)


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


class Heads:
    """The heads of a store, remembered for a few seconds. Safe to share between threads.

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
        seen = self._seen.get(source)
        asked_at = self._clock()
        if seen is None:
            stored = self._store.get(head_key(source))
        elif (
            not (fresh or concurrency.is_consistent())
            and asked_at - seen.asked_at < self._freshness_s
        ):
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

    def remembered(self, kind: str, name: str) -> list[Head]:
        """Return the heads of a name that are in memory, however old; the store is not asked."""
        with self._guard:
            seen = [each.head for each in self._seen.values()]
        return [head for head in seen if (head.source.kind, head.source.name) == (kind, name)]

    def named(self, kind: str, name: str) -> list[Head]:
        """Return all heads of a name, one per version and target, in the order of their keys.

        The answer, an empty one too, is remembered for as long as a head is.
        """
        if len(escape(name)) > LONGEST_SEGMENT:
            return []  # callers ask for whatever they were given; no head can have this name
        asked_at = self._clock()
        listed = self._listed.get((kind, name))
        recent = listed is not None and asked_at - listed[0] < self._freshness_s
        if listed is not None and recent and not concurrency.is_consistent():
            return list(listed[1])
        changes = self._changes
        keys = [entry.key for entry in self._store.list(heads_prefix(kind, name))]
        found = zip(keys, concurrency.in_parallel(self._store.get, keys), strict=True)
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
        return sorted({unquote(key.split("/")[2]) for key in keys})

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

        done = update(self._store, head_key(source), HEAD, changed)
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
