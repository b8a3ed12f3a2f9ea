"""Rank: the best of one list of scores, and the fusion of several rankings into one.

This room knows row numbers, scores and orders. It does not know what the rows are or which
methods ranked them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def top(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    """The rows of the ``k`` highest scores, best first; equal scores in the order of their rows.

    Args:
        scores: shape ``(n,)``, without NaN.
        k: how many rows are wanted; fewer come back where there are fewer.
    """
    k = min(k, len(scores))
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    # argpartition alone would choose freely among the rows that tie at the threshold.
    above = np.flatnonzero(scores > threshold)
    level = np.flatnonzero(scores == threshold)[: k - len(above)]
    best = above[np.argsort(-scores[above], kind="stable")]
    return np.concatenate([best, level]).astype(np.int64)


def ranking(scores: NDArray[Any], allowed: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
    """The ``k`` allowed rows of the highest scores, best first.

    Args:
        scores: shape ``(n,)``, without NaN.
        allowed: shape ``(n,)``; other rows are left out.
        k: how many rows are wanted.
    """
    rows = np.flatnonzero(allowed)
    best: NDArray[np.int64] = rows[top(scores[rows], k)]
    return best


def reciprocal_rank_fusion(
    rankings: Sequence[NDArray[np.int64]],
    *,
    k: int = 60,
    weights: Sequence[float] | None = None,
) -> list[tuple[int, float]]:
    """Fuse rankings by the sum of ``weight / (k + rank)``, ranks counted from 1.

    G. V. Cormack, C. L. A. Clarke and S. Buettcher, "Reciprocal Rank Fusion outperforms Condorcet
    and individual Rank Learning Methods", SIGIR 2009, which also has k = 60.

    Args:
        rankings: each holds rows, best first, no row twice.
        k: the larger, the less the first ranks stand out.
        weights: one per ranking; all 1 if left out.

    Returns:
        All rows that occur, with their fused scores, best first; equal scores in row order.
    """
    fused: defaultdict[int, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, row in enumerate(ranking.tolist(), start=1):
            fused[row] += weight / (k + rank)
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))
