"""Segments: immutable files of cards, in a form in which a query touches little of them.

A segment has two parts. Its *head* is read whole: what each card is of, its vector in one byte a
dimension, and where the terms are. Its *terms* are an inverted index in as many buckets as make
them a few kilobytes each, by the hash of the term: of a large segment only the buckets of a
query's terms are read. Segments are joined without the texts that they were made from, as a weight
depends on its card alone.

Beyond :data:`FULL_CARDS` cards a vector has the :data:`COARSE` directions in which the segment's
cards differ most (principal components, Pearson 1901) in place of the model's dimensions, and
the centres of a card the first :data:`FINE` of them, packed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.errors import StoreError
from docstow.core.model import Source
from docstow.core.records import dataclass
from docstow.index.cards import Card, Entry, key_of, outranks
from docstow.index.centres import pack, unpack

SCHEMA = 3
#: So many cards keep their whole vectors, and a larger segment so many directions of them.
FULL_CARDS = 4096
COARSE = 64
#: So many of them have the centres of its cards.
FINE = 32
#: A component of a unit vector is stored as a whole number of such parts; beyond 127 it is cut.
PARTS = 300.0
#: How many cards share a bucket of terms on average; and the most buckets, as a power of two.
_CARDS_A_BUCKET = 16
_MOST_BITS = 14

#: name: type of the arrays of a head, in their order.
_ARRAYS = {
    "keys": "<u8",
    "stamps": "<u8",
    "gone": "|u1",
    "kinds": "<u2",
    "offsets": "<u4",
    "sizes": "<u4",
    "basis": "<f4",
    "codes": "|i1",
    "counts": "|u1",
    "centres": "|u1",
}


class Damaged(StoreError):
    """A segment is not what was written."""


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """What is read of a segment for every query.

    Attributes:
        model: the embedding model of the vectors; empty where no card has one.
        kind_sets: the kinds of sources that there are, each with a set of kinds of its items.
        keys: of each card the hash of its key, see :func:`key_hash`.
        stamps: of each card that of its snapshot.
        gone: 1 where the card says that its source is stowed no more.
        kinds: of each card the number of its kind set.
        offsets: where each card's text begins; one more for the end.
        sizes: bytes of each bucket of terms, one after another.
        basis: (dimensions, directions); (0, 0) where vectors are whole.
        codes: the vectors: (cards, directions or dimensions).
        counts: how many centres each card has.
        centres: those of all cards, one card's after another's: bytes of (centres, dimensions) as
            codes are, or where there is a basis packed, (centres, directions / 2).
        texts: of each card a JSON array of name, version and target of its source, what it says
            of itself, its keywords and what is imported of it.
    """

    model: str
    kind_sets: tuple[tuple[str, ...], ...]
    keys: NDArray[np.uint64]
    stamps: NDArray[np.uint64]
    gone: NDArray[np.uint8]
    kinds: NDArray[np.uint16]
    offsets: NDArray[np.uint32]
    sizes: NDArray[np.uint32]
    basis: NDArray[np.float32]
    codes: NDArray[np.int8]
    counts: NDArray[np.uint8]
    centres: NDArray[np.uint8]
    texts: bytes

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def bits(self) -> int:
        """How many leading bits of a term's hash are the number of its bucket."""
        return len(self.sizes).bit_length() - 1

    def text(self, row: int) -> bytes:
        """Return a card's text as it is stored."""
        return self.texts[self.offsets[row] : self.offsets[row + 1]]

    def entry(self, row: int) -> Entry:
        """Return what a card is of."""
        name, version, target, about, keywords, imports = json.loads(self.text(row))
        kind, *kinds = self.kind_sets[self.kinds[row]]
        source, stamp = Source(kind, name, version, target), int(self.stamps[row])
        return Entry(source, stamp, tuple(kinds), about, keywords, tuple(imports))

    def of_kinds(self, kinds: Collection[str]) -> NDArray[np.bool_]:
        """Return of each card whether its source is of one of some kinds."""
        return np.array([each[0] in kinds for each in self.kind_sets], bool)[self.kinds]

    def bucket_of(self, term: int) -> int:
        """Return the number of the bucket of a term's hash."""
        return term >> (32 - self.bits)

    def spans(self) -> NDArray[np.int64]:
        """Return where each bucket begins behind the head; one more for the end."""
        return np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])

    def vectors(self) -> NDArray[np.float32]:
        """Return the vectors as they are stored, in floating point."""
        floats: NDArray[np.float32] = self.codes.astype(np.float32) / np.float32(PARTS)
        return floats

    def nbytes(self) -> int:
        """Return about how much memory it takes."""
        arrays = (self.keys, self.stamps, self.offsets, self.codes, self.basis, self.sizes)
        return len(self.texts) + self.centres.nbytes + sum(each.nbytes for each in arrays)

    def centre_starts(self) -> NDArray[np.int64]:
        """Return where each card's centres begin; one more for the end."""
        return np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])

    def centre_vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return centres, in the first directions of the basis where there is one.

        Args:
            rows: their numbers among those of all cards.
        """
        if self.basis.size:
            return unpack(self.centres[rows])
        whole = self.centres[rows].view(np.int8).astype(np.float32)
        whole /= np.float32(PARTS)
        return whole


@dataclass(frozen=True, slots=True, eq=False)
class Bucket:
    """Terms and which cards have them.

    Attributes:
        terms: hashes, ascending.
        starts: where each term's cards begin; one more for the end.
        steps: of each card of a term how many rows it comes after the one before.
        weights: what the term counts in each.
    """

    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]
    steps: NDArray[np.int32]
    weights: NDArray[np.uint8]

    def find(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the rows, ascending, that have a term, and its weights there."""
        place = int(np.searchsorted(self.terms, np.uint32(term)))
        if place == len(self.terms) or self.terms[place] != term:
            return _NO_ROWS, _NO_WEIGHTS
        span = slice(self.starts[place], self.starts[place + 1])
        return np.cumsum(self.steps[span], dtype=np.int32), self.weights[span]

    def nbytes(self) -> int:
        """Return how much memory it takes."""
        return self.terms.nbytes + self.starts.nbytes + self.steps.nbytes + self.weights.nbytes


_NO_ROWS = np.zeros(0, np.int32)
_NO_WEIGHTS = np.zeros(0, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A segment that is here whole: its head, and its terms as they are stored."""

    head: Head
    terms: bytes

    def bucket(self, number: int) -> Bucket:
        """Return a bucket of its terms."""
        spans = self.head.spans()
        return read_bucket(self.terms[spans[number] : spans[number + 1]])


def key_hash(key: str) -> int:
    """Return 64 bits of a card's key."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little")


def make_segment(cards: Sequence[Card], gone: Sequence[Source] = ()) -> Segment:
    """Make a segment of cards of one model.

    Args:
        cards: in the order in which they were made.
        gone: sources that are stowed no more; they come before the cards.
    """
    entries = [Entry(each, 0, (), "") for each in gone] + [each.entry for each in cards]
    sets = [(each.source.kind, *each.kinds) for each in entries]
    kind_sets = tuple(sorted(set(sets)))
    numbers = {kinds: number for number, kinds in enumerate(kind_sets)}
    texts = [_encode_text(each) for each in entries]
    width = max((len(card.vector) for card in cards), default=0)
    vectors = np.zeros((len(entries), width), np.float32)
    for row, card in enumerate(cards, len(gone)):
        vectors[row, : len(card.vector)] = card.vector
    counts = [0] * len(gone) + [len(card.centres) for card in cards]
    centres = np.concatenate(
        [np.zeros((0, width), np.float32), *(card.centres for card in cards if len(card.centres))]
    )
    terms = np.concatenate(
        [np.zeros(0, np.uint32), *(np.fromiter(card.terms, np.uint32) for card in cards)]
    )
    rows = np.repeat(np.arange(len(gone), len(entries)), [len(card.terms) for card in cards])
    weights = np.concatenate(
        [_NO_WEIGHTS, *(np.fromiter(card.terms.values(), np.uint8) for card in cards)]
    )
    bodies = list(_encode_buckets([(terms, rows.astype(np.int32), weights)]))
    head = Head(
        model=cards[0].model if cards else "",
        kind_sets=kind_sets,
        keys=np.array([key_hash(each.key) for each in entries], np.uint64),
        stamps=np.array([each.stamp for each in entries], np.uint64),
        gone=np.array([1] * len(gone) + [0] * len(cards), np.uint8),
        kinds=np.array([numbers[each] for each in sets], np.uint16),
        offsets=_offsets(texts),
        sizes=np.array([len(each) for each in bodies], np.uint32),
        basis=np.zeros((0, 0), np.float32),
        codes=_quantize(vectors),
        counts=np.array(counts, np.uint8),
        centres=_quantize(centres).view(np.uint8),
        texts=b"".join(texts),
    )
    return Segment(head, b"".join(bodies))


def join(parts: Sequence[Segment], kept: Sequence[NDArray[np.bool_]]) -> Segment:
    """Join segments of one model, the oldest first.

    The work is done bucket by bucket, so that it takes little more memory than its result.

    Args:
        parts: to be joined.
        kept: which cards of each to keep.
    """
    heads = [part.head for part in parts]
    count = sum(int(each.sum()) for each in kept)
    kind_sets = tuple(sorted({kinds for head in heads for kinds in head.kind_sets}))
    numbers = {kinds: number for number, kinds in enumerate(kind_sets)}
    kinds = [
        np.array([numbers[each] for each in head.kind_sets], np.uint16)[head.kinds[keep]]
        for head, keep in zip(heads, kept, strict=True)
    ]
    texts = [
        head.text(row)
        for head, keep in zip(heads, kept, strict=True)
        for row in np.flatnonzero(keep).tolist()
    ]
    basis, codes = _join_vectors(heads, kept, count)
    counts, centres = _join_centres(heads, kept, basis)
    bodies = list(_encode_buckets(_joined_buckets(parts, kept, count)))
    head = Head(
        model=next((each.model for each in heads if each.model), ""),
        kind_sets=kind_sets,
        keys=np.concatenate([h.keys[k] for h, k in zip(heads, kept, strict=True)]),
        stamps=np.concatenate([h.stamps[k] for h, k in zip(heads, kept, strict=True)]),
        gone=np.concatenate([h.gone[k] for h, k in zip(heads, kept, strict=True)]),
        kinds=np.concatenate(kinds),
        offsets=_offsets(texts),
        sizes=np.array([len(each) for each in bodies], np.uint32),
        basis=basis,
        codes=codes,
        counts=counts,
        centres=centres,
        texts=b"".join(texts),
    )
    return Segment(head, b"".join(bodies))


def join_current(parts: Sequence[Segment], *, drop: bool) -> Segment:
    """Join segments without cards that others of them have replaced.

    Args:
        parts: the oldest first.
        drop: leave out what says that a source is gone: nothing older is left.
    """
    heads = [part.head for part in parts]
    kept = [
        alive | (head.gone.astype(bool) & (not drop))
        for alive, head in zip(survivors(heads), heads, strict=True)
    ]
    return join(parts, kept)


def project(head: Head, basis: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a segment's vectors in the directions of a basis; an empty one leaves them whole."""
    vectors = head.vectors()
    if head.basis is basis or not basis.size or not vectors.size:
        return vectors
    if head.basis.size:
        if np.array_equal(head.basis, basis):
            return vectors
        vectors = vectors @ head.basis.T
    projected: NDArray[np.float32] = vectors @ basis
    return projected


def _join_vectors(
    heads: Sequence[Head], kept: Sequence[NDArray[np.bool_]], count: int
) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Return the basis and the codes of several segments' vectors."""
    largest = max(heads, key=lambda head: (head.basis.size > 0, len(head)))
    basis = largest.basis
    width = max(head.codes.shape[1] for head in heads)
    if not basis.size and count > FULL_CARDS and width > COARSE:
        whole = np.concatenate(
            [h.vectors()[k] for h, k in zip(heads, kept, strict=True) if h.codes.shape[1] == width]
        )
        # Ascending by eigenvalue, so that the last are those in which cards differ most.
        basis = np.linalg.eigh(whole.T @ whole)[1][:, : -COARSE - 1 : -1].astype(np.float32)
    width = basis.shape[1] if basis.size else width
    codes = np.zeros((count, width), np.int8)
    at = 0
    for head, keep in zip(heads, kept, strict=True):
        found = _quantize(project(head, basis)[keep])
        codes[at : at + len(found), : found.shape[1]] = found
        at += len(found)
    return basis, codes


def _join_centres(
    heads: Sequence[Head], kept: Sequence[NDArray[np.bool_]], basis: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the counts and the centres of several segments' cards in a basis."""
    width = FINE // 2 if basis.size else max(head.codes.shape[1] for head in heads)
    found = [np.zeros((0, width), np.uint8)]
    for head, keep in zip(heads, kept, strict=True):
        rows = np.flatnonzero(np.repeat(keep, head.counts))
        if not len(rows):
            continue
        if basis.size == head.basis.size and np.array_equal(basis, head.basis):
            found.append(head.centres[rows])
            continue
        vectors = head.centre_vectors(rows)
        if head.basis.size:
            vectors = vectors @ head.basis[:, :FINE].T
        found.append(pack(vectors @ basis[:, :FINE]))
    counts = np.concatenate([h.counts[k] for h, k in zip(heads, kept, strict=True)])
    return counts, np.concatenate(found)


def _joined_buckets(
    parts: Sequence[Segment], kept: Sequence[NDArray[np.bool_]], count: int
) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8]]]:
    """Yield term, row and weight of all postings, bucket by bucket of the joined segment."""
    wanted = max(count // _CARDS_A_BUCKET, 1).bit_length() - 1
    bits = max(min(wanted, _MOST_BITS), *(part.head.bits for part in parts))
    rows_of, at = list[NDArray[np.int32]](), 0
    for keep in kept:
        rows = np.where(keep, np.cumsum(keep) - 1 + at, -1).astype(np.int32)
        rows_of.append(rows)
        at += int(keep.sum())
    opened: list[tuple[int, Bucket | None]] = [(-1, None)] * len(parts)
    for number in range(1 << bits):
        first, last = (number << (32 - bits)), ((number + 1) << (32 - bits)) - 1
        found = []
        for place, part in enumerate(parts):
            own = number >> (bits - part.head.bits)
            known, bucket = opened[place]
            if bucket is None or known != own:
                bucket = part.bucket(own)
                opened[place] = own, bucket
            found.append(_select(bucket, first, last, rows_of[place]))
        terms, rows, weights = (np.concatenate(each) for each in zip(*found, strict=True))
        yield terms, rows, weights


def _select(
    bucket: Bucket, first: int, last: int, rows_of: NDArray[np.int32]
) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8]]:
    """Return the postings of the terms of a range, of the rows that are kept, renumbered."""
    low = int(np.searchsorted(bucket.terms, np.uint32(first)))
    high = int(np.searchsorted(bucket.terms, np.uint32(last), "right"))
    begin, end = int(bucket.starts[low]), int(bucket.starts[high])
    if begin == end:
        return np.zeros(0, np.uint32), _NO_ROWS, _NO_WEIGHTS
    counts = np.diff(bucket.starts[low : high + 1])
    sums = np.cumsum(bucket.steps[begin:end], dtype=np.int64)
    before = np.concatenate([[0], sums])[bucket.starts[low:high] - begin]
    rows = rows_of[sums - np.repeat(before, counts)]
    keep = rows >= 0
    terms = np.repeat(bucket.terms[low:high], counts)
    return terms[keep], rows[keep], bucket.weights[begin:end][keep]


def _encode_buckets(
    buckets: Iterator[tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8]]]
    | Sequence[tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8]]],
) -> Iterator[bytes]:
    """Yield each bucket as it is stored; the postings of one term must be in the order of rows."""
    for terms, rows, weights in buckets:
        order = np.argsort(terms, kind="stable")
        terms, rows, weights = terms[order], rows[order], weights[order]
        found, starts, counts = np.unique(terms, return_index=True, return_counts=True)
        steps = np.diff(rows, prepend=np.int32(0)).astype("<i4")
        steps[starts] = rows[starts]
        planes = steps.view(np.uint8).reshape(-1, 4).T  # most of the upper bytes are 0
        head = np.array([len(found), len(rows)], "<u4")
        parts = (head, found.astype("<u4"), counts.astype("<u4"), planes, weights)
        yield zlib.compress(b"".join(np.ascontiguousarray(each).tobytes() for each in parts), 6)


def read_bucket(body: bytes) -> Bucket:
    """Read a bucket as it is stored.

    Raises:
        Damaged: it is none.
    """
    try:
        plain = zlib.decompress(body)
        terms, postings = np.frombuffer(plain, "<u4", 2).tolist()
        at = 8 + 8 * terms
        if len(plain) != at + 5 * postings:
            raise Damaged("A bucket of terms has another length than it says.")
        counts = np.frombuffer(plain, "<u4", terms, 8 + 4 * terms)
        planes = np.frombuffer(plain, np.uint8, 4 * postings, at).reshape(4, postings)
        return Bucket(
            np.frombuffer(plain, "<u4", terms, 8),
            np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
            np.ascontiguousarray(planes.T).view("<i4").ravel(),
            np.frombuffer(plain, np.uint8, postings, at + 4 * postings),
        )
    except (zlib.error, ValueError) as fault:
        raise Damaged("A bucket of terms in the catalogue is damaged.") from fault


def encode_head(head: Head) -> bytes:
    """Return the stored form of a head."""
    arrays = {name: getattr(head, name) for name in _ARRAYS}
    fields = {
        "schema": SCHEMA,
        "model": head.model,
        "kind_sets": head.kind_sets,
        "shapes": {name: each.shape for name, each in arrays.items()},
    }
    words = json.dumps(fields).encode()
    bodies = [np.ascontiguousarray(each, _ARRAYS[name]).tobytes() for name, each in arrays.items()]
    return zlib.compress(b"\n".join([words, b"".join(bodies) + head.texts]), 6)


def read_head(body: bytes) -> Head:
    """Read the stored form of a head.

    Raises:
        Damaged: it is none.
    """
    try:
        plain = zlib.decompress(body)
        at = plain.index(b"\n") + 1
        fields: dict[str, Any] = json.loads(plain[:at])
        if fields["schema"] != SCHEMA:
            raise Damaged("A segment of the catalogue is of another schema.")
        arrays: dict[str, NDArray[Any]] = {}
        for name, spelled in _ARRAYS.items():
            shape = tuple(map(int, fields["shapes"][name]))
            count = int(np.prod(shape))
            arrays[name] = np.frombuffer(plain, spelled, count, at).reshape(shape)
            at += arrays[name].nbytes
        kind_sets = tuple(tuple(map(str, each)) for each in fields["kind_sets"])
        head = Head(model=str(fields["model"]), kind_sets=kind_sets, texts=plain[at:], **arrays)
        if len(head.texts) != int(head.offsets[-1]):
            raise Damaged("A segment of the catalogue is cut.")
    except (zlib.error, ValueError, KeyError, TypeError, IndexError) as fault:
        raise Damaged("A segment of the catalogue is damaged.") from fault
    return head


def survivors(heads: Sequence[Head]) -> list[NDArray[np.bool_]]:
    """Return which cards of several segments, the oldest first, stand for their names.

    Of cards of one source the last one counts, be it that the source is gone; of a name the card
    whose source outranks the others.
    """
    keys = np.concatenate([np.zeros(0, np.uint64), *(head.keys for head in heads)])
    gone = np.concatenate([np.zeros(0, np.uint8), *(head.gone for head in heads)]).astype(bool)
    alive = ~gone
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    several = sorted(set(ordered[1:][ordered[1:] == ordered[:-1]].tolist()))
    edges = np.cumsum([0, *(len(head) for head in heads)])

    def source(number: int) -> Source:
        place = int(np.searchsorted(edges, number, "right")) - 1
        return heads[place].entry(number - int(edges[place])).source

    for key in several:
        low = int(np.searchsorted(ordered, np.uint64(key)))
        high = int(np.searchsorted(ordered, np.uint64(key), "right"))
        rows = order[low:high].tolist()
        last: dict[tuple[str, str, str], tuple[int, Source]] = {}
        for row in rows:
            each = source(row)
            place = (each.kind, each.version, key_of(each))
            last.pop(place, None)
            last[place] = row, each
        best: tuple[int, Source] | None = None
        for row, each in last.values():
            if not gone[row] and outranks(each, best[1] if best else None):
                best = row, each
        alive[rows] = False
        if best is not None:
            alive[best[0]] = True
    return [alive[begin:end] for begin, end in itertools.pairwise(edges.tolist())]


def _encode_text(entry: Entry) -> bytes:
    source = entry.source
    stated = entry.about, entry.keywords, entry.imports
    fields = [source.name, source.version, source.target, *stated]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def _offsets(texts: Sequence[bytes]) -> NDArray[np.uint32]:
    return np.cumsum([0, *map(len, texts)]).astype(np.uint32)


def _quantize(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    return np.clip(np.round(vectors * np.float32(PARTS)), -127, 127).astype(np.int8)
