"""The catalog: one card a stowed crate, spread over a few objects of the store.

It is derived from heads and snapshots: a shard that is missing or damaged is made again.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from docstow.core import concurrency
from docstow.core.errors import TooLarge, UnreadableInput
from docstow.core.model import CRATE, LOCAL, Head, Snapshot
from docstow.index.cards import Card, Deck, card_key, decode, encode, make_card, outranks
from docstow.index.tables import read_table, unpack_vectors
from docstow.net.decompress import Limits, decompress
from docstow.store.objects import ObjectStore, ReadOnlyStore, Unchanged
from docstow.store.snapshots import Snapshots
from docstow.store.update import Codec, update

SCHEMA = 1
SHARDS = 16
Cards = Mapping[str, Card]
#: Begins the tags of shards that this process remembers and could not write.
_UNWRITTEN = "unwritten "

_COLUMNS = ("kind", "title", "summary", "attributes")


@dataclass(frozen=True, slots=True)
class _Shard:
    """A shard as this process last saw it; ``asked_at`` in seconds of the clock."""

    cards: Cards
    etag: str
    asked_at: float


class Catalog:
    """The cards of a store. Safe to share between threads.

    Args:
        store: where the shards are, below ``catalog/``.
        snapshots: the published snapshots, which the cards are made from.
        freshness_s: for so long a shard is answered from memory; after that it is requested with
            its tag.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        store: ObjectStore,
        snapshots: Snapshots,
        *,
        freshness_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._snapshots = snapshots
        self._freshness_s = freshness_s
        self._clock = clock
        self._guard = threading.Lock()
        self._reading = threading.Lock()
        self._known: dict[int, _Shard] = {}
        self._deck: tuple[tuple[str, ...], Deck] = ((), Deck(()))

    def deck(self) -> Deck:
        """Return all cards; shards that are missing or damaged are made again first."""
        with self._reading:
            stale = [shard for shard in range(SHARDS) if not self._is_fresh(shard)]
            if stale:
                with ThreadPoolExecutor(len(stale)) as pool:
                    list(pool.map(self._refresh, stale))
            shards = [self._known[shard] for shard in range(SHARDS)]
            etags = tuple(shard.etag for shard in shards)
            if self._deck[0] != etags:
                self._deck = etags, Deck([c for shard in shards for c in shard.cards.values()])
            return self._deck[1]

    def add(self, card: Card) -> None:
        """Let a card represent its crate, unless one that outranks it does already."""

        def put(cards: Cards) -> Cards:
            current = cards.get(card.key)
            if current is not None and current.snapshot == card.snapshot:
                return cards
            if not outranks(card.source, current.source if current else None):
                return cards
            return {**cards, card.key: card}

        self._change(_shard_of(card.source.name), put)

    @contextlib.contextmanager
    def listed(self, card: Card) -> Iterator[None]:
        """Keep a card in the catalog while and after its snapshot is published.

        A process killed in between leaves a card that differs from the head, which a reader
        corrects; publishing first could leave a stowed crate without a card for good. The card is
        added again afterwards in case someone corrected or rebuilt too early.
        """
        self.add(card)
        yield
        self.add(card)

    def card(self, snapshot: Snapshot) -> Card:
        """Return the card of a stowed snapshot: the present one, or one made from its tables."""
        source = snapshot.revision.source
        known = self._refresh(_shard_of(source.name)).cards
        current = known.get(card_key(source.name, source.target))
        if current is not None and current.snapshot == snapshot.id:
            return current
        return self._make(snapshot)

    def correct(self, card: Card) -> Card | None:
        """Correct the card of a name by the heads; return it, or None if nothing is stowed.

        For a card that differs from its head, as its source was evicted or its writer killed.
        """
        shard = _shard_of(card.source.name)

        def put(cards: Cards) -> Cards:
            others = {key: each for key, each in cards.items() if key != card.key}
            return others | dict(self._from_heads(shard, card.key).items())

        return self._change(shard, put, if_writable=True).cards.get(card.key)

    def rebuild(self) -> int:
        """Make every shard again from heads and snapshots; return the number of cards."""
        for shard in range(SHARDS):
            self._change(shard, partial(self._remake, shard))
        return len(self.deck().cards)

    def _remake(self, shard: int, _: Cards) -> Cards:
        return self._from_heads(shard)

    def _is_fresh(self, shard: int) -> bool:
        known = self._known.get(shard)
        recent = known is not None and self._clock() - known.asked_at < self._freshness_s
        return recent and not concurrency.is_consistent()

    def _refresh(self, shard: int) -> _Shard:
        known, asked_at = self._known.get(shard), self._clock()
        if known is None:
            stored = self._store.get(_key(shard))
        else:
            changed = self._store.get_changed(_key(shard), known.etag)
            if isinstance(changed, Unchanged):
                return self._remember(shard, replace(known, asked_at=asked_at))
            stored = changed
            if stored is None and known.etag.startswith(_UNWRITTEN):
                return self._remember(shard, replace(known, asked_at=asked_at))
        cards = _decode(stored.body) if stored else None
        if stored is None or cards is None:
            return self._change(shard, lambda cards: cards, if_writable=True)
        return self._remember(shard, _Shard(cards, stored.etag, asked_at))

    def _change(
        self, shard: int, change: Callable[[Cards], Cards], *, if_writable: bool = False
    ) -> _Shard:
        """Change a shard; one that is missing or damaged is made from the heads first.

        Args:
            shard: which one.
            change: makes the new cards of those that are there.
            if_writable: change only what this process remembers if the store cannot be written.

        Raises:
            StoreError: others were faster every time.
        """
        asked_at = 0.0
        new: Cards = {}

        def changed(cards: Cards | None) -> Cards:
            nonlocal asked_at, new
            asked_at = self._clock()
            new = change(self._from_heads(shard) if cards is None else cards)
            return new

        try:
            done = update(self._store, _key(shard), _SHARD, changed)
        except ReadOnlyStore:
            if not if_writable:
                raise
            return self._remember(shard, _Shard(new, f"{_UNWRITTEN}{asked_at}", asked_at))
        if done.written:
            asked_at = self._clock()
        return self._remember(shard, _Shard(new, done.etag, asked_at))

    def _remember(self, shard: int, seen: _Shard) -> _Shard:
        """Keep what was seen last: the answer to an older request never replaces a newer one."""
        with self._guard:
            newest = self._known.get(shard)
            if newest is None or newest.asked_at <= seen.asked_at:
                self._known[shard] = seen
                return seen
            return newest

    def _from_heads(self, shard: int, only: str = "") -> dict[str, Card]:
        """Return the cards of a shard, or one of them, made from heads and snapshots."""
        best: dict[str, Head] = {}
        for head in self._heads(shard):
            key = card_key(head.source.name, head.source.target)
            other = best.get(key)
            if only in ("", key) and outranks(head.source, other.source if other else None):
                best[key] = head
        snapshots = [self._snapshots.load(head) for head in best.values()]
        cards = [self._make(snapshot) for snapshot in snapshots if snapshot is not None]
        return {card.key: card for card in cards}

    def _heads(self, shard: int) -> Iterator[Head]:
        for kind in (CRATE, LOCAL):
            for name in self._snapshots.names(kind):
                if _shard_of(name) == shard:
                    heads = self._snapshots.heads(kind, name)
                    yield from (head for head in heads if head.snapshot_id)

    def _make(self, snapshot: Snapshot) -> Card:
        return card_of(snapshot, self._snapshots.fetch(snapshot, ("documents", "passages")))


def card_of(snapshot: Snapshot, files: Mapping[str, Path]) -> Card:
    """Make the card of a snapshot from the files of its tables ``documents`` and ``passages``."""
    documents = read_table(files["documents"], _COLUMNS)
    blobs = read_table(files["passages"], ("embedding",), where="ordinal = 0")["embedding"]
    vectors = unpack_vectors(blobs, len(blobs[0]) // 2 if len(blobs) else 0)
    return make_card(
        snapshot.revision.source,
        snapshot.id,
        snapshot.recipe.model,
        snapshot.facts,
        documents,
        vectors,
    )


def _shard_of(name: str) -> int:
    return int(hashlib.sha256(card_key(name).encode()).hexdigest()[:8], 16) % SHARDS


def _key(shard: int) -> str:
    return f"catalog/{shard:02d}.json.gz"


def _encode(cards: Cards) -> bytes:
    fields = {"schema": SCHEMA, "cards": [encode(cards[key]) for key in sorted(cards)]}
    return gzip.compress(json.dumps(fields, ensure_ascii=False).encode(), mtime=0)


def _decode(body: bytes, _: str = "") -> Cards | None:
    """Return the cards of a shard by key; None if it is damaged or of another schema."""
    try:
        fields = json.loads(decompress([body], Limits(), name="a shard of the catalogue"))
        if fields["schema"] != SCHEMA:
            return None
        cards = [decode(each) for each in fields["cards"]]
    except (UnreadableInput, TooLarge, KeyError, TypeError, ValueError):
        return None
    return {card.key: card for card in cards}


_SHARD: Codec[Cards] = Codec(_decode, _encode)
