"""Which sources of pages a request is about where it names none: by their cards, or all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from docstow.core.threads import in_parallel
from docstow.sources import kind_of, page_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from docstow.core.model import Registration, Snapshot, Source
    from docstow.embedding import Embedder
    from docstow.index.cards import Entry
    from docstow.index.catalog import Catalog
    from docstow.sources.registry import Registry
    from docstow.store.snapshots import Snapshots

#: So many sources are looked into at most where there are more; those whose cards suit best.
MOST_SOURCES = 24

#: A source and the snapshot that answers for it.
Answered = tuple["Registration", "Snapshot"]


class PageSources:
    """The sources of pages that answer. Safe to share between threads.

    Nothing is listed, however many there are: the catalogue says which have a snapshot. In a store
    that a release without cards has filled the registry is listed until upkeep has made them, and
    all sources are looked into.

    Args:
        snapshots: the published snapshots.
        registry: the registered sources.
        open_catalog: opens the catalogue.
        open_embedder: opens the model that queries are embedded with.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        registry: Registry,
        open_catalog: Callable[[], Catalog],
        open_embedder: Callable[[], Embedder],
    ) -> None:
        self._snapshots = snapshots
        self._registry = registry
        self._open_catalog = open_catalog
        self._open_embedder = open_embedder

    def choose(
        self,
        query: str,
        wanted: Collection[str] = (),
        without: Collection[str] = (),
        *,
        meaning: bool = True,
    ) -> list[Answered]:
        """Return all sources that answer, or the best :data:`MOST_SOURCES` of them for a query.

        Args:
            query: what is looked for.
            wanted: kinds of sources; empty for all.
            without: ids of sources that are left out.
            meaning: compare vectors, too.
        """
        entries = self._entries(wanted)
        if entries is None:
            return self._listed(lambda each: each.id not in without, wanted)
        left = [each.source for each in entries if each.source.name not in without]
        if len(left) > MOST_SOURCES:
            left = self._best(query, set(left), meaning=meaning)
        return self._answering(left)

    def at(self, address: str) -> list[Answered]:
        """Return the sources that a page's address, path or id may be of.

        Of many sources those of the address's host, the nearest first, or those that suit it.
        """
        entries = self._entries()
        if entries is None:
            return self._listed(lambda _: True)
        host = urlsplit(address).netloc.lower()
        near = [e for e in entries if host and urlsplit(e.keywords).netloc.lower() == host]
        if len(entries) <= MOST_SOURCES or not near:
            return self.choose(address)
        near.sort(key=lambda each: -_shared(each.keywords, address))
        return self._answering([each.source for each in near[:MOST_SOURCES]])

    def of_id(self, beginning: str) -> list[Answered]:
        """Return the sources whose ids begin so."""
        entries = self._entries()
        if entries is None:
            return self._listed(lambda each: each.id.startswith(beginning))
        return self._answering(e.source for e in entries if e.source.name.startswith(beginning))

    def _entries(self, wanted: Collection[str] = ()) -> list[Entry] | None:
        """Return the cards of sources of pages; None where some may lack."""
        of_pages = set(page_kinds())
        chosen = of_pages & set(wanted) if wanted else of_pages
        cards = self._open_catalog().covering(chosen)
        return None if cards is None else list(cards.entries(chosen))

    def _best(self, query: str, left: set[Source], *, meaning: bool) -> list[Source]:
        import numpy as np

        of_kinds = {each.kind for each in left}
        catalog, model, vector = self._open_catalog(), "", np.zeros(0, np.float32)
        if meaning:
            embedder = self._open_embedder()
            model, vector = embedder.id, embedder.embed_query(query)
        ranked = catalog.rank(query, model, vector, of_kinds)
        found = (entry.source for entry, _ in ranked if entry.source in left)
        return [source for source, _ in zip(found, range(MOST_SOURCES), strict=False)]

    def _answering(self, found: Iterable[Source]) -> list[Answered]:
        """Return what answers for some sources, each with its registration, in one round."""
        chosen = list(found)
        asked: list[Callable[[], Any]] = [
            *(partial(self._registry.find, each.name) for each in chosen),
            *(partial(self._snapshots.answering, each) for each in chosen),
        ]
        find, answering = self._registry.is_at_hand, self._snapshots.is_at_hand
        if all(find(each.name) and answering(each) for each in chosen):
            results = [ask() for ask in asked]  # nothing waits, and threads take longer to begin
        else:
            results = in_parallel(lambda ask: ask(), asked)
        pairs = zip(results[: len(chosen)], results[len(chosen) :], strict=True)
        # A source that was deleted a moment ago may have its card still.
        return _sorted((each, made) for each, made in pairs if each and made)

    def _listed(
        self, suits: Callable[[Registration], bool], wanted: Collection[str] = ()
    ) -> list[Answered]:
        found = [
            each
            for each in self._registry.all()
            if kind_of(each.kind).has_pages and suits(each) and (not wanted or each.kind in wanted)
        ]
        newest = in_parallel(lambda each: self._snapshots.answering(each.source), found)
        return [(each, made) for each, made in zip(found, newest, strict=True) if made is not None]


def _sorted(found: Iterable[Answered]) -> list[Answered]:
    """Return sources in the order of the registry."""
    return sorted(found, key=lambda each: (each[0].kind, each[0].title.casefold(), each[0].id))


def _shared(one: str, other: str) -> int:
    """Return how many characters two addresses begin with alike."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
