"""From a question about pages to answers: which snapshots answer, and what to say of a miss.

This room knows registered sources and the snapshots that are kept of them. It does not know how
answers are shown, nor how a source is synced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from docstow.core.concurrency import in_parallel
from docstow.core.errors import DocumentNotFound, InvalidParameter, SnapshotNotFound
from docstow.core.model import Document, Registration, Snapshot
from docstow.library.indexes import IndexCache
from docstow.sources import kind_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from docstow.core.model import Passage
    from docstow.embedding import Embedder
    from docstow.index.filters import PageFilters
    from docstow.index.loaded import Index
    from docstow.index.search import ChunkHit, ExampleHit, Mode
    from docstow.sources.registry import Registry
    from docstow.store.snapshots import Snapshots


_DOCUMENT_ID = re.compile(r"[0-9a-f]{12}\.[0-9a-f]{16}")
_CHUNK_ID = re.compile(r"([0-9a-f]{12}\.[0-9a-f]{16})\.[0-9a-f]{12}")

Answered = tuple[Registration, Snapshot]


class Opened(NamedTuple):
    """A page, whole, and where it is from."""

    registration: Registration
    snapshot: Snapshot
    document: Document
    chunks: list[Passage]


@dataclass(frozen=True, slots=True)
class OpenedChunk:
    """A chunk, whole, among its neighbours.

    Attributes:
        registration: the source.
        snapshot: what it stands in.
        document: the page.
        chunk: the chunk that was asked for.
        before: chunks of the page just before it, in the page's order.
        after: those just after it.
        notice: what the caller should know; empty when the chunk is as it stands now.
    """

    registration: Registration
    snapshot: Snapshot
    document: Document
    chunk: Passage
    before: list[Passage]
    after: list[Passage]
    notice: str = ""


class Prose:
    """Everything that was synced, for reading. Safe to share between threads.

    Args:
        snapshots: published snapshots.
        registry: the registered sources.
        embedder: gives the model that queries are embedded with.
        memory_bytes: bound of the loaded indexes.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        registry: Registry,
        embedder: Callable[[], Embedder],
        memory_bytes: int,
    ) -> None:
        self._snapshots = snapshots
        self._registry = registry
        self._embedder = embedder
        self._indexes: IndexCache[Index] = IndexCache(snapshots, _open_index, memory_bytes)

    def search(
        self,
        query: str,
        *,
        source_ids: Sequence[str] = (),
        snapshot_id: str = "",
        limit: int = 5,
        mode: Mode = "hybrid",
        filters: PageFilters | None = None,
    ) -> tuple[list[ChunkHit], list[Answered]]:
        """The best chunks for a query, best first, and the snapshots that were searched.

        Args:
            query: what is looked for.
            source_ids: ids, beginnings of ids, URIs or titles; empty for every synced source.
            snapshot_id: one that is kept, in place of the newest.
            limit: the largest number of chunks.
            mode: ``hybrid``, ``vector`` or ``keyword``.
            filters: what may be in the list.

        Raises:
            SourceNotFound: a named source is unknown.
            SnapshotNotFound: the snapshot is not kept, or a named source was never synced.
        """
        from docstow.index.search import search_pages

        answered = self._answering(source_ids, snapshot_id, filters.kinds if filters else ())
        indexes = in_parallel(self.index, [snapshot for _, snapshot in answered])
        embedder = None if mode == "keyword" else self._embedder()
        found = search_pages(indexes, embedder, query, limit=limit, mode=mode, filters=filters)
        return found, answered

    def search_examples(
        self,
        query: str,
        *,
        source_ids: Sequence[str] = (),
        snapshot_id: str = "",
        limit: int = 5,
        languages: Collection[str] = (),
        filters: PageFilters | None = None,
    ) -> tuple[list[ExampleHit], list[Answered]]:
        """The best whole code blocks for a query; arguments and errors as for :meth:`search`."""
        from docstow.index.search import search_examples

        answered = self._answering(source_ids, snapshot_id, filters.kinds if filters else ())
        indexes = in_parallel(self.index, [snapshot for _, snapshot in answered])
        found = search_examples(
            indexes, self._embedder(), query, limit=limit, languages=languages, filters=filters
        )
        return found, answered

    def notice(self, answered: Sequence[Answered]) -> str:
        """What the caller should know of a search by meaning; empty when all is as it should be.

        Vectors of two models never meet: a snapshot of another model is searched by words alone.
        """
        model = self._embedder().id
        other = [each.title or each.uri for each, made in answered if made.recipe.model != model]
        if not other:
            return ""
        return (
            f"the embedding model has changed: words alone are searched in {', '.join(other)} "
            "until the next sync, which start_sync begins"
        )

    def document(self, ref: str, *, source: str = "", snapshot_id: str = "") -> Opened:
        """A page, whole.

        Args:
            ref: its id, URL or path.
            source: where to look; every synced source if left out.
            snapshot_id: one that is kept, in place of the newest.

        Raises:
            DocumentNotFound: none, or several sources have it; with suggestions.
            SourceNotFound, SnapshotNotFound: as :meth:`search` does.
        """
        from docstow.index.lookup import find_page

        answered = self._answering([source] if source else [], snapshot_id)
        if _DOCUMENT_ID.fullmatch(ref):
            answered = [each for each in answered if each[0].id.startswith(ref[:12])] or answered
        found = []
        for registration, snapshot in answered:
            row = find_page(self.index(snapshot), ref)
            if row is not None:
                found.append((registration, snapshot, row))
        if len(found) != 1:
            raise self._missing(ref, answered, [(made, row) for _, made, row in found])
        registration, snapshot, row = found[0]
        index = self.index(snapshot)
        chunks = [index.passage(each) for each in index.passage_rows(row)]
        return Opened(registration, snapshot, index.document(row), chunks)

    def chunk(self, chunk_id: str, *, neighbours: int = 0, snapshot_id: str = "") -> OpenedChunk:
        """A chunk, whole: as it stands now, or else in the newest kept snapshot that has it.

        Args:
            chunk_id: as a search gave it.
            neighbours: how many chunks of the page before and after it are wanted.
            snapshot_id: one that is kept, to look in that alone.

        Raises:
            DocumentNotFound: no kept snapshot has it; its page is suggested if that is there.
            SnapshotNotFound: the snapshot is not kept.
        """
        match = _CHUNK_ID.fullmatch(chunk_id)
        answered = self._answering([], snapshot_id)
        own = [each for each in answered if match and each[0].id.startswith(chunk_id[:12])]
        for registration, newest in own:
            for snapshot in [newest] if snapshot_id else self._kept(registration):
                row = self.index(snapshot).find_passage(chunk_id)
                if row is not None:
                    notice = "" if snapshot.id == newest.id else _outdated(snapshot)
                    return self._opened(registration, snapshot, row, neighbours, notice)
        pages = [
            (snapshot, row)
            for _, snapshot in own
            if match and (row := self.index(snapshot).page_row(match[1])) is not None
        ]
        raise self._missing(chunk_id, own or answered, pages)

    def snapshots(self, source: str) -> list[Snapshot]:
        """The kept snapshots of a source, the newest first; none if it was never synced.

        Raises:
            SourceNotFound: it is unknown.
        """
        return list(self._kept(self._registry.get(source)))

    def index(self, snapshot: Snapshot) -> Index:
        """The loaded tables of a snapshot, from memory, the local cache or the store."""
        return self._indexes.get(snapshot)

    def current_document(
        self, registration: Registration, path: str
    ) -> tuple[Document, str] | None:
        """Return the document of a path in what answers for a source now, and the snapshot's id."""
        snapshot = self._snapshots.answering(registration.source, fresh=True)
        if snapshot is None:
            return None
        index = self.index(snapshot)
        row = index.page_row(path)
        return None if row is None else (index.document(row), snapshot.id)

    def _answering(
        self, sources: Sequence[str], snapshot_id: str, kinds: Collection[str] = ()
    ) -> list[Answered]:
        """The snapshots that a request is about, each with its source."""
        if sources:
            named = {each.id: each for each in map(self._registry.get, sources)}
            registrations = list(named.values())
            for each in registrations:
                if not kind_of(each.kind).has_pages:
                    raise InvalidParameter("source", f"{each.title} is a {each.kind}, not pages")
        else:
            registrations = [e for e in self._registry.all() if kind_of(e.kind).has_pages]
        if snapshot_id:
            return [self._chosen(registrations, snapshot_id)]
        if kinds:
            registrations = [each for each in registrations if each.kind in kinds]
        found = in_parallel(self.newest, registrations)
        answered = []
        for registration, snapshot in zip(registrations, found, strict=True):
            if snapshot is not None:
                answered.append((registration, snapshot))
            elif sources and not kind_of(registration.kind).pushed:  # an empty one has no snapshot
                raise SnapshotNotFound(
                    f"{registration.title or registration.uri} has no snapshot yet; begin one with "
                    "start_sync, or wait for the sync that is under way."
                )
        return answered

    def _chosen(self, registrations: Sequence[Registration], snapshot_id: str) -> Answered:
        for registration in registrations:
            head = self._snapshots.head(registration.source)
            snapshot = self._snapshots.load(head, snapshot_id) if head else None
            if snapshot is not None:
                return registration, snapshot
        raise SnapshotNotFound(
            f"No snapshot {snapshot_id[:80]!r} is kept of the sources that were asked for; "
            "list_snapshots shows those that are, and without snapshot_id the newest answers."
        )

    def newest(self, registration: Registration) -> Snapshot | None:
        """The snapshot that answers for a source now; None if there is none."""
        return self._snapshots.answering(registration.source)

    def _kept(self, registration: Registration) -> Iterator[Snapshot]:
        head = self._snapshots.head(registration.source)
        if head is None:
            return
        for identity in head.named:
            snapshot = self._snapshots.load(head, identity)
            if snapshot is not None:
                yield snapshot

    def _opened(
        self,
        registration: Registration,
        snapshot: Snapshot,
        row: int,
        neighbours: int,
        notice: str,
    ) -> OpenedChunk:
        index = self.index(snapshot)
        document = int(index.passages["document"][row])
        rows = index.passage_rows(document)
        return OpenedChunk(
            registration=registration,
            snapshot=snapshot,
            document=index.document(document),
            chunk=index.passage(row),
            before=[index.passage(each) for each in range(max(row - neighbours, rows.start), row)],
            after=[index.passage(each) for each in rows if row < each <= row + neighbours],
            notice=notice,
        )

    def _missing(
        self, ref: str, answered: Sequence[Answered], pages: Sequence[tuple[Snapshot, int]]
    ) -> DocumentNotFound:
        """Why a page or chunk cannot be given, with the pages that may be meant."""
        from docstow.index.lookup import MOST_SUGGESTIONS, describe_page, suggest_pages

        short = repr(ref[:200])
        if pages:
            several = len(pages) > 1
            why = (
                f"Several sources have a page {short}; give the id of one, or a source."
                if several
                else f"The page of {short} is there, but no longer says this; open it with get_doc."
            )
            rows = [describe_page(self.index(made), row, 1.0) for made, row in pages]
            return DocumentNotFound(why, suggestions=rows[:MOST_SUGGESTIONS])
        found = suggest_pages([self.index(snapshot) for _, snapshot in answered], ref)
        advice = "See the suggestions." if found else "Look for it with search_docs."
        return DocumentNotFound(f"There is no page or chunk {short}. {advice}", suggestions=found)


def _open_index(snapshot: Snapshot, file: Callable[[str], Path]) -> Index:
    from docstow.index.loaded import Index

    return Index(snapshot, file)


def _outdated(snapshot: Snapshot) -> str:
    made = snapshot.created_at.date().isoformat()
    return f"the page has changed or gone since: this is how it stood in the snapshot of {made}"
