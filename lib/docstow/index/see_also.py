"""Items that a reader of an item may want next: what it links to, and what is like it."""

from __future__ import annotations

import numpy as np

from docstow.index.loaded import Index

#: Items on one page.
MOST = 6

#: Least cosine of an item that is shown for its likeness.
LEAST_COSINE = 0.5


def see_also(index: Index, row: int) -> list[int]:
    """Return the rows of up to :data:`MOST` other items: links first, then the most similar.

    Of similar ones, items of the same module come first; the item's own members and owner are on
    its page already and are left out.
    """
    columns = index.columns
    path, parent = str(columns["path"][row]), str(columns["parent"][row])
    linked = [other for link in find_links(index, path) for other in index.find(link)]
    similar = _find_similar(index, row)
    siblings = [other for other in similar if columns["parent"][other] == parent]
    found: list[int] = []
    for other in [*linked, *siblings, *similar]:
        name, owner = str(columns["path"][other]), str(columns["parent"][other])
        if other not in found and path not in {name, owner} and name != parent:
            found.append(other)
    return found[:MOST]


def find_links(index: Index, path: str) -> list[str]:
    """Return paths and addresses that the docs of an item link to, in alphabetical order."""
    table = index.relations
    chosen = (table["subject"] == path) & (table["predicate"] == "links-to")
    return sorted(set(table["object"][chosen].tolist()))


def _find_similar(index: Index, row: int) -> list[int]:
    """Return the rows whose best passage is most like the row's first one, best first."""
    begin = int(index.first_passage[row])
    lengths = np.linalg.norm(index.matrix, axis=1)
    own = index.matrix[begin] / (lengths[begin] or 1.0)
    cosine = (index.matrix @ own) / np.where(lengths > 0, lengths, 1.0)
    best = np.maximum.reduceat(cosine, index.first_passage)
    order = np.argsort(-best, kind="stable")[: 4 * MOST]
    return [int(other) for other in order if best[other] >= LEAST_COSINE and other != row]
