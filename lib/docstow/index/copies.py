"""Copies among ranked chunks: what whole manuals on one page, print views and editions repeat."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from docstow.index.loaded import Index

#: Chunks are copies if so much of the words of both is the same, each as often.
_ALIKE = 0.9

#: Shorter chunks, in tokens, are none: pages may well say the same few words.
_LEAST_COPIED = 8

#: Characters in a row of which copies share some, at a quarter, half and three quarters.
_PROBE = 20

_WORD = re.compile(r"\w+")


def drop_copies(ranked: Sequence[tuple[Index, int]], limit: int) -> list[tuple[int, int]]:
    """Return the places of the first chunks of which no two are copies, in their order.

    Chunks are copies if they stand below the same last heading, on different pages, and say nearly
    the same. The one on the page that has the fewest chunks is the original.

    Args:
        ranked: snapshots and rows in them, best first.
        limit: so many are wanted; what comes after may still be the original of one of them.

    Returns:
        For each chunk that is left, the place of the best copy and that of the original.
    """
    chunks = [_describe(*each) for each in ranked]
    kept: list[tuple[int, int]] = []
    below: defaultdict[str, list[int]] = defaultdict(list)
    for place, chunk in enumerate(chunks):
        if chunk.tokens < _LEAST_COPIED:
            if len(kept) < limit:
                kept.append((place, place))
            continue
        for number in below[chunk.heading]:
            best, original = kept[number]
            if _are_copies(chunk, chunks[original]):
                if _page_size(*ranked[place]) < _page_size(*ranked[original]):
                    kept[number] = best, place
                break
        else:
            if len(kept) < limit:
                below[chunk.heading].append(len(kept))
                kept.append((place, place))
    return kept


class _Described(NamedTuple):
    """What is compared of a chunk: its page, last heading, length in tokens, and text."""

    page: tuple[int, int]
    heading: str
    tokens: int
    text: str


def _describe(index: Index, row: int) -> _Described:
    table = index.passages
    return _Described(
        (id(index), int(table["document"][row])),
        str(table["heading_path"][row]).rpartition(" > ")[2].casefold(),
        int(table["tokens"][row]),
        str(table["text"][row]),
    )


def _are_copies(one: _Described, other: _Described) -> bool:
    """Return whether two chunks are of different pages and say nearly the same."""
    if one.page == other.page:
        return False
    if min(one.tokens, other.tokens) < _ALIKE * max(one.tokens, other.tokens):
        return False
    # Most pairs have nothing in common, and that is cheap to see.
    probes = (one.text[len(one.text) * quarter // 4 :][:_PROBE] for quarter in (1, 2, 3))
    if not any(probe in other.text for probe in probes):
        return False
    if one.text == other.text:
        return True
    counts = [_count_words(each.text) for each in (one, other)]
    longest = max(each.total() for each in counts)
    return (counts[0] & counts[1]).total() >= _ALIKE * longest


@lru_cache(maxsize=512)
def _count_words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def _page_size(index: Index, row: int) -> tuple[int, int]:
    """Return what is smaller for an original: its page's chunks, and the length of its path."""
    document = int(index.passages["document"][row])
    return len(index.passage_rows(document)), len(str(index.columns["path"][document]))
