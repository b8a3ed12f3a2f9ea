"""Words of programming that are used for one another, as a reader's and an author's often are.

``related.txt`` has a group of such words on each line; a word may stand in several. That two groups
have a word in common relates nothing else in them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docstow.text import bm25

WORDS = Path(__file__).with_name("related.txt")

#: What a related term counts beside the term itself.
SHARE = 0.5


#: The rows that a term and its related ones have: the same terms come again.
_KEPT_TERMS = 256

Posting = tuple[NDArray[np.int32], NDArray[np.float32]]


def related_terms(term: str) -> Collection[str]:
    """Return the terms that are used for a term, without itself; all as from ``bm25.tokens``."""
    return _groups().get(term, frozenset())


@cache
def _groups() -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in WORDS.read_text("utf-8").splitlines():
        group = set(bm25.tokens(line))
        for term in group:
            found[term] |= group - {term}
    return {term: frozenset(terms) for term, terms in found.items()}


class RelatedScores:
    """The scores of an index's rows by words and related ones. Safe to share between threads.

    Args:
        lookup: gives a term's rows and weights, or None for a term that no row has.
        n: how many rows there are.
    """

    def __init__(self, lookup: Callable[[str], Posting | None], n: int) -> None:
        self._lookup = lookup
        self._n = n
        self._joined = lru_cache(_KEPT_TERMS)(self._join)

    def score(self, query: Sequence[str]) -> NDArray[np.float32]:
        """Score all rows for a query in which each term stands for those related to it.

        A row gets for each term of the query the best of its own weight and :data:`SHARE` of the
        weights of related terms that the query does not have.

        Args:
            query: terms as from :func:`docstow.text.bm25.tokens`; a repeated term counts once.

        Returns:
            The scores, shape ``(n,)``; 0 for a row with none of the terms.
        """
        asked = dict.fromkeys(query)
        scores = np.zeros(self._n, np.float32)
        for term in asked:
            rows, weights = self._joined(term, frozenset(asked.keys() & related_terms(term)))
            scores[rows] += weights
        return scores

    def _join(self, term: str, without: frozenset[str]) -> Posting:
        """Return the rows of a term and its related ones but for some, each with its best."""
        own = self._lookup(term)
        best = np.zeros(self._n, np.float32)
        if own is not None:
            best[own[0]] = own[1]
        for other in related_terms(term):
            if other not in without and (posting := self._lookup(other)) is not None:
                rows, weights = posting
                best[rows] = np.maximum(best[rows], SHARE * weights)
        rows = best.nonzero()[0].astype(np.int32)
        return rows, best[rows]
