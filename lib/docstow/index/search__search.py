"""From a query to hits over one loaded index: lists of candidates, fused and ranked again.

This room knows the read path. It does not know where an index came from or how hits are shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import Hit
from docstow.index import ranking as features
from docstow.index import ranking__rank as rank
from docstow.index.loaded import Index
from docstow.text import bm25 as words
from docstow.text import chunking__chunk as chunk

if TYPE_CHECKING:
    from docstow.embedding._embed import Embedder

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
        inside = [index.language.holds(prefix, path) for path in columns["path"]]
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
