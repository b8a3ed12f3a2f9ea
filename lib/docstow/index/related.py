"""Words of programming that are used for one another, as a reader's and an author's often are.

``related.txt`` has a group of such words on each line; a word may stand in several. That two groups
have a word in common relates nothing else in them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docstow.text import bm25

WORDS = Path(__file__).with_name("related.txt")

#: What a related term counts beside the term itself.
SHARE = 0.5


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


def score(
    lookup: Callable[[str], tuple[NDArray[np.int32], NDArray[np.float32]] | None],
    query: Sequence[str],
    n: int,
) -> NDArray[np.float32]:
    """Score all rows for a query in which each term stands for those that are related to it.

    A row gets for each term of the query the best of its own weight and :data:`SHARE` of the
    weights of related terms that the query does not have.

    Args:
        lookup: gives a term's rows and weights, or None for a term that no row has.
        query: terms as from :func:`docstow.text.bm25.tokens`; a repeated term counts once.
        n: how many rows there are.

    Returns:
        The scores, shape ``(n,)``; 0 for a row with none of the terms.
    """
    asked = dict.fromkeys(query)
    scores = np.zeros(n, np.float32)
    for term in asked:
        own = lookup(term)
        others = [each for each in related_terms(term) if each not in asked]
        found = [posting for each in others if (posting := lookup(each)) is not None]
        if not found:
            if own is not None:
                scores[own[0]] += own[1]
            continue
        best = np.zeros(n, np.float32)
        if own is not None:
            best[own[0]] = own[1]
        for rows, weights in found:
            best[rows] = np.maximum(best[rows], SHARE * weights)
        scores += best
    return scores
