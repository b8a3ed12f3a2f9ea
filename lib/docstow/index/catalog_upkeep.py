"""Upkeep of the catalogue: segments are joined, cards made that lack, and what is left deleted."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from docstow.core.errors import StoreError
from docstow.core.model import Head, Source
from docstow.core.threads import in_parallel
from docstow.index.cards import Card, outranks
from docstow.index.catalog import TAIL, Catalog, best_heads
from docstow.index.catalog_store import OLD_SHARDS, by_model
from docstow.index.manifest import SEGMENTS, Manifest, Reference, plan, plan_small
from docstow.index.segments import Damaged, Segment, join_current
from docstow.store.snapshots import Snapshots

#: So many cards upkeep makes anew in a round, and so many snapshots it tries for them.
MOST_MADE, MOST_TRIED = 500, 2000


@dataclass(frozen=True, slots=True)
class Maintained:
    """What a round of upkeep has done to the catalogue.

    Attributes:
        dropped: cards that were taken out.
        made: cards that were made anew.
        joined: segments that were joined into others.
        deleted: objects that were deleted.
    """

    dropped: int = 0
    made: int = 0
    joined: int = 0
    deleted: int = 0


class CatalogUpkeep:
    """Keeps a catalogue small and whole. Each step ends with one swap of the manifest.

    Args:
        catalog: the catalogue.
        snapshots: the published snapshots, which the cards are made from.
    """

    def __init__(self, catalog: Catalog, snapshots: Snapshots) -> None:
        self._catalog = catalog
        self._objects = catalog.objects
        self._snapshots = snapshots

    def rebuild(self, kinds: Collection[str]) -> int:
        """Make every card again from heads and snapshots; return their number.

        What others append meanwhile stays.

        Args:
            kinds: all that there are of sources.
        """
        former = {each.id for each in self._objects.refresh(fresh=True).segments}
        heads = [
            head
            for kind in kinds
            for name in self._snapshots.names(kind)
            for head in self._snapshots.heads(kind, name)
            if head.snapshot_id
        ]
        best = list(best_heads(heads).values())

        def change(manifest: Manifest) -> Manifest:
            segments = by_model(self._catalog.make(best))
            made = tuple(self._objects.write(segment, manifest.epoch) for segment in segments)
            later = tuple(each for each in manifest.segments if each.id not in former)
            corrections = manifest.corrections + 1
            return replace(
                manifest,
                segments=made + later,
                corrections=corrections,
                covered=tuple(sorted(kinds)),
            )

        self._objects.change(change)
        return len(self._catalog.card_set(fresh=True))

    def join_small(self) -> int:
        """Join small segments if there are many; return how many were joined. For jobs.

        Searches over everything need not wait for upkeep then, however much is stowed at once. Who
        wrote the last segment does it, not everybody; that one others are about to change.
        """
        segments = self._objects.refresh().segments
        if not segments or segments[-1].id != self._objects.last_written:
            return 0
        return self._join(lambda manifest: plan_small(manifest.segments[:-1]), fresh=False)

    def _join(self, plan: Callable[[Manifest], tuple[int, int]], *, fresh: bool = True) -> int:
        """Join the segments of a plan; 0 if there is none, or others have changed them."""
        manifest = self._objects.refresh(fresh=fresh)
        begin, end = plan(manifest)
        chosen = manifest.segments[begin:end]
        if len(chosen) < 2:
            return 0
        try:
            segment = join_current(in_parallel(self._objects.read, list(chosen)), drop=begin == 0)
        except Damaged:
            return 0  # the next upkeep makes anew what it had
        written: dict[int, Reference] = {}
        joined = 0

        def change(current: Manifest) -> Manifest:
            nonlocal joined
            joined = 0
            if current.segments[begin:end] != chosen:
                return current
            if current.epoch not in written:
                written[current.epoch] = self._objects.write(segment, current.epoch)
            joined = len(chosen)
            made = (written[current.epoch],) if len(segment.head) else ()
            kept = (*current.segments[:begin], *made, *current.segments[end:])
            return replace(current, segments=kept)

        self._objects.change(change)
        return joined

    def maintain(
        self, heads: Mapping[Source, Head], oldest: datetime, kinds: Collection[str]
    ) -> Maintained:
        """Do what is due. Each step is whole by itself, and the next round does what is left.

        Args:
            heads: of every source, as a look at the store found them, however old.
            oldest: by the store's clock; what is younger may belong to somebody at work.
            kinds: all that there are of sources.
        """
        self._catalog.waiting.name_all()
        deleted = self._sweep(oldest)
        lost = self._forget_damaged()
        dropped, made, left = self._reconcile(heads)
        covered = tuple(sorted(set(kinds) - left))
        if self._objects.refresh().covered != covered or lost:
            self._objects.change(lambda manifest: replace(manifest, covered=covered))
        joined = 0
        while step := self._join(lambda manifest: plan(manifest.segments)):
            joined += step
        return Maintained(dropped, made, joined, deleted)

    def _sweep(self, oldest: datetime) -> int:
        """Delete segments that cannot be named any more, and the shards of earlier releases."""
        listed = list(self._objects.objects.list("catalog/"))
        manifest = self._objects.refresh(fresh=True)
        named = {each.key for each in manifest.segments}
        unnamed = [e for e in listed if e.key.startswith(SEGMENTS) and e.key not in named]
        old = [e.key for e in unnamed if e.modified <= oldest]
        current = f"{SEGMENTS}{manifest.epoch}-"
        dead = [key for key in old if not key.startswith(current)]
        if len(dead) < len(old):
            # From now on no swap can name these, and the next round deletes them.
            self._objects.change(lambda m: replace(m, epoch=max(m.epoch, manifest.epoch + 1)))
        dead += [e.key for e in listed if e.key in OLD_SHARDS and e.modified <= oldest]
        in_parallel(self._objects.objects.delete, dead)
        return len(dead)

    def _forget_damaged(self) -> int:
        """Take segments out of the manifest that cannot be read; return how many."""
        damaged = self._catalog.damaged()
        if damaged:
            self._objects.change(
                lambda current: replace(
                    current,
                    segments=tuple(e for e in current.segments if e.id not in damaged),
                    covered=(),
                )
            )
        return len(damaged)

    def _reconcile(self, heads: Mapping[Source, Head]) -> tuple[int, int, set[str]]:
        """Make the cards those of the heads.

        Returns:
            How many were dropped, and made; and the kinds of sources of which some are left.
        """
        answering = [head for head in heads.values() if head.snapshot_id]
        best = best_heads(answering)
        cards = self._catalog.card_set()
        present = {each.key: each for each in cards.entries()}
        gone = [
            each.source
            for each in present.values()
            if each.source not in heads or not heads[each.source].snapshot_id
        ]
        # What the look has not seen may have come since, so that the store is asked once more.
        gone = [source for source in gone if not self._answers(source)]
        dropped = set(gone)
        kept = {key: each for key, each in present.items() if each.source not in dropped}
        wanted = [
            head
            for key, head in best.items()
            if key not in kept
            or (head.source != kept[key].source and outranks(head.source, kept[key].source))
        ]
        if gone:
            for begin in range(0, len(gone), TAIL):
                self._catalog.append([], gone[begin : begin + TAIL], corrections=1)
        random.shuffle(wanted)  # those that cannot be made hold no others up for good
        batch: list[Card] = []
        tried = 0
        while tried < min(len(wanted), MOST_TRIED) and len(batch) < MOST_MADE:
            with contextlib.suppress(StoreError):  # a damaged snapshot is a matter for verify
                batch += self._catalog.make([wanted[tried]])
            tried += 1
        for segment in by_model(batch):
            self._append_segment(segment)
        return len(gone), len(batch), {head.source.kind for head in wanted[tried:]}

    def _answers(self, source: Source) -> bool:
        head = self._snapshots.head(source, fresh=True)
        return head is not None and bool(head.snapshot_id)

    def _append_segment(self, segment: Segment) -> None:
        written: dict[int, Reference] = {}

        def change(manifest: Manifest) -> Manifest:
            if manifest.epoch not in written:
                written[manifest.epoch] = self._objects.write(segment, manifest.epoch)
            return replace(manifest, segments=(*manifest.segments, written[manifest.epoch]))

        self._objects.change(change)
