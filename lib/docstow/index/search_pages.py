"""Search in loaded snapshots for chunks of pages and for code examples.

Examples are ranked by fused ranks of words and vectors; chunks by a linear model over what they and
their pages have of the query, unless words or vectors alone are asked for. Of copies one is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import NO_ATTRIBUTES
from docstow.core.records import dataclass
from docstow.index.contents import order_contents
from docstow.index.copies import ChunkText, drop_copies, last_heading
from docstow.index.loaded import Index, Posting
from docstow.index.page_fields import COLUMNS as PAGE_FIELDS
from docstow.index.ranking import (
    Scale,
    best_passages,
    distinct,
    page_weights,
    reciprocal_rank_fusion,
    times_before,
    top_allowed,
)
from docstow.text import bm25

if TYPE_CHECKING:
    from docstow.embedding import Embedder

Mode = Literal["hybrid", "vector", "keyword"]

#: How many of each list are fused, whatever the limit: a longer answer begins as a shorter one.
FUSION_DEPTH = 100

#: So many pages whose chunks are on the whole most like the query are candidates too.
_PAGE_DEPTH = 30

#: What each further chunk of a page loses of its score, so that other pages come before it.
_REPEATED = 2.0

#: Make of a score the chance that the page answers, fitted to the first five hits in development:
#: where what pages are about is known, and where it is not.
_SCALE_WITH_FIELDS = Scale(middle=13.4, width=4.2)
_SCALE = Scale(middle=11.1, width=4.75)


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
        score: from 0 to 1; comparable within one answer only.
        title: the page's title.
        url: where a person reads it, with the fragment of its heading where that is known.
        path: the page's path.
        heading_path: the headings above the chunk and its own.
        snippet: the part of the chunk that has most of the query's words; plain text; empty where
            none was asked for.
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


#: A row's place among those of all tables, one after the other, and its score.
_Scored = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row of a table, its document and its score."""

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
    snippets: bool = True,
) -> list[ChunkHit]:
    """Return the best chunks for a query, best first.

    A word weighs what it weighs among all sources searched, so that no source is favoured for
    being small. Case makes no difference to what is found. Of chunks that say the same, on pages of
    any source, the original is listed alone (see :mod:`docstow.index.copies`), and of a page in
    several languages that in the query's (see :mod:`docstow.index.translations`). Contents pages
    are below what they lead to (see :mod:`docstow.index.contents`).

    Args:
        indexes: the loaded snapshots.
        embedder: the model; without it, and in snapshots of another model, words alone count.
        query: what is looked for.
        limit: the largest number of chunks; there are at most :data:`FUSION_DEPTH` of each list.
        mode: BM25F over words, cosine of vectors, or both.
        filters: what may be in the list.
        snippets: whether hits have them; most of a search's time goes there.
    """
    filters = filters or PageFilters()
    tables = [_chunk_table(index, filters, query) for index in indexes if len(index)]
    if not tables or limit < 1:
        return []
    found = _match(tables, embedder, query, mode)
    ranked = _rank_chunks(found) if len(found.lists) > 1 else _rank_fused(found, None)
    ranked = _below_listed(found, ranked)
    if len(tables) > 1:
        ranked = _without_copies(found, ranked, limit)
    beginnings = _stem_beginnings(query) if snippets else ()
    return [_chunk_hit(each, beginnings) for each in found.locate(ranked[:limit])]


def search_examples(
    indexes: Sequence[Index],
    embedder: Embedder | None,
    query: str,
    *,
    limit: int,
    languages: Collection[str] = (),
    mode: Mode = "hybrid",
    filters: PageFilters | None = None,
) -> list[Ranked]:
    """Return the rows of the best code blocks for a query, best first; see :func:`example_hit`.

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
        passing = _passing_pages(index, filters or PageFilters(), query)[documents]
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
    if not tables or limit < 1:
        return []
    matches = _match(tables, embedder, query, mode)
    return matches.locate(_rank_fused(matches, limit))


def example_hit(found: Ranked) -> ExampleHit:
    """Return the code block of a row that :func:`search_examples` has found."""
    return ExampleHit(
        **_describe_document(found),
        row=found.document,
        score=found.score,
        language=str(found.index.examples["language"][found.row]),
        context=str(found.index.examples["context"][found.row]),
        code=str(found.index.examples["code"][found.row]),
    )


def _passing_pages(index: Index, filters: PageFilters, query: str) -> NDArray[np.bool_]:
    """Return for each page whether it may be in the list; of translations one may be."""
    passing = filters.match(index)
    translations = index.translations
    if translations is None:
        return passing
    terms = index.profile.query_terms(query)
    postings = {term: found[0] for term in terms if (found := index.postings(term))}
    language = translations.guess_language(terms, postings.get, index.passages["document"])
    return translations.keep_one(passing, language)


def _chunk_table(index: Index, filters: PageFilters, query: str) -> _Table:
    documents, originals = index.passages["document"], index.originals
    allowed = _passing_pages(index, filters, query)[documents]
    # What a filter leaves of copies is found.
    allowed &= (originals == np.arange(len(originals))) | ~allowed[originals]
    return _Table(
        index=index,
        documents=documents,
        allowed=allowed,
        postings=index.postings,
        matrix=partial(getattr, index, "matrix"),
    )


@dataclass(frozen=True)
class _Matches:
    """How the rows of all tables, one after the other, match a query.

    Attributes:
        tables: that are ranked.
        starts: the place of each table's first row, and of the end.
        comparable: whether each table's vectors are of the query's model.
        allowed: whether each row may be listed.
        keyword: each row's score by words; None if they do not count.
        cosine: of each row, 0 where vectors cannot be compared; None if they do not count.
        vector: of the query; None if vectors do not count.
        terms: of the query.
        lists: the best places by words, by vectors, or by both.
    """

    tables: Sequence[_Table]
    starts: NDArray[np.int64]
    comparable: Sequence[bool]
    allowed: NDArray[np.bool_]
    keyword: NDArray[np.float32] | None
    cosine: NDArray[np.float32] | None
    vector: NDArray[np.float32] | None
    terms: Sequence[str]
    lists: Sequence[NDArray[np.int64]]

    def locate(self, ranked: Sequence[_Scored]) -> list[Ranked]:
        """Return the rows at places, with their scores."""
        places = np.array([place for place, _ in ranked], np.int64)
        numbers = self.starts.searchsorted(places, side="right") - 1
        found = []
        for number, (place, score) in zip(numbers.tolist(), ranked, strict=True):
            table, row = self.tables[number], place - int(self.starts[number])
            found.append(Ranked(table.index, row, int(table.documents[row]), score))
        return found

    @cached_property
    def pages(self) -> NDArray[np.int64]:
        """The number of each row's document, counted through all tables."""
        counts = np.cumsum([0, *[len(table.index) for table in self.tables]])
        parts = [
            table.documents + before for table, before in zip(self.tables, counts, strict=False)
        ]
        return np.concatenate(parts)


def _match(tables: Sequence[_Table], embedder: Embedder | None, query: str, mode: Mode) -> _Matches:
    profile = tables[0].index.profile
    model = embedder.id if embedder else ""
    comparable = [table.index.snapshot.recipe.model == model for table in tables]
    if not any(comparable):
        mode = "keyword"
    allowed = np.concatenate([table.allowed for table in tables])
    keyword = cosine = vector = None
    terms = profile.query_terms(query)
    lists = []
    if mode != "vector":
        keyword = _score_words(tables, terms)
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
    starts = np.cumsum([0, *[len(table.documents) for table in tables]])
    return _Matches(tables, starts, comparable, allowed, keyword, cosine, vector, terms, lists)


def _rank_fused(found: _Matches, limit: int | None) -> list[_Scored]:
    """Return the first rows of all lists, best first, by reciprocal rank fusion (k = 60)."""
    profile = found.tables[0].index.profile
    places, scores = reciprocal_rank_fusion(found.lists)
    before = times_before(found.pages[places])
    listed = before < profile.most_of_document
    places, scores, before = places[listed], scores[listed], before[listed]
    shares = [profile.repeated_share**number for number in range(int(before.max(initial=0)) + 1)]
    scores = scores * np.array(shares)[before]
    order = (-scores).argsort(kind="stable")[:limit]
    return list(zip(places[order].tolist(), scores[order].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class PageCandidates:
    """The chunks that come into question, and what the model over them is told.

    Attributes:
        places: numbers of chunks, counted through all tables; shape (candidates,).
        features: by name, each of shape (candidates,).
    """

    places: NDArray[np.int64]
    features: Mapping[str, NDArray[np.float64]]


def find_page_candidates(index: Index, embedder: Embedder, query: str) -> PageCandidates:
    """Return the candidates of one snapshot, as the weights of the ranking are fitted to them."""
    found = _match([_chunk_table(index, PageFilters(), query)], embedder, query, "hybrid")
    return _describe_chunks(found, found.lists[0], found.lists[1])


def _describe_chunks(
    found: _Matches, by_words: NDArray[np.int64], by_vectors: NDArray[np.int64]
) -> PageCandidates:
    """Return the features of each chunk that its own match, or that of its page, brings up.

    A page speaks by the best of its chunks, by its first, which has its title and what it begins
    with, and by the mean of all. A snapshot of another model has none of the cosines; its chunks
    count as the mean of the others.
    """
    keyword, cosine, vector = found.keyword, found.cosine, found.vector
    assert keyword is not None and cosine is not None and vector is not None  # noqa: PT018
    firsts, bests, best_words, means = [], [], [], []
    for table, start, same in zip(found.tables, found.starts, found.comparable, strict=False):
        first = table.index.first_passage
        firsts.append(first + start)
        bests.append(np.maximum.reduceat(cosine[start : start + len(table.documents)], first))
        best_words.append(np.maximum.reduceat(keyword[start : start + len(table.documents)], first))
        vectors = table.index.page_vectors if same else np.zeros((len(first), len(vector)))
        means.append(vectors @ vector)
    page_of, first_of = found.pages, np.concatenate(firsts)
    best_of, words_of, mean_of = map(np.concatenate, (bests, best_words, means))
    listed = top_allowed(mean_of, found.allowed[first_of] & (mean_of != 0), _PAGE_DEPTH)
    likely = best_passages(cosine, first_of, best_of, listed)
    places = distinct(np.concatenate([by_words, by_vectors, first_of[listed], likely]))
    page = page_of[places]
    most_words = max(float(keyword[by_words[0]]), 1e-9) if len(by_words) else 1.0
    compared = np.repeat(found.comparable, np.diff(found.starts))[places]
    cosines = {
        "vector_place": _closeness(by_vectors, places),
        "cosine": cosine[places],
        "cosine_gap": cosine[places] - (cosine[by_vectors[0]] if len(by_vectors) else 0.0),
        "page_mean": mean_of[page],
        "page_first": cosine[first_of[page]],
        "page_best": best_of[page],
    }
    if not compared.all() and compared.any():
        cosines = {
            name: np.where(compared, values, values[compared].mean())
            for name, values in cosines.items()
        }
    features = {
        "keyword_place": _closeness(by_words, places),
        "keyword_share": keyword[places] / most_words,
        "page_words": words_of[page] / most_words,
        **cosines,
        **_near_pages(found, page),
    }
    return PageCandidates(
        places, {name: values.astype(np.float64) for name, values in features.items()}
    )


def _near_pages(found: _Matches, pages: NDArray[np.int64]) -> Mapping[str, NDArray[np.float32]]:
    """Return how much of the query words of each page's fields mean.

    Nothing if a snapshot keeps no such fields: then no page is the worse for having them.

    Args:
        found: how everything matches.
        pages: of the candidates, ascending, counted through all tables.
    """
    words = [table.index.page_words for table in found.tables]
    if not all(words):
        return {}
    begins = np.diff(pages, prepend=-1) > 0
    counted, places = pages[begins], np.cumsum(begins) - 1
    near = []
    before = begin = 0
    for table, each in zip(found.tables, words, strict=True):
        end = int(np.searchsorted(counted, before + len(table.index)))
        if each is not None:
            near.append(each.compare(found.terms, counted[begin:end] - before))
        before, begin = before + len(table.index), end
    return {
        f"{name}_near": np.concatenate([each[name] for each in near])[places]
        for name in PAGE_FIELDS
    }


def _closeness(ranking: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each place how near to the top of a list it is, from 1 down; 0 if not in it."""
    close = np.zeros(max(ranking.max(initial=0), places.max(initial=0)) + 1)
    close[ranking] = 10 / (10 + np.arange(1, len(ranking) + 1))
    found: NDArray[np.float64] = close[places]
    return found


def _rank_chunks(found: _Matches) -> list[_Scored]:
    """Return the candidates, best first, by what they and their pages have of the query."""
    described = _describe_chunks(found, found.lists[0], found.lists[1])
    with_fields = "about_near" in described.features
    weights = page_weights(with_fields=with_fields)
    scale = _SCALE_WITH_FIELDS if with_fields else _SCALE
    scores = np.zeros(len(described.places))
    for name, values in described.features.items():
        scores += weights[name] * values
    order = (-scores).argsort(kind="stable")
    places, scores = described.places[order], scores[order]
    scores -= _REPEATED * times_before(found.pages[places])
    order = (-scores).argsort(kind="stable")
    chances = 1 / (1 + np.exp((scale.middle - scores[order]) / scale.width))
    return list(zip(places[order].tolist(), chances.tolist(), strict=True))


def _below_listed(found: _Matches, ranked: Sequence[_Scored]) -> list[_Scored]:
    """Return hits with contents pages below what they list, with the score of what is above."""
    lists: dict[int, frozenset[int]] = {}
    before = 0
    for table in found.tables:
        for page, listed in table.index.lists.items():
            lists[before + page] = frozenset(before + each for each in listed)
        before += len(table.index)
    if not lists:
        return list(ranked)
    pages = found.pages[[place for place, _ in ranked]].tolist() if ranked else []
    moved = []
    least = 1.0
    for each in order_contents(pages, lists):
        place, score = ranked[each]
        least = min(least, score)
        moved.append((place, least))
    return moved


def _without_copies(found: _Matches, ranked: Sequence[_Scored], limit: int) -> list[_Scored]:
    """Return what is listed of chunks of several sources: of copies the original alone.

    It stands where the best copy stood, with its score. Copies within a source are not among the
    candidates.
    """
    texts = [_chunk_text(each) for each in found.locate(ranked)]
    return [(ranked[original][0], ranked[best][1]) for best, original in drop_copies(texts, limit)]


def _chunk_text(found: Ranked) -> ChunkText:
    table = found.index.passages
    return ChunkText(
        (id(found.index), found.document),
        str(found.index.columns["path"][found.document]),
        len(found.index.passage_rows(found.document)),
        last_heading(str(table["heading_path"][found.row])),
        int(table["tokens"][found.row]),
        str(table["text"][found.row]),
    )


def _score_words(tables: Sequence[_Table], terms: Sequence[str]) -> NDArray[np.float32]:
    """Score every row by words, each term weighed by how rare it is in all tables together."""
    scores = [np.zeros(len(table.documents), np.float32) for table in tables]
    total = sum(map(len, scores))
    for term in dict.fromkeys(terms):
        postings = [table.postings(term) for table in tables]
        if len(scores) == 1:  # then it has been weighed by all there is
            if postings[0] is not None:
                scores[0][postings[0][0]] += postings[0][1]
            continue
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


def _chunk_hit(found: Ranked, beginnings: Collection[str]) -> ChunkHit:
    """Return a chunk as a hit; without a snippet if there are no words that it should have."""
    chunks = found.index.passages
    described = _describe_document(found)
    shown = found.index.shown_chunk(found.row)
    if shown.fragment:
        described["url"] = f"{described['url']}#{shown.fragment}"
    return ChunkHit(
        **described,
        chunk_id=str(chunks["id"][found.row]),
        score=found.score,
        heading_path=str(chunks["heading_path"][found.row]),
        snippet=shown.snippet(beginnings) if beginnings else "",
    )


def _describe_document(found: Ranked) -> dict[str, str]:
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
