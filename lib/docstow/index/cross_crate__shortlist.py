"""Which of the stowed crates are worth searching for a query.

This room knows cards, and follows them to the snapshots that answer now. It does not know how
items are found in a crate.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from docstow.core.concurrency import in_parallel
from docstow.core.errors import CrateNotFound
from docstow.index.cards import card_key

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.embedding._embed import Embedder
    from docstow.index.cards import Card
    from docstow.index.catalog import Catalog
    from docstow.index.search__search import Filters
    from docstow.store.snapshots import Snapshots

#: How many crates are chosen at most.
CRATES = 5

#: A crate whose score is so far below the best one's is not searched.
MARGIN = 4.0


class Shortlist:
    """The stowed crates in the order in which they suit one query.

    Args:
        catalog: has a card of each.
        snapshots: has the heads, which are right where the two differ.
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

    def across(self, filters: Filters) -> list[tuple[Snapshot, float]]:
        """The best :data:`CRATES` crates that can pass the filters, best first, with scores.

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
            followed = in_parallel(lambda pair: self._followed(pair[0]), left[:count])
            scores = [score for _, score in left[:count]]
            pairs = zip(followed, scores, strict=True)
            chosen += [(snapshot, score) for snapshot, score in pairs if snapshot is not None]
            left = left[count:]
        return chosen

    def score(self, snapshot: Snapshot) -> float:
        """How well a crate suits the query; that of the worst card for one that has none."""
        source = snapshot.revision.source
        key = card_key(source.name, source.target)
        scores = {card.key: score for card, score in self._ranked}
        return scores.get(key, min(scores.values(), default=0.0))

    @cached_property
    def _ranked(self) -> list[tuple[Card, float]]:
        vector = self._embedder.embed_query(self._query)
        ranked = self._catalog.deck().ranked(self._query, self._embedder.id, vector)
        return [pair for pair in ranked if pair[0].source.target == self._target]

    def _followed(self, card: Card) -> Snapshot | None:
        """The snapshot that answers for a card; one that the heads belie is corrected first."""
        head = self._snapshots.head(card.source)
        if head is None or head.snapshot_id != card.snapshot:
            corrected = self._catalog.correct(card)
            if corrected is None:
                return None
            card = corrected
        return self._snapshots.load(card.snapshot)


def _can_pass(card: Card, filters: Filters) -> bool:
    """Whether the crate has items of those kinds, and its name is that of the module's root."""
    root = filters.module.split("::")[0]
    named = not root or root == card_key(card.source.name)
    return named and (not filters.kinds or bool(set(filters.kinds) & set(card.kinds)))
