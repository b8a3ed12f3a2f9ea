"""Search over several crates: which are worth searching, and one list out of their lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from docstow.core.concurrency import in_parallel
from docstow.core.errors import CrateNotFound
from docstow.core.model import Hit
from docstow.index.cards import card_key
from docstow.index.search import search_items

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.embedding import Embedder
    from docstow.index.cards import Card
    from docstow.index.catalog import Catalog
    from docstow.index.filters import ItemFilters
    from docstow.index.loaded import Index
    from docstow.store.snapshots import Snapshots

#: How many crates are chosen at most.
CRATES = 5

#: A crate whose score is so far below the best one's is not searched.
MARGIN = 4.0

#: So many hits each crate gives; they also set the scale.
DEPTH = 20

#: What a hit's cosine and its crate's score count beside its own score within the crate.
COSINE = 0.5
CRATE = 0.4


class Shortlist:
    """The stowed crates in the order in which they suit one query.

    Args:
        catalog: the cards of crates.
        snapshots: published snapshots; their heads are right where a card differs.
        embedder: embeds the query.
        target: only crates that were stowed for this compilation target.
        query: what is looked for.
    """

    def __init__(
        self,
        catalog: Catalog,
        snapshots: Snapshots,
        embedder: Embedder,
        target: str,
        query: str,
    ) -> None:
        self._catalog = catalog
        self._snapshots = snapshots
        self._embedder = embedder
        self._target = target
        self._query = query

    def choose(self, filters: ItemFilters) -> list[tuple[Snapshot, float]]:
        """Return the best :data:`CRATES` crates that can pass the filters, with their scores.

        Raises:
            CrateNotFound: nothing is stowed yet.
        """
        if not self._ranked:
            raise CrateNotFound(
                'No crate is stowed yet. Name some, as in "crates": ["tokio"], and they are stowed'
                " now; or stow them with `docstow ingest crate NAME...`."
            )
        left = [pair for pair in self._ranked if _can_pass(pair[0], filters)]
        left = [pair for pair in left if pair[1] >= left[0][1] - MARGIN]
        chosen: list[tuple[Snapshot, float]] = []
        while left and len(chosen) < CRATES:
            count = CRATES - len(chosen)
            loaded = in_parallel(lambda pair: self._load(pair[0]), left[:count])
            scores = [score for _, score in left[:count]]
            pairs = zip(loaded, scores, strict=True)
            chosen += [(snapshot, score) for snapshot, score in pairs if snapshot is not None]
            left = left[count:]
        return chosen

    def score(self, snapshot: Snapshot) -> float:
        """Return how well a crate suits the query: as the worst card if it has none."""
        source = snapshot.revision.source
        key = card_key(source.name, source.target)
        scores = {card.key: score for card, score in self._ranked}
        return scores.get(key, min(scores.values(), default=0.0))

    @cached_property
    def _ranked(self) -> list[tuple[Card, float]]:
        vector = self._embedder.embed_query(self._query)
        ranked = self._catalog.deck().rank(self._query, self._embedder.id, vector)
        return [pair for pair in ranked if pair[0].source.target == self._target]

    def _load(self, card: Card) -> Snapshot | None:
        """Return the snapshot that answers for a card; a card that is out of date is corrected."""
        head = self._snapshots.head(card.source)
        if head is None or head.snapshot_id != card.snapshot:
            corrected = self._catalog.correct(card)
            if corrected is None:
                return None
            card = corrected
            head = self._snapshots.head(card.source, fresh=True)
        return self._snapshots.load(head, card.snapshot) if head is not None else None


def _can_pass(card: Card, filters: ItemFilters) -> bool:
    """Return whether the crate has items of those kinds, and the name of the module's root."""
    root = filters.module.split("::")[0]
    named = not root or root == card_key(card.source.name)
    return named and (not filters.kinds or bool(set(filters.kinds) & set(card.kinds)))


@dataclass(frozen=True, slots=True)
class SearchedCrate:
    """One crate to search.

    Attributes:
        index: its loaded tables.
        embedder: the model of its vectors; None where they cannot be compared with.
        score: how well the crate suits the query.
    """

    index: Index
    embedder: Embedder | None
    score: float


@dataclass(frozen=True, slots=True)
class CrateHit:
    """A hit, the cosine of its best passage, and the number of the crate that it is from."""

    hit: Hit
    cosine: float
    crate: int


def search_crates(
    crates: Sequence[SearchedCrate], query: str, *, limit: int, filters: ItemFilters
) -> list[CrateHit]:
    """Return the best hits of several crates, best first.

    Args:
        crates: to search.
        query: what is looked for.
        limit: the largest number of hits.
        filters: what may be in the list.
    """
    lists = []
    for number, crate in enumerate(crates):
        # The same depth for every page: a deeper list would change the order of the first pages.
        hits = search_items(crate.index, crate.embedder, query, limit=DEPTH, filters=filters)
        cosines = _cosines(crate, query, hits)
        lists.append([CrateHit(hit, c, number) for hit, c in zip(hits, cosines, strict=True)])
    return fuse(lists, [crate.score for crate in crates])[:limit]


def fuse(lists: Sequence[Sequence[CrateHit]], scores: Sequence[float]) -> list[CrateHit]:
    """Merge ranked lists into one, best first.

    A hit's score becomes the weighted sum of three: its score within its list and its cosine,
    both as standard scores over the first :data:`DEPTH` hits of all lists, and the score of its
    list. So the scale on which lists were scored makes no difference, and asking for longer lists
    leaves the order of those hits as it was.

    Args:
        lists: hits, best first, scored by one rule.
        scores: one for each list; larger is better.
    """
    first = [found for each in lists for found in each[:DEPTH]]
    relevance = _Scale([found.hit.score for found in first])
    cosine = _Scale([found.cosine for found in first])
    merged = []
    for each, score in zip(lists, scores, strict=True):
        for place, found in enumerate(each, 1):
            fused = relevance(found.hit.score) + COSINE * cosine(found.cosine) + CRATE * score
            details = {
                **found.hit.details,
                "crate": {"score": round(score, 4), "place": place, "cosine": found.cosine},
            }
            merged.append(replace(found, hit=replace(found.hit, score=fused, details=details)))
    # Sorting keeps the order of equals: that of the lists and within them.
    return sorted(merged, key=lambda found: -found.hit.score)


class _Scale:
    """Standard scores by the mean and deviation of some values; all 0 where these are equal."""

    def __init__(self, values: Sequence[float]) -> None:
        self._mean = float(np.mean(values)) if values else 0.0
        self._spread = float(np.std(values)) if values else 0.0

    def __call__(self, value: float) -> float:
        return (value - self._mean) / self._spread if self._spread > 1e-9 else 0.0


def _cosines(crate: SearchedCrate, query: str, hits: Sequence[Hit]) -> list[float]:
    """Return the cosine of each hit's best passage; 0 where words alone were searched."""
    if crate.embedder is None:
        return [0.0] * len(hits)
    index, vector = crate.index, crate.embedder.embed_query(query)
    passages = [index.passage_rows(index.row(hit.path, hit.kind)) for hit in hits]
    matrices = [index.matrix[rows.start : rows.stop] for rows in passages]
    return [round(float((each @ vector).max()), 4) for each in matrices]
