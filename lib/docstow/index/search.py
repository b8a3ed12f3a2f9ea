"""From a query to chunks and examples of pages, over one source or several at once.

This room knows how a ranking is made. It does not know where an index came from or how hits are
shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from docstow.index import ranking__rank as rank
from docstow.index.loaded__page_index import PageIndex
from docstow.index.search__page_filters import PageFilters, allowed
from docstow.text import bm25 as words
from docstow.text import chunking__chunk as chunk

if TYPE_CHECKING:
    from docstow.embedding._embed import Embedder

__all__ = ["ChunkHit", "ExampleHit", "Mode", "PageFilters", "search", "search_examples"]

Mode = Literal["hybrid", "vector", "keyword"]

#: How many of each list are fused, whatever the limit: a longer answer begins as a shorter one.
DEPTH = 100

#: What each further chunk of one page keeps of its score: other pages say more.
REPEATED = 0.85

_Posting = tuple[NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """One chunk that answers.

    Attributes:
        chunk_id: its name; stays while its page says this under the same headings.
        document_id: the page's name.
        source_id: the registration's id.
        score: fused score; larger is better; comparable within one answer only.
        title: the page's title.
        url: where a person reads it.
        path: the page's path.
        heading_path: the headings above the chunk and its own.
        snippet: the part of the chunk that has most of the query's words; plain text.
    """

    chunk_id: str
    document_id: str
    source_id: str
    score: float
    title: str
    url: str
    path: str
    heading_path: str
    snippet: str


@dataclass(frozen=True, slots=True)
class ExampleHit:
    """One whole code block that answers.

    Attributes:
        document_id: the page's name.
        source_id: the registration's id.
        score: fused score; larger is better; comparable within one answer only.
        title: the page's title.
        url: where a person reads it.
        path: the page's path.
        language: in lower case.
        context: the sentence or heading before it.
        code: the whole block.
    """

    document_id: str
    source_id: str
    score: float
    title: str
    url: str
    path: str
    language: str
    context: str
    code: str


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows of one index that can be ranked: chunks or examples."""

    index: PageIndex
    documents: NDArray[np.int32]
    allowed: NDArray[np.bool_]
    postings: Callable[[str], _Posting | None]
    matrix: Callable[[], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class _Ranked:
    index: PageIndex
    row: int
    document: int
    score: float


def search(
    indexes: Sequence[PageIndex],
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    mode: Mode = "hybrid",
    filters: PageFilters | None = None,
) -> list[ChunkHit]:
    """The best chunks for a query, best first, by reciprocal rank fusion (k = 60).

    A source's words weigh what they weigh among all sources searched, so that no source is
    favoured for being small. Case makes no difference to what is found.

    Args:
        indexes: the loaded snapshots.
        embedder: the model; without it, and in snapshots of another model, words alone count.
        query: what is looked for.
        limit: the largest number of chunks; there are at most :data:`DEPTH` of each list.
        mode: BM25F over words, cosine of vectors, or both.
        filters: what may be in the list.
    """
    tables = [
        _Table(
            index=index,
            documents=index.chunks["document"],
            allowed=allowed(index, filters or PageFilters())[index.chunks["document"]],
            postings=index.postings,
            matrix=lambda index=index: index.matrix,  # type: ignore[misc]
        )
        for index in indexes
        if len(index)
    ]
    terms = _beginnings(query)
    return [_hit(found, terms) for found in _ranked(tables, embedder, query, limit, mode)]


def search_examples(
    indexes: Sequence[PageIndex],
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    languages: Collection[str] = (),
    mode: Mode = "hybrid",
    filters: PageFilters | None = None,
) -> list[ExampleHit]:
    """The best whole code blocks for a query, best first; arguments as for :func:`search`.

    Args:
        indexes: the loaded snapshots.
        embedder: the model.
        query: what the code should do, or words in it.
        limit: the largest number of blocks.
        languages: only blocks in these; empty for all.
        mode: as for :func:`search`.
        filters: what may be in the list.
    """
    tables = []
    for index in indexes:
        table = index.examples
        if not len(table["document"]):
            continue
        passing = allowed(index, filters or PageFilters())[table["document"]]
        if languages:
            passing &= np.isin(table["language"].astype(str), list(languages))
        tables.append(
            _Table(
                index=index,
                documents=table["document"],
                allowed=passing,
                postings=index.example_postings,
                matrix=lambda index=index: index.example_matrix,  # type: ignore[misc]
            )
        )
    ranked = _ranked(tables, embedder, query, limit, mode)
    return [
        ExampleHit(
            **_page(found),
            score=found.score,
            language=str(found.index.examples["language"][found.row]),
            context=str(found.index.examples["context"][found.row]),
            code=str(found.index.examples["code"][found.row]),
        )
        for found in ranked
    ]


def _ranked(
    tables: Sequence[_Table], embedder: Embedder | None, query: str, limit: int, mode: Mode
) -> list[_Ranked]:
    """The best rows of all tables, best first; those of one page give way to other pages."""
    if not tables or limit < 1:
        return []
    model = embedder.id if embedder else ""
    comparable = [table.index.snapshot.recipe.model == model for table in tables]
    if not any(comparable):
        mode = "keyword"
    passing = np.concatenate([table.allowed for table in tables])
    lists = []
    if mode != "vector":
        keyword = _keyword(tables, words.query_tokens(query))
        lists.append(rank.ranking(keyword, passing & (keyword > 0), DEPTH))
    if mode != "keyword" and embedder is not None:
        question = embedder.embed_query(query.casefold())
        near = np.concatenate(
            [
                table.matrix() @ question if able else np.zeros(len(table.documents), np.float32)
                for table, able in zip(tables, comparable, strict=True)
            ]
        )
        lists.append(rank.ranking(near, passing & (near != 0), DEPTH))
    return _spread(tables, rank.reciprocal_rank_fusion(lists))[:limit]


def _keyword(tables: Sequence[_Table], terms: Sequence[str]) -> NDArray[np.float32]:
    """The score of every row, each term weighed by how rare it is in all tables together."""
    scores = [np.zeros(len(table.documents), np.float32) for table in tables]
    total = sum(map(len, scores))
    for term in dict.fromkeys(terms):
        postings = [table.postings(term) for table in tables]
        everywhere = words.idf(total, sum(len(posting[0]) for posting in postings if posting))
        for score, posting in zip(scores, postings, strict=True):
            if posting is not None:
                rows, weights = posting
                score[rows] += weights * (everywhere / words.idf(len(score), len(rows)))
    return np.concatenate(scores)


def _spread(tables: Sequence[_Table], fused: Sequence[tuple[int, float]]) -> list[_Ranked]:
    """Rows with the scores that they keep beside better ones of the same page, best first."""
    starts = np.cumsum([0, *(len(table.documents) for table in tables)])
    numbers = np.searchsorted(starts, [place for place, _ in fused], side="right") - 1
    seen: dict[tuple[int, int], int] = {}
    ranked = []
    for (place, score), number in zip(fused, numbers.tolist(), strict=True):
        table = tables[number]
        row = place - int(starts[number])
        document = int(table.documents[row])
        before = seen.get((number, document), 0)
        seen[number, document] = before + 1
        ranked.append(_Ranked(table.index, row, document, score * REPEATED**before))
    return sorted(ranked, key=lambda each: -each.score)


def _beginnings(query: str) -> list[str]:
    """What words of a text begin with that a query finds: stems, without what endings replace."""
    terms = words.query_tokens(query) + query.lower().split()
    return [term[:-1] if len(term) > 3 and term[-1] in "ey" else term for term in terms]


def _hit(found: _Ranked, terms: Collection[str]) -> ChunkHit:
    chunks = found.index.chunks
    return ChunkHit(
        **_page(found),
        chunk_id=str(chunks["id"][found.row]),
        score=found.score,
        heading_path=str(chunks["heading_path"][found.row]),
        snippet=chunk.snippet(chunk.plain(str(chunks["text"][found.row]), code=True), terms),
    )


def _page(found: _Ranked) -> dict[str, str]:
    """What a hit says of its page."""
    columns = found.index.columns
    return {
        "document_id": str(columns["id"][found.document]),
        "source_id": found.index.snapshot.revision.source.name,
        "title": str(columns["title"][found.document]),
        "url": str(columns["url"][found.document]),
        "path": str(columns["path"][found.document]),
    }
