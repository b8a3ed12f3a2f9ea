"""Search in loaded snapshots: for items, for chunks of pages, and for code examples.

Items are ranked by a linear model over features of each candidate, all else by fused ranks of
words and vectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import Hit
from docstow.index.filters import ItemFilters, PageFilters
from docstow.index.loaded import Index, Posting, fold_title
from docstow.index.ranking import (
    Item,
    Match,
    describe_candidate,
    feature_weights,
    reciprocal_rank_fusion,
    score_candidate,
    top_allowed,
)
from docstow.text import bm25
from docstow.text.chunking import plain, snippet

if TYPE_CHECKING:
    from docstow.embedding import Embedder

Mode = Literal["hybrid", "vector", "keyword"]

#: How many of each list become candidates.
ITEM_DEPTH = 60

#: So many results of one owner (the methods of a type, say) stand together; others go first then.
MEMBERS_TOGETHER = 3

#: Kinds of which an owner may have many.
_MEMBER_KINDS = frozenset({"method", "variant", "field", "assoc_const", "attribute", "property"})

#: A word that the crate does not have is read as the nearest one that it has, from this
#: similarity on: 0 to 100, by rapidfuzz's Damerau-Levenshtein ratio.
LEAST_SIMILARITY = 80.0

#: A name of more words than this and one is rare; a question that short is not.
MOST_SPACES = 2

#: How many of each list are fused, whatever the limit: a longer answer begins as a shorter one.
FUSION_DEPTH = 100


# Items


@dataclass(frozen=True, slots=True)
class Candidates:
    """The items that may answer a query, before they are sorted.

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


def search_items(
    index: Index,
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    filters: ItemFilters | None = None,
) -> list[Hit]:
    """Return the best items for a query, best first.

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
    found = find_candidates(index, embedder, query, filters or ItemFilters())
    scores = {
        row: score_candidate(values, index.language) for row, values in found.features.items()
    }
    ordered = _spread_members(index, sorted(scores, key=lambda row: (-scores[row], row)))
    return [_item_hit(index, row, scores[row], found) for row in ordered[:limit]]


def find_candidates(
    index: Index, embedder: Embedder | None, query: str, filters: ItemFilters
) -> Candidates:
    """Return all items that may answer a query, with the features that ranking weighs."""
    query = _correct_spelling(index, query)
    terms = index.profile.fusion.query_terms(query)
    passing = filters.match(index)
    similarity = np.zeros(len(index.passages["document"]), np.float32)
    if embedder is not None:
        similarity = index.matrix @ embedder.embed_query(query)
    vector = np.maximum.reduceat(similarity, index.first_passage)
    keyword = np.where(passing, bm25.score(index.postings, terms, len(index)), 0)
    named = {row: quality for row, quality in _find_named(index, query).items() if passing[row]}
    lists = {
        "keyword": top_allowed(keyword, passing & (keyword > 0), ITEM_DEPTH),
        "vector": top_allowed(vector, passing & (vector != 0), ITEM_DEPTH),
        "name": np.array(sorted(named, key=lambda row: (-named[row], row)), np.int64),
    }
    ranks = {name: _ranks(rows) for name, rows in lists.items()}
    best = float(keyword.max(initial=0.0)), float(vector.max(initial=0.0))
    features = {}
    for row in sorted({row for each in ranks.values() for row in each}):
        match = Match(
            keyword=float(keyword[row]),
            keyword_best=best[0],
            keyword_rank=ranks["keyword"].get(row, 0),
            cosine=float(vector[row]),
            cosine_best=best[1],
            vector_rank=ranks["vector"].get(row, 0),
            named=named.get(row, 0.0),
        )
        features[row] = describe_candidate(_item(index, row), match, terms)
    return Candidates(terms, similarity, lists, features)


def _ranks(rows: NDArray[np.int64]) -> dict[int, int]:
    """Return each row's rank in a list, counted from 1."""
    return {row: rank for rank, row in enumerate(rows.tolist(), 1)}


def _correct_spelling(index: Index, query: str) -> str:
    """Return the query with words that no document has replaced by the nearest that one has."""

    def correct(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) < 4 or any(index.postings(term) is not None for term in bm25.tokens(word)):
            return word
        return _nearest_word(index, word.lower()) or word

    return re.sub(r"[A-Za-z_]+", correct, query)


def _nearest_word(index: Index, word: str) -> str:
    """Return the name or term of the index most like a misspelt one; empty if none is."""
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    for vocabulary in (index.rows_by_title.keys(), index.terms):
        found = process.extractOne(
            word,
            vocabulary,
            scorer=DamerauLevenshtein.normalized_similarity,
            score_cutoff=LEAST_SIMILARITY / 100,
        )
        if found is not None:
            return str(found[0])
    return ""


def _find_named(index: Index, query: str) -> dict[int, float]:
    """Return the rows whose name the query spells, with how well; see :attr:`Match.named`.

    Words with spaces between them spell a title too: ``join handle`` is ``JoinHandle``.
    """
    language = index.language
    path = language.normalise(query)
    *owner, title = path.split(language.separator)
    if " " in title and (owner or title.count(" ") > MOST_SPACES):
        return {}
    found = dict.fromkeys(index.find(path) or _find_ending(index, path), 2.0)
    folded = fold_title(title)
    if owner or not folded:
        return found
    rows = index.rows_by_title
    for row in rows.get(folded, ()):
        found.setdefault(row, 1.0)
    if " " not in title:
        longer = (name for name in rows if name != folded and name.startswith(folded))
        for row in [row for name in longer for row in rows[name]][:ITEM_DEPTH]:
            found.setdefault(row, 0.3)
    return found


def _find_ending(index: Index, tail: str) -> tuple[int, ...]:
    """Return the rows of the paths that end in a tail of several segments: ``Mutex::lock``."""
    joint = index.language.separator
    if joint not in tail:
        return ()
    ending = f"{joint}{tail}".lower()
    return tuple(
        row
        for path, rows in index.rows_by_path.items()
        if path.lower().endswith(ending)
        for row in rows
    )


def _item(index: Index, row: int) -> Item:
    columns = index.columns
    summary = str(columns["summary"][row])
    if not summary and index.language.packaged:
        # Names often say all there is to say, and say it without documentation.
        summary = str(columns["title"][row])
    return Item(
        kind=str(columns["kind"][row]),
        path=str(columns["path"][row]),
        title=str(columns["title"][row]),
        summary=summary,
        in_degree=int(columns["in_degree"][row]),
        members=int(columns["members"][row]),
        length=int(columns["length"][row]),
        deprecated=bool(columns["deprecated"][row]),
        twin=str(columns["twin"][row]),
        of_trait=bool(columns["of_trait"][row]),
    )


def _spread_members(index: Index, rows: Iterable[int]) -> list[int]:
    """Return the same rows; an owner's further members go behind ten rows of others."""
    first: list[int] = []
    later: list[int] = []
    seen: dict[str, int] = {}
    for row in rows:
        owner = str(index.columns["parent"][row])
        seen[owner] = seen.get(owner, 0) + 1
        is_member = index.columns["kind"][row] in _MEMBER_KINDS
        (later if is_member and seen[owner] > MEMBERS_TOGETHER else first).append(row)
    return first[:10] + later + first[10:]


def _item_hit(index: Index, row: int, score: float, found: Candidates) -> Hit:
    rows = index.passage_rows(row)
    best = rows.start + int(np.argmax(found.similarity[rows.start : rows.stop]))
    return make_hit(index, row, best, found.terms, score, _explain(index, row, found))


def make_hit(
    index: Index,
    row: int,
    passage_row: int,
    terms: Collection[str],
    score: float,
    details: Mapping[str, Any],
) -> Hit:
    """Return an item as a hit.

    Args:
        index: the item's.
        row: the item's.
        passage_row: of the passage that its snippet is taken from.
        terms: of the query.
        score: of the hit.
        details: of the score.
    """
    columns = index.columns
    return Hit(
        path=str(columns["path"][row]),
        kind=str(columns["kind"][row]),
        title=str(columns["title"][row]),
        signature=str(columns["signature"][row]),
        heading_path=str(index.passages["heading_path"][passage_row]),
        snippet=snippet(str(index.passages["text"][passage_row]), terms),
        score=score,
        url=str(columns["url"][row]),
        details=details,
    )


def _explain(index: Index, row: int, found: Candidates) -> dict[str, object]:
    """Return the row's rank in each list, and what each feature adds to its score."""
    weights = feature_weights(index.language)
    shares = {
        name: round(weights.get(name, 0.0) * value, 4)
        for name, value in found.features[row].items()
    }
    return {
        "ranks": {name: _ranks(rows).get(row) for name, rows in found.lists.items()},
        "features": {name: share for name, share in shares.items() if share},
    }


# Chunks of pages, and code examples


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
        row: of the document that it stands in.
        document_id: the page's name; empty for an item.
        source_id: the registration's id; of an item the package's name.
        score: fused score; larger is better; comparable within one answer only.
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
            matrix=lambda index=index: index.matrix,  # type: ignore[misc]
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
                matrix=lambda index=index: index.example_matrix,  # type: ignore[misc]
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
    fusion = tables[0].index.profile.fusion
    model = embedder.id if embedder else ""
    comparable = [table.index.snapshot.recipe.model == model for table in tables]
    if not any(comparable):
        mode = "keyword"
    allowed = np.concatenate([table.allowed for table in tables])
    lists = []
    if mode != "vector":
        keyword = _score_words(tables, fusion.query_terms(query))
        lists.append(top_allowed(keyword, allowed & (keyword > 0), FUSION_DEPTH))
    if mode != "keyword" and embedder is not None:
        vector = embedder.embed_query(fusion.fold_query(query))
        cosine = np.concatenate(
            [
                table.matrix() @ vector if same else np.zeros(len(table.documents), np.float32)
                for table, same in zip(tables, comparable, strict=True)
            ]
        )
        similar = allowed if fusion.lists_dissimilar else allowed & (cosine != 0)
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
        if before < fusion.most_of_document:
            ranked.append(_Ranked(table.index, row, document, score * fusion.repeated**before))
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
    text = plain(str(chunks["text"][found.row]), code=True)
    return ChunkHit(
        **_describe_document(found),
        chunk_id=str(chunks["id"][found.row]),
        score=found.score,
        heading_path=str(chunks["heading_path"][found.row]),
        snippet=snippet(text, beginnings),
    )


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
