"""The cards of a store, ranked for a query."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.core.visibility import Visibility, name_at
from docstow.index.cards import CRATES, FULL_WEIGHT, Entry, card_key, term_hash
from docstow.index.segments import FINE, PARTS, Bucket, Head, key_hash, project, survivors
from docstow.text import bm25

#: Of segments that are not here whole only so many terms of a query are looked up, those first
#: that few cards have: one request each.
MOST_TERMS = 6
#: The buckets of such segments that are kept, in bytes.
_KEPT_BYTES = 32 << 20
#: Of so many cards, those that are first by words and mean, the centres are compared too.
_REFINED = 512
#: So many vectors are compared at a time.
_VECTORS_AT_ONCE = 16384


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A segment as a process has it.

    Attributes:
        identity: names it.
        head: what is read of it whole.
        bucket: reads one of its buckets; raises Damaged.
        whole: whether all of it is here, so that reading a bucket costs no request.
    """

    identity: str
    head: Head
    bucket: Callable[[int], Bucket]
    whole: bool


class Buckets:
    """The buckets that were read last, bounded in bytes. Safe to share between threads."""

    def __init__(self, limit: int = _KEPT_BYTES) -> None:
        self._limit = limit
        self._guard = threading.Lock()
        self._kept: OrderedDict[tuple[str, int], Bucket] = OrderedDict()
        self._bytes = 0

    def get(self, segment: Loaded, number: int) -> Bucket:
        """Return a bucket of a segment, read if need be."""
        key = segment.identity, number
        with self._guard:
            if (known := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return known
        bucket = segment.bucket(number)
        with self._guard:
            if key not in self._kept:
                self._kept[key] = bucket
                self._bytes += bucket.nbytes()
            while self._bytes > self._limit and len(self._kept) > 1:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes()
        return bucket


class CardSet:
    """Cards that are ranked for a query. Nothing of it changes.

    Args:
        segments: the oldest first.
        buckets: keeps what was read of their terms.
        bound: the sources whose cards there are; None for all. Others change no score.
    """

    def __init__(
        self, segments: Sequence[Loaded], buckets: Buckets, bound: Visibility | None = None
    ) -> None:
        self.segments = segments
        self._buckets = buckets
        heads = [each.head for each in segments]
        self._edges = np.cumsum([0, *map(len, heads)])
        alive = survivors(heads)
        self._alive = np.concatenate([np.zeros(0, bool), *alive])
        self._bound = None if bound is None else self._rows_of(bound)
        if self._bound is not None:
            self._alive &= self._bound
        self._keys = np.concatenate([np.zeros(0, np.uint64), *(head.keys for head in heads)])
        self._listed: dict[str, list[Entry]] = {}
        self._count = int(self._alive.sum())
        self._embedded = [each.head.codes.any(axis=1) for each in segments]
        self._centre_starts = [each.head.centre_starts() for each in segments]

    def __len__(self) -> int:
        return self._count

    def entries(self, kinds: Collection[str] | None = None) -> Iterator[Entry]:
        """Yield what every card is of, in the order of their keys.

        Args:
            kinds: of sources; None for all.
        """
        wanted = self._alive if kinds is None else self._alive & self._of_kinds(kinds)
        found = [self.entry(row) for row in np.flatnonzero(wanted).tolist()]
        yield from sorted(found, key=lambda each: each.key)

    def listed(self, kind: str) -> list[Entry]:
        """Return what every card of a kind of sources is of, in the order of their keys."""
        if kind not in self._listed:
            self._listed[kind] = list(self.entries({kind}))
        return self._listed[kind]

    def entry(self, row: int) -> Entry:
        """Return what a card is of, by its row in all segments together."""
        place = int(np.searchsorted(self._edges, row, "right")) - 1
        return self.segments[place].head.entry(row - int(self._edges[place]))

    def find(self, key: str) -> Entry | None:
        """Return what stands for a key; None if nothing does."""
        row = self._row(key)
        return None if row is None else self.entry(row)

    def rank(
        self,
        query: str,
        model: str,
        vector: NDArray[np.float32],
        kinds: Collection[str] = CRATES,
    ) -> Ranking:
        """Rank all cards of some kinds of sources; those of others change nothing.

        A score is the sum of two: the standard score of BM25F over the cards' terms, and the
        average of two others, of the cosine of the mean and of the best one among the centres.
        The mean says what a crate is about, a centre what a part of it is about: each alone loses
        where the other wins. Cards of another model have the first alone; centres are compared for
        the cards that are first without them, and all others have the least of theirs.

        Args:
            query: what is looked for.
            model: id of the model that embedded it.
            vector: its vector, (dimensions,).
            kinds: of sources.

        Raises:
            Damaged: a bucket of terms cannot be read.
        """
        chosen = self._of_kinds(kinds)
        keyword = self._score_words(query, chosen)
        known, cosine = self._score_vectors(model, vector)
        chosen &= self._alive
        scores = np.full(len(chosen), -np.inf, np.float32)
        scores[chosen] = standard_scores(keyword[chosen])
        known &= chosen
        scores[known] += standard_scores(cosine[known]) / 2
        rows = np.flatnonzero(known)
        if len(rows) > _REFINED:
            rows = np.sort(rows[np.argpartition(-scores[rows], _REFINED)[:_REFINED]])
        nearest = standard_scores(self._score_centres(vector, rows)) / 2
        known[rows] = False
        scores[known] += nearest.min(initial=0.0)
        scores[rows] += nearest
        return Ranking(self, scores, int(chosen.sum()))

    def _of_kinds(self, kinds: Collection[str]) -> NDArray[np.bool_]:
        """Return of the cards of all segments whether they are of some kinds of sources."""
        of_kinds = (each.head.of_kinds(kinds) for each in self.segments)
        found = np.concatenate([np.zeros(0, bool), *of_kinds])
        return found if self._bound is None else found & self._bound

    def _rows_of(self, bound: Visibility) -> NDArray[np.bool_]:
        """Return of the cards of all segments whether they are of sources that are seen."""
        entries = map(self.entry, range(int(self._edges[-1])))
        # What a card of pages says of itself beside its name, which is an id, is its address.
        named = ((each.source.kind, name_at(each.source, each.keywords)) for each in entries)
        return np.fromiter((bound.sees(*each) for each in named), bool)

    def _row(self, key: str) -> int | None:
        same = np.flatnonzero(self._keys == np.uint64(key_hash(key)))
        return next((row for row in same.tolist() if self._alive[row]), None)

    def _score_words(self, query: str, chosen: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return the score of each card; a term is worth what it is among those that are chosen."""
        scores, total = np.zeros(len(self._alive), np.float32), int(chosen.sum())
        terms = [term_hash(each) for each in dict.fromkeys(bm25.tokens(query))]
        terms = self._choose_terms(terms)
        wanted = list(
            dict.fromkeys(
                (place, segment.head.bucket_of(term))
                for term in terms
                for place, segment in enumerate(self.segments)
            )
        )
        far = [pair for pair in wanted if not self.segments[pair[0]].whole]
        in_parallel(lambda pair: self._bucket(*pair), far, max(len(far), 1))
        for term in terms:
            found = [
                self._bucket(place, segment.head.bucket_of(term)).find(term)
                for place, segment in enumerate(self.segments)
            ]
            count = sum(
                int(chosen[rows + start].sum())
                for start, (rows, _) in zip(self._edges.tolist(), found, strict=False)
            )
            if not count:
                continue
            worth = float(bm25.idf(total, count)) / FULL_WEIGHT
            for start, (rows, weights) in zip(self._edges.tolist(), found, strict=False):
                scores[rows + start] += weights * np.float32(worth)
        return scores

    def _choose_terms(self, terms: list[int]) -> list[int]:
        """Return the terms to look up, those of small buckets where each costs a request."""
        far = [each.head for each in self.segments if not each.whole]
        if not far:
            return terms
        largest = max(far, key=len)
        by_size = sorted(terms, key=lambda term: int(largest.sizes[largest.bucket_of(term)]))
        return by_size[: max(MOST_TERMS // len(far), 1)]

    def _bucket(self, place: int, number: int) -> Bucket:
        return self._buckets.get(self.segments[place], number)

    def _score_vectors(
        self, model: str, vector: NDArray[np.float32]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Return which cards have a vector of the model, and their cosines with the query's.

        Where one segment has its vectors in few directions all are compared in these: else the
        cards of whole ones would be longer.
        """
        known = np.zeros(len(self._alive), bool)
        cosine = np.zeros(len(self._alive), np.float32)
        places = zip(self._edges.tolist(), self.segments, strict=False)
        own = [
            ((start, each.head), embedded)
            for (start, each), embedded in zip(places, self._embedded, strict=True)
            if each.head.model == model and each.head.codes.size
        ]
        bases = [head.basis for (_, head), _ in own]
        basis = max(bases, key=lambda each: each.size, default=None)
        for (start, head), embedded in own:
            span = slice(start, start + len(head))
            known[span] = embedded
            if basis is not None and basis.size and not head.basis.size:
                cosine[span] = project(head, basis) @ (vector @ basis)
                continue
            wanted = (vector @ head.basis if head.basis.size else vector).astype(np.float32)
            for begin in range(0, len(head), _VECTORS_AT_ONCE):
                codes = head.codes[begin : begin + _VECTORS_AT_ONCE]
                part = slice(start + begin, start + begin + len(codes))
                cosine[part] = codes.astype(np.float32) @ wanted
            cosine[span] /= np.float32(PARTS)
        return known, cosine

    def _score_centres(
        self, vector: NDArray[np.float32], rows: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the best cosine among the centres of each card, of -1 where it has none.

        Args:
            vector: the query's.
            rows: of cards that have vectors of its model, ascending.
        """
        best = np.full(len(rows), -1.0, np.float32)
        edges = np.searchsorted(rows, self._edges)
        basis = max((e.head.basis for e in self.segments), key=lambda e: e.size, default=None)
        for place, segment in enumerate(self.segments):
            span = slice(edges[place], edges[place + 1])
            own = rows[span] - self._edges[place]
            counts = segment.head.counts[own].astype(np.int64)
            if not counts.any():
                continue
            ends = np.cumsum(counts)
            firsts = self._centre_starts[place][own] - (ends - counts)
            found = segment.head.centre_vectors(np.repeat(firsts, counts) + np.arange(ends[-1]))
            wanted = vector
            if segment.head.basis.size:
                wanted = vector @ segment.head.basis[:, :FINE]
            elif basis is not None and basis.size:
                # As much of a whole vector as of those beside it that are in few directions.
                wanted = basis[:, :FINE] @ (vector @ basis[:, :FINE])
            there = counts > 0
            begins = (ends - counts)[there]
            best[span][there] = np.maximum.reduceat(found @ wanted.astype(np.float32), begins)
        return best

    def score_of(self, scores: NDArray[np.float32], name: str, target: str) -> float | None:
        """Return the score of a crate's card among those of a ranking; None if it has none."""
        row = self._row(card_key(name, target))
        return None if row is None else float(scores[row])


class Ranking:
    """Cards with their scores for a query.

    Args:
        cards: all that there are.
        scores: of each of these; minus infinity for those that are not ranked.
        count: how many are ranked.
    """

    def __init__(self, cards: CardSet, scores: NDArray[np.float32], count: int) -> None:
        self._card_set = cards
        self._scores = scores
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[Entry, float]]:
        """Yield the cards, best first; of equals the older one first."""
        total, first = self._count, 256
        if total > first:
            edge = np.partition(self._scores, -first)[-first]
            found = np.flatnonzero(self._scores >= edge)
            head = found[np.argsort(-self._scores[found], kind="stable")].tolist()
            yield from ((self._card_set.entry(row), float(self._scores[row])) for row in head)
            done = len(head)
        else:
            done = 0
        for row in np.argsort(-self._scores, kind="stable")[done:total].tolist():
            yield self._card_set.entry(row), float(self._scores[row])

    def find(self, name: str, target: str = "") -> tuple[Entry, float] | None:
        """Return a crate's card with its score; None if it has none."""
        entry = self._card_set.find(card_key(name, target))
        return None if entry is None else (entry, self.score(name, target))

    def score(self, name: str, target: str = "") -> float:
        """Return the score of a crate's card; that of the worst card if it has none."""
        found = self._card_set.score_of(self._scores, name, target)
        if found is not None:
            return found
        finite = self._scores[np.isfinite(self._scores)]
        return float(finite.min()) if len(finite) else 0.0


def standard_scores(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how many standard deviations values are above their mean; 0 where all are equal."""
    spread = float(values.std()) if len(values) else 0.0
    if spread < 1e-6:
        return np.zeros_like(values)
    result: NDArray[np.float32] = ((values - values.mean()) / spread).astype(np.float32)
    return result
