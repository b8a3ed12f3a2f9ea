"""Contents pages, indexes and the like: they do not come before what they lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from docstow.core.model import Document
from docstow.text.markdown import LINK

#: The column of the documents' table with the rows that a contents page lists (int32, one after
#: the other); empty for all others.
COLUMN = "lists"

_ROW_TYPE = np.dtype("<i4")

#: Of a contents page so much of the text is links.
_LEAST_LINKED = 0.6

#: So many of the first hits are looked at.
_FIRST = 10


def find_lists(documents: Sequence[Document]) -> list[bytes]:
    """Return :data:`COLUMN` of pages.

    Args:
        documents: all pages of a snapshot.
    """
    rows = {page.url: row for row, page in enumerate(documents) if page.url}
    return [_listed(page.text, rows, row) for row, page in enumerate(documents)]


def unpack_lists(packed: Sequence[bytes]) -> dict[int, frozenset[int]]:
    """Return by row what each contents page lists."""
    return {
        row: frozenset(np.frombuffer(listed, _ROW_TYPE).tolist())
        for row, listed in enumerate(packed)
        if listed
    }


def order_contents(pages: Sequence[int], lists: Mapping[int, frozenset[int]]) -> list[int]:
    """Return the order of hits in which no contents page is before one of the first that it lists.

    A hit on one goes below the first such hit; all others stay in their order.

    Args:
        pages: the page of each hit, best first.
        lists: what contents pages list.

    Returns:
        The places of the hits.
    """
    order = list(range(len(pages)))
    first = range(min(len(pages), _FIRST))
    for place in sorted((each for each in first if pages[each] in lists), reverse=True):
        listed = lists[pages[place]]
        at = order.index(place)
        below = (
            later
            for later in range(at + 1, len(first))
            if pages[order[later]] in listed and pages[order[later]] not in lists
        )
        if (later := next(below, None)) is not None:
            order.insert(later, order.pop(at))
    return order


def _listed(text: str, rows: Mapping[str, int], own: int) -> bytes:
    if "](" not in text:
        return b""
    found = list(LINK.finditer(text))
    links = [match for match in found if not match[1]]
    labels = sum(len(match[2]) for match in links)
    shown = len(text) - sum(len(match[0]) - len(match[2]) for match in found)
    if labels < _LEAST_LINKED * shown:
        return b""
    listed = {rows.get(match[3].partition("#")[0], own) for match in links} - {own}
    return np.array(sorted(listed), _ROW_TYPE).tobytes()
