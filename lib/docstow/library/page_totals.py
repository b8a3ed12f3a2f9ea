"""How much is stowed of pages, summed over all sources; only what has changed is read."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from docstow.core.records import dataclass
from docstow.sources import kind_of
from docstow.store.heads import head_key
from docstow.store.kept import Kept

if TYPE_CHECKING:
    from docstow.core.model import Registration
    from docstow.sources.registry import Registry
    from docstow.store.objects import ObjectStore
    from docstow.store.snapshots import Snapshots

TOTALS = "upkeep/totals.json.gz"


@dataclass(frozen=True, slots=True)
class Total:
    """Numbers of what answers, and of the snapshots that are kept."""

    documents: int = 0
    chunks: int = 0
    snapshots: int = 0


class PageTotals:
    """The sums over all sources of pages. Safe to share between threads.

    Args:
        store: what is listed.
        snapshots: the published snapshots.
        registry: the registered sources.
    """

    def __init__(self, store: ObjectStore, snapshots: Snapshots, registry: Registry) -> None:
        self._store = store
        self._snapshots = snapshots
        self._registry = registry
        self._kept: Kept[Total] = Kept(store, TOTALS, astuple, lambda fields: Total(*fields))

    def read(self) -> Total:
        """Return the sums as they are now; heads are listed, and those read that have changed."""
        own = {
            head_key(each.source): each
            for each in self._registry.all()
            if kind_of(each.kind).has_pages
        }
        tags = {
            entry.key: entry.etag
            for kind in sorted({each.kind for each in own.values()})
            for entry in self._store.list(f"heads/{kind}/")
            if entry.key in own
        }
        found = self._kept.read(tags, lambda key: (tags[key], self._total(own[key]))).values()
        return Total(*map(sum, zip(*map(astuple, found), strict=True))) if found else Total()

    def _total(self, registration: Registration) -> Total:
        """Return the numbers of one source; what is newer than its tag is read once more."""
        head = self._snapshots.head(registration.source, fresh=True)
        newest = self._snapshots.load(head) if head is not None else None
        if head is None or newest is None:
            return Total()
        counts = newest.counts
        return Total(counts.get("documents", 0), counts.get("chunks", 0), len(head.named))
