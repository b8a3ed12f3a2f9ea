"""From a query to chunks and examples of pages, over one source or several at once.

This room knows how a ranking is made. It does not know where an index came from or how hits are
shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import NO_ATTRIBUTES, Hit
from docstow.index import ranking as features
from docstow.index import ranking as rank
from docstow.index.loaded import Index, PageIndex
from docstow.text import bm25 as words
from docstow.text import chunking as chunk

if TYPE_CHECKING:
    from docstow.embedding import Embedder

__all__ = ["ChunkHit", "ExampleHit", "Mode", "PageFilters", "search_page_examples", "search_pages"]


# From a query to whole code blocks, by words and by meaning, fused.


EXAMPLE_DEPTH = 100


#: So many examples of one item stand together at most: the next item's say more.
OF_ONE_ITEM = 2


@dataclass(frozen=True, slots=True)
class Found:
    """One example.

    Attributes:
        score: fused score; larger is better; comparable within one answer only.
        owner: row of the document that it stands in.
        language: in lower case.
        context: the sentence or heading before it.
        code: the whole block.
    """

    score: float
    owner: int
    language: str
    context: str
    code: str


def search_examples(
    index: Index,
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    languages: Collection[str] = (),
) -> list[Found]:
    """The best examples for a query, best first, by reciprocal rank fusion (k = 60).

    Args:
        index: the loaded snapshot.
        embedder: the model that made the index's vectors; without it, words alone count.
        query: what the code should do, or words in it.
        limit: the largest number of examples.
        languages: only blocks in these; empty for all.
    """
    table = index.examples
    count = len(table["document"])
    if not count:
        return []
    allowed = np.ones(count, np.bool_)
    if languages:
        allowed &= np.isin(table["language"].astype(str), list(languages))
    keyword = words.score(index.example_postings, words.tokens(query), count)
    lists = [rank.ranking(keyword, allowed & (keyword > 0), EXAMPLE_DEPTH)]
    if embedder is not None:
        vector = index.example_matrix @ embedder.embed_query(query)
        lists.append(rank.ranking(vector, allowed, EXAMPLE_DEPTH))
    found: list[Found] = []
    taken: dict[int, int] = {}
    for row, score in rank.reciprocal_rank_fusion(lists):
        owner = int(table["document"][row])
        taken[owner] = taken.get(owner, 0) + 1
        if taken[owner] <= OF_ONE_ITEM and len(found) < limit:
            found.append(
                Found(
                    score=score,
                    owner=owner,
                    language=str(table["language"][row]),
                    context=str(table["context"][row]),
                    code=str(table["code"][row]),
                )
            )
    return found


# Which pages a search is about.


@dataclass(frozen=True, slots=True)
class PageFilters:
    """What may be in the list; a filter that is empty lets everything pass.

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


def allowed_pages(index: PageIndex, filters: PageFilters) -> NDArray[np.bool_]:
    """Which documents may be in the list: a boolean for each."""
    passing = np.ones(len(index), np.bool_)
    if filters.kinds:
        passing &= index.snapshot.revision.source.kind in filters.kinds
    if filters.path:
        passing &= np.fromiter((_lies(path, filters.path) for path in index.columns["path"]), bool)
    if filters.language:
        wanted = filters.language.casefold()
        tongue = _tongue(wanted)
        coded = index.examples["document"][index.examples["language"].astype(str) == wanted]
        spoken = [
            _tongue(str(each.get("language", "")).casefold()) == tongue for each in index.attributes
        ]
        passing &= np.array(spoken, bool) | np.isin(np.arange(len(index)), coded)
    for name, value in filters.metadata.items():
        passing &= np.fromiter(
            (each.get("metadata", {}).get(name) == value for each in index.attributes), bool
        )
    return passing


def _lies(path: str, wanted: str) -> bool:
    """Whether a path, or the path of a URL, begins with or matches what is wanted."""
    for place in (path, urlsplit(path).path) if "://" in path else (path, "/" + path):
        if any(sign in wanted for sign in "*?["):
            if fnmatchcase(place, wanted):
                return True
        elif place.startswith(wanted):
            return True
    return False


def _tongue(language: str) -> str:
    """A natural language without its country: ``de`` of ``de-AT``."""
    return language.replace("_", "-").partition("-")[0]


# From a query to hits over one loaded index


#: How many of each list become candidates.
DEPTH = 60


#: So many results of one owner (the methods of a type, say) stand together; others go first then.
OF_ONE_OWNER = 3


#: Kinds of which an owner may have many.
_OF_AN_OWNER = frozenset({"method", "variant", "field", "assoc_const", "attribute", "property"})


#: A word that the crate does not have is read as the nearest one that it has, from here on.
LEAST_SIMILARITY = 80.0


#: A name of more words than this and one is rare; a question that short is not.
MOST_SPACES = 2


@dataclass(frozen=True, slots=True)
class Filters:
    """What may be in the list; a filter that is empty or None lets everything pass.

    Attributes:
        kinds: kinds of documents.
        module: paths must lie in it.
        feature: a feature that the item requires.
        has_examples: whether the item's docs have a code block.
        deprecated: whether the item is deprecated.
    """

    kinds: Collection[str] = ()
    module: str = ""
    feature: str = ""
    has_examples: bool | None = None
    deprecated: bool | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a query brings up, before it is sorted.

    Attributes:
        terms: the query's terms.
        similarity: product of every passage's vector with the query's.
        lists: rows of each list, best first: ``keyword``, ``vector`` and ``name``.
        features: of each row of any list, its features by name.
    """

    terms: list[str]
    similarity: NDArray[np.float32]
    lists: Mapping[str, NDArray[np.int64]]
    features: Mapping[int, Mapping[str, float]]


def search(
    index: Index,
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    filters: Filters | None = None,
) -> list[Hit]:
    """The best documents for a query, best first.

    Candidates come from BM25F over the documents, exact cosine over their passages, and names
    that the query spells. They are sorted by a linear model over the features of
    :mod:`docstow.index.ranking`, of which reciprocal rank fusion (k = 60; Cormack, Clarke and
    Büttcher, SIGIR 2009) is one.

    Args:
        index: the loaded snapshot.
        embedder: the model that made the index's vectors; None: words alone count.
        query: what is looked for; a sentence, an identifier, a path or an error code.
        limit: the largest number of hits.
        filters: what may be in the list.
    """
    found = candidates(index, embedder, query, filters or Filters())
    language = index.language
    worth = {row: features.worth(values, language) for row, values in found.features.items()}
    ordered = _spread(index, sorted(worth, key=lambda row: (-worth[row], row)))
    return [_hit(index, row, worth[row], found) for row in ordered[:limit]]


def candidates(index: Index, embedder: Embedder | None, query: str, filters: Filters) -> Candidates:
    """Everything that may answer a query, with the features that ranking weighs."""
    query = _without_slips(index, query)
    terms = words.tokens(query)
    passing = allowed(index, filters)
    similarity = np.zeros(len(index.passages["document"]), np.float32)
    if embedder is not None:
        similarity = index.matrix @ embedder.embed_query(query)
    vector = np.maximum.reduceat(similarity, index.first_passage)
    keyword = np.where(passing, words.score(index.postings, terms, len(index)), 0)
    spelled = {row: worth for row, worth in _named(index, query).items() if passing[row]}
    lists = {
        "keyword": rank.ranking(keyword, passing & (keyword > 0), DEPTH),
        "vector": rank.ranking(vector, passing & (vector != 0), DEPTH),
        "name": np.array(sorted(spelled, key=lambda row: (-spelled[row], row)), np.int64),
    }
    places = {name: _places(rows) for name, rows in lists.items()}
    best = float(keyword.max(initial=0.0)), float(vector.max(initial=0.0))
    known = {}
    for row in sorted({row for of in places.values() for row in of}):
        match = features.Match(
            keyword=float(keyword[row]),
            keyword_best=best[0],
            keyword_rank=places["keyword"].get(row, 0),
            cosine=float(vector[row]),
            cosine_best=best[1],
            vector_rank=places["vector"].get(row, 0),
            named=spelled.get(row, 0.0),
        )
        known[row] = features.features(index.item(row), match, terms)
    return Candidates(terms, similarity, lists, known)


def _places(rows: NDArray[np.int64]) -> dict[int, int]:
    """Each row's place in a list, counted from 1."""
    return {row: place for place, row in enumerate(rows.tolist(), 1)}


def _without_slips(index: Index, query: str) -> str:
    """The query with words that no document has replaced by the nearest that one has."""

    def mend(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) < 4 or any(index.frequency(term) for term in words.tokens(word)):
            return word
        return index.nearest_name(word.lower(), LEAST_SIMILARITY) or word

    return re.sub(r"[A-Za-z_]+", mend, query)


def _named(index: Index, query: str) -> dict[int, float]:
    """Rows whose name the query spells, with how well: path, title, or a title's beginning.

    Words with spaces between them spell a title too: ``join handle`` is ``JoinHandle``.
    """
    language = index.language
    path = language.normalise(query)
    *owner, title = path.split(language.separator)
    if " " in title and (owner or title.count(" ") > MOST_SPACES):
        return {}
    found = dict.fromkeys(index.find(path) or index.find_below(path), 2.0)
    exact, longer = index.rows_by_title(title)
    for row in () if owner else exact:
        found.setdefault(row, 1.0)
    for row in () if owner or " " in title else longer[:DEPTH]:
        found.setdefault(row, 0.3)
    return found


def allowed(index: Index, filters: Filters) -> NDArray[np.bool_]:
    """Which rows may be in the list: a boolean for each."""
    columns = index.columns
    passing = np.ones(len(index), np.bool_)
    if filters.kinds:
        passing &= np.isin(columns["kind"].astype(str), list(filters.kinds))
    if filters.module:
        prefix = filters.module.removesuffix(index.language.separator)
        inside = [index.language.contains(prefix, path) for path in columns["path"]]
        passing &= np.array(inside, np.bool_)
    if filters.has_examples is not None:
        passing &= (columns["examples"] > 0) == filters.has_examples
    if filters.deprecated is not None:
        passing &= columns["deprecated"].astype(np.bool_) == filters.deprecated
    if filters.feature:
        needs = [filters.feature in index.features(row) for row in range(len(index))]
        passing &= np.array(needs, np.bool_)
    return passing


def _spread(index: Index, rows: Iterable[int]) -> list[int]:
    """The same rows; an owner's fourth and further members go behind ten rows of others."""
    first: list[int] = []
    later: list[int] = []
    seen: dict[str, int] = {}
    for row in rows:
        owner = str(index.columns["parent"][row])
        seen[owner] = seen.get(owner, 0) + 1
        of_type = index.columns["kind"][row] in _OF_AN_OWNER
        (later if of_type and seen[owner] > OF_ONE_OWNER else first).append(row)
    return first[:10] + later + first[10:]


def _hit(index: Index, row: int, worth: float, found: Candidates) -> Hit:
    columns = index.columns
    similarity = found.similarity
    begin = int(index.first_passage[row])
    end = int(index.first_passage[row + 1]) if row + 1 < len(index) else len(similarity)
    passage = begin + int(np.argmax(similarity[begin:end]))
    return Hit(
        path=str(columns["path"][row]),
        kind=str(columns["kind"][row]),
        title=str(columns["title"][row]),
        signature=str(columns["signature"][row]),
        heading_path=str(index.passages["heading_path"][passage]),
        snippet=chunk.snippet(str(index.passages["text"][passage]), found.terms),
        score=worth,
        url=str(columns["url"][row]),
        details=_explained(index, row, found),
    )


def _explained(index: Index, row: int, found: Candidates) -> dict[str, object]:
    """The row's place in each list, and what each feature adds to its score."""
    weights = features.weights(index.language)
    shares = {
        name: round(weights.get(name, 0.0) * value, 4)
        for name, value in found.features[row].items()
    }
    return {
        "ranks": {name: _places(rows).get(row) for name, rows in found.lists.items()},
        "features": {name: share for name, share in shares.items() if share},
    }


Mode = Literal["hybrid", "vector", "keyword"]


#: How many of each list are fused, whatever the limit: a longer answer begins as a shorter one.
PAGE_DEPTH = 100


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


def search_pages(
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
            allowed=allowed_pages(index, filters or PageFilters())[index.chunks["document"]],
            postings=index.postings,
            matrix=lambda index=index: index.matrix,  # type: ignore[misc]
        )
        for index in indexes
        if len(index)
    ]
    terms = _beginnings(query)
    return [_page_hit(found, terms) for found in _ranked(tables, embedder, query, limit, mode)]


def search_page_examples(
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
        passing = allowed_pages(index, filters or PageFilters())[table["document"]]
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
        lists.append(rank.ranking(keyword, passing & (keyword > 0), PAGE_DEPTH))
    if mode != "keyword" and embedder is not None:
        question = embedder.embed_query(query.casefold())
        near = np.concatenate(
            [
                table.matrix() @ question if able else np.zeros(len(table.documents), np.float32)
                for table, able in zip(tables, comparable, strict=True)
            ]
        )
        lists.append(rank.ranking(near, passing & (near != 0), PAGE_DEPTH))
    return _spread_pages(tables, rank.reciprocal_rank_fusion(lists))[:limit]


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


def _spread_pages(tables: Sequence[_Table], fused: Sequence[tuple[int, float]]) -> list[_Ranked]:
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


def _page_hit(found: _Ranked, terms: Collection[str]) -> ChunkHit:
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
