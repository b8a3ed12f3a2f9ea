"""How near the fields of an index's rows are to words of queries, kept for the next query.

The same words come again, and the same rows are candidates for them: what is known of a word and a
row, :class:`NearWords` need not compare.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from docstow.index.near_words import Floats, NearWords

#: Of so many words and rows it is kept: 4 MB for each field.
_KEPT_WORDS, _KEPT_ROWS = 256, 4096

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
        self._fields = fields
        self._count = count
        self._known = _Known(fields, count)

    def compare(self, terms: Sequence[str], rows: NDArray[np.int64]) -> Floats:
        """Return how like the nearest word of each field is to each term.

        Args:
            terms: different ones.
            rows: different ones, to compare with.

        Returns:
            Shape ``(terms, fields, rows)``.
        """
        found = self._known
        places = found.places(rows)
        if places is None:
            # There is no room for these rows among those of before.
            found = self._known = _Known(self._fields, self._count)
            places = found.places(rows)
        if places is None:
            return self._compare(terms, rows)
        known = [found.word(term) for term in terms]
        best = np.empty((len(terms), self._fields, len(rows)), np.float32)
        for each, kept in zip(best, known, strict=True):
            kept.take(places, axis=1, out=each, mode="clip")
        # What is not known yet is no number; of a row that is written just now some fields are.
        unknown = np.isnan(best).any(axis=(0, 1))
        if unknown.any():
            new = self._compare(terms, rows[unknown])
            for kept, values in zip(known, new, strict=True):
                kept[:, places[unknown]] = values
            best[:, :, unknown] = new
        return best

    def _compare(self, terms: Sequence[str], rows: NDArray[np.int64]) -> Floats:
        best = self._near.best(terms, self._read(rows))
        return best.reshape(len(terms), self._fields, len(rows))


class _Known:
    """What is known of words and some rows, each of which has its place.

    Args:
        fields: how many each row has.
        count: how many rows there are.
    """

    def __init__(self, fields: int, count: int) -> None:
        self._shape = (fields, min(count, _KEPT_ROWS))
        self._places = np.full(count, -1, np.int64)
        self._taken = 0
        self._lock = threading.Lock()
        #: Gives what is known of a word: shape ``(fields, places)``.
        self.word = lru_cache(_KEPT_WORDS)(self._know_nothing)

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the place of each row; None where there is no room for all."""
        places = self._places[rows]
        if places.min(initial=0) < 0:
            with self._lock:
                new = rows[self._places[rows] < 0]
                if self._taken + len(new) > self._shape[1]:
                    return None
                self._places[new] = np.arange(self._taken, self._taken + len(new))
                self._taken += len(new)
            places = self._places[rows]
        return places

    def _know_nothing(self, term: str) -> Floats:
        """Return what is known of a term that has not been compared; it is filled later."""
        del term
        return np.full(self._shape, np.nan, np.float32)
