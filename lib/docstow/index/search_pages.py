"""Search in loaded snapshots for chunks of pages and for code examples.

They are ranked by fused ranks of words and vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import NO_ATTRIBUTES
from docstow.index.loaded import Index, Posting
from docstow.index.ranking import reciprocal_rank_fusion, top_allowed
from docstow.text import bm25
from docstow.text.chunking import plain, snippet
from docstow.text.headings import find_anchor

if TYPE_CHECKING:
    from docstow.embedding import Embedder

Mode = Literal["hybrid", "vector", "keyword"]

#: How many of each list are fused, whatever the limit: a longer answer begins as a shorter one.
FUSION_DEPTH = 100


@dataclass(frozen=True, slots=True)
class PageFilters:
    """Which pages may be in the list; a filter that is empty lets everything pass.

    Attributes:
        path: a beginning of the page's path or of its URL's path, or a glob over either.
        kinds: kinds of sources.
        language: the page's natural language, or one that it has code in.
        metadata: what was pushed with the page must have these values.
    """

    path: str = ""
    kinds: Collection[str] = ()
    language: str = ""
    metadata: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)

    def match(self, index: Index) -> NDArray[np.bool_]:
        """Return for each document whether it may be in the list."""
        passing = np.ones(len(index), np.bool_)
        if self.kinds:
            passing &= index.snapshot.revision.source.kind in self.kinds
        if self.path:
            passing &= np.fromiter(
                (_matches_path(path, self.path) for path in index.columns["path"]), bool
            )
        if self.language:
            wanted = self.language.casefold()
            natural = _without_country(wanted)
            coded = index.examples["document"][index.examples["language"].astype(str) == wanted]
            written = [
                _without_country(str(each.get("language", "")).casefold()) == natural
                for each in index.all_attributes
            ]
            passing &= np.array(written, bool) | np.isin(np.arange(len(index)), coded)
        for name, value in self.metadata.items():
            passing &= np.fromiter(
                (each.get("metadata", {}).get(name) == value for each in index.all_attributes),
                bool,
            )
        return passing


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """One chunk that answers.

    Attributes:
        chunk_id: its name; stays while its page says this under the same headings.
        document_id: the page's name.
        source_id: the registration's id.
        score: from 0 to 1, which is the first by words and by meaning; comparable within one
            answer only.
        title: the page's title.
        url: where a person reads it, with the fragment of its heading where that is known.
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
        row: of the document that it stands in.
        document_id: the page's name; empty for an item.
        source_id: the registration's id; of an item the package's name.
        score: from 0 to 1, which is the first by words and by meaning; comparable within one
            answer only.
        title: the document's title.
        url: where a person reads it.
        path: the document's path.
        language: in lower case.
        context: the sentence or heading before it.
        code: the whole block.
    """

    row: int
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
    """Rows of one index that are ranked: passages or examples."""

    index: Index
    documents: NDArray[np.int32]
    allowed: NDArray[np.bool_]
    postings: Callable[[str], Posting | None]
    matrix: Callable[[], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class _Ranked:
    index: Index
    row: int
    document: int
    score: float


def search_pages(
    indexes: Sequence[Index],
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    mode: Mode = "hybrid",
    filters: PageFilters | None = None,
) -> list[ChunkHit]:
    """Return the best chunks for a query, best first, by reciprocal rank fusion (k = 60).

    A word weighs what it weighs among all sources searched, so that no source is favoured for
    being small. Case makes no difference to what is found.

    Args:
        indexes: the loaded snapshots.
        embedder: the model; without it, and in snapshots of another model, words alone count.
        query: what is looked for.
        limit: the largest number of chunks; there are at most :data:`FUSION_DEPTH` of each list.
        mode: BM25F over words, cosine of vectors, or both.
        filters: what may be in the list.
    """
    filters = filters or PageFilters()
    tables = [
        _Table(
            index=index,
            documents=index.passages["document"],
            allowed=filters.match(index)[index.passages["document"]],
            postings=index.postings,
            matrix=partial(getattr, index, "matrix"),
        )
        for index in indexes
        if len(index)
    ]
    beginnings = _stem_beginnings(query)
    return [
        _chunk_hit(found, beginnings) for found in _rank_fused(tables, embedder, query, limit, mode)
    ]


def search_examples(
    indexes: Sequence[Index],
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    languages: Collection[str] = (),
    mode: Mode = "hybrid",
    filters: PageFilters | None = None,
) -> list[ExampleHit]:
    """Return the best whole code blocks for a query, best first.

    Args:
        indexes: the loaded snapshots, all of items or all of pages.
        embedder: as for :func:`search_pages`.
        query: what the code should do, or words in it.
        limit: the largest number of blocks.
        languages: only blocks in these; empty for all.
        mode: as for :func:`search_pages`.
        filters: which pages they may be from.
    """
    tables = []
    for index in indexes:
        documents = index.examples["document"]
        if not len(documents):
            continue
        passing = np.ones(len(documents), np.bool_)
        if filters is not None:
            passing &= filters.match(index)[documents]
        if languages:
            passing &= np.isin(index.examples["language"].astype(str), list(languages))
        tables.append(
            _Table(
                index=index,
                documents=documents,
                allowed=passing,
                postings=index.example_postings,
                matrix=partial(getattr, index, "example_matrix"),
            )
        )
    return [
        ExampleHit(
            **_describe_document(found),
            row=found.document,
            score=found.score,
            language=str(found.index.examples["language"][found.row]),
            context=str(found.index.examples["context"][found.row]),
            code=str(found.index.examples["code"][found.row]),
        )
        for found in _rank_fused(tables, embedder, query, limit, mode)
    ]


def _rank_fused(
    tables: Sequence[_Table], embedder: Embedder | None, query: str, limit: int, mode: Mode
) -> list[_Ranked]:
    """Return the best rows of all tables, best first."""
    if not tables or limit < 1:
        return []
    profile = tables[0].index.profile
    model = embedder.id if embedder else ""
    comparable = [table.index.snapshot.recipe.model == model for table in tables]
    if not any(comparable):
        mode = "keyword"
    allowed = np.concatenate([table.allowed for table in tables])
    lists = []
    if mode != "vector":
        keyword = _score_words(tables, profile.query_terms(query))
        lists.append(top_allowed(keyword, allowed & (keyword > 0), FUSION_DEPTH))
    if mode != "keyword" and embedder is not None:
        vector = embedder.embed_query(profile.fold_query(query))
        cosine = np.concatenate(
            [
                table.matrix() @ vector if same else np.zeros(len(table.documents), np.float32)
                for table, same in zip(tables, comparable, strict=True)
            ]
        )
        similar = allowed if profile.lists_dissimilar else allowed & (cosine != 0)
        lists.append(top_allowed(cosine, similar, FUSION_DEPTH))
    ranked = []
    starts = np.cumsum([0, *(len(table.documents) for table in tables)])
    seen: dict[tuple[int, int], int] = {}
    for place, score in reciprocal_rank_fusion(lists):
        number = int(np.searchsorted(starts, place, side="right")) - 1
        table, row = tables[number], place - int(starts[number])
        document = int(table.documents[row])
        before = seen.get((number, document), 0)
        seen[number, document] = before + 1
        if before < profile.most_of_document:
            ranked.append(
                _Ranked(table.index, row, document, score * profile.repeated_share**before)
            )
    return sorted(ranked, key=lambda each: -each.score)[:limit]


def _score_words(tables: Sequence[_Table], terms: Sequence[str]) -> NDArray[np.float32]:
    """Score every row by words, each term weighed by how rare it is in all tables together."""
    scores = [np.zeros(len(table.documents), np.float32) for table in tables]
    total = sum(map(len, scores))
    for term in dict.fromkeys(terms):
        postings = [table.postings(term) for table in tables]
        idf = bm25.idf(total, sum(len(posting[0]) for posting in postings if posting))
        for score, posting in zip(scores, postings, strict=True):
            if posting is not None:
                rows, weights = posting
                score[rows] += weights * (idf / bm25.idf(len(score), len(rows)))
    return np.concatenate(scores)


def _stem_beginnings(query: str) -> list[str]:
    """Return what the words begin with that a query finds: its stems, without changed endings."""
    terms = bm25.query_tokens(query) + query.lower().split()
    return [term[:-1] if len(term) > 3 and term[-1] in "ey" else term for term in terms]


def _chunk_hit(found: _Ranked, beginnings: Collection[str]) -> ChunkHit:
    chunks = found.index.passages
    described = _describe_document(found)
    if anchor := _find_anchor(found):
        described["url"] = f"{described['url']}#{anchor}"
    return ChunkHit(
        **described,
        chunk_id=str(chunks["id"][found.row]),
        score=found.score,
        heading_path=str(chunks["heading_path"][found.row]),
        snippet=snippet(plain(str(chunks["text"][found.row]), code=True), beginnings),
    )


def _find_anchor(found: _Ranked) -> str:
    """Return the fragment that leads to a chunk; empty where its page's URL has to do."""
    attributes = found.index.attributes(found.document)
    anchors, terms = attributes.get("anchors", ()), attributes.get("terms", ())
    url = str(found.index.columns["url"][found.document])
    if not (anchors or terms) or not url or "#" in url:
        return ""
    chunk = found.index.passage(found.row)
    page = found.index.document(found.document).text
    anchor = find_anchor(page, anchors, chunk.heading_path, chunk.text, terms)
    return quote(anchor, safe="!$&'()*+,;=:@/?")


def _describe_document(found: _Ranked) -> dict[str, str]:
    """Return what a hit says of its document."""
    columns = found.index.columns
    return {
        "document_id": str(columns["id"][found.document]) if "id" in columns else "",
        "source_id": found.index.snapshot.revision.source.name,
        "title": str(columns["title"][found.document]),
        "url": str(columns["url"][found.document]),
        "path": str(columns["path"][found.document]),
    }


def _matches_path(path: str, wanted: str) -> bool:
    """Return whether a path, or the path of a URL, begins with or matches what is wanted."""
    for place in (path, urlsplit(path).path) if "://" in path else (path, "/" + path):
        if any(sign in wanted for sign in "*?["):
            if fnmatchcase(place, wanted):
                return True
        elif place.startswith(wanted):
            return True
    return False


def _without_country(language: str) -> str:
    """Return a natural language without its country: ``de`` of ``de-AT``."""
    return language.replace("_", "-").partition("-")[0]
