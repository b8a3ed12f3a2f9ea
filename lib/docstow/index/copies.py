"""Copies among chunks: what whole manuals on one page, print views and editions repeat."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from docstow.core.patterns import lazy_pattern

#: Name of the column that :func:`find_originals` gives.
ORIGINAL = "original"

#: Chunks are copies if so much of the words of both is the same, each as often.
_ALIKE = 0.9

#: Shorter chunks, in tokens, are none: pages may well say the same few words.
_LEAST_COPIED = 8

#: Characters in a row of which copies share some, at a quarter, half and three quarters.
_PROBE = 20

#: So many words in a row are compared at once, and the least so many of their hashes stand for a
#: chunk: bottom-k sketches (A. Broder, "On the resemblance and containment of documents", 1997).
_RUN = 4
_SKETCH = 6

#: The words of so many texts are hashed together.
_TEXTS_AT_ONCE = 1024

#: So many chunks with the same hash are compared with another.
_MOST_COMPARED = 8

#: A page with so many times the chunks of another is one that collects others.
_COLLECTED = 2

_WORD = lazy_pattern(r"\w+")
_VERSION = lazy_pattern(r"(?<![A-Za-z0-9])(?:v(\d+(?:\.\d+)*)|(\d+(?:\.\d+)+))(?![A-Za-z0-9])")


class ChunkText(NamedTuple):
    """What is compared of a chunk.

    Attributes:
        page: what it stands on.
        path: of the page.
        size: the page's chunks.
        heading: as :func:`last_heading` gives it.
        tokens: its length.
        text: as it stands.
    """

    page: Hashable
    path: str
    size: int
    heading: str
    tokens: int
    text: str


def last_heading(heading_path: str) -> str:
    """Return the last heading above a chunk as copies have it in common."""
    return heading_path.rpartition(" > ")[2].casefold()


def find_originals(chunks: Sequence[ChunkText]) -> NDArray[np.int32]:
    """Return for each chunk the row of its original: its own row if it is no copy.

    Chunks are copies if they stand below the same last heading, on different pages, and say nearly
    the same. The original is on a page that does not collect others; of several it is the one
    without a version, or with the newest, in its path.
    """
    groups: defaultdict[int, list[int]] = defaultdict(list)
    known: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    compared = [row for row, chunk in enumerate(chunks) if chunk.tokens >= _LEAST_COPIED]
    for row, sketch in zip(compared, _sketches(chunks[row].text for row in compared), strict=True):
        chunk = chunks[row]
        keys = [(chunk.heading, each) for each in sketch]
        near = dict.fromkeys(first for key in keys for first in known[key])
        first = next((each for each in near if _are_copies(chunk, chunks[each])), row)
        groups[first].append(row)
        if first == row:
            for key in keys:
                if len(known[key]) < _MOST_COMPARED:
                    known[key].append(row)
    originals = np.arange(len(chunks), dtype=np.int32)
    for rows in groups.values():
        if len(rows) > 1:
            originals[rows] = rows[_choose([chunks[row] for row in rows])]
    return originals


def drop_copies(ranked: Sequence[ChunkText], limit: int) -> list[tuple[int, int]]:
    """Return the places of the first chunks of which no two are copies, in their order.

    Args:
        ranked: chunks, best first.
        limit: so many are wanted; what comes after may still be the original of one of them.

    Returns:
        For each chunk that is left, the place of the best copy and that of the original, chosen as
        by :func:`find_originals`.
    """
    kept: list[tuple[int, int]] = []
    below: defaultdict[str, list[int]] = defaultdict(list)
    for place, chunk in enumerate(ranked):
        if chunk.tokens < _LEAST_COPIED:
            if len(kept) < limit:
                kept.append((place, place))
            continue
        for number in below[chunk.heading]:
            best, original = kept[number]
            if _are_copies(chunk, ranked[original]):
                if _choose([ranked[original], chunk]):
                    kept[number] = best, place
                break
        else:
            if len(kept) < limit:
                below[chunk.heading].append(len(kept))
                kept.append((place, place))
    return kept


def _choose(copies: Sequence[ChunkText]) -> int:
    """Return the number of the original."""
    most = _COLLECTED * min(each.size for each in copies)
    fitting = [number for number, each in enumerate(copies) if each.size <= most]
    return min(fitting, key=lambda number: _order(copies[number]))


def _order(chunk: ChunkText) -> tuple[tuple[int, ...], int, int]:
    match = _VERSION.search(chunk.path)
    version = [int(part) for part in (match[1] or match[2]).split(".")] if match else []
    return tuple(-part for part in version), chunk.size, len(chunk.path)


def _sketches(texts: Iterable[str]) -> Iterator[list[int]]:
    """Yield for each text hashes of which copies share some."""
    numbers = _Numbers()
    several = iter(texts)
    while batch := list(islice(several, _TEXTS_AT_ONCE)):
        words = [_WORD.findall(text.casefold()) for text in batch]
        lengths = list(map(len, words))
        found = np.fromiter(map(numbers.__getitem__, chain.from_iterable(words)), np.uint64)
        mixed = _mix(found, _RUN)
        begin = 0
        for length in lengths:
            end = begin + length
            if length < _RUN:
                yield _mix(found[begin:end], length).tolist() or [0]
            else:
                yield _least(mixed[begin : end - _RUN + 1])
            begin = end


def _mix(numbers: NDArray[np.uint64], run: int) -> NDArray[np.uint64]:
    """Return a hash of each so many numbers in a row."""
    count = max(len(numbers) - run + 1, 0) if run else 0
    mixed = np.zeros(count, np.uint64)
    for step in range(run):
        # The multiplier of Knuth's 64-bit generator; products wrap around.
        mixed = (mixed + numbers[step : step + count]) * np.uint64(6364136223846793005)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _least(hashes: NDArray[np.uint64]) -> list[int]:
    """Return the least different ones, sorted; the array is sorted as well."""
    hashes.sort()
    least = list(dict.fromkeys(hashes[: 2 * _SKETCH].tolist()))
    if len(least) < _SKETCH < len(hashes):
        least = np.unique(hashes).tolist()
    return least[:_SKETCH]


class _Numbers(dict[str, int]):
    """A number for each word."""

    def __missing__(self, word: str) -> int:
        number = self[word] = crc32(word.encode())
        return number


def _are_copies(one: ChunkText, other: ChunkText) -> bool:
    """Return whether two chunks are of different pages and say nearly the same."""
    if one.page == other.page or one.heading != other.heading:
        return False
    if min(one.tokens, other.tokens) < _ALIKE * max(one.tokens, other.tokens):
        return False
    # Most pairs have nothing in common, and that is cheap to see.
    places = [len(one.text) * quarter // 4 for quarter in (1, 2, 3)]
    if not any(one.text[place : place + _PROBE] in other.text for place in places):
        return False
    if one.text == other.text:
        return True
    counts = [_count_words(each.text) for each in (one, other)]
    longest = max(each.total() for each in counts)
    return (counts[0] & counts[1]).total() >= _ALIKE * longest


@lru_cache(maxsize=512)
def _count_words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))
