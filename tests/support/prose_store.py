"""A store with registered sources whose pages are given, for tests of what reads them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from docstow.core.model import Document, Recipe, Registration, Revision, Snapshot, Source
from docstow.embedding import Embedder, bundled
from docstow.index.catalog import Catalog
from docstow.index.loaded import Index
from docstow.index.profiles import PAGES
from docstow.index.tables import Columns, tabulate, write_table
from docstow.library.prose import Prose
from docstow.sources.registry import Registry
from docstow.store.objects import DirectoryStore
from docstow.store.snapshots import BlobCache, Snapshots

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def page(path: str, text: str, title: str = "", **attributes: object) -> Document:
    """A page whose title is its first heading unless one is given."""
    first = text.partition("\n")[0].removeprefix("# ")
    return Document(path, "page", title or first, text=text, attributes=attributes)


class ProseStore:
    """A store in a directory.

    Args:
        root: where it is.
        embedder: what pages and questions are embedded with.
    """

    def __init__(self, root: Path, embedder: Embedder | None = None) -> None:
        store = DirectoryStore(root / "store")
        self.embedder = embedder or bundled()
        self.snapshots = Snapshots(store, BlobCache(root / "cache", 1 << 30), freshness_s=0)
        self.registry = Registry(store)
        self.catalog = Catalog(store, self.snapshots, freshness_s=0)
        self.prose = Prose(
            self.snapshots, self.registry, lambda: self.catalog, lambda: self.embedder, 1 << 30
        )

    def stow(
        self,
        name: str,
        documents: Sequence[Document],
        *,
        kind: str = "collection",
        known: Mapping[str, bytes] | None = None,
    ) -> tuple[Registration, Snapshot]:
        """Publish pages as the newest snapshot of a source, which is registered if need be."""
        registration, _ = self.registry.create(kind, name)
        documents = sorted(documents, key=lambda each: each.path)
        with tempfile.TemporaryDirectory() as folder:
            tables = tabulate(
                PAGES,
                documents,
                [],
                self.embedder,
                source_id=registration.id,
                known=known or {},
            )
            snapshot = self.snapshots.publish(
                Revision(registration.source, "", origin=kind),
                recipe(self.embedder),
                written(tables.columns, Path(folder)),
                [document.digest() for document in documents],
                {"documents": len(documents)},
                {},
                NOW,
                keep=registration.keep,
            )
        return registration, snapshot


def indexed(folder: Path, documents: Sequence[Document], names: Sequence[str] = ()) -> Index:
    """The tables of pages in a folder, without a store; those that are named, or all."""
    documents = sorted(documents, key=lambda each: each.path)
    source = Source("collection", "f" * 64)
    columns = tabulate(PAGES, documents, [], bundled(), source_id=source.name).columns
    files = written({name: columns[name] for name in names or columns}, folder)
    snapshot = Snapshot("0" * 64, Revision(source, ""), recipe(bundled()), {}, {}, {}, {}, NOW)
    return Index(snapshot, files.__getitem__)


def recipe(embedder: Embedder) -> Recipe:
    """What pages are made into tables with."""
    return PAGES.recipe("prose/1", embedder.id)


def written(columns: Mapping[str, Columns], folder: Path) -> dict[str, Path]:
    """Files of tables by name."""
    files = {table: folder / f"{table}.parquet" for table in columns}
    for table, file in files.items():
        write_table(columns[table], file)
    return files
