"""How well items match the words of a query when words of like meaning count in part.

The similarity of two words is the cosine of their vectors in the bundled model. As in late
interaction, what counts of a text is its nearest word to each word of the query (MaxSim: O. Khattab
and M. Zaharia, "ColBERT", SIGIR 2020), but over the terms of the inverted index, so that nothing
more is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from docstow.embedding.words import WordVectors
from docstow.text import bm25

#: So many terms of an index stand for a word of the query, if they are at least so similar.
_NEAREST = 48
_LEAST_SIMILARITY = 0.2

#: So many words of a sentence are compared.
_MOST_WORDS = 40

#: A word that the model does not know means as much as a middling one.
_UNKNOWN_LENGTH = 1.0

Postings = Callable[[str], tuple[NDArray[np.int32], NDArray[np.float32]] | None]
Floats = NDArray[np.float32]


class NearWords:
    """The terms of an index that the bundled model knows as words.

    Args:
        vectors: of words.
        terms: of the index.
        postings: gives the rows that hold a term.
        count: how many rows the index has.
    """

    def __init__(
        self, vectors: WordVectors, terms: Iterable[str], postings: Postings, count: int
    ) -> None:
        known = ((term, vectors.number(term)) for term in terms if len(term) > 1)
        numbers = {term: number for term, number in known if number is not None}
        self._vectors = vectors
        self._terms = list(numbers)
        self._numbers = np.array(list(numbers.values()), np.int64)
        self._postings = postings
        self._count = count

    @cached_property
    def _known(self) -> Floats:
        return self._vectors.vectors(self._numbers)[0]

    def in_texts(self, query: Sequence[str]) -> Floats:
        """Return how much of a query the words of each row mean: shape ``(count,)``, 0 to 1.

        Args:
            query: its terms; a repeated one counts once.
        """
        terms = list(dict.fromkeys(query))
        total = np.zeros(self._count, np.float32)
        if not terms:
            return total
        vectors, shares = self._embed(terms)
        similarities = vectors @ self._known.T
        for term, share, row in zip(terms, shares / shares.sum(), similarities, strict=True):
            best = np.zeros(self._count, np.float32)
            near = {self._terms[n]: row[n] for n in _top(row) if row[n] >= _LEAST_SIMILARITY}
            for word, similarity in {**near, term: 1.0}.items():
                if (held := self._postings(word)) is not None:
                    best[held[0]] = np.maximum(best[held[0]], similarity)
            total += share * best
        return total

    def in_names(self, query: Sequence[str], names: Sequence[str]) -> Floats:
        """Return how much of a query the words of each name mean: shape ``(names,)``, 0 to 1.

        Similarities are cubed, so that only close words count.

        Args:
            query: its terms; a repeated one counts once.
            names: of items.
        """
        return self._in_words(query, [bm25.tokens(name) for name in names], 3)

    def in_summaries(self, query: Sequence[str], summaries: Sequence[str]) -> Floats:
        """Return how much of a query the words of each sentence mean, as :meth:`in_names` does.

        Similarities count as they are: an author says the same in other words. Of a long sentence
        the first :data:`_MOST_WORDS` words count.
        """
        words = [list(dict.fromkeys(bm25.tokens(each)))[:_MOST_WORDS] for each in summaries]
        return self._in_words(query, words, 1)

    def _in_words(self, query: Sequence[str], texts: Sequence[Sequence[str]], power: int) -> Floats:
        terms = list(dict.fromkeys(query))
        if not terms or not texts:
            return np.zeros(len(texts), np.float32)
        # A text without any word has an empty one, which must be like no other.
        words = [each or [""] for each in texts]
        flat = [word for each in words for word in each]
        begins = np.cumsum([0, *(len(each) for each in words[:-1])])
        places = {word: place for place, word in enumerate(dict.fromkeys(flat))}
        vectors, shares = self._embed(terms)
        others, _ = self._embed(list(places))
        similarities = (vectors @ others.T).clip(min=0)
        for row, term in enumerate(terms):
            if term in places:
                similarities[row, places[term]] = 1.0
        spread = similarities[:, [places[word] for word in flat]]
        best: Floats = np.maximum.reduceat(spread, begins, axis=1)
        found: Floats = (shares / shares.sum() @ best**power).astype(np.float32)
        found[[not each for each in texts]] = 0
        return found

    def _embed(self, terms: Sequence[str]) -> tuple[Floats, Floats]:
        """Return unit vectors and lengths of terms; an unknown one has a vector of zeros."""
        numbers = [self._vectors.number(term) for term in terms]
        places = [place for place, number in enumerate(numbers) if number is not None]
        some, known = self._vectors.vectors(
            np.array([numbers[place] for place in places], np.int64)
        )
        vectors = np.zeros((len(terms), some.shape[1]), np.float32)
        lengths = np.full(len(terms), _UNKNOWN_LENGTH, np.float32)
        vectors[places], lengths[places] = some, known
        return vectors, lengths


def _top(similarities: Floats) -> NDArray[np.int64]:
    if len(similarities) <= _NEAREST:
        return np.arange(len(similarities))
    return np.argpartition(-similarities, _NEAREST)[:_NEAREST]
