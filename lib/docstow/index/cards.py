"""Cards: summaries of whole crates, small enough that all crates' cards are kept in memory."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import LOCAL, Source
from docstow.core.versions import choose
from docstow.index.ranking import top
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
ITEMS = 200

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
    items = [row for row in by_mentions if kinds[row] != "module"][:ITEMS]

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


def encode(card: Card) -> dict[str, Any]:
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


def decode(fields: Mapping[str, Any]) -> Card:
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
