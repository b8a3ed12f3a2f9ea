"""From a query to whole code blocks, by words and by meaning, fused.

This room knows examples. It never cuts one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from docstow.index import ranking__rank as rank
from docstow.index.loaded import Index
from docstow.text import bm25 as words

if TYPE_CHECKING:
    from docstow.embedding._embed import Embedder

DEPTH = 100

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
    lists = [rank.ranking(keyword, allowed & (keyword > 0), DEPTH)]
    if embedder is not None:
        vector = index.example_matrix @ embedder.embed_query(query)
        lists.append(rank.ranking(vector, allowed, DEPTH))
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
