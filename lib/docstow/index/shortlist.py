"""The shortlist: which of all stowed crates a search over everything looks into."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.core.errors import CrateNotFound
from docstow.core.threads import in_parallel
from docstow.index.cards import card_key
from docstow.index.search import ItemFilters

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.embedding import Embedder
    from docstow.index.card_set import Ranking
    from docstow.index.cards import Entry
    from docstow.index.catalog import Catalog
    from docstow.store.snapshots import Snapshots

#: How many crates are chosen at most.
_MOST_CRATES = 7

#: A crate whose score is so far below the best one's is not searched.
_MARGIN = 6.0

#: What being one that the project depends on adds to a score: most crates that suit differ by less.
_OF_PROJECT = 3.0


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

    def choose(
        self, filters: ItemFilters, project: Collection[str] = ()
    ) -> list[tuple[Snapshot, float]]:
        """Return the best :data:`_MOST_CRATES` crates that can pass the filters, with their scores.

        Args:
            filters: what is looked for in them.
            project: names of crates that a project depends on; each counts for more.

        Raises:
            CrateNotFound: nothing is stowed yet.
        """
        if not len(self._ranking):
            raise CrateNotFound(
                'No crate is stowed yet. Name some, as in "crates": ["tokio"], and they are stowed'
                " now; or stow them with `docstow ingest crate NAME...`. If some are stowed,"
                " `docstow store upkeep` makes the catalogue of them anew."
            )
        left = self._passing(filters, project)
        chosen: list[tuple[Snapshot, float]] = []
        while len(chosen) < _MOST_CRATES and (
            pairs := list(itertools.islice(left, _MOST_CRATES - len(chosen)))
        ):
            loaded = in_parallel(self._load, [entry for entry, _ in pairs])
            chosen += [
                (snapshot, score)
                for snapshot, (_, score) in zip(loaded, pairs, strict=True)
                if snapshot is not None
            ]
        return chosen

    def score(self, snapshot: Snapshot) -> float:
        """Return how well a crate suits the query: as the worst card if it has none."""
        source = snapshot.revision.source
        return self._ranking.score(source.name, source.target)

    def _passing(
        self, filters: ItemFilters, project: Collection[str]
    ) -> Iterator[tuple[Entry, float]]:
        """Yield the crates that can pass the filters, best first, as long as they suit."""
        least = -math.inf
        for entry, score in self._preferring(project):
            if entry.source.target != self._target or not _can_pass(entry, filters):
                continue
            if least == -math.inf:
                least = score - _MARGIN
            if score < least:
                return
            yield entry, score

    def _preferring(self, project: Collection[str]) -> Iterator[tuple[Entry, float]]:
        """Yield all crates, best first, those of a project raised by :data:`_OF_PROJECT`."""
        found = [self._ranking.find(name, self._target) for name in project]
        own = {entry.key: (entry, score + _OF_PROJECT) for entry, score in filter(None, found)}
        raised = sorted(own.values(), key=_by_score)
        others = (pair for pair in self._ranking if pair[0].key not in own)
        return heapq.merge(raised, others, key=_by_score)

    @cached_property
    def _ranking(self) -> Ranking:
        vector = self._embedder.embed_query(self._query)
        return self._catalog.rank(self._query, self._embedder.id, vector)

    def _load(self, entry: Entry) -> Snapshot | None:
        """Return the snapshot that answers for a card; a card that is out of date is corrected."""
        head = self._snapshots.head(entry.source)
        if head is None or not head.snapshot_id:
            corrected = self._catalog.correct(entry)
            if corrected is None:
                return None
            head = self._snapshots.head(corrected.source, fresh=True)
        return self._snapshots.load(head) if head is not None else None


def _by_score(pair: tuple[Entry, float]) -> float:
    return -pair[1]


def _can_pass(card: Entry, filters: ItemFilters) -> bool:
    """Return whether the crate has items of those kinds, and the name of the module's root."""
    root = filters.module.split("::")[0]
    named = not root or root == card_key(card.source.name)
    return named and (not filters.kinds or bool(set(filters.kinds) & set(card.kinds)))
