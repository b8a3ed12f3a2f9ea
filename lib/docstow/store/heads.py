"""Heads: which snapshot answers for a source now. The only objects that ever change.

This room knows how a head is read, remembered and swapped. It does not know what a snapshot is.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from urllib.parse import unquote

from docstow.core import concurrency as freshness
from docstow.core.errors import StoreError
from docstow.core.model import Head, Source
from docstow.store.objects import AlreadyThere, Conflict, ObjectStore, Unchanged, escape
from docstow.store.objects.protocol import LONGEST_SEGMENT
from docstow.store.records import decode_head, encode_head, head_key, heads_prefix

PARALLEL = 8
ATTEMPTS = 40

#: Anybody may ask for names that do not exist, so only so many answers are remembered.
NAMES_KEPT = 1024


class Fenced(Conflict):
    """A snapshot is of an epoch that is over: it may be deleted, so it cannot come to answer."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A head as this process last saw it; ``asked_at`` in seconds of the clock."""

    head: Head
    etag: str
    asked_at: float


def moved(head: Head, snapshot_id: str, keep: int) -> Head:
    """The head when it comes to name another snapshot, or none.

    Args:
        head: as it is.
        snapshot_id: what is to answer; empty for nothing.
        keep: how many snapshots it names afterwards at most, the one that answers included.
    """
    former = dict.fromkeys(filter(None, (head.snapshot_id, *head.earlier)))
    former.pop(snapshot_id, None)
    earlier = tuple(former)[: max(keep - 1, 0)]
    return replace(head, snapshot_id=snapshot_id, generation=head.generation + 1, earlier=earlier)


def fenced(head: Head) -> Head:
    """The head when what it does not name can never be named again; what it names is named on."""
    return replace(head, epoch=head.epoch + 1)


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
        self._known: dict[Source, _Known] = {}
        self._changes = 0
        self._listed: dict[tuple[str, str], tuple[float, tuple[Head, ...]]] = {}

    def get(self, source: Source, *, fresh: bool = False) -> Head | None:
        """The head of a source, or None; ``fresh`` asks the store even if memory is young."""
        known = self._known.get(source)
        asked_at = self._clock()
        if known is None:
            stored = self._store.get(head_key(source))
        elif not (fresh or freshness.wanted()) and asked_at - known.asked_at < self._freshness_s:
            return known.head
        else:
            changed = self._store.get_changed(head_key(source), known.etag)
            if isinstance(changed, Unchanged):
                return self._remember(replace(known, asked_at=asked_at))
            stored = changed
        if stored is None:
            with self._guard:
                self._known.pop(source, None)
            return None
        head = decode_head(stored.body, head_key(source))
        return self._remember(_Known(head, stored.etag, asked_at))

    def named(self, kind: str, name: str) -> list[Head]:
        """All heads of a name, one per version and target, in the order of their keys.

        The answer, an empty one too, is remembered for as long as a head is.
        """
        if len(escape(name)) > LONGEST_SEGMENT:
            return []  # callers ask for whatever they were given; no head can have this name
        asked_at = self._clock()
        listed = self._listed.get((kind, name))
        recent = listed is not None and asked_at - listed[0] < self._freshness_s
        if listed is not None and recent and not freshness.wanted():
            return list(listed[1])
        changes = self._changes
        heads = self._list(kind, name)
        with self._guard:
            if changes != self._changes:
                return heads  # one of them was changed meanwhile, so this is not worth keeping
            self._listed.pop((kind, name), None)
            self._listed[kind, name] = (asked_at, tuple(heads))
            if len(self._listed) > NAMES_KEPT:
                del self._listed[next(iter(self._listed))]
        return heads

    def _list(self, kind: str, name: str) -> list[Head]:
        keys = [entry.key for entry in self._store.list(heads_prefix(kind, name))]
        if not keys:
            return []
        with ThreadPoolExecutor(min(PARALLEL, len(keys))) as pool:
            found = list(pool.map(self._store.get, keys))
        return [
            decode_head(stored.body, key)
            for key, stored in zip(keys, found, strict=True)
            if stored is not None
        ]

    def names(self, kind: str) -> list[str]:
        """All names of a kind that have a head, in alphabetical order."""
        keys = (entry.key for entry in self._store.list(f"heads/{escape(kind)}/"))
        return sorted({unquote(key.split("/")[2]) for key in keys})

    def change(self, source: Source, change: Callable[[Head | None], Head]) -> Head:
        """Read, change, swap; from the start again when another writer was faster.

        Args:
            source: whose head to change.
            change: makes the new head of the current one. It may be called several times, and may
                raise to leave the head as it is.

        Raises:
            StoreError: others were faster every time.
        """
        key = head_key(source)
        for attempt in range(ATTEMPTS):
            current = self._store.get(key)
            head = change(decode_head(current.body, key) if current else None)
            body = encode_head(head)
            try:
                if current is None:
                    etag = self._store.create(key, body)
                else:
                    etag = self._store.swap(key, body, current.etag)
            except (AlreadyThere, Conflict):
                time.sleep(random.uniform(0, 0.005 * (attempt + 1)))  # noqa: S311 - no secret
                continue
            with self._guard:
                self._changes += 1
                self._listed.pop((source.kind, source.name), None)
            return self._remember(_Known(head, etag, self._clock()))
        raise StoreError(
            f"The head of {source.key} was changed by others {ATTEMPTS} times in a row; try again"
            " later."
        )

    def _remember(self, known: _Known) -> Head:
        """Keep what was seen last: the answer to an older question never replaces a newer one."""
        with self._guard:
            newest = self._known.get(known.head.source)
            if newest is None or newest.asked_at <= known.asked_at:
                self._known[known.head.source] = known
                return known.head
            return newest.head
