"""From a query to hits over one loaded index: a keyword list and a vector list, fused.

This room knows the read path. It does not know where an index came from or how hits are shown.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from docstow import chunk, rank, words
from docstow.index import Index
from docstow.model import Hit

if TYPE_CHECKING:
    from docstow.embed import Embedder

#: How many of each list go into the fusion.
DEPTH = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """What may be in the list: kinds (empty: all) and the module that paths must lie in."""

    kinds: Collection[str] = ()
    module: str = ""


def search(
    index: Index, embedder: Embedder, query: str, *, limit: int, filters: Filters | None = None
) -> list[Hit]:
    """The best documents for a query, best first.

    Scores are reciprocal rank fusion, k = 60 (Cormack, Clarke and Büttcher, SIGIR 2009), of
    BM25F over the documents and exact cosine over their passages.

    Args:
        index: the loaded snapshot.
        embedder: the model that made the index's vectors.
        query: what is looked for; a sentence, an identifier or a path.
        limit: the largest number of hits.
        filters: what may be in the list.
    """
    terms = words.tokens(query)
    allowed = _allowed(index, filters or Filters())
    keyword = words.score(index.postings, terms, len(index))
    similarity = index.matrix @ embedder.embed_query(query)
    vector = np.maximum.reduceat(similarity, index.first_passage)
    lists = {
        "keyword": _ranking(keyword, allowed & (keyword > 0)),
        "vector": _ranking(vector, allowed),
    }
    fused = rank.reciprocal_rank_fusion(list(lists.values()))[:limit]
    ranks = {
        name: {int(row): place for place, row in enumerate(rows, 1)} for name, rows in lists.items()
    }
    return [
        _hit(index, row, score, similarity, terms, {n: r.get(row) for n, r in ranks.items()})
        for row, score in fused
    ]


def _allowed(index: Index, filters: Filters) -> NDArray[np.bool_]:
    columns = index.columns
    allowed = np.ones(len(index), np.bool_)
    if filters.kinds:
        allowed &= np.isin(columns["kind"].astype(str), list(filters.kinds))
    if filters.module:
        prefix = filters.module.removesuffix("::")
        inside = [path == prefix or path.startswith(prefix + "::") for path in columns["path"]]
        allowed &= np.array(inside, np.bool_)
    return allowed


def _ranking(scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The allowed rows with the best scores, best first."""
    rows = np.flatnonzero(allowed)
    best: NDArray[np.int64] = rows[rank.top(scores[rows], min(DEPTH, len(rows)))]
    return best


def _hit(
    index: Index,
    row: int,
    score: float,
    similarity: NDArray[np.float32],
    terms: Collection[str],
    ranks: dict[str, int | None],
) -> Hit:
    columns = index.columns
    begin = int(index.first_passage[row])
    end = int(index.first_passage[row + 1]) if row + 1 < len(index) else len(similarity)
    passage = begin + int(np.argmax(similarity[begin:end]))
    return Hit(
        path=str(columns["path"][row]),
        kind=str(columns["kind"][row]),
        title=str(columns["title"][row]),
        signature=str(columns["signature"][row]),
        heading_path=str(index.passages["heading_path"][passage]),
        snippet=chunk.snippet(str(index.passages["text"][passage]), terms),
        score=score,
        url=str(columns["url"][row]),
        details={"ranks": ranks, "cosine": round(float(similarity[passage]), 4)},
    )
