"""How near the fields of an index's rows are to words of queries, kept for the next query.

The same words come again, and the same rows are candidates for them: what is known of a word and a
row, their :class:`NearWords` need not compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from docstow.index.near_words import Floats, NearWords

#: Of so many words it is kept, if they take no more bytes than this.
_KEPT_WORDS, _KEPT_BYTES = 512, 4 * 1024 * 1024

#: Gives the terms that some rows have in each field, one field after the other, each as
#: :meth:`NearWords.read` does.
Read = Callable[[NDArray[np.int64]], Sequence[NDArray[np.int32]]]


class NearRows:
    """The fields of rows that words are compared with. Safe to share between threads.

    Args:
        near: compares.
        read: reads rows.
        fields: how many fields each row has.
        count: how many rows there are.
    """

    def __init__(self, near: NearWords, read: Read, *, fields: int, count: int) -> None:
        self._near = near
        self._read = read
        self._shape = (fields, count)
        most = _KEPT_BYTES // max(4 * fields * count, 1)
        self._known = lru_cache(min(max(most, 1), _KEPT_WORDS))(self._know_nothing)

    def compare(self, terms: Sequence[str], rows: NDArray[np.int64]) -> Floats:
        """Return how like the nearest word of each field is to each term.

        Args:
            terms: different ones.
            rows: to compare with.

        Returns:
            Shape ``(terms, fields, rows)``.
        """
        known = [self._known(term) for term in terms]
        best = np.empty((len(terms), self._shape[0], len(rows)), np.float32)
        for each, kept in zip(best, known, strict=True):
            kept.take(rows, axis=1, out=each, mode="clip")
        # What is not known yet is no number, in all fields of a row.
        unknown = np.isnan(best[:, 0]).any(axis=0)
        if unknown.any():
            new = rows[unknown]
            found = self._near.best(terms, self._read(new)).reshape(*best.shape[:2], len(new))
            for kept, values in zip(known, found, strict=True):
                kept[:, new] = values
            best[:, :, unknown] = found
        return best

    def _know_nothing(self, term: str) -> Floats:
        """Return what is known of a term that has not been compared; it is filled later."""
        del term
        return np.full(self._shape, np.nan, np.float32)
