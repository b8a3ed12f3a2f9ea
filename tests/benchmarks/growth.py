"""What grows with the number of sources, ten to thousands: each a collection of three pages.

They are published by the product's own writer, from tables that are made once for each of fifty
texts, so that thousands are there in a minute: the fifty-first holds what the first one holds. The
catalogue gets their cards 64 at a time, and files are not synced to the disk.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

from benchmarks.measure import mib, ms, quantile, table
from benchmarks.probe import QUESTIONS
from docstow.core.model import Revision, Snapshot
from docstow.core.settings import load
from docstow.index.cards import Card, card_of, make_entry
from docstow.index.catalog import TAIL
from docstow.index.profiles import PAGES
from docstow.index.tables import tabulate
from docstow.runtime import Runtime
from prose_store import NOW, ProseStore, page, recipe, written

SIZES = (10, 100, 1000, 3000)

#: How many collections differ.
_DIFFERENT = 50
_TEXTS = (
    "# {name} manual\n\nHow {name} is moored: {query}, then wait for the tide of {name}.\n",
    "# Loading {name}\n\nThe crane lowers what {name} carries. To {query}, ask the harbour.\n",
    "# Papers of {name}\n\nEvery list is signed twice, and {name} keeps one of the two.\n",
)


def run(folder: Path, most: int) -> None:
    """Print what searches, lists and upkeep take at each size up to one.

    Args:
        folder: where the store is made.
        most: no more sources than these.
    """
    heads = ["sources", "to publish one", "list, first", "again", "search all, first", "again"]
    heads += ["search one, first", "again", "upkeep", "stored and cached"]
    table("Growth, CPU in process", heads, _rows(folder, most))


def _rows(folder: Path, most: int) -> Iterator[list[str]]:
    fleet = _Fleet(folder)
    settings = load({"store": f"{folder}/store", "cache": f"{folder}/cache"}, {})
    for size in [each for each in SIZES if each <= most]:
        begun, added = time.process_time(), size - fleet.count
        one = fleet.grow(size)
        published = (time.process_time() - begun) / added
        with contextlib.closing(Runtime(settings)) as runtime:
            upkeep = _upkeep(runtime)
        with contextlib.closing(Runtime(settings)) as runtime:
            cells = [f"{size}", ms(published)]
            for tool, arguments in (
                ("list_sources", {}),
                ("search_docs", {"query": QUESTIONS[0]}),
                ("search_docs", {"query": QUESTIONS[0], "source_id": one}),
            ):
                taken = []
                for _ in range(6):
                    begun = time.process_time()
                    runtime.toolbox.call(tool, arguments).render()
                    taken.append(time.process_time() - begun)
                cells += [ms(taken[0]), ms(quantile(taken[1:], 0.5))]
        stored = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
        yield [*cells, ms(upkeep), mib(stored)]


def _upkeep(runtime: Runtime) -> float:
    """Return the CPU seconds of a round after one that has read what is new."""
    runtime.upkeep().run()
    begun = time.process_time()
    runtime.upkeep().run()
    return time.process_time() - begun


class _Fleet:
    """A store with so many collections."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store = ProseStore(folder)
        self._tables = cache(self._make_tables)
        self._carded: dict[int, Card] = {}
        self.count = 0

    def _make_tables(self, number: int) -> tuple[dict[str, Path], list[str]]:
        name, query = f"ship{number}", QUESTIONS[number % len(QUESTIONS)]
        texts = [text.format(name=name, query=query) for text in _TEXTS]
        pages = [page(f"p{number}.md", text) for number, text in enumerate(texts)]
        embedder = self._store.embedder
        made = tabulate(PAGES, pages, [], embedder, source_id=f"{number:064x}", known={})
        place = self._folder / "tables" / name
        place.mkdir(parents=True)
        return written(made.columns, place), [each.digest() for each in pages]

    def _cards(self, number: int, snapshot: Snapshot) -> Card:
        """Return the card of one of the texts, of whichever source."""
        if number not in self._carded:
            self._carded[number] = card_of(snapshot, self._tables(number)[0])
        return self._carded[number]

    def grow(self, size: int) -> str:
        """Publish collections until there are so many; return the id of the last."""
        store, last, cards = self._store, "", []
        with _unsynced():
            for number in range(self.count, size):
                registration, _ = store.registry.create("collection", f"ship{number}")
                tables, digests = self._tables(number % _DIFFERENT)
                snapshot = store.snapshots.publish(
                    Revision(registration.source, "", origin="collection"),
                    recipe(store.embedder),
                    tables,
                    digests,
                    {"documents": len(digests)},
                    {},
                    NOW,
                    keep=registration.keep,
                )
                last = registration.id
                card = self._cards(number % _DIFFERENT, snapshot)
                cards.append(
                    replace(card, entry=make_entry(snapshot.revision.source, snapshot.id, {}))
                )
            for begin in range(0, len(cards), TAIL):
                store.catalog.append(cards[begin : begin + TAIL])
        self.count = size
        return last


@contextlib.contextmanager
def _unsynced() -> Iterator[None]:
    """Have writes not wait for the disk."""
    with patch.object(os, "fsync"):
        yield
