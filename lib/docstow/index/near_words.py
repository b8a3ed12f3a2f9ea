"""How well items match the words of a query when words of like meaning count in part.

The similarity of two words is the cosine of their vectors in the bundled model. As in late
interaction, what counts of a text is its nearest word to each word of the query (MaxSim: O. Khattab
and M. Zaharia, "ColBERT", SIGIR 2020), but over the terms of the inverted index, so that nothing
more is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from docstow.embedding.words import WordVectors
from docstow.text import bm25

#: So many terms of an index stand for a word of the query, if they are at least so similar.
_NEAREST = 48
_LEAST_SIMILARITY = 0.2

#: So many words of a sentence are compared.
_MOST_WORDS = 40

#: How near so many words of queries are to every term is kept, what terms so many texts have, and
#: how near so many bytes of rows are: the same ones come again.
_KEPT_WORDS, _KEPT_TEXTS, _KEPT_BYTES = 512, 1 << 14, 16 * 1024 * 1024

#: A word that the model does not know means as much as a middling one.
_UNKNOWN_LENGTH = 1.0

Postings = Callable[[str], tuple[NDArray[np.int32], NDArray[np.float32]] | None]
Floats = NDArray[np.float32]


class NearWords:
    """The terms of an index that the bundled model knows as words. Safe to share between threads.

    Args:
        vectors: of words.
        terms: of the index.
        postings: gives the rows that hold a term.
        count: how many rows the index has.
    """

    def __init__(
        self, vectors: WordVectors, terms: Iterable[str], postings: Postings, count: int
    ) -> None:
        self._vectors = vectors
        self._postings = postings
        self._count = count
        # Letters behind words: in texts they are like nothing, in names and summaries they count.
        self._terms = sorted(terms, key=lambda term: len(term) < 2)
        self._numbers = {term: number for number, term in enumerate(self._terms)}
        rows = [vectors.number(term) for term in self._terms]
        known = [number for number, row in enumerate(rows) if row is not None]
        self._known = np.array(known, np.int64)
        self._words = sum(len(self._terms[number]) > 1 for number in known)
        # One more term stands for all words that the index does not have, and is like no other.
        self._places = np.full(len(self._terms) + 1, len(known), np.int64)
        self._places[self._known] = np.arange(len(known))
        self._matrix, _ = vectors.vectors(np.array([rows[number] for number in known], np.int64))
        self._compare = lru_cache(_KEPT_WORDS)(self._compare_word)
        most = min(max(_KEPT_BYTES // max(4 * count, 1), 1), _KEPT_WORDS)
        self._near = lru_cache(most)(self._find_near)
        #: Gives the numbers of the terms of a text, of its first :data:`_MOST_WORDS` words.
        self.read_text = lru_cache(_KEPT_TEXTS)(self._read_text)

    def in_texts(self, terms: Sequence[str], shares: Floats, rows: NDArray[np.int64]) -> Floats:
        """Return how much of a query the words of some rows mean: shape ``(rows,)``, 0 to 1.

        Args:
            terms: of the query.
            shares: theirs; see :meth:`weigh`.
            rows: of the index.
        """
        total = np.zeros(len(rows), np.float32)
        for term, share in zip(terms, shares, strict=True):
            total += share * self._near(term).take(rows)
        return total

    def read(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of terms; those that are not of the index have the same one."""
        other = len(self._terms)
        return np.array([self._numbers.get(word, other) for word in words], np.int32)

    def weigh(self, query: Sequence[str]) -> tuple[list[str], Floats]:
        """Return the different terms of a query, and what each means of the whole."""
        terms = list(dict.fromkeys(query))
        return terms, self._shares(terms)

    def best(self, terms: Sequence[str], texts: Sequence[NDArray[np.int32]]) -> Floats:
        """Return how like the nearest word of each text is to each term: shape (terms, texts).

        Args:
            terms: of a query.
            texts: as :meth:`read` and :meth:`read_text` give them, none of them empty.
        """
        flat = np.concatenate(texts)
        begins = np.zeros(len(texts), np.int64)
        np.cumsum([len(each) for each in texts[:-1]], out=begins[1:])
        places = self._places[flat]
        similarities = np.empty((len(terms), len(flat)), np.float32)
        for row, term in zip(similarities, terms, strict=True):
            # No place is out of bounds; a take that looks for one copies what it has taken.
            self._compare(term)[0].take(places, out=row, mode="clip")
            number = self._numbers.get(term)
            if number is not None and self._places[number] == len(self._known):
                row[flat == number] = 1.0
        best: Floats = np.maximum.reduceat(similarities, begins, axis=1)
        return best

    def _shares(self, terms: Sequence[str]) -> Floats:
        """Return what each term of a query means of the whole."""
        lengths = np.array([self._compare(term)[1] for term in terms], np.float32)
        shares: Floats = lengths / lengths.sum()
        return shares

    def _compare_word(self, word: str) -> tuple[Floats, float]:
        """Return how like a word every known term and the other one is, and how much it means.

        No likeness is below 0, and that of the word itself is 1.
        """
        likeness = np.zeros(len(self._known) + 1, np.float32)
        row = self._vectors.number(word)
        if row is None:
            return likeness, _UNKNOWN_LENGTH
        vectors, lengths = self._vectors.vectors([row])
        np.matmul(self._matrix, vectors[0], out=likeness[:-1]).clip(min=0, out=likeness[:-1])
        number = self._numbers.get(word)
        if number is not None:
            likeness[self._places[number]] = 1.0
        return likeness, float(lengths[0])

    def _find_near(self, word: str) -> Floats:
        """Return how near each row is by a word or one near it: shape ``(count,)``."""
        similarities = self._compare(word)[0][: self._words]
        near = _top(similarities)
        near = near[similarities[near] >= _LEAST_SIMILARITY]
        near = near[np.argsort(similarities[near], kind="stable")]
        pairs = zip(self._known[near].tolist(), similarities[near].tolist(), strict=True)
        others = [(self._terms[number], each) for number, each in pairs]
        words = [*(pair for pair in others if pair[0] != word), (word, 1.0)]
        held = [(rows[0], each) for term, each in words if (rows := self._postings(term))]
        best = np.zeros(self._count, np.float32)
        # The best of several values for a row is the last one.
        for holding, each in held:
            best[holding] = each
        return best

    def _read_text(self, text: str) -> NDArray[np.int32]:
        """Return the numbers of a text's terms, each once; never none."""
        words = list(dict.fromkeys(bm25.tokens(text)))[:_MOST_WORDS]
        return self.read(words or [""])


def _top(similarities: Floats) -> NDArray[np.int64]:
    if len(similarities) <= _NEAREST:
        return np.arange(len(similarities))
    return np.argpartition(-similarities, _NEAREST)[:_NEAREST]
