"""Pages of registered sources: searched and opened in the snapshots that answer for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from docstow.core.errors import DocumentNotFound, InvalidParameter, SnapshotNotFound
from docstow.core.model import Document, Registration, Snapshot
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.library import IndexCache
from docstow.library.page_sources import Answered, PageSources
from docstow.sources import kind_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from docstow.core.model import Passage
    from docstow.embedding import Embedder
    from docstow.index.catalog import Catalog
    from docstow.index.loaded import Index
    from docstow.index.search_pages import ChunkHit, ExampleHit, Mode, PageFilters
    from docstow.sources.registry import Registry
    from docstow.store.snapshots import Snapshots

_DOCUMENT_ID = lazy_pattern(r"[0-9a-f]{12}\.[0-9a-f]{16}")
_CHUNK_ID = lazy_pattern(r"([0-9a-f]{12}\.[0-9a-f]{16})\.[0-9a-f]{12}")

#: Pages that are listed where a reference means several.
_MOST_CANDIDATES = 20


class OpenedPage(NamedTuple):
    """A whole page, and where it is from."""

    registration: Registration
    snapshot: Snapshot
    document: Document
    chunks: list[Passage]


@dataclass(frozen=True, slots=True)
class OpenedChunk:
    """A whole chunk, and the chunks around it.

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
    """The pages of all synced sources. Safe to share between threads.

    Args:
        snapshots: the published snapshots.
        registry: the registered sources.
        open_catalog: opens the catalogue, which says what there is.
        open_embedder: opens the model that queries are embedded with.
        memory_bytes: bound of the loaded indexes.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        registry: Registry,
        open_catalog: Callable[[], Catalog],
        open_embedder: Callable[[], Embedder],
        memory_bytes: int,
    ) -> None:
        self._snapshots = snapshots
        self._registry = registry
        self._open_embedder = open_embedder
        self._indexes = IndexCache(snapshots, memory_bytes)
        self._sources = PageSources(snapshots, registry, open_catalog, open_embedder)

    def search(
        self,
        query: str,
        *,
        source_ids: Sequence[str] = (),
        snapshot_id: str = "",
        limit: int = 5,
        mode: Mode = "hybrid",
        filters: PageFilters | None = None,
        without: Collection[str] = (),
        snippets: bool = True,
    ) -> tuple[list[ChunkHit], list[Answered]]:
        """Return the best chunks for a query, best first, and the snapshots that were searched.

        Where no source is named and there are very many, those are searched that suit the query.

        Args:
            query: what is looked for.
            source_ids: ids, beginnings of ids, URIs or titles; empty for whatever is synced.
            snapshot_id: one that is kept, in place of the newest.
            limit: the largest number of chunks.
            mode: ``hybrid``, ``vector`` or ``keyword``.
            filters: what may be in the list.
            without: ids of sources that are left out, unless they are named.
            snippets: whether chunks have them.

        Raises:
            SourceNotFound: a named source is unknown.
            SnapshotNotFound: the snapshot is not kept, or a named source was never synced.
        """
        from docstow.index.search_pages import search_pages

        meaning = mode != "keyword"
        answered = self._choose(query, source_ids, snapshot_id, filters, without, meaning=meaning)
        indexes = self._open(answered)
        embedder = self._open_embedder() if meaning else None
        found = search_pages(
            indexes,
            embedder,
            query,
            limit=limit,
            mode=mode,
            filters=filters,
            snippets=snippets,
        )
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
        """Return the best whole code blocks for a query; otherwise as :meth:`search`."""
        from docstow.index.search_pages import example_hit, search_examples

        answered = self._choose(query, source_ids, snapshot_id, filters)
        indexes = self._open(answered)
        found = search_examples(
            indexes, self._open_embedder(), query, limit=limit, languages=languages, filters=filters
        )
        return [example_hit(each) for each in found], answered

    def notice(self, answered: Sequence[Answered]) -> str:
        """Return what a caller should know of a search by meaning; empty if nothing.

        Vectors of two models never meet: a snapshot of another model is searched by words alone.
        """
        model = self._open_embedder().id
        other = [each.title or each.uri for each, made in answered if made.recipe.model != model]
        if not other:
            return ""
        return (
            f"the embedding model has changed: words alone are searched in {', '.join(other)} "
            "until the next sync, which start_sync begins"
        )

    def document(self, ref: str, *, source: str = "", snapshot_id: str = "") -> OpenedPage:
        """Return a whole page.

        Args:
            ref: its id, URL or path, in any spelling, or a tail of it that only one page has; see
                :func:`docstow.index.lookup.find_pages`.
            source: where to look; every synced source if left out.
            snapshot_id: one that is kept, in place of the newest.

        Raises:
            DocumentNotFound: none, or several sources have it; with suggestions.
            SourceNotFound, SnapshotNotFound: as :meth:`search` does.
        """
        from docstow.index.lookup import find_pages

        if source:
            answered = self._resolve([source], snapshot_id)
        elif snapshot_id:
            answered = [self._find_kept(snapshot_id)]
        else:
            own = self._sources.of_id(ref[:12]) if _DOCUMENT_ID.fullmatch(ref) else []
            answered = own or self._sources.at(ref)
        found = [(*find_pages(self.index(made), ref), each, made) for each, made in answered]
        surest = max((certainty for certainty, *_ in found), default=0)
        pages = [
            (registration, snapshot, row)
            for certainty, rows, registration, snapshot in found
            if certainty == surest
            for row in rows
        ]
        if len(pages) != 1:
            raise self._missing(ref, answered, [(made, row) for _, made, row in pages])
        registration, snapshot, row = pages[0]
        index = self.index(snapshot)
        chunks = [index.passage(each) for each in index.passage_rows(row)]
        return OpenedPage(registration, snapshot, index.document(row), chunks)

    def chunk(self, chunk_id: str, *, neighbours: int = 0, snapshot_id: str = "") -> OpenedChunk:
        """Return a whole chunk, from the newest kept snapshot that has it.

        Args:
            chunk_id: as a search gave it.
            neighbours: how many chunks of the page before and after it are wanted.
            snapshot_id: one that is kept, to look in that alone.

        Raises:
            DocumentNotFound: no kept snapshot has it; its page is suggested if that is there.
            SnapshotNotFound: the snapshot is not kept.
        """
        match = _CHUNK_ID.fullmatch(chunk_id)
        own: list[Answered] = []
        if match:
            own = self._sources.of_id(chunk_id[:12])
            if snapshot_id:
                kept = self._find_kept(snapshot_id)
                own = [kept] if kept[0].id.startswith(chunk_id[:12]) else []
        for registration, newest in own:
            for snapshot in [newest] if snapshot_id else self._kept(registration):
                row = self.index(snapshot).find_passage(chunk_id)
                if row is not None:
                    notice = "" if snapshot.id == newest.id else _outdated(snapshot)
                    return self._open_chunk(registration, snapshot, row, neighbours, notice)
        pages = [
            (snapshot, row)
            for _, snapshot in own
            if match and (row := self.index(snapshot).page_row(match[1])) is not None
        ]
        raise self._missing(chunk_id, own or self._sources.at(chunk_id), pages)

    def snapshots(self, source: str) -> list[Snapshot]:
        """Return the kept snapshots of a source, the newest first; none if it was never synced.

        Raises:
            SourceNotFound: it is unknown.
        """
        return list(self._kept(self._registry.get(source)))

    def index(self, snapshot: Snapshot) -> Index:
        """Return the loaded tables of a snapshot, from memory, the local cache or the store."""
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

    def _open(self, answered: Sequence[Answered]) -> list[Index]:
        return self._indexes.several([snapshot for _, snapshot in answered])

    def _choose(
        self,
        query: str,
        sources: Sequence[str],
        snapshot_id: str,
        filters: PageFilters | None,
        without: Collection[str] = (),
        *,
        meaning: bool = True,
    ) -> list[Answered]:
        """Return the snapshots that a search is in, each with its source."""
        kinds = filters.kinds if filters else ()
        if sources:
            return self._resolve(sources, snapshot_id, kinds)
        if snapshot_id:
            return [self._find_kept(snapshot_id)]
        return self._sources.choose(query, kinds, without, meaning=meaning)

    def _resolve(
        self, sources: Sequence[str], snapshot_id: str, kinds: Collection[str] = ()
    ) -> list[Answered]:
        """Return the snapshots of sources that are named, each with its source."""
        named = {each.id: each for each in map(self._registry.get, sources)}
        for each in named.values():
            if not kind_of(each.kind).has_pages:
                raise InvalidParameter("source", f"{each.title} is a {each.kind}, not pages")
        if snapshot_id:
            return [self._find_kept(snapshot_id, named)]
        registrations = [e for e in named.values() if not kinds or e.kind in kinds]
        found = in_parallel(self.newest, registrations)
        answered = []
        for registration, snapshot in zip(registrations, found, strict=True):
            if snapshot is not None:
                answered.append((registration, snapshot))
            elif not kind_of(registration.kind).pushed:  # an empty one has no snapshot
                raise SnapshotNotFound(
                    f"{registration.title or registration.uri} has no snapshot yet; begin one with "
                    "start_sync, or wait for the sync that is under way."
                )
        return answered

    def _find_kept(
        self, snapshot_id: str, named: Mapping[str, Registration] | None = None
    ) -> Answered:
        """Return a kept snapshot and its source: of some, or of all there are."""
        source = self._snapshots.source_of(snapshot_id)
        if source is not None and kind_of(source.kind).has_pages:
            find = self._registry.find if named is None else named.get
            registration = find(source.name)
            head = self._snapshots.head(source) if registration is not None else None
            snapshot = self._snapshots.load(head, snapshot_id) if head else None
            if registration is not None and snapshot is not None:
                return registration, snapshot
        raise SnapshotNotFound(
            f"No snapshot {snapshot_id[:80]!r} is kept of the sources that were asked for; "
            "list_snapshots shows those that are, and without snapshot_id the newest answers."
        )

    def newest(self, registration: Registration) -> Snapshot | None:
        """Return the snapshot that answers for a source now; None if none does."""
        return self._snapshots.answering(registration.source)

    def _kept(self, registration: Registration) -> Iterator[Snapshot]:
        head = self._snapshots.head(registration.source)
        if head is None:
            return
        for identity in head.named:
            snapshot = self._snapshots.load(head, identity)
            if snapshot is not None:
                yield snapshot

    def _open_chunk(
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
        """Return the error for a page or chunk that is not there, with pages that may be meant."""
        from docstow.index.lookup import page_suggestion, suggest_pages

        short = repr(ref[:200])
        if pages:
            several = len(pages) > 1
            why = (
                f"Several pages may be meant by {short}; give the id of one, more of its path, or"
                " a source."
                if several
                else f"The page of {short} is there, but no longer says this; open it with get_doc."
            )
            rows = [page_suggestion(self.index(made), row, 1.0) for made, row in pages]
            return DocumentNotFound(why, suggestions=rows[:_MOST_CANDIDATES])
        found = suggest_pages([self.index(snapshot) for _, snapshot in answered], ref)
        advice = "See the suggestions." if found else "Look for it with search_docs."
        return DocumentNotFound(f"There is no page or chunk {short}. {advice}", suggestions=found)


def _outdated(snapshot: Snapshot) -> str:
    made = snapshot.created_at.date().isoformat()
    return f"the page has changed or gone since: this is how it stood in the snapshot of {made}"
