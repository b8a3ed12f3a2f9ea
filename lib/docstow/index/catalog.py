"""The catalog: one card a stowed crate, small enough that all crates' cards are kept in memory.

The cards are spread over a few objects of the store. They are derived from heads and snapshots: a
shard that is missing or damaged is made again.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import json
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.errors import TooLarge, UnreadableInput
from docstow.core.model import CRATE, LOCAL, Head, Snapshot, Source
from docstow.core.versions import choose
from docstow.index.ranking import top
from docstow.index.tables import read_table, unpack_vectors
from docstow.net.decompress import Limits, decompress
from docstow.store.heads import is_consistent
from docstow.store.objects import ObjectStore, ReadOnlyStore, Unchanged
from docstow.store.snapshots import Snapshots
from docstow.store.update import Codec, update
from docstow.text import bm25

#: The keyword fields of a card with their BM25F weight and length normalisation b.
FIELDS = {
    "name": (4.0, 0.0),
    "about": (3.0, 0.5),
    "modules": (2.0, 0.75),
    "names": (1.0, 0.75),
    "sentences": (1.0, 0.75),
}

#: How many items, those first that others mention most, lend their names and sentences.
MOST_ITEMS = 200

#: How many centres of its items' vectors stand for a crate.
CENTRES = 16
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Card:
    """The summary of one stowed crate.

    Attributes:
        source: kind, name, version and target.
        snapshot: what the card was made from.
        model: the embedding model of the centres; centres of different models are never compared.
        kinds: kinds of items that the crate has, sorted.
        texts: one text for each of :data:`FIELDS`.
        centres: unit vectors, float16: (at most :data:`CENTRES`, dimensions).
    """

    source: Source
    snapshot: str
    model: str
    kinds: tuple[str, ...]
    texts: tuple[str, ...]
    centres: NDArray[np.float16]

    @property
    def key(self) -> str:
        """The key of its name and target, for which there is one card."""
        return card_key(self.source.name, self.source.target)


def card_key(name: str, target: str = "") -> str:
    """Return the key of a card: the name as Rust spells it, and the target if there is one."""
    plain = name.replace("-", "_")
    return f"{plain}@{target}" if target else plain


def outranks(source: Source, other: Source | None = None) -> bool:
    """Return whether a source represents its name instead of the one that did before.

    One that came from a file does, then the version that answers a request for the latest, as in
    :func:`docstow.core.versions.choose`; of equals the later one.
    """
    if other is not None and source.kind != other.kind:
        return source.kind == LOCAL
    versions = [source.version, *([other.version] if other is not None else [])]
    return choose("", versions) == source.version


def make_card(
    source: Source,
    snapshot: str,
    model: str,
    facts: Mapping[str, Any],
    documents: Mapping[str, Sequence[Any] | NDArray[Any]],
    vectors: NDArray[np.float32],
) -> Card:
    """Make the card of a crate.

    Args:
        source: what was stowed.
        snapshot: its id.
        model: id of the embedding model.
        facts: what the snapshot says of the crate.
        documents: the columns kind, title, summary and attributes of its documents.
        vectors: one vector a document: (documents, dimensions).
    """
    kinds = [str(kind) for kind in documents["kind"]]
    mentions = [json.loads(each).get("in_degree", 0) for each in documents["attributes"]]
    by_mentions = sorted(range(len(kinds)), key=lambda row: -mentions[row])
    modules = [row for row, kind in enumerate(kinds) if kind == "module"]
    items = [row for row in by_mentions if kinds[row] != "module"][:MOST_ITEMS]

    def joined(column: str, rows: Sequence[int]) -> str:
        return "\n".join(str(documents[column][row]) for row in rows)

    texts = (
        source.name,
        f"{facts.get('description') or ''}\n{facts.get('summary') or ''}".strip(),
        f"{joined('title', modules)}\n{joined('summary', modules)}",
        joined("title", items),
        joined("summary", items),
    )
    return Card(
        source, snapshot, model, tuple(sorted(set(kinds))), texts, find_centres(vectors, CENTRES)
    )


def find_centres(vectors: NDArray[np.float32], count: int) -> NDArray[np.float16]:
    """Return unit vectors that represent many: spherical k-means (Dhillon and Modha 2001).

    It begins with the vector nearest to the mean and then those farthest from all before them
    (Gonzalez 1985), so the same vectors always give the same centres.

    Args:
        vectors: (n, dimensions), of any lengths.
        count: how many centres at most; fewer come back where there are fewer vectors.
    """
    unit = _unit(vectors)
    if not len(unit):
        return unit.astype(np.float16)
    chosen = [int(np.argmax(unit @ unit.mean(axis=0)))]
    nearest = unit @ unit[chosen[0]]
    while len(chosen) < min(count, len(unit)):
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, unit @ unit[chosen[-1]])
    found = unit[chosen]
    for _ in range(_ROUNDS):
        members = np.arange(len(found))[:, None] == np.argmax(unit @ found.T, axis=1)
        sums = members.astype(np.float32) @ unit
        # A centre that lost all its vectors stays where it was.
        found = np.where(sums.any(axis=1, keepdims=True), _unit(sums), found)
    return found.astype(np.float16)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit


def encode_card(card: Card) -> dict[str, Any]:
    """Return the card as JSON values; its centres as base64 of little-endian float16."""
    packed = base64.b64encode(card.centres.astype("<f2").tobytes()).decode()
    return {
        "source": asdict(card.source),
        "snapshot": card.snapshot,
        "model": card.model,
        "kinds": list(card.kinds),
        "texts": dict(zip(FIELDS, card.texts, strict=True)),
        "dimensions": card.centres.shape[1],
        "centres": packed,
    }


def decode_card(fields: Mapping[str, Any]) -> Card:
    """Read an encoded card.

    Raises:
        KeyError, TypeError, ValueError: it is not one.
    """
    packed = np.frombuffer(base64.b64decode(fields["centres"], validate=True), "<f2")
    return Card(
        source=Source(**fields["source"]),
        snapshot=fields["snapshot"],
        model=fields["model"],
        kinds=tuple(fields["kinds"]),
        texts=tuple(str(fields["texts"][name]) for name in FIELDS),
        centres=packed.reshape(-1, max(1, fields["dimensions"])).astype(np.float16),
    )


class Deck:
    """Cards that are ranked for a query.

    Args:
        cards: in any order; their order makes no difference.
    """

    def __init__(self, cards: Collection[Card]) -> None:
        self.cards = sorted(cards, key=lambda card: card.key)

    def rank(self, query: str, model: str, vector: NDArray[np.float32]) -> list[tuple[Card, float]]:
        """Return all cards with their scores, best first.

        A score is the sum of two standard scores: of BM25F over the cards' texts, and of the best
        cosine among a card's centres. Cards of another model have the first alone.

        Args:
            query: what is looked for.
            model: id of the model that embedded it.
            vector: its vector, (dimensions,).
        """
        terms = bm25.tokens(query)
        keyword = bm25.score(self._postings.get, terms, len(self.cards))
        known = np.array([card.model == model for card in self.cards], np.bool_)
        cosine = np.array(
            [
                (card.centres.astype(np.float32) @ vector).max(initial=-1.0)
                for card in self.cards
                if card.model == model
            ],
            np.float32,
        )
        scores = standard_scores(keyword)
        scores[known] += standard_scores(cosine)
        return [(self.cards[row], float(scores[row])) for row in top(scores, len(scores))]

    @cached_property
    def _postings(self) -> dict[str, tuple[NDArray[np.int32], NDArray[np.float32]]]:
        weights, lengths = zip(*FIELDS.values(), strict=True)
        found = bm25.build_postings([card.texts for card in self.cards], weights, lengths)
        return dict(zip(found.terms, zip(found.rows, found.weights, strict=True), strict=True))


def standard_scores(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how many standard deviations values are above their mean; 0 where all are equal."""
    spread = float(values.std()) if len(values) else 0.0
    if spread < 1e-6:
        return np.zeros_like(values)
    result: NDArray[np.float32] = ((values - values.mean()) / spread).astype(np.float32)
    return result


SCHEMA = 1
SHARDS = 16
Cards = Mapping[str, Card]
#: Begins the tags of shards that this process remembers and could not write.
_UNWRITTEN = "unwritten "


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

        self._change(_shard_number(card.source.name), put)

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
        known = self._refresh(_shard_number(source.name)).cards
        current = known.get(card_key(source.name, source.target))
        if current is not None and current.snapshot == snapshot.id:
            return current
        return self._make(snapshot)

    def correct(self, card: Card) -> Card | None:
        """Correct the card of a name by the heads; return it, or None if nothing is stowed.

        For a card that differs from its head, as its source was evicted or its writer killed.
        """
        shard = _shard_number(card.source.name)

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
        return recent and not is_consistent()

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
        cards = _decode_shard(stored.body) if stored else None
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
            done = update(self._store, _key(shard), _SHARD_CODEC, changed)
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
                if _shard_number(name) == shard:
                    heads = self._snapshots.heads(kind, name)
                    yield from (head for head in heads if head.snapshot_id)

    def _make(self, snapshot: Snapshot) -> Card:
        return card_of(snapshot, self._snapshots.fetch(snapshot, ("documents", "passages")))


def card_of(snapshot: Snapshot, files: Mapping[str, Path]) -> Card:
    """Make the card of a snapshot from the files of its tables ``documents`` and ``passages``."""
    documents = read_table(files["documents"], ("kind", "title", "summary", "attributes"))
    blobs = read_table(files["passages"], ("embedding",), where="ordinal = 0")["embedding"]
    return make_card(
        snapshot.revision.source,
        snapshot.id,
        snapshot.recipe.model,
        snapshot.facts,
        documents,
        unpack_vectors(blobs),
    )


def _shard_number(name: str) -> int:
    return int(hashlib.sha256(card_key(name).encode()).hexdigest()[:8], 16) % SHARDS


def _key(shard: int) -> str:
    return f"catalog/{shard:02d}.json.gz"


def _encode_shard(cards: Cards) -> bytes:
    fields = {"schema": SCHEMA, "cards": [encode_card(cards[key]) for key in sorted(cards)]}
    return gzip.compress(json.dumps(fields, ensure_ascii=False).encode(), mtime=0)


def _decode_shard(body: bytes, _: str = "") -> Cards | None:
    """Return the cards of a shard by key; None if it is damaged or of another schema."""
    try:
        fields = json.loads(decompress([body], Limits(), name="a shard of the catalogue"))
        if fields["schema"] != SCHEMA:
            return None
        cards = [decode_card(each) for each in fields["cards"]]
    except (UnreadableInput, TooLarge, KeyError, TypeError, ValueError):
        return None
    return {card.key: card for card in cards}


_SHARD_CODEC: Codec[Cards] = Codec(_decode_shard, _encode_shard)
