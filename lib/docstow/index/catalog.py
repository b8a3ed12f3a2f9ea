"""The catalogue: the cards of everything that is stowed, for searches over all of it.

It is immutable segments and a manifest that names them. A publish appends a card: it joins the
small segment at the end with it, or begins another one. Jobs and upkeep join segments into larger
ones. All of it is derived from heads and snapshots; what is lost or damaged upkeep makes anew.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from docstow.core import auth
from docstow.core.model import Head, Snapshot, Source
from docstow.core.visibility import Visibility
from docstow.index.card_set import Buckets, CardSet, Ranking
from docstow.index.cards import CRATES, Card, Entry, card_of, key_of, outranks, tables_of
from docstow.index.catalog_store import CatalogStore
from docstow.index.manifest import Manifest, Reference
from docstow.index.segments import Damaged, join_current, make_segment
from docstow.index.waiting import Waiting
from docstow.store.heads import consistently
from docstow.store.objects import ObjectStore, tolerate_read_only
from docstow.store.snapshots import Snapshots

#: A publish joins its card with the last segment as long as that has fewer cards.
TAIL = 64
#: Of so many visibilities the sets of cards are kept.
_VIEWS_KEPT = 32


class _Overtaken(Exception):
    """Another writer has swapped the manifest."""


class Catalog:
    """The cards of a store. Safe to share between threads.

    Args:
        store: where the catalogue is, below ``catalog/``.
        snapshots: the published snapshots, which the cards are made from.
        freshness_s: for so long the manifest is answered from memory; after that it is requested
            with its tag.
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
        self.objects = CatalogStore(store, freshness_s=freshness_s, clock=clock)
        self.waiting = Waiting(self.objects)
        self._snapshots = snapshots
        self._reading = threading.Lock()
        self._buckets = Buckets()
        self._card_set: tuple[tuple[str, ...], CardSet] = ((), CardSet((), self._buckets))
        #: What callers see that are bound to sources, with the set that it is of.
        self._views: OrderedDict[Visibility, tuple[CardSet, CardSet]] = OrderedDict()

    # Reading

    def card_set(self, *, fresh: bool = False) -> CardSet:
        """Return the cards that the caller sees; those left out that cannot be read.

        The store is asked for the manifest, and for segments that this process does not have.

        Args:
            fresh: ask for the manifest whatever is remembered.
        """
        with self._reading:
            segments = self.objects.load(fresh=fresh)
            there = tuple(each.identity for each in segments)
            if self._card_set[0] != there:
                self._card_set = there, CardSet(segments, self._buckets)
            bound = auth.caller().bound
            return self._card_set[1] if bound is None else self._view(bound)

    def _view(self, bound: Visibility) -> CardSet:
        """Return the cards of those sources that are seen."""
        whole = self._card_set[1]
        of, view = self._views.pop(bound, (None, whole))
        if of is not whole:
            view = CardSet(whole.segments, self._buckets, bound)
        self._views[bound] = whole, view
        if len(self._views) > _VIEWS_KEPT:
            self._views.popitem(last=False)
        return view

    def covering(self, kinds: Collection[str]) -> CardSet | None:
        """Return all cards if each source of some kinds is known to have one; else None.

        For who would otherwise list the store. None for a store whose sources of these kinds were
        stowed by releases that gave them no cards, until upkeep has made these.
        """
        cards = self.card_set()
        manifest = self.objects.refresh()
        whole = [each.identity for each in cards.segments] == [e.id for e in manifest.segments]
        return cards if whole and set(kinds) <= set(manifest.covered) else None

    def damaged(self) -> set[str]:
        """Return the ids of segments that the manifest names and that cannot be read."""
        with self._reading:
            return self.objects.damaged()

    def rank(
        self,
        query: str,
        model: str,
        vector: NDArray[np.float32],
        kinds: Collection[str] = CRATES,
    ) -> Ranking:
        """Return the cards of some kinds of sources, ranked; see :meth:`CardSet.rank`."""
        try:
            return self.card_set().rank(query, model, vector, kinds)
        except Damaged:
            # Joined with others and deleted since the manifest was read, most likely.
            return self.card_set(fresh=True).rank(query, model, vector, kinds)

    # Writing

    def add(self, card: Card) -> int:
        """Let a card represent its source; return the corrections that the manifest had then.

        Three requests, four where there is a small segment to join it with.

        Raises:
            StoreError: others were faster every time, or the store cannot be used.
        """
        cards = self._card_set[1]
        known = cards.find(card.key) if len(cards) else None
        if known == card.entry:
            manifest = self.objects.refresh(fresh=True)
            if tuple(each.id for each in manifest.segments) == self._card_set[0]:
                return manifest.corrections
        return self.append([card])

    @contextlib.contextmanager
    def listed(self, card: Card) -> Iterator[None]:
        """Keep a card in the catalogue while and after its snapshot is published.

        A process killed in between leaves a card that differs from the head, which a reader
        corrects; publishing first could leave a stowed source without a card for good. If someone
        corrects before the head is there, the card is added again afterwards.
        """
        corrections = self.add(card)
        yield
        if self.objects.refresh(fresh=True).corrections != corrections:
            self.append([card])

    def card(self, snapshot: Snapshot) -> Card:
        """Return the card of a stowed snapshot, made from its tables."""
        tables = tables_of(snapshot.revision.source.kind)
        return card_of(snapshot, self._snapshots.fetch(snapshot, tables))

    @auth.calling(auth.OWNER)
    def correct(self, entry: Entry) -> Entry | None:
        """Correct the card of a key by its heads; return it, or None if nothing is stowed.

        For a card that differs from its head, as its source was evicted or its writer killed.
        """
        source = entry.source
        heads = [
            head
            for kind in (CRATES if source.kind in CRATES else (source.kind,))
            for head in self._snapshots.heads(kind, source.name)
            if head.snapshot_id and key_of(head.source) == entry.key
        ]
        cards = list(self.make(best_heads(heads).values()))
        with tolerate_read_only("the catalogue is not corrected"):
            self.append(cards, [source], corrections=1)
        return cards[0].entry if cards else None

    @auth.calling(auth.OWNER)
    def forget(self, sources: Iterable[Source]) -> None:
        """Take the cards of sources out whose heads have come to name nothing.

        For a crate that has other versions the best of these gets the card.
        """
        cards = self.card_set(fresh=True)
        found = ((source, cards.find(key_of(source))) for source in sources)
        carded = [entry for source, entry in found if entry and entry.source == source]
        for entry in carded:
            if entry.source.kind in CRATES:
                with consistently():
                    self.correct(entry)
        gone = [entry.source for entry in carded if entry.source.kind not in CRATES]
        with tolerate_read_only("the cards of what is gone stay"):
            for begin in range(0, len(gone), TAIL):
                self.append([], gone[begin : begin + TAIL], corrections=1)

    def append(
        self, cards: Sequence[Card], gone: Sequence[Source] = (), *, corrections: int = 0
    ) -> int:
        """Append cards of one model, after the sources that are stowed no more.

        Returns:
            The corrections that the manifest had before it named them.
        """
        fresh = make_segment(cards, gone)
        written: dict[tuple[int, str], Reference] = {}
        tries, before = 0, 0

        def change(manifest: Manifest) -> Manifest:
            nonlocal tries, before
            tries += 1
            before = before if tries > 1 else manifest.corrections
            if not corrections and (tries > 1 or len(manifest.taken) > 1):
                raise _Overtaken  # or others were, a moment ago
            tail = manifest.segments[-1:]
            joins = tries == 1 and tail and tail[0].cards + len(fresh.head) <= TAIL
            if not joins or len({tail[0].model, fresh.head.model} - {""}) > 1:
                tail = ()
            place = (manifest.epoch, tail[0].id if tail else "")
            if place not in written:
                segment = fresh
                if tail:
                    try:
                        segment = join_current([self.objects.read(tail[0]), fresh], drop=False)
                    except Damaged:
                        tail, place = (), (manifest.epoch, "")
                written[place] = self.objects.write(segment, manifest.epoch)
            kept = manifest.segments[: -len(tail)] if tail else manifest.segments
            return replace(
                manifest,
                segments=(*kept, written[place]),
                corrections=manifest.corrections + corrections,
            )

        try:
            self.objects.change(change)
        except _Overtaken:
            self.waiting.append(fresh)
        return before

    def make(self, heads: Iterable[Head]) -> Iterator[Card]:
        """Yield the cards of what heads have stowed."""
        for head in heads:
            snapshot = self._snapshots.load(head)
            if snapshot is not None:
                yield self.card(snapshot)


def best_heads(heads: Iterable[Head]) -> dict[str, Head]:
    """Return for each card's key the head that represents it."""
    best: dict[str, Head] = {}
    for head in heads:
        key = key_of(head.source)
        other = best.get(key)
        if outranks(head.source, other.source if other else None):
            best[key] = head
    return best
